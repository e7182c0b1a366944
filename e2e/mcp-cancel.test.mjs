// Progress and cancellation of a question, by the protocol's official client, over HTTP and over `footnote mcp`.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { warranty } from './fixtures.mjs'
import { add, binary, footnote, modelServer, until } from './footnote.mjs'

const ways = {
  'over HTTP': server => new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`)),
  'over standard input and output': server => new StdioClientTransport({ command: binary, args: ['mcp', `--server=${server.url}`] }),
}

for (const [way, transport] of Object.entries(ways)) {
  describe(`a question ${way}`, () => {
    let model, server, client
    before(async () => {
      model = await modelServer()
      server = await footnote({ ...model.env, OPENAI_API_KEY: 'x' })
      await add(server, { 'warranty.md': warranty })
      client = new Client({ name: 'test', version: '1' })
      await client.connect(transport(server))
    }, { timeout: 60_000 })
    after(async () => {
      await client?.close()
      await server?.stop()
      await model?.stop()
    })
    const ask = (question, options) => client.callTool({ name: 'ask', arguments: { question } }, undefined, options)

    it('searches and fetches', async () => {
      const found = JSON.parse((await client.callTool({ name: 'search', arguments: { query: 'guarantee on lead flashings' } })).content[0].text)
      const got = JSON.parse((await client.callTool({ name: 'fetch', arguments: { id: found.results[0].id } })).content[0].text)
      assert.deepEqual(Object.keys(got).sort(), ['id', 'metadata', 'text', 'title', 'url'])
      assert.match(got.text, /12 years/)
      assert.equal(got.url, found.results[0].url)
      assert.equal((await fetch(got.url)).status, 200)
    })

    it('reports its steps and the answer', async () => {
      const steps = []
      const got = await ask('How long is the guarantee on the slates?', { onprogress: step => steps.push(step) })
      assert.ok(!got.isError, JSON.stringify(got))
      assert.ok(steps.length && steps.every((step, i) => step.message && step.progress === i + 1), JSON.stringify(steps))
    })

    it('ends on cancellation, and the others continue', async () => {
      model.hold()
      const stop = new AbortController()
      const cancelled = ask('How is it claimed, and when?', { signal: stop.signal })
      const other = ask('How long is the guarantee on the lead?')
      const state = async () => {
        for (const { session_id } of (await server.json('/sessions')).sessions) {
          const asked = (await server.json(`/agent/session/${session_id}`)).messages.find(m => m.content === 'How is it claimed, and when?')
          if (asked) return (await server.json(`/agent/runs/${asked.run_id}`)).status
        }
      }
      await until(state, 'the run')
      stop.abort()
      await assert.rejects(cancelled)
      await until(async () => await state() === 'cancelled', 'the end of the run')
      model.release()
      assert.ok(!(await other).isError)
    })
  })
}
