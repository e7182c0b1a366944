// Citations: the card on hover or focus, the panel on click, the panel's width. The panel shows what the server answers to
// the link's own address.
import { $, $$, load, onClick, piece, showInGrid } from './page.js'

const panel = $('#panel')
const wide = matchMedia('(min-width: 48rem)')

// The card is a copy of the row in Sources, so that both always say the same.
let timer = null
let comesBack = false // the focus returns to a chip whose source was just read
let still = false // the page moved under a pointer that did not: what is under it now was not pointed at
function hide() {
  clearTimeout(timer)
  $('.card')?.remove()
  $('[data-card]')?.removeAttribute('data-card')
}
function show(chip) {
  hide()
  fetchAhead(chip)
  const turn = chip.closest('.turn')
  const row = turn && document.getElementById(`src-${turn.dataset.run}-${chip.dataset.n}`)
  const answer = chip.closest('.answer')
  if (!row || !answer) return
  const card = document.createElement('div')
  card.className = 'card'
  card.setAttribute('role', 'tooltip')
  for (const part of row.children) card.append(part.cloneNode(true))
  for (const link of $$('a', card)) link.tabIndex = -1
  chip.dataset.card = ''
  answer.append(card)
  const around = answer.getBoundingClientRect()
  const at = chip.getBoundingClientRect()
  const below = at.bottom + card.offsetHeight + 12 < window.innerHeight - ($('.dock')?.offsetHeight ?? 0)
  card.style.insetBlockStart = `${below ? at.bottom - around.top + 6 : at.top - around.top - card.offsetHeight - 6}px`
  card.style.insetInlineStart = `${Math.max(0, Math.min(at.left - around.left - 24, around.width - card.offsetWidth))}px`
}
if (matchMedia('(hover: hover)').matches) {
  document.addEventListener('pointermove', () => { still = false }, { passive: true })
  document.addEventListener('mouseover', event => {
    const chip = event.target.closest?.('.answer a.cite')
    clearTimeout(timer)
    if (still) return
    if (chip) timer = setTimeout(() => show(chip), $('.card') ? 0 : 80)
    else if (!event.target.closest?.('.card')) timer = setTimeout(hide, 120)
  })
  document.addEventListener('focusin', event => {
    const chip = event.target.closest?.('.answer a.cite')
    if (chip && !comesBack) show(chip)
    else if (!event.target.closest?.('.card')) hide()
  })
}

// What a click would show is fetched while the pointer rests on a chip, the page's image too.
const ahead = new Map()
const address = link => { const url = new URL(link.href, location.href); return url.pathname + url.search }
const fetchSource = link => load(address(link), { 'HX-Request': 'true', 'HX-Target': 'source', Accept: 'text/html' })
function fetchAhead(link) {
  const key = address(link)
  if (ahead.has(key)) return
  ahead.set(key, fetchSource(link).then(html => {
    const box = document.createElement('template')
    box.innerHTML = html
    const wanted = $('img[fetchpriority]', box.content)
    if (wanted) {
      const image = new Image()
      image.sizes = wanted.sizes
      image.srcset = wanted.srcset
      image.src = wanted.src
    }
    return html
  }).catch(() => null))
  setTimeout(() => ahead.delete(key), 10_000)
}

// The panel.
let opener = null
let wanted = 0
export const sourceOpen = () => document.body.dataset.source === 'open'
export function closeSource() {
  wanted++ // what is still on its way opens nothing
  document.body.dataset.source = 'closed'
  for (const at of $$('[data-stream]')) at.closest('.turn').dataset.closed = '' // a run that goes on opens no more by itself
  for (const chip of $$('a.cite[aria-current]')) chip.removeAttribute('aria-current')
  if (!panel.contains(document.activeElement) && document.activeElement !== document.body) return
  comesBack = true
  opener?.focus?.({ preventScroll: true })
  comesBack = false
}
export async function openSource(link, enter = true) {
  const mine = ++wanted
  const url = new URL(link.href, location.href)
  const inside = panel.contains(link)
  const { step } = link.dataset
  if (!inside) opener = link
  hide()
  const citation = url.searchParams.get('c')
  for (const chip of $$('a.cite')) {
    const same = citation && new URL(chip.href, location.href).searchParams.get('c') === citation && !panel.contains(chip)
    if (same) chip.setAttribute('aria-current', 'true')
    else if (!panel.contains(chip)) chip.removeAttribute('aria-current')
  }
  let html = null
  try {
    html = (await ahead.get(address(link))) ?? await fetchSource(link)
  } catch { /* said below */ }
  if (mine !== wanted) return
  if (inside) opener = $('.answer .md a.cite[aria-current]') ?? opener
  const at = $('#source')
  if (html === null) at.replaceChildren(piece('panel-failed'))
  else at.innerHTML = html
  window.htmx?.process(at)
  const place = link.getBoundingClientRect().top
  still = true
  hide()
  document.body.dataset.source = 'open'
  if (link.isConnected && !panel.contains(link)) window.scrollBy(0, link.getBoundingClientRect().top - place) // the text keeps its place
  const pages = $('.pages', at)
  const part = url.searchParams.has('page') || url.searchParams.has('at') ? url.hash && $(`#${CSS.escape(url.hash.slice(1))}`, at) : null
  const quote = part ?? $('.quote', at) ?? $('.passage', at)
  if (part) pages.scrollTop += part.getBoundingClientRect().top - pages.getBoundingClientRect().top - 24
  else if (quote && pages) {
    showInGrid(quote)
    pages.scrollTop += quote.getBoundingClientRect().top - pages.getBoundingClientRect().top - pages.clientHeight / 3
    for (const mark of $$('.quote', at)) mark.classList.add('flash')
  }
  if (enter) ((step && $(`[data-step="${step}"]`, at)) || pages)?.focus({ preventScroll: true })
  if (!wide.matches && !inside) link.scrollIntoView({ block: 'nearest' })
  document.dispatchEvent(new CustomEvent('footnote:source', { detail: { url: url.href } }))
}

// Links to documents open beside the answer, unless the reader asks for a tab or is in the whole document already.
document.addEventListener('click', event => {
  const link = event.target.closest?.('a[href^="/d/"]')
  if (!link || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  if (!panel || link.target === '_blank' || 'whole' in link.dataset) return
  if (!link.closest('#thread, #panel, #cells')) return
  event.preventDefault()
  openSource(link)
})
onClick('[data-do="close-source"]', closeSource)

// The panel's edge: pointer and arrow keys.
const grip = $('.grip')
if (grip) {
  const size = px => {
    const width = Math.max(320, Math.min(px, window.innerWidth * 0.7))
    document.documentElement.style.setProperty('--panel', `${width}px`)
    grip.setAttribute('aria-valuenow', Math.round(width / window.innerWidth * 100))
  }
  const height = px => { panel.style.blockSize = `${Math.max(160, Math.min(px, window.innerHeight))}px` }
  grip.addEventListener('pointerdown', event => {
    grip.setPointerCapture(event.pointerId)
    grip.onpointermove = move => (wide.matches ? size(window.innerWidth - move.clientX) : height(window.innerHeight - move.clientY))
  })
  grip.addEventListener('pointerup', () => { grip.onpointermove = null })
  grip.addEventListener('keydown', event => {
    const by = { ArrowLeft: 24, ArrowUp: 24, ArrowRight: -24, ArrowDown: -24 }[event.key]
    if (!by) return
    event.preventDefault()
    if (wide.matches) size(panel.offsetWidth + by)
    else height(panel.offsetHeight + by)
  })
}

/** Goes to the next citation in the text, or the one before it. */
export function walk(step) {
  const chips = $$('.answer .md a.cite')
  if (chips.length === 0) return
  const at = chips.indexOf(document.activeElement)
  const current = at >= 0 ? at : chips.findIndex(chip => chip.hasAttribute('aria-current'))
  const next = chips[(current + step + chips.length) % chips.length] ?? chips[0]
  const inside = panel.contains(document.activeElement)
  if (!inside) next.focus()
  next.scrollIntoView({ block: 'nearest' })
  if (sourceOpen()) openSource(next, inside)
}

export const hideCard = () => { const card = $('.card'); hide(); return Boolean(card) }
