// A question that was asked elsewhere, in another tab or by a program, comes to the page by itself, and so does another version of an answer. Only a page that is looked at and
// has no stream of its own listens: browsers allow few connections to one server.
import { $, $$ } from './page.js'
import { follow } from './queue.js'

const thread = $('#thread')
let source = null
let head = ''
let sending = false

function close() {
  source?.close()
  source = null
}

function watch() {
  const last = $$('#thread > .turn').at(-1)
  if (!last || document.hidden || sending || $('[data-stream]')) return close()
  if (source) return
  if (!head) head = last.dataset.run
  source = new EventSource(`/c/${thread.dataset.session}/events?head=${encodeURIComponent(head)}`)
  source.addEventListener('head', async event => {
    close()
    head = event.data
    await follow()
    watch()
  })
}

if (thread && window.EventSource) {
  document.addEventListener('visibilitychange', watch)
  document.addEventListener('footnote:idle', () => { head = ''; watch() })
  // A question of this page's own is drawn by its answer.
  const own = event => event.target === $('#composer')
  document.addEventListener('htmx:config:request', event => { if (own(event)) { sending = true; close() } })
  for (const name of ['htmx:after:swap', 'htmx:error', 'htmx:response:error']) {
    document.addEventListener(name, event => { if (own(event)) { sending = false; head = ''; watch() } })
  }
  addEventListener('pagehide', close)
  addEventListener('pageshow', watch)
  watch()
}
