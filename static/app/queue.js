// Questions that wait. The server keeps and sends them; the page shows what it says, and the turns that come of them.
import { $, $$, onClick } from './page.js'
import { atEnd, catchUp } from './stream.js'

const address = () => `/c/${$('#thread').dataset.session}`
const own = { 'HX-Request': 'true', Accept: 'text/html' }

const words = list => $$('.queued', list).map(row => row.id + row.textContent).join()

/** Shows what the server says of the queue, unless somebody is at work in it. */
function show(fresh) {
  const old = $('#queue')
  if (!old || !fresh || words(old) === words(fresh) || $('details[open]', old)) return
  const focused = old.contains(document.activeElement)
  old.replaceWith(fresh)
  window.htmx?.process(fresh)
  withdraw()
  if (focused) $('#q')?.focus({ preventScroll: true })
}

// What the server said of a change that it refused goes when the queue moves on. Words that can't be saved any more wait in the question box.
let refusal = ''
function withdraw() {
  const line = $('#composer-error')
  if (refusal && line.textContent === refusal) line.textContent = ''
  refusal = ''
}

/** What the server says of the queue, and the turns that came after the last one here. null: it could not be asked. false: it has no answer. */
async function refresh() {
  const last = $$('#thread > .turn').at(-1)
  if (!last) return false
  try {
    const response = await fetch(`${address()}/next?after=${last.dataset.run}`, { headers: own })
    if (response.ok) return parsed(await response.text())
    return response.status < 500 ? false : null
  } catch { return null }
}

async function refused(edit) {
  const said = $('#composer-error').textContent
  const fresh = await refresh()
  if (!fresh) return
  if (edit && !fresh.getElementById(edit.closest('.queued').id)) {
    edit.open = false
    if ($('#q').value === '') {
      $('#q').value = $('textarea', edit).value
      $('#q').dispatchEvent(new Event('input', { bubbles: true }))
    }
  }
  show($('#queue', fresh))
  $('#composer-error').textContent = refusal = said
}

function parsed(html) {
  const template = document.createElement('template')
  template.innerHTML = html
  return template.content
}

let before = Promise.resolve()
/** Lets a question wait, after those that were typed before it. False: the server did not take it, and the question box says why. */
export const queue = form => (before = before.then(() => send(form)))

async function send(form) {
  form.delete('session_id')
  let response, html
  try {
    response = await fetch(`/sessions/${$('#thread').dataset.session}/queue`, { method: 'POST', headers: own, body: form })
    html = await response.text()
  } catch { return false }
  if (!response.ok) {
    $('#composer-error').innerHTML = html
    return false
  }
  show($('#queue', parsed(html)))
  if (!$('#composer-bar').dataset.running) follow()
  return true
}

/** After a run: shows the turns that the server began since. While something waits to be sent, it asks again. */
let following = false
export async function follow() {
  if (following || !$('#thread')) return
  following = true
  try {
    for (let pause = 150; ; pause = Math.min(pause * 1.2, 5000)) {
      const fresh = await refresh()
      if (fresh === false) return
      if (fresh) {
        show($('#queue', fresh))
        const turns = $$('.turn', fresh)
        if (turns.length > 0) return begin(turns, fresh)
      }
      const first = $('#queue .queued')
      if (!first || 'problem' in first.dataset) return
      await new Promise(done => setTimeout(done, pause))
    }
  } finally {
    following = false
  }
}

function begin(turns, fresh) {
  const shown = $$('#thread > .turn')
  const parent = shown.findIndex(turn => turn.dataset.run === turns[0].dataset.after)
  if (parent < 0 && turns[0].dataset.after) return location.reload() // it follows one that is not shown: what was typed is kept
  const gone = shown.slice(parent + 1).filter(old => !turns.some(turn => turn.id === old.id)) // they belong to another version
  if (gone.some(edited)) return
  const stay = !atEnd()
  withdraw()
  for (const turn of gone) turn.remove()
  for (const turn of turns) {
    if (document.getElementById(turn.id)) continue
    $('#thread').append(turn)
    window.htmx?.process(turn)
  }
  for (const id of ['composer-bar', 'composer-use']) {
    const bar = $(`#${id}`, fresh)
    if (bar && !$(`#${id}`).contains(document.activeElement)) $(`#${id}`).replaceWith(bar)
  }
  catchUp()
  if ($('#composer-bar').dataset.running) {
    $('#thread').setAttribute('aria-busy', 'true')
    $('#q').placeholder = $('#q').dataset.busy
  }
  if (!stay) window.scrollTo(0, document.documentElement.scrollHeight)
}

// A question whose words somebody is changing stays until they are sent or left.
const edited = turn => $$('.edit[open] textarea', turn).some(words => words.value !== words.defaultValue)
document.addEventListener('toggle', event => { if (event.target.matches?.('.edit:not([open])')) follow() }, true)

// The row whose form was sent: it, or else the question box, has the keyboard afterwards.
let sent = ''
document.addEventListener('submit', event => { sent = event.target.closest('.queued')?.id ?? '' }, true)

// A changed queue may have sent something: Send now ends the run, whose end asks; without a run, ask now.
document.addEventListener('htmx:after:swap', event => {
  const form = event.target instanceof Element ? event.target : null
  if (event.detail.ctx?.response?.status >= 400) {
    if (form?.closest('#queue')) refused(form.closest('.edit-queued'))
  } else if (form?.closest('#queue, .dock')) {
    if (sent && document.activeElement === document.body) ($(`#${sent} .edit-queued > summary`) ?? $('#q'))?.focus({ preventScroll: true })
    sent = ''
    withdraw()
    if (!$('#composer-bar')?.dataset.running) follow()
  }
})

// Words can be changed, or left as they were.
function leave(edit) {
  $('form', edit).reset()
  edit.open = false
  $('summary', edit).focus()
  refresh().then(fresh => fresh && show($('#queue', fresh)))
}
onClick('.edit-queued [type=reset]', button => leave(button.closest('.edit-queued')))
document.addEventListener('toggle', event => {
  if (event.target.matches?.('.edit-queued[open]')) $('textarea', event.target).focus()
}, true)
document.addEventListener('keydown', event => {
  const edit = event.key === 'Escape' && !event.isComposing && event.target.closest?.('.edit-queued[open]')
  if (!edit) return
  event.preventDefault()
  leave(edit)
})
