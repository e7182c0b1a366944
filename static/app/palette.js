// The palette: a search over everything that shows what it finds as somebody types. The keys walk through what was found.
import { $, $$, load, onClick, word } from './page.js'

const palette = $('#palette')
const input = palette && $('input', palette)
const found = $('#found')
const looked = $('#looked')
const debounce = 120 // ms without a key

let wanted = 0 // number of the newest search; what answers to an older one is dropped
let shown = null // the text that the list answers
let opens = false // Enter was pressed before the answer to the text came
let timer = null

const links = () => $$('a', found)

async function look() {
  clearTimeout(timer)
  const mine = ++wanted
  const text = input.value
  let html = null
  try {
    html = await load(`/find?${new URLSearchParams({ q: text })}`, { 'HX-Request': 'true', Accept: 'text/html' })
  } catch { /* said below */ }
  if (mine !== wanted) return
  const box = document.createElement('template')
  box.innerHTML = html ?? ''
  const line = $('.looked', box.content)
  line?.remove()
  looked.replaceChildren(...(line ? line.childNodes : [word('unsearched')]))
  found.replaceChildren(box.content)
  found.scrollTop = 0
  links()[0]?.setAttribute('data-first', '')
  shown = html === null ? null : text
  if (opens) open()
}

// A dialog that closes leaves the keyboard in its box until the page is drawn again, if nothing had it before.
function close() {
  palette.close()
  if (palette.contains(document.activeElement)) document.activeElement.blur()
}

/** Opens the first result once it is the answer to what was typed. */
function open() {
  opens = shown !== input.value
  if (opens) { look(); return }
  links()[0]?.click()
}

export function openPalette() {
  if (!palette || palette.open) return
  palette.showModal()
  input.select()
  look()
}

if (palette) {
  onClick('[data-do="palette"]', (_, event) => { event.preventDefault(); location.hash = ''; openPalette() })
  palette.addEventListener('click', event => { if (event.target === palette) close() })
  palette.addEventListener('close', () => { wanted++; clearTimeout(timer); opens = false })
  input.addEventListener('input', () => {
    opens = false
    clearTimeout(timer)
    timer = setTimeout(look, debounce)
  })
  $('form', palette).addEventListener('submit', event => { event.preventDefault(); open() })
  palette.addEventListener('keydown', event => {
    if (event.isComposing) return
    if (event.key === 'Escape') { // a browser's own would empty the box first
      event.preventDefault()
      close()
      return
    }
    const list = links()
    const at = list.indexOf(document.activeElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: at < 0 ? null : 0, End: at < 0 ? null : list.length - 1 }[event.key] ?? null
    if (to !== null) {
      event.preventDefault()
      const next = to < 0 ? input : list[Math.min(to, list.length - 1)]
      next?.focus()
      next?.scrollIntoView({ block: 'nearest' })
    } else if (at >= 0 && (event.key.length === 1 || event.key === 'Backspace') && !event.ctrlKey && !event.metaKey && !event.altKey) {
      input.focus() // what is typed on a result goes on in the box
    }
  })
}
