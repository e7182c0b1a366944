// Starts the real programs for the tests: Footnote on a data directory of its own, the scripted model's server, and
// proxies whose connections can be cut or held up.
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
export const binary = process.env.FOOTNOTE_BIN ?? join(root, 'bin/footnote')
const scripted = process.env.SCRIPTED_BIN ?? join(root, 'bin/scriptedserver')

/** Resolves once check() gives something true; fails with what() after ms. */
export async function until(check, what, ms = 20_000) {
  const end = Date.now() + ms
  for (;;) {
    const got = await check()
    if (got) return got
    if (Date.now() > end) throw new Error(`not within ${ms} ms: ${typeof what === 'function' ? what() : what}`)
    await new Promise(r => setTimeout(r, 25))
  }
}

/**
 * A port of the loopback interface that nobody uses at the moment. It is below those that the system gives out by itself (32768 and up), so that
 * nobody gets it before its server listens, or while that is being restarted.
 */
export async function freePort() {
  for (;;) {
    const port = randomInt(20_000, 32_768)
    const free = await new Promise(done => {
      const probe = createServer().on('error', () => done(false)).listen(port, '127.0.0.1', () => probe.close(() => done(true)))
    })
    if (free) return port
  }
}

export function start(command, args, env) {
  const log = { text: '' }
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr]) stream.on('data', d => { log.text += d })
  let over = false
  const ended = new Promise((done, fail) => { child.on('error', fail); child.on('exit', code => { over = true; done(code) }) })
  return { log, ended, over: () => over, async stop(signal = 'SIGTERM') { if (!over) child.kill(signal); await ended } }
}

/** Resolves once url answers with 200; fails when the process ends before. */
export const healthy = (url, process_, ms) => until(() => {
  if (process_.over()) throw new Error(`the process ended:\n${process_.log.text}`)
  return fetch(url).then(r => r.ok, () => false)
}, () => `an answer from ${url}\n${process_.log.text}`, ms)

/**
 * The model's server: real HTTP, scripted answers. delay: ms before each token; tokens: how many an answer has. While it is held,
 * nothing that it says arrives, so that a test can do something in the middle of a run however slow the machine is.
 */
export async function modelServer({ delay = 0, tokens = 0 } = {}) {
  const port = await freePort()
  const process_ = start(scripted, ['-addr', `127.0.0.1:${port}`, '-delay', `${delay}ms`, '-tokens', String(tokens)], {})
  await healthy(`http://127.0.0.1:${port}/v1/models`, process_)
  const way = await proxy(port)
  return {
    env: { OPENAI_BASE_URL: `${way.url}/v1`, OPENAI_MODEL: 'scripted' },
    hold: way.hold, holdAfter: way.holdAfter, holdAfterReply: way.holdAfterReply, release: way.release,
    async stop() { await way.stop(); await process_.stop() },
  }
}

/** A Footnote server. restart() keeps data and port. */
export async function footnote(env = {}) {
  const data = mkdtempSync(join(tmpdir(), 'footnote-e2e-'))
  const cache = join(tmpdir(), 'footnote-e2e-cache') // the compiled PDF reader, which is the same for all of them
  mkdirSync(cache, { recursive: true })
  symlinkSync(cache, join(data, 'cache'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const settings = { OPENAI_API_KEY: '', OPENAI_BASE_URL: '', FOOTNOTE_DATA: data, FOOTNOTE_ADDR: `127.0.0.1:${port}`, FOOTNOTE_CONFIG: '', ...env }
  let process_
  const up = async () => {
    process_ = start(binary, ['serve'], settings)
    await healthy(`${url}/health`, process_)
  }
  await up()
  return {
    url, port, up,
    log: () => process_.log.text,
    down: signal => process_.stop(signal),
    async restart(signal) { await process_.stop(signal); await up() },
    async stop() { await process_.stop(); rmSync(data, { recursive: true, force: true }) },
    json: async path => (await fetch(url + path, { headers: { Accept: 'application/json' } })).json(),
  }
}

/** A way to a server. Cut: connections break, new ones are refused, until it heals. Held: nothing comes back, until it is released;
 * holdAfter: that begins by itself when a model has sent n pieces of one reply, and is told then; holdAfterReply: when it has ended one. */
export async function proxy(port) {
  const pairs = new Set()
  let [broken, held, after, reached, replied] = [false, false, Infinity]
  const hold = () => { held = true; for (const { from, to } of pairs) to.unpipe(from) }
  const listener = createServer(from => {
    if (broken) { from.destroy(); return }
    const to = connect(port, '127.0.0.1')
    const pair = { from, to }
    pairs.add(pair)
    for (const [socket, other] of [[from, to], [to, from]]) socket.on('error', () => {}).on('close', () => { pairs.delete(pair); other.destroy() })
    from.pipe(to)
    if (held) to.pause()
    else to.pipe(from)
    let pieces = 0 // of the reply that is under way
    to.on('data', data => {
      const replies = String(data).split('[DONE]')
      if (replies.length > 1) {
        pieces = 0
        if (replied) {
          hold()
          replied()
          replied = null
        }
      }
      pieces += replies.at(-1).split('"content":"').length - 1
      if (pieces < after) return
      after = Infinity
      hold()
      reached()
    })
  })
  await new Promise(done => listener.listen(0, '127.0.0.1', done))
  const destroy = () => { for (const { from, to } of pairs) { from.destroy(); to.destroy() } }
  return {
    url: `http://127.0.0.1:${listener.address().port}`,
    cut() { broken = true; destroy() },
    heal() { broken = false },
    hold,
    holdAfter: n => new Promise(done => { [after, reached] = [n, done] }),
    holdAfterReply: () => new Promise(done => { replied = done }),
    release() { if (!held) return; held = false; for (const { from, to } of pairs) to.pipe(from) },
    async stop() { destroy(); await new Promise(done => listener.close(done)) },
  }
}

/** Adds files by the API and waits until they are ready. files: {name: content (string or Buffer)} */
export async function add(server, files) {
  const form = new FormData()
  for (const [name, content] of Object.entries(files)) form.append('files', new Blob([content]), name)
  const response = await fetch(`${server.url}/documents`, { method: 'POST', body: form, headers: { Accept: 'application/json' } })
  const answer = await response.json()
  if (!answer.documents || answer.rejected.length) throw new Error(JSON.stringify(answer))
  for (const { id } of answer.documents) await ready(server, id)
  return Object.fromEntries(answer.documents.map(d => [d.filename, d.id]))
}

/** Waits until a document can be searched. */
export const ready = (server, id) => until(async () => {
  const doc = await server.json(`/documents/${id}`)
  if (doc.state === 'failed') throw new Error(JSON.stringify(doc))
  return doc.state === 'ready'
}, `document ${id} is ready`, 60_000)
