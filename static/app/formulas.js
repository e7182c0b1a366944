// What is copied holds formulas as TeX: their annotation says how they were written.
import { $$ } from './page.js'

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
