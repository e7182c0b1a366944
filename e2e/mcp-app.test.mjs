// Resources by the protocol's official client, and the page that draws sources inside a client (MCP Apps): it is shown in a frame as hosts
// show it, by the bridge that hosts use.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join, normalize } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { inTab, launch, shot } from './browser.mjs'
import { warranty } from './fixtures.mjs'
import { add, footnote, until } from './footnote.mjs'

const modules = join(import.meta.dirname, '../node_modules')
const site = 'http://127.0.0.1:1'
const host = `<!DOCTYPE html><meta charset="utf-8"><title>Host</title><style>body { margin: 0 } iframe { border: 0; display: block; width: 100% }</style>
<script type="importmap">{"imports": {"@modelcontextprotocol/sdk/": "${site}/m/@modelcontextprotocol/sdk/dist/esm/",
"@modelcontextprotocol/ext-apps/app-bridge": "${site}/m/@modelcontextprotocol/ext-apps/dist/src/app-bridge.js",
"zod/v4": "${site}/m/zod/v4/index.js", "zod/v3": "${site}/m/zod/v3/index.js", "zod/v4-mini": "${site}/m/zod/v4-mini/index.js",
"zod-to-json-schema": "${site}/m/zod-to-json-schema/dist/esm/index.js", "zod": "${site}/m/zod/index.js"}}</script>
<body><iframe title="Source" sandbox="allow-scripts"></iframe>
<script type="module">
import { AppBridge, PostMessageTransport } from '@modelcontextprotocol/ext-apps/app-bridge'
let frame, bridge
window.opened = []
window.draw = async (html, theme, given, result) => {
  await bridge?.close()
  const old = document.querySelector('iframe')
  frame = old.cloneNode()
  frame.removeAttribute('srcdoc')
  old.replaceWith(frame)
  bridge = new AppBridge(null, { name: 'host', version: '1' }, { openLinks: {} }, { hostContext: { theme } })
  bridge.onopenlink = async ({ url }) => { opened.push(url); return {} }
  bridge.onsizechange = ({ height }) => { frame.style.height = height + 'px'; document.body.dataset.height = height }
  const ready = new Promise(done => { bridge.oninitialized = done })
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow))
  frame.srcdoc = html
  await ready
  document.body.style.colorScheme = theme
  await bridge.sendToolInput({ arguments: given })
  await bridge.sendToolResult(result)
}
window.ready = true
</script>`

describe('sources inside a client', () => {
  let server, client, browser, documents, html
  before(async () => {
    server = await footnote({ FOOTNOTE_MODEL: 'offline' })
    documents = await add(server, { 'warranty.md': warranty, 'odd.md': '# <img src=x onerror=alert(1)>\n\nThe guarantee of <b>odd</b> & "other" things.\n' })
    client = new Client({ name: 'test', version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`)))
    browser = await launch()
  }, { timeout: 60_000 })
  after(async () => {
    await browser?.close()
    await client?.close()
    await server?.stop()
  })

  it('documents and passages are resources', async () => {
    const { resources } = await client.listResources()
    assert.deepEqual(resources.map(r => r.uri).sort(), Object.values(documents).map(id => `footnote://documents/${id}`).sort())
    const { resourceTemplates } = await client.listResourceTemplates()
    assert.deepEqual(resourceTemplates.map(t => t.uriTemplate).sort(), ['footnote://documents/{id}', 'footnote://passages/{id}'])
    const [whole] = (await client.readResource({ uri: `footnote://documents/${documents['warranty.md']}` })).contents
    assert.match(whole.text, /practical completion, 14 June 2023/)
    assert.ok(whole.text.includes(`${server.url}/d/${documents['warranty.md']}`))
    const answer = await client.callTool({ name: 'ask', arguments: { question: 'How long is the guarantee on the slates?' } })
    const link = answer.content.find(part => part.type === 'resource_link')
    const [passage] = (await client.readResource({ uri: link.uri })).contents
    assert.match(passage.text, /30 years/)
    assert.equal((await fetch(passage._meta['footnote/url'])).status, 200)
    for (const uri of ['footnote://documents/none', 'footnote://passages/none', 'footnote://passages/%20', 'footnote://other/x', 'file:///etc/passwd']) {
      await assert.rejects(client.readResource({ uri }), /not found/i, uri)
    }
    const { completion } = await client.complete({ ref: { type: 'ref/resource', uri: 'footnote://documents/{id}' }, argument: { name: 'id', value: 'slate' } })
    assert.deepEqual(completion.values, [documents['warranty.md']])
  })

  it('tools name their page', async () => {
    const { tools } = await client.listTools()
    const named = tools.filter(t => t._meta?.ui?.resourceUri === 'ui://footnote/source').map(t => t.name)
    assert.deepEqual(named.sort(), ['ask', 'fetch', 'read', 'search'])
    const [page] = (await client.readResource({ uri: 'ui://footnote/source' })).contents
    assert.equal(page.mimeType, 'text/html;profile=mcp-app')
    html = page.text
    assert.doesNotMatch(html, /https?:\/\/(?!\^)[a-z]/)
  })

  for (const [theme, viewport] of [['light', { width: 760, height: 600 }], ['dark', { width: 390, height: 844 }]]) {
    it(`the page shows the cited passage with its words marked (${theme})`, async () => {
      await inTab(browser, { viewport, colorScheme: theme }, async page => {
        await page.route(`${site}/**`, async route => {
          const path = new URL(route.request().url()).pathname
          if (path === '/') return route.fulfill({ contentType: 'text/html', body: host })
          if (!path.startsWith('/m/')) return route.fulfill({ status: 204 })
          return route.fulfill({ contentType: 'text/javascript', body: await readFile(join(modules, normalize(path.slice(3)))) })
        })
        await page.goto(`${site}/`)
        await page.waitForFunction(() => window.ready)
        const draw = async (name, given) => {
          const result = await client.callTool({ name, arguments: given })
          await page.evaluate(all => window.draw(...all), [html, theme, given, result])
          await frame.locator('main :is(li, .none):not(:text-is("…"))').first().waitFor()
          return result
        }
        const frame = page.frameLocator('iframe')
        const asked = await draw('ask', { question: 'How long is the guarantee on the slates?' })
        const first = frame.locator('li').first()
        const [cite] = asked.structuredContent.citations
        assert.equal(await first.locator('h2').textContent(), `[${cite.number}] Slate warranty`)
        const flat = s => s.replace(/\s+/g, ' ').trim()
        assert.equal(flat(await first.locator('mark').textContent()), flat(cite.quote))
        assert.ok((await first.locator('.text').textContent()).length > cite.quote.length, 'the passage is around the quote')
        await first.getByRole('link', { name: 'Open in Footnote' }).click()
        await page.waitForFunction(() => window.opened.length > 0)
        assert.deepEqual(await page.evaluate(() => window.opened), [cite.url])
        await until(async () => Number(await page.locator('body').getAttribute('data-height')) > 50, 'the height')
        await shot(page, `mcp-app-ask-${theme}`)

        await draw('search', { query: 'guarantee odd things' })
        const marks = await frame.locator('mark').allTextContents()
        assert.ok(marks.includes('guarantee'), marks.join())
        assert.equal(await frame.locator('img, b').count(), 0, 'a text is not HTML')
        await shot(page, `mcp-app-search-${theme}`)

        await draw('fetch', { id: documents['warranty.md'] })
        assert.match(await frame.locator('.text').textContent(), /30 years/)
        await draw('read', { document: 'no such document' })
        assert.match(await frame.getByRole('status').textContent(), /document/)
      })
    })
  }
})
