// The documents page: the list follows the work, filters without a reload, and deletes with a way back.
import { $, $$, load, onClick, piece } from './page.js'
import { say } from './arrivals.js'

const list = () => $('#documents')
let asked = 0

/** Draws the list as the server has it now. What did not change is left alone: focus, open menus, spinners. */
async function refresh() {
  const mine = ++asked
  const html = await load(location.pathname + location.search, { 'HX-Request': 'true', Accept: 'text/html' }).catch(() => null) // the next change may do better
  if (html === null || mine !== asked || !list()) return
  const fresh = document.createElement('template')
  fresh.innerHTML = html
  morph(list(), fresh.content.firstElementChild)
  const { count, summary } = list().dataset
  if ($('#document-count')) $('#document-count').textContent = count
  if ($('#documents-summary')) $('#documents-summary').textContent = `\u2002${summary}`
  $('.tools').hidden = !$('.tabs', list()) // there is nothing to search without a document
}

function morph(old, fresh) {
  if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName || old.id !== fresh.id) { old.replaceWith(fresh); return }
  if (old.nodeType === Node.TEXT_NODE) { if (old.data !== fresh.data) old.data = fresh.data; return }
  if (old.nodeType !== Node.ELEMENT_NODE) return
  for (const { name, value } of [...fresh.attributes]) if (old.getAttribute(name) !== value) old.setAttribute(name, value)
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && name !== 'open') old.removeAttribute(name)
  if (old.nodeName === 'TBODY' && fresh.firstElementChild?.id) { rows(old, fresh); return }
  const before = [...old.childNodes]
  const after = [...fresh.childNodes]
  if (before.length !== after.length) {
    const named = new Map(before.filter(node => node.id).map(node => [node.id, node]))
    old.replaceChildren(...after.map(node => {
      const mine = named.get(node.id)
      if (!mine) return node
      morph(mine, node)
      return mine.isConnected ? mine : node
    }))
    return
  }
  before.forEach((node, i) => morph(node, after[i]))
}

function rows(old, fresh) {
  const known = new Map([...old.children].map(row => [row.id, row]))
  let at = old.firstElementChild
  for (const row of [...fresh.children]) {
    const mine = known.get(row.id)
    known.delete(row.id)
    if (!mine) { old.insertBefore(row, at); continue }
    if (mine === at) at = at.nextElementSibling
    else old.insertBefore(mine, at)
    morph(mine, row)
  }
  for (const gone of known.values()) gone.remove()
}

if (list()) {
  const go = address => { history.pushState(null, '', address); refresh() }
  onClick('#documents a[data-tab], #documents p > a.link, #documents .tabs a, #documents a.space', (link, event) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    go(link.href)
  })
  addEventListener('popstate', refresh)
  document.addEventListener('footnote:documents', refresh)

  const form = $('form[data-filter]')
  let typing = null
  const filter = () => {
    clearTimeout(typing)
    const query = new URLSearchParams(location.search)
    for (const [name, value] of new FormData(form)) {
      if (name !== 'q' && name !== 'kind') continue
      if (value) query.set(name, value)
      else query.delete(name)
    }
    query.delete('limit')
    history.replaceState(null, '', `/documents${query.size ? '?' + query : ''}`)
    refresh()
  }
  form?.addEventListener('submit', event => { event.preventDefault(); filter() })
  form?.addEventListener('change', filter)
  form?.addEventListener('input', () => { clearTimeout(typing); typing = setTimeout(filter, 150) })

  document.addEventListener('submit', async event => {
    const act = event.target.closest('form[data-act]')
    if (!act) return
    event.preventDefault()
    const menu = act.closest('.menu')
    if (menu) menu.open = false
    if (!(await post(act.action))) return
    await refresh()
    if (act.dataset.act === 'delete') undo(act.dataset)
  })
}

async function post(address) {
  const response = await fetch(address, { method: 'POST', headers: { 'HX-Request': 'true', Accept: 'text/html' } }).catch(() => null)
  if (response?.ok) return true
  const box = document.createElement('template')
  box.innerHTML = (await response?.text().catch(() => '')) ?? ''
  toast(box.content.textContent.trim() || say('action'))
  return false
}

function toast(text) {
  for (const old of $$('.toast')) old.remove()
  const box = piece('toast')
  $('.toast-text', box).textContent = text
  $('button', box).hidden = true
  document.body.append(box)
  setTimeout(() => box.remove(), 8000)
  return box
}

// A deleted document can be brought back for a minute.
function undo({ id, name }) {
  const box = toast(say('deleted', { name }))
  const keep = box.cloneNode(true)
  box.replaceWith(keep)
  const button = $('button', keep)
  button.hidden = false
  const until = Date.now() + 59_000
  const tick = setInterval(() => {
    const left = Math.ceil((until - Date.now()) / 1000)
    if (left <= 0 || !keep.isConnected) { clearInterval(tick); keep.remove(); return }
    $('.num', button).textContent = `${left} s`
  }, 250)
  button.addEventListener('click', async () => {
    clearInterval(tick)
    keep.remove()
    if (await post(`/documents/${encodeURIComponent(id)}/restore`)) refresh()
  })
}
