// What somebody has typed survives a reload and a way out and back, in this tab.
import { $ } from './page.js'

const key = `draft:${location.pathname}`
const box = $('#q')
const store = (name, value) => { try { value ? sessionStorage.setItem(name, value) : sessionStorage.removeItem(name) } catch { /* no storage, no drafts */ } }
const stored = name => { try { return sessionStorage.getItem(name) } catch { return null } }

/** Forgets what was typed: it is sent. */
export const forget = () => store(key, '')

if (box) {
  if (stored('sent')) { // the first page's question became this page
    if ($('#thread')) store('draft:/', '')
    store('sent', '')
  }
  if (box.value === '' && stored(key)) {
    box.value = stored(key)
    box.dispatchEvent(new Event('input', { bubbles: true }))
  }
  box.addEventListener('input', () => store(key, box.value))
  $('#composer').addEventListener('submit', () => { if (!$('#thread')) store('sent', 'yes') })
}
