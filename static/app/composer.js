// The question box: Enter sends, Stop and Answer now are requests of their own, a question asked meanwhile waits its turn.
import { $, $$, onClick, pieces, word } from './page.js'
import { chosen } from './choose.js'
import { options } from './options.js'
import { forget } from './draft.js'
import { follow, queue } from './queue.js'
import { catchUp, toEnd } from './stream.js'

const form = $('#composer')
const box = $('#q')
const running = () => $('#composer-bar')?.dataset.running

if (form && box) {
  const grow = () => {
    if (CSS.supports('field-sizing', 'content')) return
    box.style.blockSize = 'auto'
    box.style.blockSize = `${Math.min(box.scrollHeight, 192)}px`
  }
  box.addEventListener('input', () => {
    grow()
    if (!$('#composer-error button')) $('#composer-error').textContent = '' // an offer stays while the question is changed
  })
  box.addEventListener('keydown', event => {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing && event.keyCode !== 229) {
      event.preventDefault()
      if (box.value.trim() === '') return
      if (running()) wait()
      else form.requestSubmit()
      return
    }
    if (event.key === 'ArrowUp' && box.value === '' && !event.isComposing) {
      const last = [...document.querySelectorAll('.question')].at(-1)
      if (!last) return
      event.preventDefault()
      box.value = last.textContent
      grow()
    }
  })
}

const freshKey = () => crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`

// One POST, one run: forms that ask again get a key each time they are sent.
document.addEventListener('submit', event => {
  const sent = event.target
  if (!sent.matches('[data-fresh]')) return
  let key = sent.elements.idempotency_key
  if (!key) {
    key = document.createElement('input')
    key.type = 'hidden'
    key.name = 'idempotency_key'
    sent.append(key)
  }
  if (!sent.elements.sibling) { // a question of its own is asked as the box would ask it
    for (const old of sent.querySelectorAll('[data-asked]')) old.remove()
    for (const [name, value] of [...['', ...chosen()].map(id => ['document_ids', id]), ...Object.entries(options())]) {
      const input = Object.assign(document.createElement('input'), { type: 'hidden', name, value })
      input.dataset.asked = ''
      sent.append(input)
    }
  }
  if (!key.value) key.value = freshKey()
})

onClick('[name="new_session"]', () => forget()) // the question goes with the reader

const ours = event => event.target === form
let asked = '' // the words that are under way
document.addEventListener('htmx:config:request', event => {
  if (!ours(event)) return
  asked = box.value
  $('#thread')?.setAttribute('aria-busy', 'true')
})
document.addEventListener('htmx:after:swap', event => {
  const ctx = event.detail.ctx
  if (!ours(event) || !ctx?.response) return
  if (ctx.response.status < 400) {
    if (box.value === asked) { // else somebody has typed on
      box.value = ''
      box.style.blockSize = ''
      forget()
    }
    if (running()) box.placeholder = box.dataset.busy
    const [before, turn] = $$('#thread > .turn').slice(-2)
    if (turn && turn.dataset.after !== before.dataset.run) location.reload() // the conversation went on from another version
    catchUp()
    toEnd($$('#thread > .turn').at(-1))
  } else {
    $('#thread')?.setAttribute('aria-busy', 'false')
  }
})

// One POST, one run, also when its answer got lost: the same words go under the same key again, other words under a new one.
let lost = false
const unsent = event => {
  if (!ours(event)) return
  lost = box.value === asked
  if (!lost) $('#composer-key').value = freshKey()
  $('#thread')?.setAttribute('aria-busy', 'false')
  if (event.type === 'htmx:error') $('#composer-error').textContent = word('unsent')
}
document.addEventListener('htmx:error', unsent)
document.addEventListener('htmx:response:error', unsent)
box?.addEventListener('input', () => {
  if (!lost) return
  lost = false
  $('#composer-key').value = freshKey()
})

// Stop and Answer now.
async function steer(button) {
  button.disabled = true
  const response = await fetch(button.getAttribute('formaction'), { method: 'POST', headers: { 'HX-Request': 'true' } }).catch(() => null)
  if (response?.ok || response?.status === 409) return // it is over already
  button.disabled = false
  $('#composer-error').textContent = word('unsent')
}
onClick('[data-do="stop"], [data-do="answer-now"]', (button, event) => { event.preventDefault(); steer(button) })
export function stop() {
  const button = $('[data-do="stop"]')
  if (button && !button.disabled) button.click()
  return Boolean(button)
}

// A question that waits: the server keeps it, and sends it when the run is over.
async function wait() {
  const text = box.value
  if (text.trim() === '') return
  const sent = new FormData(form)
  box.value = ''
  $('#composer-key').value = freshKey() // what is typed next is another question, also while this one is under way
  if (await queue(sent)) {
    if (box.value === '') forget()
    return
  }
  lost = box.value === ''
  if (lost) $('#composer-key').value = sent.get('idempotency_key')
  box.value = [text, box.value].filter(Boolean).join('\n')
  $('#composer-error').textContent ||= word('unsent')
}
onClick('[data-do="queue"]', (button, event) => { event.preventDefault(); wait(); box.focus() })

document.addEventListener('footnote:idle', () => {
  const bar = $('#composer-bar')
  if (!bar) return
  const focused = bar.contains(document.activeElement)
  bar.dataset.running = ''
  box.placeholder = box.dataset.idle
  bar.replaceChildren(...pieces('send'))
  if (focused) box.focus()
  $('#composer-use').replaceChildren()
  $('#thread').setAttribute('aria-busy', 'false')
  $('.sessions a[aria-current="page"] .spin')?.remove()
  $('.sessions a[aria-current="page"] .vh')?.remove()
  follow()
})

// After a first question, which loads the page of its conversation, one may type on; not where that would bring up a keyboard on the screen.
if ($('#composer-bar')?.dataset.running && document.activeElement === document.body && matchMedia('(pointer: fine)').matches) box.focus({ preventScroll: true })
