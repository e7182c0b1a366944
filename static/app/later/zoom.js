// Pages of a document made larger and smaller: by buttons, keys, two fingers, a double tap, the wheel with Ctrl. Marks and
// words are part of a page and keep their places. What is wider than its room scrolls there; the page around it stays.
// It is fetched with the first pages that are shown.
import { $, $$, onClick, say } from '../page.js'
import { plain } from '../keys.js'

const steps = [1, 1.25, 1.5, 2, 2.5, 3, 4]
const readable = 16 // px of a line that a double tap makes
const widest = 2250 // px of a page's image
const tapTime = 300 // ms between the taps of a double tap
const tapReach = 30 // px between them

/** Where pages are: the source panel if it shows some, else the document's own page. Its style has --zoom. */
const place = () => $('#source .pages:has(.sheets)') ?? $('.viewer.paged')
const placeOf = sheets => sheets.closest('.pages, .viewer')
const zoomOf = at => Number(at.style.getPropertyValue('--zoom')) || 1

/** Scrolls what is at a place: a panel in both directions, a document's own page sideways in its room and down as a whole. */
function pan(at, dx, dy) {
  if (at.matches('.pages')) at.scrollBy({ left: dx, top: dy, behavior: 'instant' })
  else {
    $('.sheets', at).scrollBy({ left: dx, behavior: 'instant' })
    window.scrollBy({ top: dy, behavior: 'instant' })
  }
}

/** The part of a place that is on the screen. */
function seen(at) {
  const { left, top, right, bottom } = at.getBoundingClientRect()
  return { left: Math.max(left, 0), top: Math.max(top, 0), right: Math.min(right, innerWidth), bottom: Math.min(bottom, innerHeight) }
}
const within = (box, { left, top, right, bottom }) => box.left < right && box.right > left && box.top < bottom && box.bottom > top
const middle = ({ left, top, right, bottom }) => ({ x: (left + right) / 2, y: (top + bottom) / 2 })

/** The point that stays where it is when no finger says which: the marked words if they are on the screen, else the middle. */
function anchor(at) {
  const screen = seen(at)
  const mark = $$('rect.quote', at).map(e => e.getBoundingClientRect()).find(box => within(box, screen))
  return middle(mark ?? screen)
}

const sheetNear = (at, y) => $$('.sheet', at).reduce((best, sheet) => {
  const { top, bottom } = sheet.getBoundingClientRect()
  const far = Math.max(top - y, y - bottom, 0)
  return best && best.far <= far ? best : { sheet, far }
}, null).sheet

/** Shows pages at a place so many times as large; what is at a point stays there. */
function zoom(at, to, { x, y }) {
  const next = Math.min(Math.max(to, 1), steps.at(-1))
  const sheet = sheetNear(at, y)
  const before = sheet.getBoundingClientRect()
  at.style.setProperty('--zoom', next)
  const after = sheet.getBoundingClientRect()
  pan(at, after.left + (x - before.left) / before.width * after.width - x, after.top + (y - before.top) / before.height * after.height - y)
  tell(at, next)
  sharpen(at)
}

/** Brings the buttons up to date, and what scrolls sideways within reach of the keyboard. */
function tell(at, now) {
  const bar = $('.zoom', at) ?? $('.zoom', at.parentElement)
  const percent = `${Math.round(now * 100)} %`
  $('[data-zoom="fit"] .num', bar).textContent = percent
  $('[data-zoom="out"]', bar).disabled = now <= steps[0]
  $('[data-zoom="in"]', bar).disabled = now >= steps.at(-1)
  const sheets = $('.sheets', at)
  if (at.matches('.viewer')) {
    if (now > 1) sheets.tabIndex = 0
    else sheets.removeAttribute('tabindex')
  }
}

/** Larger (1), smaller (-1) or as wide as there is room (0). */
function zoomBy(step) {
  const at = place()
  if (!at) return
  const now = zoomOf(at)
  const to = step === 0 ? 1 : step > 0 ? steps.find(s => s > now + .01) ?? now : steps.findLast(s => s < now - .01) ?? now
  zoom(at, to, anchor(at))
  say(`${Math.round(zoomOf(at) * 100)} %`)
}
onClick('[data-zoom]', button => zoomBy({ in: 1, out: -1, fit: 0 }[button.dataset.zoom]))
for (const [key, step] of [['+', 1], ['=', 1], ['-', -1], ['0', 0]]) plain[key] = () => zoomBy(step) // = is + without Shift

// A larger page gets a sharper picture once it stands. The old one stays until that is there.
let settled = null
function sharpen(at) {
  clearTimeout(settled)
  settled = setTimeout(() => {
    const screen = seen(at)
    for (const image of $$('.sheet img', at)) {
      const box = image.getBoundingClientRect()
      if (!within(box, screen) || !image.complete || image.naturalWidth === 0) continue
      const address = new URL(image.currentSrc)
      const has = Number(address.searchParams.get('width'))
      if (has >= widest || box.width * devicePixelRatio < has * 1.1) continue
      address.searchParams.set('width', widest)
      const sharp = new Image()
      sharp.addEventListener('load', () => { image.removeAttribute('srcset'); image.src = sharp.src }, { once: true })
      sharp.src = address.href
    }
  }, 150)
}

// Fingers. Two of them make larger and move; two taps make a line readable, and the page whole again.
let pinch = null
let tap = null
const between = ([a, b]) => ({ x: (a.clientX + b.clientX) / 2, y: (a.clientY + b.clientY) / 2, far: Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY) })
function start(event) {
  const at = placeOf(event.currentTarget)
  if (event.touches.length === 2) {
    event.preventDefault()
    pinch = { at, zoom: zoomOf(at), ...between(event.touches) }
    pinch.from = pinch.far
  }
  if (event.touches.length !== 1) tap = null
}
function move(event) {
  if (!pinch || event.touches.length !== 2) return
  event.preventDefault()
  const now = between(event.touches)
  pan(pinch.at, pinch.x - now.x, pinch.y - now.y)
  zoom(pinch.at, pinch.zoom * now.far / pinch.from, now)
  Object.assign(pinch, now)
}
function end(event) {
  if (pinch) {
    if (event.touches.length < 2) pinch = null
    tap = null
    return
  }
  const { clientX: x, clientY: y } = event.changedTouches[0]
  const again = tap && event.timeStamp - tap.time < tapTime && Math.hypot(x - tap.x, y - tap.y) < tapReach
  tap = again ? null : { x, y, time: event.timeStamp }
  if (!again) return
  event.preventDefault() // no words are chosen by it
  const at = placeOf(event.currentTarget)
  zoom(at, zoomOf(at) > 1.01 ? 1 : toRead(at, x, y), { x, y })
}
/** How much larger the line nearest to a point must be to be read. */
function toRead(at, x, y) {
  const lines = $$('.words text', sheetNear(at, y)).map(e => e.getBoundingClientRect()).filter(box => box.height > 0)
  const line = lines.reduce((best, box) => {
    const far = Math.hypot(Math.max(box.left - x, x - box.right, 0), Math.max(box.top - y, y - box.bottom, 0))
    return best && best.far <= far ? best : { far, height: box.height }
  }, null)
  return Math.min(Math.max(line ? readable / line.height : 2, 1.5), steps.at(-1))
}
function wheel(event) {
  if (!event.ctrlKey) return
  event.preventDefault()
  const at = placeOf(event.currentTarget)
  zoom(at, zoomOf(at) * Math.exp(-Math.max(-50, Math.min(event.deltaY, 50)) / 200), { x: event.clientX, y: event.clientY })
}

/** Makes pages that have just come listen. */
function listen(sheets) {
  sheets.classList.add('zooms')
  sheets.addEventListener('touchstart', start, { passive: false })
  sheets.addEventListener('touchmove', move, { passive: false })
  sheets.addEventListener('touchend', end, { passive: false })
  sheets.addEventListener('touchcancel', () => { pinch = tap = null })
  sheets.addEventListener('wheel', wheel, { passive: false })
  tell(placeOf(sheets), zoomOf(placeOf(sheets)))
}
for (const sheets of $$('.sheets')) listen(sheets)

// What the panel shows next is as large as what it showed, with the marked words in sight.
let kept = 1
const keep = at => new MutationObserver(() => { kept = zoomOf(at) }).observe(at, { attributeFilter: ['style'] })
const panel = $('#source .pages:has(.sheets)')
if (panel) keep(panel)
document.addEventListener('footnote:source', () => {
  const at = $('#source .pages:has(.sheets)')
  if (!at) return
  at.style.setProperty('--zoom', kept)
  listen($('.sheets', at))
  keep(at)
  if (kept > 1) {
    const mark = ($('rect.quote', at) ?? $('.sheet', at)).getBoundingClientRect()
    const room = at.getBoundingClientRect()
    pan(at, mark.left - room.left - 24, mark.top - room.top - room.height / 3)
    sharpen(at)
  }
})
