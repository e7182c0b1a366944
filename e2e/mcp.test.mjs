// The official client of the Model Context Protocol against /mcp.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { warranty } from './fixtures.mjs'
import { add, binary, footnote } from './footnote.mjs'

describe('the client of the Model Context Protocol', () => {
  let server, client, documents
  before(async () => {
    server = await footnote({ FOOTNOTE_MODEL: 'offline' })
    documents = await add(server, { 'warranty.md': warranty })
    client = new Client({ name: 'test', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`)))
  }, { timeout: 60_000 })
  after(async () => {
    await client?.close()
    await server?.stop()
  })

  /** Calls a tool that must not fail. The client holds its data to the schema that the server gave. */
  const call = async (name, input, ...more) => {
    const got = await client.callTool({ name, arguments: input }, undefined, ...more)
    assert.ok(!got.isError, JSON.stringify(got))
    return { text: got.content.map(part => part.text).join(''), data: got.structuredContent }
  }

  it('reads server information and tools', async () => {
    assert.equal(client.getServerVersion().name, 'footnote')
    assert.match(client.getInstructions(), /never an instruction/)
    const { tools } = await client.listTools()
    assert.deepEqual(tools.map(t => t.name).sort(), ['ask', 'fetch', 'list_documents', 'read', 'search'])
    for (const tool of tools) assert.ok(tool.description && tool.inputSchema.properties && tool.outputSchema.properties, tool.name)
    assert.deepEqual(tools.filter(t => t.annotations.readOnlyHint).map(t => t.name).sort(), ['fetch', 'list_documents', 'read', 'search'])
  })

  it('lists, searches and reads', async () => {
    const id = documents['warranty.md']
    const list = await call('list_documents', {})
    assert.deepEqual(list.data.documents.map(d => [d.id, d.title, d.state]), [[id, 'Slate warranty', 'ready']])
    const found = await call('search', { query: 'guarantee on lead flashings', top_k: 1 })
    assert.equal(found.data.results.length, 1)
    assert.equal(found.data.results[0].metadata.document_id, id)
    assert.ok(found.data.results[0].metadata.url.startsWith(`${server.url}/d/${id}`))
    assert.match(found.text, /12 years/)
    const part = await call('read', { document: id })
    assert.equal(part.data.parts, 1)
    assert.match(part.data.text, /practical completion, 14 June 2023/)
  })

  it('asks, receives every step, and continues the conversation', async () => {
    const steps = []
    const first = await call('ask', { question: 'How long is the guarantee on the slates?' }, { onprogress: step => steps.push(step.message) })
    assert.match(first.data.answer, /30 years.*\[1\]/s)
    assert.match(first.text, /\[Source 1\]/)
    assert.ok(first.data.citations[0].url.startsWith(`${server.url}/d/`), first.data.citations[0].url)
    assert.ok(steps.some(message => message.startsWith('Search')), steps.join(', '))
    const next = await call('ask', { question: 'How is it claimed?', session_id: first.data.session_id })
    assert.equal(next.data.session_id, first.data.session_id)
    assert.match(next.data.answer, /in writing within 60 days/)
    const { turn_count } = await server.json(`/agent/session/${first.data.session_id}`)
    assert.equal(turn_count, 2)
  })

  it('receives errors', async () => {
    const missing = await client.callTool({ name: 'read', arguments: { document: 'no-such-document' } })
    assert.ok(missing.isError)
    assert.match(missing.content[0].text, /document/)
    const wrong = await client.callTool({ name: 'search', arguments: { query: 7 } })
    assert.ok(wrong.isError)
    await assert.rejects(client.callTool({ name: 'remove', arguments: {} }), /remove/)
  })

  it('connects with each documented setting', async () => {
    const page = await readFile(join(import.meta.dirname, '../docs/handbook/06-use-it-from.md'), 'utf8')
    const settings = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, text]) => JSON.parse(text.replaceAll('http://localhost:8080', server.url)))
    const entries = settings.map(s => (s.mcpServers ?? s.servers)?.footnote).filter(Boolean)
    assert.equal(entries.length, 3)
    for (const { command, args, url } of entries) {
      if (command) assert.equal(command, 'footnote')
      const transport = command ? new StdioClientTransport({ command: binary, args }) : new StreamableHTTPClientTransport(new URL(url))
      const other = new Client({ name: 'test', version: '1' })
      await other.connect(transport)
      const { structuredContent } = await other.callTool({ name: 'list_documents', arguments: {} })
      assert.deepEqual(structuredContent.documents.map(d => d.id), [documents['warranty.md']])
      await other.close()
    }
  })
})
