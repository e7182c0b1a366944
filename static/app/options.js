// How a question is answered: the model, the tools, the namespace. What was chosen on the first page is there again for the next conversation.
import { $, $$ } from './page.js'

const form = $('#composer')
const menu = $('#options')
const names = ['model', 'toolset', 'namespace']
const remembered = ['model', 'toolset'] // where to look belongs to a conversation

/** What the question box is set to, by the names of its fields. */
export const options = () => Object.fromEntries(form ? names.map(name => [name, form.elements[name]?.value ?? '']) : [])

if (menu) {
  const key = 'footnote:options'
  const fresh = !$('#thread')
  const read = () => { try { return JSON.parse(localStorage.getItem(key)) ?? {} } catch { return {} } }
  const label = () => {
    const chosen = $$('option:checked, input:checked', menu).map(entry => entry.dataset.label).filter(Boolean)
    $('#options-label').textContent = chosen.join(' · ') || menu.dataset.none
  }
  if (fresh && $('#composer-error').textContent === '') {
    const last = read()
    for (const name of remembered) {
      const entry = $$(`[name="${name}"] option, input[name="${name}"]`, menu).find(one => one.value !== '' && one.value === last[name])
      if (entry) entry[entry.matches('option') ? 'selected' : 'checked'] = true
    }
    label()
  }
  menu.addEventListener('change', () => {
    label()
    if (!fresh) return
    const now = options()
    try { localStorage.setItem(key, JSON.stringify(Object.fromEntries(remembered.map(name => [name, now[name]])))) } catch { /* no storage, no memory */ }
  })
  addEventListener('pageshow', label) // a browser that comes back may have kept what was chosen
  menu.addEventListener('keydown', event => {
    if (event.key !== 'Enter' || !event.target.matches('select, input')) return
    event.preventDefault() // it would send the question
    menu.open = false
    $('summary', menu).focus()
  })
}
