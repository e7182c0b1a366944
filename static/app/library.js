// The library changes while pages are open: by what is added here, in another tab, or by a program. A page that is looked at hears of it; the event
// 'footnote:documents' tells its parts. The count of the menu and the first page are drawn here. The page of a conversation has streams of its own,
// and browsers allow few connections to one server: it asks once when it is looked at again, and follows while it adds files.
import { $, $$, load } from './page.js'
import { unsettled } from './uploads.js'

const again = 5000 // ms until a stream that was refused is asked for again
let seen = document.body.dataset.library
let source = null
let later = null

const follows = () => !$('#thread') || unsettled()
const count = text => { if ($('#document-count')) $('#document-count').textContent = text }
const tell = () => document.dispatchEvent(new Event('footnote:documents'))

function leave() {
  source?.close()
  source = null
}

function listen() {
  clearTimeout(later)
  if (document.hidden) return leave()
  if (source) return
  const stays = follows()
  source = new EventSource(`/documents/events${stays ? `?seen=${encodeURIComponent(seen)}` : ''}`)
  source.addEventListener('library', event => {
    const news = JSON.parse(event.data)
    if (!stays || !follows()) leave()
    if (!stays && follows()) listen()
    count(news.documents)
    if (!stays && seen === news.seen) return
    seen = news.seen
    tell()
  })
  source.addEventListener('error', event => {
    if (event.target.readyState !== EventSource.CLOSED || event.target !== source) return // else it comes back by itself
    leave()
    later = setTimeout(() => { tell(); listen() }, again)
  })
}

if (seen && window.EventSource) {
  document.addEventListener('visibilitychange', listen)
  document.addEventListener('footnote:uploads', listen)
  addEventListener('pagehide', leave)
  addEventListener('pageshow', event => { if (event.persisted || follows()) listen() })
}

/** Draws the first page as the server has it now, around the question box. Where somebody is at work, nothing is taken away while it still holds. */
let asked = 0
async function follow() {
  const page = $('#start')
  if (!page) return
  const mine = ++asked
  const html = await load('/', { 'HX-Request': 'true', Accept: 'text/html' }).catch(() => null)
  if (html === null || mine !== asked) return
  const template = document.createElement('template')
  template.innerHTML = html
  const fresh = $('#start', template.content)
  const other = (fresh.dataset.count === '0') !== (page.dataset.count === '0')
  page.dataset.count = fresh.dataset.count
  count(fresh.dataset.count)
  for (const part of $$('[data-live]', fresh)) {
    const old = document.getElementById(part.id)
    if (old.innerHTML === part.innerHTML) continue
    if (other || !($('details[open]', old) || old.contains(document.activeElement))) old.replaceChildren(...part.childNodes)
  }
  const box = $('#q')
  $('#start-ask').hidden = $('#start-ask', fresh).hidden && box.value === ''
  if (other && !$('#start-ask').hidden && document.activeElement === document.body && matchMedia('(pointer: fine)').matches) box.focus({ preventScroll: true })
}
document.addEventListener('footnote:documents', follow)
