// A page whose picture does not come says why, and its words, which lie over the picture unseen, stand in its place.
import { $, $$, forReader, piece } from './page.js'

async function explain(image) {
  const sheet = image.closest('.sheet')
  if (sheet.classList.contains('undrawn')) return
  sheet.classList.add('undrawn')
  const note = piece('undrawn')
  try { // the server knows why, and answers at once
    const { detail } = await (await fetch(image.currentSrc, { headers: forReader })).json()
    if (detail) $('span', note).textContent = detail
  } catch { /* no answer, or a picture by now: the note says so */ }
  sheet.before(note)
}
document.addEventListener('error', event => { if (event.target.matches?.('.sheet img')) explain(event.target) }, true)
for (const image of $$('.sheet img')) if (image.currentSrc && image.complete && image.naturalWidth === 0) explain(image)

// What makes pages larger is no part of the first page: it is fetched when there are some.
const later = new URL('later/zoom.js', import.meta.url)
const zoom = () => { if ($('.sheets')) import(later) }
document.addEventListener('footnote:source', zoom)
zoom()
