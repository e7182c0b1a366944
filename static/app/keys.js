// Keys, the sheet of keys, the theme.
import { $, $$, onClick } from './page.js'
import { stop } from './composer.js'
import { openPalette } from './palette.js'
import { closeSource, hideCard, openSource, sourceOpen, walk } from './source.js'

const sheet = $('#keys')

// System → the other one → system. The choice is kept for the next page.
onClick('[data-do="theme"]', () => {
  const root = document.documentElement
  const dark = matchMedia('(prefers-color-scheme: dark)').matches
  if (root.dataset.theme) delete root.dataset.theme
  else root.dataset.theme = dark ? 'light' : 'dark'
  try {
    if (root.dataset.theme) localStorage.setItem('theme', root.dataset.theme)
    else localStorage.removeItem('theme')
  } catch { /* without storage it holds for this page */ }
})

onClick('[data-do="keys"]', () => sheet.showModal())
sheet?.addEventListener('click', event => { if (event.target === sheet) sheet.close() })

// Steps: j and k walk, Enter opens (it is a summary), e opens one, E all.
function step(by) {
  const rows = $$('.turn .step > details > summary').filter(row => row.checkVisibility())
  if (rows.length === 0) {
    const head = $$('.run-head').at(-1)
    if (head) { head.click(); head.focus() }
    return
  }
  const at = rows.indexOf(document.activeElement)
  const next = at < 0 ? (by > 0 ? rows[0] : rows.at(-1)) : rows[Math.max(0, Math.min(at + by, rows.length - 1))]
  next.focus()
  next.scrollIntoView({ block: 'nearest' })
}

const typing = target => target.matches?.('input:not([type=hidden]), textarea, select, [contenteditable]')
/** What keys do by themselves, outside fields and dialogs. */
export const plain = {
  '/': () => $('#q')?.focus(),
  '?': () => sheet.showModal(),
  j: () => step(1),
  k: () => step(-1),
  e: () => document.activeElement?.closest?.('.step > details > summary')?.click(),
  E: () => $$('[data-do="expand"]').at(-1)?.click(),
  '[': () => walk(-1),
  ']': () => walk(1),
  o() {
    const chip = document.activeElement?.closest?.('a.cite') ?? $('.answer .md a.cite[aria-current]') ?? $('.answer .md a.cite')
    if (chip) openSource(chip)
  },
}

document.addEventListener('keydown', event => {
  if (event.isComposing || event.defaultPrevented) return
  const command = event.ctrlKey || event.metaKey
  if (command && !event.shiftKey && event.key.toLowerCase() === 'k') { event.preventDefault(); openPalette(); return }
  if (command && event.shiftKey && event.key.toLowerCase() === 'o') { event.preventDefault(); location.href = '/'; return }
  if (event.key === 'Escape') {
    if ($('dialog[open]')) return
    if (event.shiftKey) { $('#q')?.focus(); return }
    const menu = $('.menu[open]')
    if (hideCard()) return
    if (location.hash === '#menu') { location.hash = ''; return }
    if (menu) { menu.open = false; $('summary', menu).focus(); return }
    if (sourceOpen()) { closeSource(); return }
    stop()
    return
  }
  if (command || event.altKey || typing(event.target) || $('dialog[open]')) return
  const act = plain[event.key]
  if (act) { event.preventDefault(); act() }
})

// One menu at a time, closed by a click elsewhere.
document.addEventListener('click', event => {
  for (const menu of $$('.menu[open]')) if (!menu.contains(event.target)) menu.open = false
})

// The drawer takes the focus and gives it back.
addEventListener('hashchange', () => {
  if (location.hash === '#menu') $('#menu a')?.focus()
  else if ($('#menu')?.contains(document.activeElement)) $('.topbar [href="#menu"]')?.focus()
})

// Undo is offered for a while.
const toast = $('.toast')
if (toast) {
  history.replaceState(null, '', location.pathname)
  setTimeout(() => toast.remove(), 55_000)
}
