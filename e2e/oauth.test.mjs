// The protocol's official client connects to a server with keys: it finds out how, registers, sends the user to the page in Chromium, and
// calls a tool with the token that it gets.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { inTab, launch, shot } from './browser.mjs'
import { binary, footnote } from './footnote.mjs'

/** What a client keeps between its starts. */
class Provider {
  constructor(redirectUrl) { this.redirectUrl = redirectUrl }
  get clientMetadata() { return { client_name: 'Test program', redirect_uris: [this.redirectUrl], token_endpoint_auth_method: 'none', grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] } }
  state() { return 'state-1' }
  clientInformation() { return this.client }
  saveClientInformation(client) { this.client = client }
  tokens() { return this.kept }
  saveTokens(tokens) { this.kept = tokens }
  redirectToAuthorization(url) { this.page = url }
  saveCodeVerifier(verifier) { this.verifier = verifier }
  codeVerifier() { return this.verifier }
}

describe('a client of the Model Context Protocol where keys are needed', () => {
  let dir, key, server, browser, listener, redirect
  const heard = []
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'footnote-keys-'))
    const made = spawnSync(binary, ['key', 'new', 'anna', `--keys=${join(dir, 'keys')}`], { encoding: 'utf8' })
    key = made.stdout.trim()
    server = await footnote({ FOOTNOTE_MODEL: 'offline', FOOTNOTE_KEYS: join(dir, 'keys') })
    listener = createServer((request, response) => {
      if (request.url.startsWith('/back')) heard.push(new URL(request.url, redirect))
      response.setHeader('content-type', 'text/html').end('<!doctype html><html lang="en"><title>Back</title><link rel="icon" href="data:,"><p>Back')
    })
    await new Promise(done => listener.listen(0, '127.0.0.1', done))
    redirect = `http://127.0.0.1:${listener.address().port}/back`
    browser = await launch()
  }, { timeout: 60_000 })
  after(async () => {
    await browser?.close()
    listener?.close()
    await server?.stop()
    rmSync(dir, { recursive: true, force: true })
  })

  /** Connects until the user is asked; answers there; connects with the code. */
  const connect = async (provider, options, answer) => {
    const transport = () => new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { authProvider: provider })
    const first = transport()
    await assert.rejects(new Client({ name: 'test', version: '1' }).connect(first), UnauthorizedError)
    assert.equal(provider.page.origin, server.url)
    assert.equal(provider.page.searchParams.get('resource'), `${server.url}/mcp`)
    heard.length = 0
    await inTab(browser, options, async (page, { expect }) => {
      expect(/status of 401/)
      await page.goto(provider.page.href)
      await page.getByLabel('API key').fill(key)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByText('“Test program” wants to access your documents.').waitFor()
      await page.getByText('as anna').waitFor()
      await shot(page, `oauth-${options.colorScheme ?? 'light'}`)
      await page.getByRole('button', { name: answer }).click()
      await page.getByText('Back').waitFor()
    })
    const [back] = heard
    assert.equal(back.searchParams.get('state'), 'state-1')
    assert.equal(back.searchParams.get('iss'), server.url)
    if (answer === 'Deny') return back.searchParams.get('error')
    await first.finishAuth(back.searchParams.get('code'))
    const client = new Client({ name: 'test', version: '1' })
    await client.connect(transport())
    return client
  }

  it('is refused', async () => {
    assert.equal(await connect(new Provider(redirect), { javaScriptEnabled: false, viewport: { width: 390, height: 844 }, colorScheme: 'dark' }, 'Deny'), 'access_denied')
  })

  it('is authorized, calls a tool, refreshes its token, and is revoked on the page', async () => {
    const provider = new Provider(redirect)
    const client = await connect(provider, {}, 'Allow')
    const got = await client.callTool({ name: 'list_documents', arguments: {} })
    assert.deepEqual(got.structuredContent, { documents: [] })
    const old = provider.kept
    provider.kept = { ...old, access_token: 'fno_expired' } // the client renews it by itself
    assert.ok(!(await client.callTool({ name: 'list_documents', arguments: {} })).isError)
    assert.notEqual(provider.kept.access_token, 'fno_expired')
    assert.notEqual(provider.kept.refresh_token, old.refresh_token)
    assert.equal((await fetch(`${server.url}/sessions`, { headers: { Authorization: `Bearer ${provider.kept.access_token}` } })).status, 401)
    await inTab(browser, { javaScriptEnabled: false }, async (page, { expect, context }) => {
      expect(/status of 401/)
      await context.addCookies([{ name: 'footnote_key', value: key, url: server.url }])
      await page.goto(`${server.url}/connections`)
      await page.getByTestId('connection').waitFor()
      await shot(page, 'connections')
      await page.getByRole('button', { name: 'End connection with “Test program”' }).click()
      await page.getByText('No connected apps.').waitFor()
    })
    await assert.rejects(client.callTool({ name: 'list_documents', arguments: {} }))
    await client.close()
  })

  it('ends with the key', async () => {
    const provider = new Provider(redirect)
    const client = await connect(provider, {}, 'Allow')
    spawnSync(binary, ['key', 'revoke', 'anna', `--keys=${join(dir, 'keys')}`])
    await assert.rejects(client.callTool({ name: 'list_documents', arguments: {} }))
    await client.close()
  })
})
