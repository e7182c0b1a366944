// Adding pages of the web: the form at the head of the documents page, and the bookmark that is dragged from here.
import { $, onClick } from './page.js'

document.addEventListener('toggle', event => {
  if (event.target.id === 'add-page' && event.target.open) $('input', event.target).focus()
}, true)

// A page may take a while: the form says so, and is not sent twice.
document.addEventListener('submit', ({ target: form }) => {
  if (form.dataset.adding) Object.assign($('button', form), { disabled: true, textContent: form.dataset.adding })
})
addEventListener('pageshow', event => { if (event.persisted && $('[data-adding] :disabled')) location.reload() })

// The page's own policy keeps the bookmark from running here, where it has nothing to add.
onClick('[data-do="mark"]', (link, event) => {
  event.preventDefault()
  $('#mark-here').hidden = false
})
