// Uploads: one request for each file, three at a time. Of files whose ending no format has, and of those that are too large, the server sees the
// beginning first: what can't be taken is not sent. Each file stays in a list that says what became of it: how much is sent, why it was refused,
// and once it is taken how far the document is, as the server says that.
import { $, forReader, load, onClick } from './page.js'
import { close, draw, ending, open, say } from './arrivals.js'
import { said } from './times.js'

const { known = '', sniff, most } = document.getElementById('piece-uploads')?.dataset ?? {}
const endings = new Set(known.split(','))
const atOnce = 3
const checkedAtOnce = 50
const asked = 200 // documents whose states are asked for in one request

let items = []
let began = 0

const over = item => item.over
/** Whether anything of the list may still change by itself. */
export const unsettled = () => items.some(item => !item.settled)

const show = () => draw(items, began)
const tell = () => document.dispatchEvent(new Event('footnote:uploads'))

/** Sends files: [{ file, path }], path being relative, with the folder it came from. */
export function upload(files) {
  if (files.length === 0) return
  if (items.every(over)) {
    items = []
    began = Date.now()
    open()
  }
  const taken = new Set()
  for (const { file, path } of files) {
    const checked = endings.has(ending(path)) && file.size <= most
    items.push({ file, path: apart(path, taken), checked, loaded: 0, request: null, over: false, settled: false, bad: false, note: say(checked ? 'waiting' : 'checking'), id: '', state: null })
  }
  show()
  tell()
  start()
  check()
}

function start() {
  for (let i = items.filter(item => item.request && !item.over).length; i < atOnce; i++) next()
}

/** Asks the server which files can't be taken. What it does not answer is sent: then it says so anyway. */
let checking = false
async function check() {
  if (checking) return
  checking = true
  for (;;) {
    const some = items.filter(item => !item.checked && !item.over).slice(0, checkedAtOnce)
    if (some.length === 0) break
    const body = new FormData()
    for (const { file, path } of some) {
      body.append('size', file.size)
      body.append('files', file.slice(0, sniff), path)
    }
    const response = await fetch('/documents/check', { method: 'POST', body, headers: forReader }).catch(() => null)
    const { refused } = response?.ok ? await response.json() : { refused: [] }
    for (const { at, detail } of refused) end(some[at], { refused: said(detail), unread: true })
    for (const item of some) {
      item.checked = true
      if (!item.over) item.note = say('waiting')
    }
    start()
    show()
  }
  checking = false
}

/** The path for a file of one drop: of two with one path, the later gets a number, as the server does within a request. */
function apart(named, taken) {
  const [, base, ext] = named.match(/^(.*?)(\.[^./]*)?$/s)
  let path = named
  for (let n = 2; taken.has(path); n++) path = `${base} (${n})${ext ?? ''}`
  taken.add(path)
  return path
}

function next() {
  const item = items.find(one => one.checked && !one.request && !one.over)
  if (!item) return
  const body = new FormData()
  body.append('files', item.file, item.path)
  const request = item.request = new XMLHttpRequest()
  request.open('POST', '/documents')
  for (const [name, value] of Object.entries(forReader)) request.setRequestHeader(name, value)
  request.upload.onprogress = event => { item.loaded = item.file.size * event.loaded / Math.max(event.total, 1); show() }
  request.onload = () => end(item, answer(request))
  request.onerror = () => end(item, { refused: say('failed') })
  request.onabort = () => end(item, { refused: say('stopped') })
  request.send(body)
}

function answer(request) {
  let body = null
  try { body = JSON.parse(request.responseText) } catch { /* said below */ }
  if (body?.rejected?.length) return { refused: said(body.rejected[0].detail) }
  if (request.status >= 300 || !body?.documents?.length) return { refused: body?.detail ? said(body.detail) : say('failed') }
  return { id: body.documents[0].id, already: Boolean(body.documents[0].duplicate_of) }
}

let changed = null
function end(item, { id = '', already = false, refused = '', unread = false }) {
  if (item.over) return
  Object.assign(item, { over: true, unread, loaded: item.file.size, id, already, bad: Boolean(refused), settled: Boolean(refused), note: refused || say('queued') })
  next()
  show()
  clearTimeout(changed)
  changed = setTimeout(() => document.dispatchEvent(new Event('footnote:documents')), 150)
}

/** Asks how far the documents are: those that are on their way, and those that are shown. */
let latest = 0
async function follow() {
  const mine = ++latest
  const taken = items.filter(item => item.id && (!item.settled || item.row?.isConnected))
  for (let i = 0; i < taken.length; i += asked) {
    const some = taken.slice(i, i + asked)
    const ids = [...new Set(some.map(item => item.id))].join()
    const html = await load(`/documents/states?ids=${encodeURIComponent(ids)}`, { 'HX-Request': 'true', Accept: 'text/html' }).catch(() => null) // the next change may do better
    if (html === null || mine !== latest) return
    const template = document.createElement('template')
    template.innerHTML = html
    for (const item of some) {
      const state = $(`[data-id="${CSS.escape(item.id)}"]`, template.content)
      item.state = state
      item.note = say('gone')
      item.bad = state?.dataset.state === 'failed'
      item.settled = !state || 'settled' in state.dataset
    }
  }
  if (taken.length > 0) show()
}
document.addEventListener('footnote:documents', follow)

onClick('[data-do="upload-cancel"]', () => {
  for (const item of items) {
    if (item.over) continue
    if (item.request) item.request.abort()
    else end(item, { refused: say('stopped') })
  }
})
onClick('[data-do="upload-close"]', () => { close(); items = [] })
addEventListener('beforeunload', event => { if (!items.every(over)) event.preventDefault() })

// Buttons that choose files or a folder, and the control of the drop zone.
// Hidden files of a folder, like those that systems put beside others, are nobody's documents.
const path = file => file.webkitRelativePath || file.name
const hidden = ({ path }) => path.includes('/') && path.split('/').some(part => part.startsWith('.'))
function choose(folder) {
  const input = document.createElement('input')
  input.type = 'file'
  input.multiple = true
  if (folder) input.webkitdirectory = true
  input.addEventListener('change', () => upload([...input.files].map(file => ({ file, path: path(file) })).filter(file => !hidden(file))))
  input.click()
}
onClick('[data-do="add-files"]', () => choose(false))
onClick('[data-do="add-folder"]', () => choose(true))
document.addEventListener('change', event => {
  if (!event.target.matches('form[data-drop] input[type=file]')) return
  upload([...event.target.files].map(file => ({ file, path: path(file) })))
  event.target.value = ''
})
