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

  it('gets an answer whose footnotes are annotations with links', async () => {
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

  it('streams the same answer and the steps before it', async () => {
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

  it('continues a conversation', async () => {
    const first = (await client.chat.completions.create(ask)).choices[0].message
    const next = await client.chat.completions.create({
      ...ask, messages: [...ask.messages, { role: 'assistant', content: first.content }, { role: 'user', content: 'How is it claimed?' }],
    })
    assert.match(next.choices[0].message.content, /in writing within 60 days/)
  })

  it('gets a response with searches and footnotes, and continues it', async () => {
    const first = await client.responses.create({ model: 'footnote', input: question })
    assert.equal(first.status, 'completed')
    assert.match(first.output_text, /30 years/)
    const search = first.output.find(item => item.type === 'file_search_call')
    assert.ok(search.results.some(found => found.file_id === documents['warranty.md']), JSON.stringify(search))
    const [part] = first.output.at(-1).content
    footnotes({ content: part.text, annotations: part.annotations.map(a => ({ type: a.type, url_citation: a })) })
    assert.ok(part.annotations.every(a => warranty.replace(/\s+/g, ' ').includes(a.quote.replace(/\s+/g, ' '))), JSON.stringify(part.annotations))
    const next = await client.responses.create({ model: 'footnote', input: 'How is it claimed?', previous_response_id: first.id })
    assert.match(next.output_text, /in writing within 60 days/)
    assert.equal(next.previous_response_id, first.id)
    assert.deepEqual((await client.responses.retrieve(next.id)).output, next.output)
  })

  it("streams a response through the client's own helper, and again from its middle", async () => {
    const stream = client.responses.stream({ model: 'footnote', input: question })
    const seen = []
    let text = ''
    for await (const event of stream) {
      seen.push(event.sequence_number)
      if (event.type === 'response.output_text.delta') text += event.delta
    }
    const whole = await stream.finalResponse()
    assert.equal(text, whole.output_text)
    assert.match(text, /30 years.*\[1\]/)
    assert.deepEqual(seen, seen.map((_, i) => i))
    const rest = []
    for await (const event of await client.responses.retrieve(whole.id, { stream: true, starting_after: 3 })) rest.push(event.sequence_number)
    assert.deepEqual(rest, seen.slice(4))
  })

  it('runs a response in the background, and cancels an ended one without an error', async () => {
    let response = await client.responses.create({ model: 'footnote', input: question, background: true })
    for await (const event of await client.responses.retrieve(response.id, { stream: true })) response = event.response ?? response
    assert.match(response.output_text ?? response.output.at(-1).content[0].text, /30 years/)
    assert.equal((await client.responses.cancel(response.id)).status, 'completed')
  })

  it("maps errors to the client's own", async () => {
    await assert.rejects(client.chat.completions.create({ ...ask, model: 'gpt-5' }), OpenAI.NotFoundError)
    await assert.rejects(client.chat.completions.create({ ...ask, messages: [] }), OpenAI.BadRequestError)
    await assert.rejects(client.models.retrieve('gpt-5'), e => e instanceof OpenAI.NotFoundError && /no such model/.test(e.message))
    await assert.rejects(client.embeddings.create({ model: 'footnote', input: question }), e => e instanceof OpenAI.NotFoundError && e.message.includes('POST /v1/chat/completions'))
    await assert.rejects(client.responses.create({ model: 'gpt-5', input: question }), OpenAI.NotFoundError)
    await assert.rejects(client.responses.create({ model: 'footnote', input: [] }), OpenAI.BadRequestError)
    await assert.rejects(client.responses.retrieve('resp_none'), e => e instanceof OpenAI.NotFoundError && /Response not found/.test(e.message))
  })

  it('accepts optional tools', async () => {
    const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } }]
    const answer = await client.chat.completions.create({ ...ask, tools, tool_choice: 'auto', user: 'ann', store: false })
    assert.match(answer.choices[0].message.content, /30 years/)
    await assert.rejects(client.chat.completions.create({ ...ask, tools, tool_choice: 'required' }), OpenAI.BadRequestError)
  })
})
