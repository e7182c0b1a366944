// Questions that wait. The server keeps and sends them; the page shows what it says, and the turns that come of them.
import { $, $$ } from './page.js'

const address = () => `/c/${$('#thread').dataset.session}`
const own = { 'HX-Request': 'true', Accept: 'text/html' }

/** Shows what the server says of the queue, unless somebody is at work in it. */
function show(fresh) {
  const old = $('#queue')
  if (!old || !fresh || old.outerHTML === fresh.outerHTML || $('details[open]', old)) return
  const focused = old.contains(document.activeElement)
  old.replaceWith(fresh)
  window.htmx?.process(fresh)
  if (focused) $('#q')?.focus({ preventScroll: true })
}

function parsed(html) {
  const template = document.createElement('template')
  template.innerHTML = html
  return template.content
}

/** Lets a question wait. False: the server did not take it, and the question box says why. */
export async function queue(form) {
  form.delete('session_id')
  const response = await fetch(`${address()}/queue`, { method: 'POST', headers: own, body: form }).catch(() => null)
  if (!response) return false
  const html = await response.text()
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
    for (let tries = 0; tries < 40; tries++) {
      const last = $$('#thread > .turn').at(-1)
      const response = last && await fetch(`${address()}/next?after=${last.dataset.run}`, { headers: own }).catch(() => null)
      if (!response?.ok) return
      const fresh = parsed(await response.text())
      show($('#queue', fresh))
      const turns = $$('.turn', fresh)
      if (turns.length > 0) return begin(turns, fresh)
      const first = $('#queue .queued')
      if (!first || 'problem' in first.dataset) return
      await new Promise(done => setTimeout(done, 150))
    }
  } finally {
    following = false
  }
}

function begin(turns, fresh) {
  for (const turn of turns) {
    if (document.getElementById(turn.id)) continue
    $('#thread').append(turn)
    window.htmx?.process(turn)
  }
  for (const id of ['composer-bar', 'composer-use']) {
    const bar = $(`#${id}`, fresh)
    if (bar && !$(`#${id}`).contains(document.activeElement)) $(`#${id}`).replaceWith(bar)
  }
  if ($('#composer-bar').dataset.running) {
    $('#thread').setAttribute('aria-busy', 'true')
    $('#q').placeholder = $('#q').dataset.busy
  }
  window.scrollTo(0, document.documentElement.scrollHeight)
}

// A changed queue may have sent something: Send now ends the run, whose end asks; without a run, ask now.
document.addEventListener('htmx:after:swap', event => {
  if (event.target instanceof Element && event.target.closest?.('#queue, .dock') && !$('#composer-bar')?.dataset.running) follow()
})
