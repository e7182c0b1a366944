// Starts the real binary for a test: its own data directory, a free port, Chromium beside it.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { chromium } from 'playwright-core'

const root = resolve(import.meta.dirname, '..')
const binary = process.env.FOOTNOTE_BIN ?? join(root, 'bin/footnote')

/** A port of the loopback interface that nobody uses at the moment. */
export function freePort() {
  return new Promise((done, fail) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => done(port))
    })
    probe.on('error', fail)
  })
}

/** Resolves once url answers with 200; fails after 20 s or when the process ends before. */
async function healthy(url, child, log) {
  const until = Date.now() + 20_000
  while (Date.now() < until) {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}:\n${log.text}`)
    const ok = await fetch(url).then(r => r.ok, () => false)
    if (ok) return
    await new Promise(r => setTimeout(r, 50))
  }
  throw new Error(`no answer from ${url} in 20 s:\n${log.text}`)
}

function start(command, args, env) {
  const log = { text: '' }
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr]) stream.on('data', d => { log.text += d })
  const ended = new Promise(done => child.on('exit', done))
  return { child, log, ended, async stop(signal = 'SIGTERM') { if (child.exitCode === null) child.kill(signal); await ended } }
}

/** The fake model server: real HTTP, scripted answers. Options: delay per token in ms. */
export async function modelServer({ delay = 0, tokens = 0 } = {}) {
  const port = await freePort()
  const args = ['-addr', `127.0.0.1:${port}`, '-delay', `${delay}ms`]
  if (tokens) args.push('-tokens', String(tokens))
  const process_ = start(join(root, 'bin/scriptedserver'), args, {})
  await healthy(`http://127.0.0.1:${port}/v1/models`, process_.child, process_.log)
  return { url: `http://127.0.0.1:${port}/v1`, stop: process_.stop }
}

/** A Footnote server. restart() keeps data and port. */
export async function footnote(env = {}) {
  const data = mkdtempSync(join(tmpdir(), 'footnote-e2e-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const settings = { OPENAI_API_KEY: '', OPENAI_BASE_URL: '', FOOTNOTE_DATA: data, FOOTNOTE_ADDR: `127.0.0.1:${port}`, ...env }
  let process_
  const up = async () => {
    process_ = start(binary, ['serve'], settings)
    await healthy(`${url}/health`, process_.child, process_.log)
  }
  await up()
  return {
    url, data, settings,
    log: () => process_.log.text,
    async restart(signal = 'SIGTERM', whileDown = async () => {}) { await process_.stop(signal); await whileDown(); await up() },
    async stop() { await process_.stop(); rmSync(data, { recursive: true, force: true }) },
    run: (...args) => {
      const p = start(binary, args, settings)
      return p.ended.then(code => ({ code, text: p.log.text }))
    },
  }
}

/** Chromium with a list of everything the pages complained about. */
export async function browser() {
  const instance = await chromium.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  })
  return {
    instance,
    async page(options = {}) {
      const context = await instance.newContext({ viewport: { width: 1440, height: 900 }, ...options })
      const page = await context.newPage()
      page.setDefaultTimeout(15_000)
      const complaints = []
      page.on('console', m => { if (m.type() === 'error' || m.type() === 'warning') complaints.push(`${m.type()}: ${m.text()} ${m.location().url}`) })
      page.on('pageerror', e => complaints.push(`exception: ${e.message}`))
      page.on('request', r => { if (!r.url().startsWith('http://127.0.0.1') && !r.url().startsWith('data:') && !r.url().startsWith('blob:')) complaints.push(`foreign request: ${r.url()}`) })
      return { page, context, complaints }
    },
    close: () => instance.close(),
  }
}

/** Adds files by the API and waits until they are ready. files: {name: content (string or Buffer)} */
export async function add(server, files) {
  const form = new FormData()
  for (const [name, content] of Object.entries(files)) form.append('files', new Blob([content]), name)
  const response = await fetch(`${server.url}/documents`, { method: 'POST', body: form, headers: { Accept: 'application/json' } })
  const answer = await response.json()
  if (answer.rejected?.length) throw new Error(JSON.stringify(answer.rejected))
  const ids = []
  for (const { id } of answer.documents) {
    const until = Date.now() + 30_000
    for (;;) {
      const doc = await (await fetch(`${server.url}/documents/${id}`)).json()
      if (doc.state === 'ready') break
      if (doc.state === 'failed' || Date.now() > until) throw new Error(JSON.stringify(doc))
      await new Promise(r => setTimeout(r, 50))
    }
    ids.push(id)
  }
  return ids
}
