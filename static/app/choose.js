// The documents that a question is narrowed to: found by name, kept while others are looked for, and offered anew when documents come or go.
import { $, $$, load, onClick } from './page.js'

const part = () => $('#composer-documents')
const menu = () => $('#choose')
const list = () => $('#choose-list')
const boxes = () => $$('input[type=checkbox]', list() ?? document.createElement('ul'))

/** The ids of the chosen documents. */
export const chosen = () => boxes().filter(box => box.checked).map(box => box.value)

function label() {
  if (!menu()) return
  const ticked = boxes().filter(box => box.checked)
  $('#choose-label').textContent = ticked.length === 0 ? menu().dataset.all
    : ticked.length === 1 ? $('.choice', ticked[0].closest('label')).textContent : menu().dataset.some.replace('{n}', ticked.length)
}

/** The part as the server has it now, with the documents of that name; null when that could not be asked. */
let wanted = 0
async function offered(name) {
  const mine = ++wanted
  const html = await load(`/choose?q=${encodeURIComponent(name)}`, { Accept: 'text/html', 'HX-Request': 'true' }).catch(() => null)
  if (html === null || mine !== wanted) return null
  const template = document.createElement('template')
  template.innerHTML = html
  return template.content.firstElementChild
}

/** Puts the offered documents behind the chosen ones. */
function offer(fresh) {
  const kept = boxes().filter(box => box.checked)
  for (const box of kept) $(`input[value="${CSS.escape(box.value)}"]`, fresh)?.closest('li').remove()
  list().replaceChildren(...kept.map(box => box.closest('li')), ...$('#choose-list', fresh)?.children ?? [])
}

async function follow() {
  if (!part()) return
  const fresh = await offered($('#choose-find')?.value ?? '')
  if (!fresh) return
  const now = $('#choose', fresh)
  if (menu() && now && (menu().open || chosen().length > 0)) { // somebody is at work in it
    Object.assign(menu().dataset, now.dataset)
    offer(fresh)
  } else if (part().innerHTML !== fresh.innerHTML) part().replaceWith(fresh)
  label()
}

document.addEventListener('footnote:documents', follow)
document.addEventListener('change', event => { if (list()?.contains(event.target)) label() })
addEventListener('pageshow', label) // a browser that comes back may have kept what was ticked
onClick('[data-do="choose-all"]', () => {
  for (const box of boxes()) box.checked = false
  label()
  menu().open = false
  $('summary', menu()).focus()
})

let timer = null
document.addEventListener('input', event => {
  if (event.target.id !== 'choose-find') return
  clearTimeout(timer)
  timer = setTimeout(async () => {
    const fresh = await offered(event.target.value)
    if (fresh && list()) offer(fresh)
  }, 120)
})
document.addEventListener('keydown', event => { if (event.key === 'Enter' && event.target.id === 'choose-find') event.preventDefault() })
document.addEventListener('toggle', event => { if (event.target === menu() && menu().open) $('#choose-find')?.focus() }, true)
