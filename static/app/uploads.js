// Uploads: one request for each file, three at a time, each with its progress; what the server refuses stays listed with its reason.
import { $, $$, onClick, piece } from './page.js'
import { said } from './times.js'

const words = document.getElementById('piece-upload-words')?.content
export const say = (name, values = {}) => $(`[data-word="${name}"]`, words).textContent.replace(/\{(\w+)\}/g, (_, key) => values[key] ?? '')
const atOnce = 3
const rowsShown = 100

let items = []
let box = null
let began = 0
let changed = null

/** Sends files: [{ file, path }], path being relative, with the folder it came from. */
export function upload(files) {
  if (files.length === 0) return
  if (!box?.isConnected) open()
  if (!items.some(item => !item.over)) { items = []; began = Date.now(); $('.upload-files', box).replaceChildren() }
  const taken = new Set()
  for (const { file, path: named } of files) {
    const path = apart(named, taken)
    const item = { file, path, loaded: 0, over: false, ok: false, request: null, row: null }
    items.push(item)
    if (items.length <= rowsShown) row(item)
  }
  draw()
  for (let i = items.filter(item => item.request && !item.over).length; i < atOnce; i++) next()
}

/** The path for a file of one drop: of two with one path, the later gets a number, as the server does within a request. */
function apart(named, taken) {
  const [, base, ext] = named.match(/^(.*?)(\.[^./]*)?$/s)
  let path = named
  for (let n = 2; taken.has(path); n++) path = `${base} (${n})${ext ?? ''}`
  taken.add(path)
  return path
}

function open() {
  box = piece('uploads')
  const place = $('#uploads-place')
  if (place) place.replaceChildren(box)
  else { box.classList.add('floating'); document.body.append(box) }
}

function row(item) {
  item.row = piece('upload-file')
  $('.upload-name', item.row).textContent = item.path
  $('progress', item.row).setAttribute('aria-label', item.path)
  $('.upload-word', item.row).textContent = say('waiting')
  $('.upload-files', box).append(item.row)
}

function next() {
  const item = items.find(one => !one.request && !one.over)
  if (!item) return
  const body = new FormData()
  body.append('files', item.file, item.path)
  const request = item.request = new XMLHttpRequest()
  request.open('POST', '/documents')
  request.setRequestHeader('Accept', 'application/json')
  request.upload.onprogress = event => { item.loaded = item.file.size * event.loaded / Math.max(event.total, 1); draw() }
  request.onload = () => end(item, answer(request))
  request.onerror = () => end(item, { refused: say('failed') })
  request.onabort = () => end(item, { refused: say('stopped') })
  request.send(body)
}

function answer(request) {
  let body = null
  try { body = JSON.parse(request.responseText) } catch { /* said below */ }
  if (body?.rejected?.length) return { refused: said(body.rejected[0].detail) }
  if (request.status >= 300 || !body) return { refused: body?.detail ? said(body.detail) : say('failed') }
  return { done: body.documents?.[0]?.duplicate_of ? say('already') : say('done') }
}

function end(item, { done, refused }) {
  if (item.over) return
  item.over = true
  item.ok = Boolean(done)
  item.loaded = item.file.size
  if (refused && !item.row) row(item)
  if (item.row) {
    $('progress', item.row).remove()
    const note = $('.upload-word', item.row)
    note.textContent = done ?? refused
    note.classList.toggle('bad', Boolean(refused))
    item.row.classList.toggle('refused', Boolean(refused))
  }
  next()
  draw()
  clearTimeout(changed)
  changed = setTimeout(() => document.dispatchEvent(new Event('footnote:documents')), 150)
  if (items.every(one => one.over)) document.dispatchEvent(new CustomEvent('footnote:uploaded', { detail: { all: items.length, ok: items.filter(one => one.ok).length } }))
}

const mb = bytes => (bytes < 1e6 ? `${Math.max(1, Math.round(bytes / 1000))} kB` : `${(bytes / 1e6).toFixed(1)} MB`)

function draw() {
  if (!box) return
  const total = items.reduce((sum, item) => sum + item.file.size, 0)
  const loaded = items.reduce((sum, item) => sum + item.loaded, 0)
  const over = items.filter(item => item.over).length
  const running = over < items.length
  const rate = loaded / Math.max(Date.now() - began, 1)
  const left = rate > 0 ? Math.ceil((total - loaded) / rate / 1000) : 0
  const head = running ? say('count', { done: Math.min(over + 1, items.length), all: items.length }) : say('end', { done: items.filter(item => item.ok).length, all: items.length })
  if ($('.upload-head', box).textContent !== head) $('.upload-head', box).textContent = head
  $('.upload-rest', box).textContent = running ? say('of', { done: mb(loaded), all: mb(total) }) + (left > 2 ? ' · ' + say('left', { time: left < 90 ? `${left} s` : `${Math.round(left / 60)} min` }) : '') : ''
  const bar = $(':scope > progress', box)
  bar.max = Math.max(total, 1)
  bar.value = loaded
  bar.hidden = !running
  $('.icon.spin, .icon.still', box).classList.toggle('spin', running)
  $(':scope > div > .icon', box).toggleAttribute('hidden', !running)
  $('[data-do="upload-cancel"]', box).hidden = !running
  $('[data-do="upload-close"]', box).hidden = running
  const show = $('[data-show]', box)
  show.hidden = running || Boolean($('#documents')) || !items.some(item => item.ok)
  for (const item of items) {
    if (!item.row || item.over || !item.request) continue
    const file = $('progress', item.row)
    file.max = Math.max(item.file.size, 1)
    file.value = item.loaded
    $('.upload-word', item.row).textContent = `${Math.round(100 * item.loaded / Math.max(item.file.size, 1))} %`
  }
}

onClick('[data-do="upload-cancel"]', () => {
  for (const item of items) {
    if (item.over) continue
    if (item.request) item.request.abort()
    else end(item, { refused: say('stopped') })
  }
})
onClick('[data-do="upload-close"]', () => { box?.remove(); box = null; items = [] })
addEventListener('beforeunload', event => { if (items.some(item => !item.over)) event.preventDefault() })

// Buttons that choose files or a folder.
function choose(folder) {
  const input = document.createElement('input')
  input.type = 'file'
  input.multiple = true
  if (folder) input.webkitdirectory = true
  input.addEventListener('change', () => upload([...input.files].map(file => ({ file, path: file.webkitRelativePath || file.name }))))
  input.click()
}
onClick('[data-do="add-files"]', () => choose(false))
onClick('[data-do="add-folder"]', () => choose(true))
for (const form of $$('form[data-drop]')) {
  $('input[type=file]', form)?.addEventListener('change', event => {
    upload([...event.target.files].map(file => ({ file, path: file.name })))
    event.target.value = ''
  })
}

// On the first page, what was taken is shown where it is being read in.
document.addEventListener('footnote:uploaded', event => {
  if ($('form[data-drop]') && event.detail.ok === event.detail.all) location.href = '/documents'
})
