// The forms of the API's page: each sends its request and shows what comes, a stream as it comes.
const most = 200_000 // characters of an answer that are shown

for (const form of document.querySelectorAll('form[data-try]')) {
  form.closest('details').hidden = false
  form.addEventListener('submit', event => {
    event.preventDefault()
    send(form)
  })
}

async function send(form) {
  const { path, key, accept, body, stop } = form.elements
  const state = form.querySelector('output'), shown = form.querySelector('pre'), button = form.querySelector('button')
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
    const res = await fetch(url, { method: form.dataset.try, headers, body: body?.value, signal: abort.signal })
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
  const cut = length > most ? `, of which ${most.toLocaleString('en')} are shown` : ''
  return `${length.toLocaleString('en')} characters${cut}`
}
