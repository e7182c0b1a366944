// The live stream. Each event brings a fragment under the event's name; its elements have ids, so it is morphed in place
// or appended where its data-in says, and a replay changes nothing.
import { $, $$, piece, say, word } from './page.js'
import { drawFormulas } from './formulas.js'
import { openSource } from './source.js'

const kinds = new Set(['run_started', 'reasoning_step', 'answer_delta', 'answer_reset', 'citation', 'answer', 'reset', 'run_done'])
let morph = (old, fragment) => old.replaceWith(fragment)
window.htmx?.registerExtension('footnote', { init: api => { morph = (old, fragment) => api.morph(old, fragment, false) } })

const listener = event => (event.target instanceof Element && event.target.matches('[data-stream]') ? event.target : null)

document.addEventListener('htmx:sse:before:message', event => {
  const at = listener(event)
  const { message } = event.detail
  if (!at || !kinds.has(message.event)) return
  if (message.id) at.dataset.last = message.id
  const follow = atEnd() && message.event !== 'answer' && message.event !== 'run_done'
  apply(message.data)
  after[message.event]?.(at.closest('.turn'), at)
  if (follow) toEnd(at.closest('.turn'))
})

// toEnd goes on to the end, but stops where the answer's beginning would leave the window: it is read from there. Who
// has gone beyond that stays at the end.
export function toEnd(turn) {
  const answer = $('.answer', turn)
  const top = at => at.getBoundingClientRect().top + window.scrollY - 64 // under the page's header
  const begins = answer ? Math.max(top(turn), top(answer) - window.innerHeight / 2) : Infinity
  const end = document.documentElement.scrollHeight
  window.scrollTo(0, window.scrollY <= begins ? Math.min(end, begins) : end)
}

function apply(html) {
  const template = document.createElement('template')
  template.innerHTML = html
  drawFormulas(template.content)
  const open = new Set()
  let focus = null
  for (const node of [...template.content.children]) {
    if (node.dataset.drop) { // its row comes again, inside another one
      const gone = document.getElementById(node.dataset.drop)
      if (!gone) continue
      for (const box of $$('details[open]', gone)) open.add(box.id)
      if (gone.contains(document.activeElement)) focus = document.activeElement.id
      gone.remove()
      continue
    }
    const old = node.id && document.getElementById(node.id)
    if (!old) {
      document.getElementById(node.dataset.in)?.append(node)
      continue
    }
    const fragment = document.createDocumentFragment()
    fragment.append(node)
    morph(old, fragment)
  }
  for (const id of open) {
    for (let box = document.getElementById(id); box; box = box.parentElement?.closest('.step > details')) box.open = true
  }
  if (focus) document.getElementById(focus)?.focus({ preventScroll: true })
  document.dispatchEvent(new CustomEvent('footnote:drawn'))
}

const after = {
  run_started: turn => say($('.run-now', turn)?.textContent),
  reasoning_step(turn) {
    say($('.run-now', turn)?.textContent)
    use(turn)
    show(turn)
    ask(turn)
  },
  answer_delta: turn => fold(turn, false),
  answer_reset: turn => fold(turn, true),
  answer: turn => fold(turn, false),
  run_done(turn, at) {
    const status = $('.run-now', turn)?.textContent
    turn.dataset.status = 'over'
    at.remove()
    window.htmx?.process(turn) // forms that the stream brought
    offerJump()
    say(status)
    if (!$('[data-stream]')) document.dispatchEvent(new CustomEvent('footnote:idle'))
  },
}

// The timeline folds when the answer begins, unless somebody touched it or no tool has worked yet: then the text may turn
// out to be a thought.
function fold(turn, open) {
  const run = $('.run', turn)
  if (!run || 'touched' in run.dataset || run.open === open) return
  if (!open && !$('.step[data-status="complete"]', run)) return
  run.open = open
}

// A step that opens a document opens it for the reader too: once, while it happens, unless the reader has closed the panel in this run.
// What a run did before its page was here, because it was only just asked for, happens now as well.
const justAsked = takeAsked()
const shown = new Set($$('.step[data-opens]').filter(step => step.closest('.turn').dataset.run !== justAsked).map(step => step.id))
function show(turn) {
  for (const step of $$('.step[data-opens]', turn)) {
    if (shown.has(step.id)) continue
    shown.add(step.id)
    const link = $('a.hit', step)
    if (link && !('closed' in turn.dataset)) openSource(link, false)
  }
}

/** Shows what turns that have come to the page opened and used on their way. */
export function catchUp() {
  $$('.turn').forEach(show)
  for (const at of $$('[data-stream]')) use(at.closest('.turn'))
  offerJump()
}

// The address names the run that was just asked for. Without that name it is the conversation's, in which nothing happens again.
function takeAsked() {
  const address = new URL(location.href)
  const run = address.searchParams.get('asked')
  if (run === null) return null
  address.searchParams.delete('asked')
  history.replaceState(history.state, '', address)
  return run
}

// A call that waits for the reader's word is opened, once, wherever it stands.
const asked = new Set()
function ask(turn) {
  for (const form of $$('.approval', turn)) {
    if (asked.has(form.id)) continue
    asked.add(form.id)
    for (let box = form.closest('details'); box; box = box.parentElement.closest('details')) box.open = true
  }
}

// The question box shows what the run has used.
function use(turn) {
  meter($('[data-use="steps"]'), $$('.step[data-turn]', turn).length)
}

export function meter(at, value) {
  if (!at) return
  const text = word('of-limit').replace('{used}', Math.floor(value)).replace('{allowed}', at.dataset.limit)
  if (at.textContent !== text) at.textContent = text
  const bar = $('meter', at.parentElement)
  if (bar) bar.value = value
}

// Auto-scroll, only for those who are at the end already.
const end = $('#latest')
export const atEnd = () => document.documentElement.scrollHeight - window.innerHeight - window.scrollY < 160
let endSeen = true
function offerJump() {
  const jump = $('#jump')
  if (jump) jump.hidden = endSeen || !$('[data-stream]')
}
if (end) {
  new IntersectionObserver(([seen]) => {
    endSeen = seen.isIntersecting
    offerJump()
  }, { rootMargin: '0px 0px 200px' }).observe(end)
  const live = $('[data-stream]')?.closest('.turn')
  if (live) toEnd(live)
}
catchUp()

// A lost connection is said, and gone when it is back. The script of htmx comes back by itself, but not after a first
// connect that failed, which may even be over before this script is here.
let notice = null
const lost = at => {
  if (notice?.isConnected) return
  notice = piece('lost')
  at.closest('.turn')?.append(notice)
}
document.addEventListener('htmx:sse:before:connection', event => {
  const at = listener(event)
  if (at && event.detail.connection.attempt > 0) lost(at)
})
document.addEventListener('htmx:sse:after:connection', () => { notice?.remove(); notice = null })
document.addEventListener('htmx:config:request', event => {
  const at = listener(event)
  if (at?.dataset.last) event.detail.ctx.request.headers['Last-Event-ID'] = at.dataset.last
  if (!at) event.detail.ctx.request.headers.Accept = 'text/html'
})
for (const name of ['htmx:error', 'htmx:response:error']) {
  document.addEventListener(name, event => {
    const at = listener(event)
    if (!at) return
    lost(at)
    if (event.detail.ctx?.response?.status === 404) gone(at)
  })
}
document.addEventListener('htmx:sse:error', event => {
  const at = listener(event)
  if (at && event.detail.status === 404) { lost(at); gone(at) }
})
// Nothing is asked for before somebody here hears it: the script of htmx is there first, by seconds on a slow line.
const unheard = () => $$('[data-stream]').filter(at => !at._htmx?.sse && !at.classList.contains('htmx-request'))
const listen = () => { for (const at of unheard()) window.htmx?.trigger(at, 'listen') }
document.addEventListener('htmx:after:process', listen)
listen()
setInterval(() => {
  unheard().forEach(lost)
  listen()
}, 1500)

// The server does not know the run any more: what was read of it stays, and nothing pretends to go on.
function gone(at) {
  const turn = at.closest('.turn')
  notice.replaceChildren(notice.firstElementChild, Object.assign(document.createElement('span'), { textContent: word('gone') }))
  notice = null
  turn.dataset.status = 'over'
  for (const icon of $$('.spin, .shimmer', turn)) icon.classList.remove('spin', 'shimmer')
  for (const time of $$('[data-live]', turn)) delete time.dataset.live
  $('.answer', turn)?.removeAttribute('aria-busy')
  at.remove()
  document.dispatchEvent(new CustomEvent('footnote:idle'))
}
