// The timeline: live seconds, expand all, raw output on demand, copying.
import { $, $$, decimal, load, onClick, word } from './page.js'
import { textWithTeX } from './formulas.js'
import { meter } from './stream.js'

// Seconds count up from what the server said, by this machine's own clock.
const since = new WeakMap()
function tick() {
  const now = performance.now()
  for (const time of $$('time[data-live]')) {
    const said = Number(time.dataset.live)
    const started = since.get(time)
    if (started === undefined || now - started < said) since.set(time, now - said)
    const ms = now - since.get(time)
    time.textContent = time.dataset.style === 'short' ? short(ms) : long(ms)
    if (time.dataset.style !== 'short') meter($('[data-use="time"]'), ms / 1000)
  }
}
const short = ms => (ms < 1000 ? '<1s' : ms < 10_000 ? `${decimal(Math.floor(ms / 100) / 10)}s` : ms < 60_000 ? `${Math.floor(ms / 1000)}s` : `${Math.floor(ms / 60_000)}m ${Math.floor(ms / 1000) % 60}s`)
const long = ms => (ms < 1000 ? '<1 s' : ms < 10_000 ? `${decimal(Math.floor(ms / 100) / 10)} s` : ms < 60_000 ? `${Math.floor(ms / 1000)} s` : `${Math.floor(ms / 60_000)} min ${Math.floor(ms / 1000) % 60} s`)
setInterval(tick, 100)
document.addEventListener('footnote:drawn', tick)
tick()

// What somebody opened stays as it is.
onClick('.run summary', summary => { summary.closest('.run').dataset.touched = '' })

onClick('[data-do="expand"]', button => {
  const all = $$('.step > details', button.closest('.run'))
  const open = all.some(step => !step.open)
  for (const step of all) step.open = open
  button.textContent = word(open ? 'collapse' : 'expand')
  button.closest('.run').dataset.touched = ''
})

// Raw output and whole thoughts come when they are asked for.
document.addEventListener('toggle', event => {
  const box = event.target
  if (box.open && box.matches?.('.raw[data-load]')) fill(box)
}, true)
async function fill(box) {
  if (!box.dataset.load) return
  const url = box.dataset.load
  try {
    const text = await load(url, { Accept: 'application/json, text/plain' })
    $('pre', box).textContent = url.endsWith('/output') ? JSON.stringify(JSON.parse(text), null, 2) : text
    delete box.dataset.load
  } catch { /* the link inside opens it instead */ }
}

// Copying.
async function copy(button, text, html = '') {
  if (html && window.ClipboardItem) {
    const as = (kind, body) => ({ [kind]: new Blob([body], { type: kind }) })
    await navigator.clipboard.write([new ClipboardItem({ ...as('text/plain', text), ...as('text/html', html) })])
  } else await navigator.clipboard.writeText(text)
  const label = button.getAttribute('aria-label')
  const words = [...button.childNodes].findLast(node => node.nodeType === 3 && node.textContent.trim())
  const before = words?.textContent
  if (words) words.textContent = ` ${word('copied')}`
  else button.setAttribute('aria-label', word('copied'))
  setTimeout(() => { if (words) words.textContent = before; else button.setAttribute('aria-label', label) }, 1500)
}
onClick('[data-do="copy"]', button => copy(button, $('code', button.closest('.code')).textContent))
onClick('[data-do="copy-json"]', async button => {
  const raw = $('.raw', button.closest('.io'))
  if (!raw) return
  await fill(raw)
  copy(button, $('pre', raw).textContent)
})
onClick('[data-do="copy-answer"]', button => {
  const turn = button.closest('.turn')
  const sources = $$('.source', turn).map(row => {
    const title = $('.source-title', row)
    return `[${$('.cite', row).dataset.n}] ${[title, $('.loc', row)].filter(Boolean).map(part => part.textContent).join(', ')}`
  })
  copy(button, [$$('.answer .md', turn).map(block => textWithTeX($('.plain', block) || block)).join('\n\n'), sources.join('\n')].filter(Boolean).join('\n\n'), rich(turn))
})

// An answer as a word processor takes it: footnotes are raised numbers, and stand below with their quotes.
function rich(turn) {
  const page = document.createElement('div')
  for (const block of $$('.answer .md', turn)) page.append(...block.cloneNode(true).childNodes)
  for (const cite of $$('a.cite', page)) {
    const mark = document.createElement('sup')
    mark.textContent = cite.dataset.n
    cite.replaceWith(mark)
  }
  for (const row of $$('.source', turn)) {
    const note = document.createElement('p')
    const quote = $('.source-quote', row)
    note.textContent = [$('.cite', row).dataset.n, quote && `“${quote.textContent}”`, [$('.source-title', row), $('.loc', row)].filter(Boolean).map(part => part.textContent).join(', ')].filter(Boolean).join(' ')
    page.append(note)
  }
  for (const button of $$('button, .vh, .flag', page)) button.remove()
  return page.innerHTML
}
