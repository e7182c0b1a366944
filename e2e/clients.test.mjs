// The official clients of the AI SDK and of AG-UI against /ui/chat and /ag-ui.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { HttpAgent } from '@ag-ui/client'
import { AbstractChat, DefaultChatTransport } from 'ai'
import { warranty } from './fixtures.mjs'
import { add, binary, footnote, modelServer, until } from './footnote.mjs'

const question = 'How long is the guarantee on the slates?'
const textOf = message => message.parts.filter(p => p.type === 'text').map(p => p.text).join('\n\n')
const tools = message => message.parts.filter(p => p.type === 'dynamic-tool')

/** What useChat is without React: the SDK's client over plain values. */
class Chat extends AbstractChat {
  constructor(server, { headers, body, ...options } = {}) {
    const state = {
      status: 'ready', error: undefined, messages: [],
      pushMessage: m => { state.messages = [...state.messages, m] },
      popMessage: () => { state.messages = state.messages.slice(0, -1) },
      replaceMessage: (i, m) => { state.messages = state.messages.map((old, at) => at === i ? structuredClone(m) : old) },
      snapshot: value => structuredClone(value),
    }
    super({ state, transport: new DefaultChatTransport({ api: `${server.url}/ui/chat`, body, headers }), ...options })
  }

  get last() { return this.messages.at(-1) }
}

describe("the AI SDK's chat", () => {
  let model, server, documents
  before(async () => {
    model = await modelServer({ delay: 5, tokens: 40 })
    server = await footnote({ ...model.env, FOOTNOTE_MODEL: 'openai' })
    documents = await add(server, { 'warranty.md': warranty })
  }, { timeout: 60_000 })
  after(async () => { await server?.stop(); await model?.stop() })

  const run = message => server.json(`/agent/runs/${message.id}`)

  it('gets an answer whose tools and sources are parts', async () => {
    const ends = []
    const chat = new Chat(server, { onFinish: end => ends.push(end) })
    await chat.sendMessage({ text: question })
    assert.equal(chat.error, undefined)
    assert.equal(chat.status, 'ready')
    const log = await run(chat.last)
    assert.equal(log.session_id, chat.id)
    assert.equal(textOf(chat.last), log.answer.answer)
    const calls = log.steps.filter(s => s.tool_name)
    assert.ok(calls.length >= 2, JSON.stringify(log.steps))
    assert.deepEqual(tools(chat.last).map(p => [p.toolName, p.toolCallId, p.state, p.input, p.output]),
      calls.map(s => [s.tool_name, s.call_id, 'output-available', s.tool_input, s.tool_output]))
    const sources = chat.last.parts.filter(p => p.type === 'source-url')
    assert.deepEqual(sources.map(s => [s.sourceId, s.title, s.url]), log.citations.map(c => [String(c.number), c.title, server.url + c.url]))
    assert.ok(sources.length > 0 && sources[0].url.includes(documents['warranty.md']), JSON.stringify(sources))
    assert.deepEqual(sources.map(s => s.providerMetadata.footnote.quote), log.citations.map(c => c.quote))
    const page = await fetch(sources[0].url)
    assert.match(await page.text(), /<mark class="[^"]*quote/)
    assert.equal(chat.last.metadata.status, 'completed')
    assert.equal(chat.last.metadata.footnote.confidence, log.answer.confidence)
    assert.deepEqual([ends.length, ends[0].finishReason, ends[0].isError, ends[0].isAbort], [1, 'stop', false, false])
  })

  it('continues the session, and branches on retry and edit', async () => {
    const chat = new Chat(server)
    await chat.sendMessage({ text: question })
    const first = chat.last.id
    await chat.sendMessage({ text: 'How is it claimed?' })
    const second = chat.last.id
    assert.equal((await run(chat.last)).parent_id, first)
    await chat.regenerate()
    assert.equal(chat.messages.length, 4)
    assert.notEqual(chat.last.id, second)
    assert.deepEqual([(await run(chat.last)).parent_id, (await run(chat.last)).question], [first, 'How is it claimed?'])
    await chat.sendMessage({ text: 'What is excluded?', messageId: chat.messages[0].id })
    assert.equal(chat.messages.length, 2)
    const edited = await run(chat.last)
    assert.deepEqual([edited.parent_id ?? '', edited.question, edited.session_id], ['', 'What is excluded?', chat.id])
  })

  it('accepts additional body fields', async () => {
    const chat = new Chat(server, { body: { toolset: 'react', document_ids: Object.values(documents) } })
    await chat.sendMessage({ text: question })
    assert.equal((await run(chat.last)).toolset, 'react')
    const lost = new Chat(server, { body: { namespace: 'empty' } })
    await lost.sendMessage({ text: question })
    assert.match(lost.error.message, /^No documents in the namespace “empty”\./)
  })

  it('resumes an active answer only', async () => {
    const held = model.holdAfter(12)
    const chat = new Chat(server)
    const asked = chat.sendMessage({ text: question })
    await held
    await until(() => chat.last?.role === 'assistant' && tools(chat.last).length > 0, 'the client shows a tool')
    await chat.stop() // closes its stream: the run goes on
    await asked
    assert.equal((await run(chat.last)).status, 'running')
    const other = new Chat(server, { id: chat.id, messages: chat.messages.slice(0, 1) })
    const resumed = other.resumeStream()
    await until(() => other.last?.role === 'assistant', 'the client resumes')
    model.release()
    await resumed
    const log = await run(other.last)
    assert.deepEqual([log.status, textOf(other.last), other.messages.length], ['completed', log.answer.answer, other.messages.length])
    assert.equal(other.last.id, chat.last.id)
    assert.deepEqual(tools(other.last).map(p => p.toolCallId), log.steps.filter(s => s.tool_name).map(s => s.call_id))
    const before = structuredClone(other.messages)
    await other.resumeStream()
    assert.deepEqual([other.status, other.messages], ['ready', before])
    await new Chat(server).resumeStream() // a chat without a question
  })

  it('resumes after its last event id', async () => {
    const chat = new Chat(server)
    await chat.sendMessage({ text: question })
    const at = `${server.url}/ui/chat/${chat.id}/stream`
    const whole = await (await fetch(`${at}?after=0`)).text()
    const frames = whole.split('\n\n').filter(f => /^(id|data):/.test(f))
    assert.equal(frames.at(-1), 'data: [DONE]')
    const numbers = frames.flatMap(f => f.match(/^id: (\d+)/)?.[1] ?? [])
    assert.ok(numbers.length > 5, whole)
    for (const id of [numbers[0], numbers[4], numbers.at(-2)]) {
      const rest = await (await fetch(at, { headers: { 'Last-Event-ID': id } })).text()
      const cut = frames.findIndex(f => f.startsWith(`id: ${id}\n`)) + 1
      assert.deepEqual(rest.split('\n\n').filter(f => /^(id|data):/.test(f)), frames.slice(cut), `after ${id}`)
    }
    assert.equal((await fetch(at, { headers: { 'Last-Event-ID': numbers.at(-1) } })).status, 204)
    assert.equal((await fetch(at)).status, 204)
  })

  it('cancels a run', async () => {
    const held = model.holdAfter(12)
    const chat = new Chat(server)
    const asked = chat.sendMessage({ text: question })
    await held
    const stopped = await fetch(`${server.url}/ui/chat/${chat.id}/stop`, { method: 'POST' })
    assert.equal(stopped.status, 204)
    await asked
    model.release()
    assert.equal(chat.status, 'ready')
    assert.equal((await run(chat.last)).status, 'cancelled')
    assert.equal(chat.last.metadata.status, 'cancelled')
    assert.equal((await fetch(`${server.url}/ui/chat/${chat.id}/stop`, { method: 'POST' })).status, 204)
  })

  it('shows error messages', async () => {
    const told = async (text, options) => {
      const chat = new Chat(server, options)
      await chat.sendMessage(text)
      assert.equal(chat.status, 'error')
      return chat.error.message
    }
    assert.equal(await told({ text: ' ' }), 'The question is empty. Enter a question.')
    assert.match(await told({ text: question }, { id: 'no/session' }), /^A session ID must have 1 to 128 letters/)
    assert.match(await told({ text: question }, { body: { config: { max_steps: 0 } } }), /^config\.max_steps must be between/)
    assert.match(await told({ text: 'Look', files: [{ type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,' }] }), /^The message has a file\./)
    assert.equal(await told({ text: 'Why? #filter' }), "The model provider refused to answer. Rephrase the question.")
  })
})

describe("AG-UI's HttpAgent", () => {
  let model, server, documents
  before(async () => {
    model = await modelServer({ delay: 5, tokens: 40 })
    server = await footnote({ ...model.env, FOOTNOTE_MODEL: 'openai' })
    documents = await add(server, { 'warranty.md': warranty })
  }, { timeout: 60_000 })
  after(async () => { await server?.stop(); await model?.stop() })

  const agent = (options = {}) => new HttpAgent({ url: `${server.url}/ag-ui`, ...options })
  const say = (it, content) => it.addMessage({ id: `m${Math.random()}`, role: 'user', content })
  const run = it => server.json(`/agent/runs/${it.state.footnote.run_id}`)
  const told = messages => messages.filter(m => m.role === 'assistant' && m.content).map(m => [m.id, m.content])

  it('gets an answer with its tools, results and sources', async () => {
    const it_ = agent({ initialState: { theme: 'dark' } })
    say(it_, question)
    const seen = []
    const { newMessages } = await it_.runAgent({ runId: 'first' }, { onEvent: ({ event }) => { seen.push(event.type) } })
    const log = await run(it_)
    assert.equal(log.session_id, it_.threadId)
    assert.deepEqual(told(newMessages), [[log.run_id, log.answer.answer]])
    const calls = log.steps.filter(s => s.tool_name)
    assert.ok(calls.length >= 2, JSON.stringify(log.steps))
    const made = newMessages.flatMap(m => m.toolCalls ?? [])
    assert.deepEqual(made.map(c => [c.id, c.function.name, JSON.parse(c.function.arguments)]),
      calls.map(s => [`${log.run_id}_${s.call_id}`, s.tool_name, s.tool_input]))
    assert.deepEqual(newMessages.filter(m => m.role === 'tool').map(m => [m.toolCallId, JSON.parse(m.content)]),
      calls.map(s => [`${log.run_id}_${s.call_id}`, s.tool_output]))
    assert.equal(newMessages.at(-1).id, log.run_id)
    const { theme, footnote: { sources, status, judged } } = it_.state
    assert.deepEqual([theme, status, judged.confidence], ['dark', 'completed', log.answer.confidence])
    assert.deepEqual(sources.map(s => [s.number, s.quote, s.url]), log.citations.map(c => [c.number, c.quote, server.url + c.url]))
    assert.equal(sources[0].document_id, documents['warranty.md'])
    assert.deepEqual([seen[0], seen.at(-1)], ['RUN_STARTED', 'RUN_FINISHED'])
  })

  it('continues the session, and branches on an edited question', async () => {
    const it_ = agent()
    say(it_, question)
    await it_.runAgent()
    const first = await run(it_)
    say(it_, 'How is it claimed?')
    await it_.runAgent({ forwardedProps: { toolset: 'react' }, context: [{ description: 'The reader', value: 'is a roofer' }] })
    const second = await run(it_)
    assert.deepEqual([second.parent_id, second.toolset, second.session_id], [first.run_id, 'react', first.session_id])
    const other = agent({ threadId: it_.threadId, initialMessages: it_.messages.slice(0, it_.messages.findIndex(m => m.id === first.run_id) + 1) })
    say(other, 'What is excluded?')
    await other.runAgent()
    assert.deepEqual([(await run(other)).parent_id, (await run(other)).question], [first.run_id, 'What is excluded?'])
  })

  it('resumes a run by id', async () => {
    const held = model.holdAfter(12)
    const it_ = agent()
    say(it_, question)
    const asked = it_.runAgent({ runId: 'r' }).catch(e => e)
    await held
    await until(() => it_.messages.some(m => m.role === 'tool'), 'the client shows a result')
    it_.abortRun()
    await asked
    assert.equal((await run(it_)).status, 'running')
    const again = agent({ threadId: it_.threadId, initialMessages: it_.messages.slice(0, 1) })
    const resumed = again.runAgent({ runId: 'r' })
    await until(() => again.messages.some(m => m.role === 'tool'), 'the client resumes')
    model.release()
    await resumed
    const log = await run(again)
    assert.deepEqual([log.run_id, log.status, told(again.messages)], [it_.state.footnote.run_id, 'completed', [[log.run_id, log.answer.answer]]])
    const body = JSON.stringify({ threadId: it_.threadId, runId: 'r', state: {}, messages: it_.messages.slice(0, 1), tools: [], context: [] })
    const ask = async headers => fetch(`${server.url}/ag-ui`, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body })
    const frames = text => text.split('\n\n').filter(f => /^(id|data):/.test(f))
    const whole = frames(await (await ask()).text())
    const numbers = whole.flatMap(f => f.match(/^id: (\d+)/)?.[1] ?? [])
    for (const id of [numbers[0], numbers[3]]) {
      const rest = frames(await (await ask({ 'Last-Event-ID': id })).text())
      assert.deepEqual(rest, whole.slice(whole.findIndex(f => f.startsWith(`id: ${id}\n`)) + 1), `after ${id}`)
    }
    assert.equal((await ask({ 'Last-Event-ID': numbers.at(-1) })).status, 204)
  })

  it('reports cancelled and failed runs', async () => {
    const held = model.holdAfter(12)
    const it_ = agent()
    say(it_, question)
    let outcome
    const asked = it_.runAgent({}, { onRunFinishedEvent: end => { outcome = end.outcome } })
    await held
    await until(() => it_.state.footnote, 'the client knows the run')
    await fetch(`${server.url}/agent/runs/${it_.state.footnote.run_id}/cancel`, { method: 'POST' })
    await asked
    model.release()
    assert.deepEqual([outcome, it_.state.footnote.status], ['cancelled', 'cancelled'])
    const failing = agent()
    say(failing, 'Why? #filter')
    let error
    await failing.runAgent({}, { onRunErrorEvent: ({ event }) => { error = event } }).catch(() => {})
    assert.deepEqual([error.code, error.message], ['guardrail', "The model provider refused to answer. Rephrase the question."])
    const refused = async (content, props) => {
      const it_ = agent()
      say(it_, content)
      return it_.runAgent({ forwardedProps: props }).then(() => 'taken', e => `${e.status} ${e.payload}`)
    }
    assert.equal(await refused(' '), '400 The question is empty. Enter a question.')
    assert.match(await refused(question, { namespace: 'empty' }), /^404 No documents in the namespace “empty”\./)
    assert.match(await refused([{ type: 'text', text: 'Look' }, { type: 'image', source: { type: 'url', value: 'https://example.org/a.png', mimeType: 'image/png' } }]), /^400 The message has a part that is not text\./)
  })
})

describe('with keys and a limit of 1', () => {
  let server, dir, key
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'footnote-keys-'))
    const file = join(dir, 'keys')
    key = execFileSync(binary, ['key', 'new', 'anna'], { env: { ...process.env, FOOTNOTE_CONFIG: '', FOOTNOTE_KEYS: file }, encoding: 'utf8' }).trim()
    server = await footnote({ FOOTNOTE_MODEL: 'offline', FOOTNOTE_KEYS: file, FOOTNOTE_LIMITS_QUESTIONS_PER_DAY: '1' })
  }, { timeout: 60_000 })
  after(async () => {
    await server?.stop()
    if (dir) rmSync(dir, { recursive: true, force: true })
  })

  it("returns 401 and Retry-After to the AI SDK's chat", async () => {
    const stranger = new Chat(server)
    await stranger.sendMessage({ text: question })
    assert.match(stranger.error.message, /key/)
    assert.doesNotMatch(stranger.error.message, /[{}]/)
    const chat = new Chat(server, { headers: { Authorization: `Bearer ${key}` } })
    await chat.sendMessage({ text: question })
    assert.equal(chat.status, 'ready')
    await chat.sendMessage({ text: question })
    assert.match(chat.error.message, /^You have reached the limit of 1 question in 24 hours\. Try again /)
  })

  it("returns the same to AG-UI's HttpAgent", async () => {
    const refused = headers => {
      const agent = new HttpAgent({ url: `${server.url}/ag-ui`, headers, initialMessages: [{ id: 'm', role: 'user', content: question }] })
      return agent.runAgent().then(() => 'taken', e => `${e.status} ${e.payload}`)
    }
    assert.match(await refused({}), /^401 [^{]*key/)
    assert.match(await refused({ 'X-API-Key': key }), /^429 You have reached the limit of 1 question in 24 hours/)
  })
})
