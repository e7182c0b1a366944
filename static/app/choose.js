// The documents that a question is narrowed to: found by name, kept while others are looked for.
import { $, $$, load, onClick } from './page.js'

const menu = $('#choose')
const list = $('#choose-list')

if (menu && list) {
  const boxes = () => $$('input[type=checkbox]', list)
  const label = () => {
    const chosen = boxes().filter(box => box.checked)
    $('#choose-label').textContent = chosen.length === 0 ? menu.dataset.all
      : chosen.length === 1 ? $('.choice', chosen[0].closest('label')).textContent : menu.dataset.some.replace('{n}', chosen.length)
  }
  list.addEventListener('change', label)
  addEventListener('pageshow', label) // a browser that comes back may have kept what was ticked
  onClick('[data-do="choose-all"]', () => {
    for (const box of boxes()) box.checked = false
    label()
    menu.open = false
    $('summary', menu).focus()
  })

  const find = $('#choose-find')
  let timer = null
  let wanted = 0
  find?.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(async () => {
      const mine = ++wanted
      const html = await load(`/choose?q=${encodeURIComponent(find.value)}`, { Accept: 'text/html', 'HX-Request': 'true' }).catch(() => null)
      if (html === null || mine !== wanted) return
      const kept = boxes().filter(box => box.checked).map(box => box.closest('li'))
      const template = document.createElement('template')
      template.innerHTML = html
      for (const row of kept) {
        const box = $('input', row)
        template.content.querySelector(`input[value="${CSS.escape(box.value)}"]`)?.closest('li').remove()
      }
      list.replaceChildren(...kept, ...template.content.children)
    }, 120)
  })
  find?.addEventListener('keydown', event => { if (event.key === 'Enter') event.preventDefault() })
  menu.addEventListener('toggle', () => { if (menu.open) find?.focus() })
}

/** The ids of the chosen documents. */
export const chosen = () => (list ? $$('input:checked', list).map(box => box.value) : [])
