// OpenAI's own client for Node against /v1.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import OpenAI from 'openai'
import { warranty } from './fixtures.mjs'
import { add, footnote } from './footnote.mjs'

const question = 'How long is the guarantee on the slates?'
const ask = { model: 'footnote', messages: [{ role: 'user', content: question }] }

describe("OpenAI's client", () => {
  let server, client, documents
  before(async () => {
    server = await footnote({ FOOTNOTE_MODEL: 'offline' })
    documents = await add(server, { 'warranty.md': warranty })
    client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'any', maxRetries: 0 })
  }, { timeout: 60_000 })
  after(() => server?.stop())

  /** Each annotation stands on a footnote of the content, and leads to the document. */
  const footnotes = ({ content, annotations }) => {
    const found = content.match(/\[\d+\]/g)
    assert.ok(found?.length, content)
    assert.deepEqual(annotations.map(a => a.type), found.map(() => 'url_citation'))
    const characters = [...content]
    assert.deepEqual(annotations.map(a => characters.slice(a.url_citation.start_index, a.url_citation.end_index).join('')), found)
    for (const { url_citation: { title, url } } of annotations) {
      assert.equal(title, 'Slate warranty')
      assert.ok(url.startsWith(`${server.url}/d/${documents['warranty.md']}?`), url)
    }
  }

  it('lists the model', async () => {
    const models = []
    for await (const model of client.models.list()) models.push(model.id)
    assert.deepEqual(models, ['footnote'])
    assert.equal((await client.models.retrieve('footnote')).owned_by, 'footnote')
  })

  it('gets an answer whose footnotes are annotations that open', async () => {
    const answer = await client.chat.completions.create(ask)
    const [{ message, finish_reason }] = answer.choices
    assert.match(message.content, /30 years/)
    assert.equal(finish_reason, 'stop')
    assert.equal(answer.usage.total_tokens, answer.usage.prompt_tokens + answer.usage.completion_tokens)
    footnotes(message)
    const page = await fetch(message.annotations[0].url_citation.url)
    assert.equal(page.status, 200)
    assert.match(await page.text(), /<mark class="[^"]*quote/)
  })

  it('streams the same, and the work before it', async () => {
    const whole = (await client.chat.completions.create(ask)).choices[0].message
    let text = '', work = '', annotations = [], end = '', usage
    for await (const { choices: [piece], usage: used } of await client.chat.completions.create({ ...ask, stream: true, stream_options: { include_usage: true } })) {
      text += piece?.delta.content ?? ''
      work += piece?.delta.reasoning_content ?? ''
      annotations = annotations.concat(piece?.delta.annotations ?? [])
      end = piece?.finish_reason ?? end
      usage = used ?? usage
    }
    assert.equal(text, whole.content)
    assert.match(work, /Search/)
    assert.equal(end, 'stop')
    assert.ok(usage.total_tokens >= 0)
    footnotes({ content: text, annotations })
  })

  it("streams through the client's own helper", async () => {
    const stream = client.chat.completions.stream(ask)
    const told = []
    stream.on('content', piece => told.push(piece))
    const content = await stream.finalContent()
    assert.match(content, /30 years.*\[1\]/)
    assert.equal(told.join(''), content)
  })

  it('goes on with a conversation', async () => {
    const first = (await client.chat.completions.create(ask)).choices[0].message
    const next = await client.chat.completions.create({
      ...ask, messages: [...ask.messages, { role: 'assistant', content: first.content }, { role: 'user', content: 'How is it claimed?' }],
    })
    assert.match(next.choices[0].message.content, /in writing within 60 days/)
  })

  it("gets faults as the client's own errors", async () => {
    await assert.rejects(client.chat.completions.create({ ...ask, model: 'gpt-5' }), OpenAI.NotFoundError)
    await assert.rejects(client.chat.completions.create({ ...ask, messages: [] }), OpenAI.BadRequestError)
    await assert.rejects(client.models.retrieve('gpt-5'), e => e instanceof OpenAI.NotFoundError && /no such model/.test(e.message))
    for (const api of [client.responses, client.embeddings]) {
      await assert.rejects(api.create({ model: 'footnote', input: question }), e => e instanceof OpenAI.NotFoundError && e.message.includes('POST /v1/chat/completions'))
    }
  })

  it('asks with tools that need not be called', async () => {
    const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } }]
    const answer = await client.chat.completions.create({ ...ask, tools, tool_choice: 'auto', user: 'ann', store: false })
    assert.match(answer.choices[0].message.content, /30 years/)
    await assert.rejects(client.chat.completions.create({ ...ask, tools, tool_choice: 'required' }), OpenAI.BadRequestError)
  })
})
