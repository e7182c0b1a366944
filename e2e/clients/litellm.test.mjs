// LiteLLM's proxy with the settings of the handbook: make test-clients.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import OpenAI from 'openai'
import { warranty } from '../fixtures.mjs'
import { add, footnote, freePort, healthy, start } from '../footnote.mjs'
import { blocks } from '../handbook.mjs'

const program = resolve(import.meta.dirname, '../../.cache/clients/venv/bin/litellm')
const question = 'How long is the guarantee on the slates?'
const key = 'sk-4f1c9e0b7a6d2358c1e0f9a7b6d5c4e3' // it refuses to start with a weak one

describe("LiteLLM's proxy", () => {
  let server, documents, proxy, client, dir
  before(async () => {
    server = await footnote({ FOOTNOTE_MODEL: 'offline' })
    documents = await add(server, { 'warranty.md': warranty })
    dir = mkdtempSync(join(tmpdir(), 'litellm-'))
    const [{ text }] = blocks('yaml').filter(block => block.heading === 'LiteLLM')
    writeFileSync(join(dir, 'config.yaml'), text.replace('http://localhost:8080', server.url) + `general_settings: {master_key: ${key}}\n`)
    const port = await freePort()
    proxy = start(program, ['--config', join(dir, 'config.yaml'), '--host', '127.0.0.1', '--port', String(port)], { LITELLM_LOCAL_MODEL_COST_MAP: 'True' })
    await healthy(`http://127.0.0.1:${port}/health/liveliness`, proxy, 120_000)
    client = new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: key, maxRetries: 0 })
  }, { timeout: 180_000 })
  after(async () => {
    await proxy?.stop('SIGKILL')
    await server?.stop()
    if (dir) rmSync(dir, { recursive: true, force: true })
  })

  it('lists the model and relays answers with footnotes', async () => {
    const models = []
    for await (const model of client.models.list()) models.push(model.id)
    assert.deepEqual(models, ['footnote'])
    const { choices: [{ message }] } = await client.chat.completions.create({ model: 'footnote', messages: [{ role: 'user', content: question }] })
    assert.match(message.content, /30 years/)
    assert.ok(message.annotations[0].url_citation.url.startsWith(`${server.url}/d/${documents['warranty.md']}`))
    const response = await client.responses.create({ model: 'footnote', input: question })
    assert.ok(response.output.at(-1).content[0].annotations[0].url.startsWith(`${server.url}/d/${documents['warranty.md']}`), JSON.stringify(response))
    let text = ''
    for await (const event of await client.responses.create({ model: 'footnote', input: question, stream: true })) {
      if (event.type === 'response.output_text.delta') text += event.delta
    }
    assert.match(text, /30 years/)
  })
})
