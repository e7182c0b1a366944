// A form that is answered after a while says so, and is not sent twice. A page that comes back from the browser's memory
// is as it was.
document.addEventListener('submit', event => {
  const form = event.target
  if (!form.matches('[data-busy]')) return
  const button = form.querySelector('button[type=submit]')
  button.textContent = form.dataset.busy
  for (const other of document.querySelectorAll('[data-busy] button')) {
    other.setAttribute('aria-disabled', 'true')
    other.addEventListener('click', stay)
  }
})

const stay = event => event.preventDefault()

addEventListener('pageshow', event => { if (event.persisted && document.querySelector('[data-busy]')) location.reload() })
