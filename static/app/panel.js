// What the source panel keeps: its width, and on a document's own page the way to the marked words and the current heading.
import { $, $$, showInGrid } from './page.js'

const wide = matchMedia('(min-width: 48rem)')
const grip = $('.grip')

// The width is the reader's, also on the next page.
function restore() {
  let px = 0
  try { px = Number(localStorage.getItem('panel')) } catch { /* no storage: the usual width */ }
  if (!(px >= 320) || !wide.matches) return
  const width = Math.min(px, window.innerWidth * 0.7)
  document.documentElement.style.setProperty('--panel', `${width}px`)
  grip?.setAttribute('aria-valuenow', Math.round(width / window.innerWidth * 100))
}
function remember() {
  if (!wide.matches) return
  try { localStorage.setItem('panel', String($('#panel').offsetWidth)) } catch { /* for this page only */ }
}
restore()
grip?.addEventListener('pointerup', remember)
grip?.addEventListener('keyup', remember)

// The images around the wanted page wait until that is there.
document.addEventListener('footnote:source', () => {
  const rest = $$('#source img[data-src]')
  if (rest.length === 0) return
  const show = () => {
    for (const image of rest) {
      image.srcset = image.dataset.srcset
      image.src = image.dataset.src
    }
  }
  const wanted = $('#source img[fetchpriority]')
  if (!wanted || wanted.complete) { show(); return }
  wanted.addEventListener('load', show, { once: true })
  wanted.addEventListener('error', show, { once: true })
})

// A document's page goes to the marked words, also when its address does not name them.
const viewer = $('.viewer')
if (viewer) {
  const cited = $('#cited', viewer)
  if (cited && (location.hash === '' || location.hash === '#cited')) {
    requestAnimationFrame(() => {
      showInGrid(cited)
      const at = cited.getBoundingClientRect()
      window.scrollTo(0, window.scrollY + at.top - window.innerHeight / 3)
      for (const mark of $$('.quote', viewer)) mark.classList.add('flash')
    })
  }
  const links = new Map($$('.outline a', viewer).map(link => [link.hash.slice(1) || link.dataset.block, link]))
  const seen = new IntersectionObserver(entries => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue
      for (const link of links.values()) link.removeAttribute('aria-current')
      links.get(entry.target.id)?.setAttribute('aria-current', 'true')
    }
  }, { rootMargin: '-10% 0px -75% 0px' })
  for (const id of viewer.classList.contains('paged') ? [] : links.keys()) {
    const heading = document.getElementById(id)
    if (heading) seen.observe(heading)
  }
}
