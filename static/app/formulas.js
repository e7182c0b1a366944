// Formulas come as TeX. Temml draws them once there are any, and what is copied holds TeX again: their annotation says how they were written.
import { $$ } from './page.js'

const drawn = new Map() // class and TeX of a formula: its element, or null when it stays as it was written
const undrawn = document.getElementsByClassName('tex')
let asked = [] // what the worker has yet to draw
let worker = null
let timer = 0
let ended = 0 // workers that took too long
const key = code => `${code.className}\n${code.textContent}`

/** Draws the formulas of a part of the page that were drawn before. */
export function drawFormulas(at) {
  for (const code of $$('.tex', at)) {
    const math = drawn.get(key(code))
    if (math) code.replaceWith(math.cloneNode(true))
  }
}

function elementOf(key, mathml) {
  const math = Object.assign(document.createElement('span'), { className: 'math', innerHTML: mathml })
  if (key.startsWith('tex tex-line')) Object.assign(math, { className: 'math math-line', tabIndex: 0 })
  return mathml && $$('*', math).every(node => node.namespaceURI.endsWith('MathML')) ? math : null
}

// Formulas that are new are drawn by a worker, which has two seconds for each.
function redraw() {
  if (!undrawn.length) return
  drawFormulas(document)
  if (asked.length || ended > 4) return
  asked = [...new Set(Array.from(undrawn, key))].filter(one => !drawn.has(one)).slice(0, 100)
  if (!asked.length) return
  worker ??= start()
  worker.postMessage(asked)
}

function start() {
  const style = new URL('../vendor/temml.css', import.meta.url)
  if (!ended) document.head.append(Object.assign(document.createElement('link'), { rel: 'stylesheet', href: style }))
  const worker = new Worker(new URL('later/tex.js', import.meta.url), { type: 'module' })
  worker.onmessage = ({ data: [key, mathml] }) => {
    if (key) drawn.set(key, elementOf(key, mathml)) // the first message says only that it is there
    asked = asked.filter(one => one !== key)
    clearTimeout(timer)
    if (asked.length) timer = setTimeout(giveUp, 2000)
    else redraw()
  }
  return worker
}

function giveUp() {
  worker.terminate()
  worker = null
  ended++
  drawn.set(asked[0], null)
  asked = []
  redraw()
}
new MutationObserver(redraw).observe(document.body, { childList: true, subtree: true })
redraw()

/** The text of nodes as the page shows it, with TeX for each formula. The page's styles say where lines end. */
function textOf(nodes) {
  const aside = document.createElement('div')
  aside.className = 'vh answer aside'
  aside.append(...nodes)
  for (const math of $$('math', aside)) {
    const tex = math.querySelector('annotation')?.textContent ?? math.textContent
    math.replaceWith(math.getAttribute('display') === 'block' ? `\\[ ${tex} \\]` : `\\(${tex}\\)`)
  }
  for (const marked of $$('[id]', aside)) marked.removeAttribute('id')
  document.body.append(aside)
  const text = aside.innerText.replaceAll('\u2060', '')
  aside.remove()
  return text.trim()
}

/** The text of an element, with its formulas as TeX. */
export const textWithTeX = element => (element.querySelector('math') ? textOf([element.cloneNode(true)]) : element.innerText.replaceAll('\u2060', ''))

// A selection that touches a formula takes all of it.
document.addEventListener('copy', event => {
  const selection = getSelection()
  if (!selection.rangeCount || selection.isCollapsed) return
  const range = selection.getRangeAt(0).cloneRange()
  const around = node => (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement)?.closest('math')
  const first = around(range.startContainer)
  const last = around(range.endContainer)
  if (first) range.setStartBefore(first)
  if (last) range.setEndAfter(last)
  const part = range.cloneContents()
  if (!part.querySelector('math')) return
  const html = document.createElement('div')
  html.append(part.cloneNode(true))
  event.clipboardData.setData('text/html', html.innerHTML)
  event.clipboardData.setData('text/plain', textOf([part]))
  event.preventDefault()
})
