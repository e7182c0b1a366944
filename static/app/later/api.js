// The page of the API: an operation is described from /openapi.json when it is opened, with a form that sends its request.
import { $, $$ } from '../page.js'

const most = 200_000 // characters of an answer that are shown
const notBlank = '[^\\s\\x00]' // the pattern of most texts
const el = (tag, props = {}, ...inner) => {
  const node = Object.assign(document.createElement(tag), props)
  node.append(...inner)
  return node
}
const number = n => n.toLocaleString('en')
let api = null

async function fill(box) {
  api ??= await fetch('/openapi.json').then(response => response.json())
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, op] of Object.entries(methods)) {
      if (op.operationId === box.id) box.append(...describe(path, method.toUpperCase(), op))
    }
  }
}

function describe(path, method, op) {
  const bodies = Object.entries(op.requestBody?.content ?? {})
  const json = op.requestBody?.content['application/json']
  const answers = Object.entries(op.responses)
  const parts = []
  if (op.parameters) parts.push(el('h3', {}, 'Parameters'), el('dl', { className: 'api-fields' }, ...op.parameters.map(p => field(p.name, { ...p.schema, description: p.description }, p.required, p.in))))
  for (const [kind, { schema }] of bodies) parts.push(el('h3', {}, `Body: ${kind}`), fields(schema, true))
  if (json || !bodies.length) {
    const example = json && JSON.stringify(json.example)
    const command = [`curl ${method === 'GET' ? '' : `-X ${method} `}${location.origin}${path}`]
    if (keys) command.push("-H 'X-API-Key: fn_…'")
    if (json) command.push("-H 'Content-Type: application/json'", `-d '${example}'`)
    const accepts = [...new Set(answers.filter(([status]) => status < 400).flatMap(([, { content }]) => Object.keys(content ?? {})))]
    parts.push(el('pre', { tabIndex: 0 }, el('code', {}, command.join(' \\\n  '))), tryForm(path, method, json, accepts))
  }
  const outcomes = some => el('ul', { className: 'api-answers' }, ...some.map(outcome))
  const failures = el('details', {}, el('summary', {}, 'Failures'), outcomes(answers.filter(([status]) => status >= 400)))
  return [...parts, el('h3', {}, 'Answers'), outcomes(answers.filter(([status]) => status < 400)), failures]
}

const outcome = ([status, { description, content }]) => el('li', {}, el('b', { className: 'num' }, status), el('span', {}, description,
  ...Object.entries(content ?? {}).map(([kind, { schema }]) => el('span', { className: 'api-kind' }, `${kind} `, ...nested(schema, false)))))

/** The fields of an object; asked: of a request, in which some are needed. */
function fields(schema, asked) {
  const object = api.components.schemas[component(schema)] ?? schema
  return el('dl', { className: 'api-fields' }, ...Object.entries(object.properties ?? {}).map(([name, of]) => field(name, of, asked && object.required?.includes(name), '', asked)))
}

const field = (name, schema, needed, where, asked) => el('div', {},
  el('dt', {}, el('code', {}, name), ...[where, type(schema)].filter(Boolean).map(text => el('small', {}, text)), ...(needed ? [el('small', { className: 'api-need' }, 'needed')] : [])),
  el('dd', {}, schema.description ?? '', ' ', el('span', { className: 'quiet' }, bounds(schema)), ...nested(schema, asked)))

/** The fields of a named type, which come when it is opened. */
function nested(schema, asked) {
  const name = component(schema)
  if (!name) return []
  const box = el('details', {}, el('summary', {}, name))
  box.addEventListener('toggle', () => box.append(fields(schema, asked)), { once: true })
  return [box]
}

const component = s => s && (s.$ref?.split('/').pop() ?? component(s.anyOf?.[0] ?? s.items ?? (s.additionalProperties || undefined)))

function type(s) {
  const kind = [s?.type].flat().find(one => one !== 'null')
  if (s?.$ref) return component(s)
  if (s?.anyOf) return type(s.anyOf[0])
  if (s?.oneOf) return s.oneOf.map(type).join(' or ')
  if (kind === 'array') return `list of ${type(s.items)}`
  if (kind === 'object') return s.additionalProperties?.$ref ? `object of ${component(s)}` : 'object'
  if (kind === 'string') return { 'date-time': 'time', binary: 'file' }[s.format] ?? 'text'
  return { integer: 'whole number', boolean: 'true or false' }[kind] ?? kind ?? String(s?.const ?? 'any value')
}

function bounds(s) {
  const range = (low, high, unit) => {
    if (low === undefined) return high !== undefined && `at most ${number(high)}${unit}`
    if (high === undefined) return `at least ${number(low)}${unit}`
    return `${low === high ? '' : `${number(low)} to `}${number(high)}${unit}`
  }
  return [range(s.minimum, s.maximum, ''), range(s.minLength, s.maxLength, ' characters'), range(s.minItems, s.maxItems, ' entries'),
    s.enum?.filter(Boolean).join(', '), s.pattern && s.pattern !== notBlank && `form ${s.pattern}`, s.default !== undefined && `default ${s.default}`].filter(Boolean).join('; ')
}

function tryForm(path, method, json, accepts) {
  const form = el('form', {}, el('label', {}, 'Address', el('input', { name: 'path', value: path, required: true })))
  if (keys) form.append(el('label', {}, 'Key (X-API-Key)', el('input', { name: 'key', type: 'password' })))
  if (accepts.length > 1) form.append(el('label', {}, 'Answer as', el('select', { name: 'accept' }, ...accepts.map(kind => el('option', {}, kind)))))
  if (json) form.append(el('label', {}, 'Body', el('textarea', { name: 'body', rows: 6, value: JSON.stringify(json.example, null, 2) })))
  for (const input of $$('input, textarea', form)) Object.assign(input, { autocomplete: 'off', spellcheck: false })
  form.append(el('p', { className: 'api-send' }, el('button', { className: 'btn' }, `Send ${method}`),
    el('button', { className: 'btn', type: 'button', name: 'stop', hidden: true }, 'Stop'), el('output')), el('pre', { tabIndex: 0, ariaLabel: 'Answer', hidden: true }))
  form.addEventListener('submit', event => {
    event.preventDefault()
    send(form, method)
  })
  return el('details', { className: 'api-try' }, el('summary', {}, 'Try it'), form)
}

async function send(form, method) {
  const { path, key, accept, body, stop } = form.elements
  const state = $('output', form), shown = $('pre', form), button = $('button', form)
  const begun = performance.now()
  const took = () => `${((performance.now() - begun) / 1000).toFixed(2)} s`
  const abort = new AbortController()
  const headers = { Accept: accept?.value ?? 'application/json, */*;q=0.5' }
  if (key?.value) headers['X-API-Key'] = key.value.trim()
  if (body) headers['Content-Type'] = 'application/json'
  stop.onclick = () => abort.abort()
  button.disabled = true
  stop.hidden = false
  shown.hidden = true
  shown.textContent = ''
  state.textContent = 'Sending'
  try {
    const url = new URL(path.value, location.origin)
    if (url.origin !== location.origin) throw new Error('The address must be one of this server.')
    const res = await fetch(url, { method, headers, body: body?.value, signal: abort.signal })
    const status = `${res.status} ${res.statusText}`.trim()
    state.textContent = `${status}: receiving`
    const size = await show(res, shown)
    state.textContent = `${status} · ${took()}${size ? ` · ${size}` : ''}`
  } catch (error) {
    state.textContent = abort.signal.aborted ? `Stopped after ${took()}` : `Nothing came: ${error.message}`
  } finally {
    button.disabled = false
    stop.hidden = true
  }
}

// show writes an answer's text as it comes and returns its size in words. What is no text is not shown.
async function show(res, shown) {
  const kind = (res.headers.get('Content-Type') ?? '').split(';')[0]
  if (!res.body || res.status === 204) return 'no content'
  if (!/^text\/|json$|xml$/.test(kind)) {
    await res.body.cancel()
    return `${kind}, not shown`
  }
  shown.hidden = false
  const decoder = new TextDecoder(), reader = res.body.getReader()
  let text = '', length = 0
  for (;;) {
    const { done, value } = await reader.read()
    const piece = decoder.decode(value, { stream: !done })
    length += piece.length
    if (text.length < most) {
      const room = piece.slice(0, most - text.length)
      text += room
      shown.append(room)
    }
    if (done) break
  }
  if (kind.endsWith('json') && length <= most) {
    try {
      shown.textContent = JSON.stringify(JSON.parse(text), null, 2)
    } catch { // it stays as it came
    }
  }
  const cut = length > most ? `, of which ${number(most)} are shown` : ''
  return `${number(length)} characters${cut}`
}

const keys = 'keys' in $('#api').dataset
for (const box of $$('.api-op')) box.addEventListener('toggle', () => fill(box), { once: true })
const openNamed = () => {
  const box = $$('.api-op').find(({ id }) => `#${id}` === location.hash)
  if (box) box.open = true
}
addEventListener('hashchange', openNamed)
openNamed()
