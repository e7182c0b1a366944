// What the parts of the script share.
export const $ = (selector, at = document) => at.querySelector(selector)
export const $$ = (selector, at = document) => [...at.querySelectorAll(selector)]

/** The page's language, as Intl wants it. */
export const language = document.documentElement.lang === 'en' ? 'en-GB' : document.documentElement.lang
const oneDecimal = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 })
export const decimal = x => oneDecimal.format(x)

/** A copy of one of the page's hidden pieces; their words come from the server. */
export const piece = name => document.getElementById(`piece-${name}`).content.firstElementChild.cloneNode(true)
export const pieces = name => [...document.getElementById(`piece-${name}`).content.cloneNode(true).children]
export const word = name => $(`[data-word="${name}"]`, document.getElementById('piece-words').content).textContent

/** The headers of a request for JSON whose sentences the reader sees. */
export const forReader = { Accept: 'application/json', 'Footnote-Page': 'true' }

/** Runs what on clicks on elements that match, now and later. */
export function onClick(selector, what) {
  document.addEventListener('click', event => {
    const hit = event.target.closest?.(selector)
    if (hit) what(hit, event)
  })
}

/** Says something to screen readers, at most once every two seconds, the latest last. */
let spoken = 0
let waiting = null
export function say(text) {
  const line = $('#live')
  if (!line || !text || line.textContent === text) return
  clearTimeout(waiting)
  waiting = setTimeout(() => { spoken = Date.now(); line.textContent = text }, Math.max(0, spoken + 2000 - Date.now()))
}

/** Fetches text of our own server. */
export async function load(url, headers = {}) {
  const response = await fetch(url, { headers, credentials: 'same-origin' })
  if (!response.ok) throw new Error(`${url}: ${response.status}`)
  return response.text()
}

// The grid of a sheet scrolls by itself: brings marked words in it to a third of its height, and into its width.
export function showInGrid(words) {
  const grid = words.closest('.grid')
  if (!grid) return
  const at = words.getBoundingClientRect(), room = grid.getBoundingClientRect()
  grid.scrollTop += at.top - room.top - grid.clientHeight / 3
  if (at.right > room.right) grid.scrollLeft += at.right - room.right + 24
}
