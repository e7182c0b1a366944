// The list of files that arrive: a few rows, those that were refused or failed first, and a way to open the rest.
import { $, decimal, onClick, piece } from './page.js'

const words = document.getElementById('piece-upload-words')?.content
export const say = (name, values = {}) => $(`[data-word="${name}"]`, words).textContent.replace(/\{(\w+)\}/g, (_, key) => values[key] ?? '')

/** The ending of a file's name, with its dot, in small letters; empty when it has none. */
export const ending = path => /[^/](\.[^./]*)$/.exec(path)?.[1].toLowerCase() ?? ''

const few = 6 // rows that are shown at first
const fewEndings = 8
let box = null
let all = false // the rest is open

/** Makes an empty list where the page has a place for it, else in a corner. */
export function open() {
  close()
  box = piece('uploads')
  const place = $('#uploads-place')
  if (place) place.append(box)
  else {
    box.classList.add('floating')
    document.body.append(box)
  }
}

export function close() {
  box?.remove()
  box = null
  all = false
}

/** Shows the files as they are now, at the next picture. */
let shown = null
let waits = false
export function draw(items, began) {
  shown = { items, began }
  if (waits) return
  waits = true
  requestAnimationFrame(() => { waits = false; paint() })
}

function paint() {
  if (!box) return
  const left = shown.items.filter(item => item.unread && item.path.includes('/')) // of a folder: they are counted
  const items = shown.items.filter(item => !left.includes(item))
  head(items, shown.began)
  const ordered = [...items.filter(item => item.bad), ...items.filter(item => !item.bad)]
  const visible = all || items.length <= few + 1 ? ordered : ordered.slice(0, few)
  const rows = visible.map(row)
  const list = $('.upload-files', box)
  for (const old of [...list.children]) if (!rows.includes(old)) old.remove()
  rows.forEach((one, i) => { if (list.children[i] !== one) list.insertBefore(one, list.children[i] ?? null) })
  const more = $('[data-do="upload-more"]', box)
  more.hidden = visible.length === items.length
  put(more, say('more', { n: items.length - visible.length }))
  const line = $('.upload-left', box)
  line.hidden = left.length === 0
  put(line, say(left.length === 1 ? 'left-one' : 'left-many', { n: left.length, kinds: kinds(left) }))
  $('.upload-kinds', box).hidden = !shown.items.some(item => item.unread)
}

/** Counts the endings of files, the most frequent ones first: "9 .mov, 3 .psd". */
function kinds(items) {
  const counts = Map.groupBy(items, item => ending(item.path))
  const sorted = [...counts].map(([name, some]) => [some.length, name || say('no-ending')]).sort(([a, x], [b, y]) => b - a || x.localeCompare(y))
  const words = sorted.slice(0, fewEndings).map(([n, name]) => `${n} ${name}`)
  if (sorted.length > fewEndings) words.push(say('other-endings', { n: sorted.length - fewEndings }))
  return words.join(', ')
}

function row(item) {
  if (!item.row) {
    item.row = piece('upload-file')
    $('.upload-name', item.row).textContent = item.path
    $('progress', item.row).setAttribute('aria-label', item.path)
  }
  item.row.classList.toggle('refused', item.bad)
  const sending = Boolean(item.request) && !item.over
  const bar = $('.upload-name + progress', item.row)
  bar.hidden = !sending
  bar.max = Math.max(item.file.size, 1)
  bar.value = item.loaded
  const word = $('.upload-word', item.row)
  if (item.state) {
    if (item.drawn !== item.state.innerHTML) word.innerHTML = item.drawn = item.state.innerHTML
    word.classList.remove('bad')
  } else {
    const text = sending ? `${Math.round(100 * item.loaded / Math.max(item.file.size, 1))} %` : item.note
    put(word, text)
    item.drawn = ''
    word.classList.toggle('bad', item.bad)
  }
  put($('.upload-already', item.row), item.already ? say('already') : '')
  return item.row
}

const mb = bytes => (bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1000))} kB` : `${decimal(bytes / 1e6)} MB`)
const put = (element, text) => { if (element.textContent !== text) element.textContent = text }

function head(items, began) {
  const over = items.filter(item => item.over).length
  const running = over < items.length
  const working = running || items.some(item => !item.settled)
  const taken = items.filter(item => item.id)
  const ready = taken.filter(item => item.state?.dataset.state === 'ready').length
  put($('.upload-head', box), running ? say('count', { done: over + 1, all: items.length })
    : working ? say('reading', { done: ready, all: taken.length }) : items.length === 0 ? say('none') : say('end', { done: ready, all: items.length }))
  put($('.upload-rest', box), running ? rest(items, began) : '')
  const bar = $(':scope > progress', box)
  bar.max = Math.max(items.reduce((sum, item) => sum + item.file.size, 0), 1)
  bar.value = items.reduce((sum, item) => sum + item.loaded, 0)
  bar.hidden = !running
  $(':scope > div > .icon', box).toggleAttribute('hidden', !working)
  $('[data-do="upload-cancel"]', box).hidden = !running
  $('[data-do="upload-close"]', box).hidden = running
  $('[data-show]', box).hidden = running || Boolean($('#documents')) || taken.length === 0
}

function rest(items, began) {
  const total = items.reduce((sum, item) => sum + item.file.size, 0)
  const loaded = items.reduce((sum, item) => sum + item.loaded, 0)
  const rate = loaded / Math.max(Date.now() - began, 1)
  const left = rate > 0 ? Math.ceil((total - loaded) / rate / 1000) : 0
  const time = left < 90 ? `${left} s` : `${Math.round(left / 60)} min`
  return say('of', { done: mb(loaded), all: mb(total) }) + (left > 2 ? ' · ' + say('left', { time }) : '')
}

onClick('[data-do="upload-more"]', () => {
  all = true
  paint()
  $('.upload-files', box).focus()
})
