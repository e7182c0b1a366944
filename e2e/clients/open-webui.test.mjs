// Open WebUI with the settings of the handbook, used in Chromium: make test-clients.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { launch } from '../browser.mjs'
import { warranty } from '../fixtures.mjs'
import { add, footnote, freePort, healthy, start } from '../footnote.mjs'
import { blocks } from '../handbook.mjs'

const program = resolve(import.meta.dirname, '../../.cache/open-webui/venv/bin/open-webui')

describe('Open WebUI', () => {
  let server, documents, webui, url, data, browser
  before(async () => {
    server = await footnote({ FOOTNOTE_MODEL: 'offline' })
    documents = await add(server, { 'warranty.md': warranty })
    const [{ text }] = blocks('ini').filter(block => block.heading === 'Open WebUI')
    const settings = Object.fromEntries(text.trim().replaceAll('http://localhost:8080', server.url).split('\n').map(line => line.split('=')))
    const port = await freePort()
    data = mkdtempSync(join(tmpdir(), 'open-webui-'))
    url = `http://127.0.0.1:${port}`
    webui = start(program, ['serve', '--host', '127.0.0.1', '--port', String(port)], {
      ...settings, DATA_DIR: data, WEBUI_SECRET_KEY: 'any', WEBUI_AUTH: 'False', OFFLINE_MODE: 'true', ENABLE_OLLAMA_API: 'false',
      BYPASS_EMBEDDING_AND_RETRIEVAL: 'true', RAG_EMBEDDING_ENGINE: 'openai', ANONYMIZED_TELEMETRY: 'false',
    })
    await healthy(`${url}/health`, webui, 180_000)
    browser = await launch()
  }, { timeout: 240_000 })
  after(async () => {
    await browser?.close()
    await webui?.stop('SIGKILL') // it waits for its readers
    await server?.stop()
    if (data) rmSync(data, { recursive: true, force: true })
  })

  it('lists the model, shows the answer and links footnotes to the words', async () => {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
    page.setDefaultTimeout(60_000)
    await page.goto(url)
    await page.waitForSelector('#chat-input')
    const greeting = page.getByRole('button', { name: "Okay, Let's Go!" })
    if (await greeting.count()) await greeting.click()
    await page.getByText('footnote', { exact: true }).first().waitFor()
    await page.click('#chat-input')
    await page.keyboard.type('How long is the guarantee on the slates?')
    await page.keyboard.press('Enter')
    await page.getByText('30 years').waitFor()
    await page.getByRole('button', { name: /^View source: Slate warranty/ }).first().click()
    const link = page.locator(`a[href^="${server.url}/d/${documents['warranty.md']}"]`).first()
    await link.waitFor()
    const source = await fetch(await link.getAttribute('href'))
    assert.match(await source.text(), /<mark class="[^"]*quote/)
  })
})
