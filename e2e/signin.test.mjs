// With keys, the page asks for one, belongs to one person, and lets go of it.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { audit, inTab, launch, shot } from './browser.mjs'
import { warranty } from './fixtures.mjs'
import { binary, footnote, until } from './footnote.mjs'

const question = 'How long is the guarantee on the slates?'

describe('with keys', () => {
  let browser, server, dir
  const keys = {}
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'footnote-keys-'))
    const file = join(dir, 'keys')
    const key = (...args) => execFileSync(binary, ['key', ...args], { env: { ...process.env, FOOTNOTE_CONFIG: '', FOOTNOTE_KEYS: file }, encoding: 'utf8' }).trim()
    for (const name of ['anna', 'ben']) keys[name] = key('new', name)
    keys.revoke = name => key('revoke', name)
    browser = await launch()
    server = await footnote({ FOOTNOTE_MODEL: 'offline', FOOTNOTE_KEYS: file })
    const form = new FormData()
    form.append('files', new Blob([warranty]), 'warranty.md')
    const headers = { Accept: 'application/json', 'X-API-Key': keys.anna }
    const { documents: [{ id }] } = await (await fetch(`${server.url}/documents`, { method: 'POST', body: form, headers })).json()
    await until(async () => (await (await fetch(`${server.url}/documents/${id}`, { headers })).json()).state === 'ready', 'the document is ready')
  }, { timeout: 60_000 })
  after(async () => {
    await browser?.close()
    await server?.stop()
    if (dir) rmSync(dir, { recursive: true, force: true })
  })
  const tab = (body, options) => () => inTab(browser, { baseURL: server.url, ...options }, body)
  const key = page => page.getByRole('textbox', { name: 'API key' })
  const signIn = async (page, value) => {
    await key(page).fill(value)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  for (const javaScriptEnabled of [true, false]) {
    it(`keeps a question asked while signed out ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, tab(async (page, { context, expect }) => {
      expect(/status of 401|htmx/)
      await page.goto('/')
      await signIn(page, keys.anna)
      await page.locator('#q').fill(question)
      await page.getByRole('button', { name: 'Send' }).click()
      await page.waitForURL('**/c/*')
      await page.getByTestId('answer').getByText('30 years').first().waitFor()
      if (javaScriptEnabled) await page.getByRole('button', { name: 'Send' }).waitFor()
      else await page.goto(page.url().split('?')[0])
      await context.clearCookies()
      const next = 'And who gives it?\nPlease name the page.'
      await page.locator('#q').fill(next)
      await page.getByRole('button', { name: 'Send' }).click()
      if (javaScriptEnabled) {
        await page.locator('#composer-error').getByText('You are signed out').waitFor()
        assert.equal(await page.locator('#q').inputValue(), next)
        await audit(page, 'signed-out')
        await page.locator('#composer-error').getByRole('link', { name: 'Sign in' }).click()
      }
      await key(page).waitFor()
      if (!javaScriptEnabled) await shot(page, 'question-kept')
      await signIn(page, keys.anna)
      await page.getByTestId('answer').getByText('30 years').first().waitFor()
      assert.equal(await page.locator('#q').inputValue(), next)
      assert.equal(await page.getByTestId('turn').count(), 1, 'it was not asked yet')
      await shot(page, 'signed-in-again')
      await page.getByRole('button', { name: 'Send' }).click()
      await page.getByTestId('question').getByText('And who gives it?').waitFor()
    }, { javaScriptEnabled }))

    it(`asks for a key, signs in and out ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, tab(async (page, { expect }) => {
      expect(/status of 40[14]/)
      await page.goto('/documents?q=slate')
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      if (javaScriptEnabled) await audit(page, 'signin')
      const box = await page.getByRole('heading', { name: 'Sign in' }).boundingBox()
      assert.ok(box.x > 400 && box.x < 720, `the form stands at ${box.x}, not in the middle`)
      await signIn(page, 'fn_wrong')
      await page.getByRole('alert').getByText('Invalid API key. Enter it again').waitFor()
      if (javaScriptEnabled) {
        await page.setViewportSize({ width: 390, height: 844 })
        await audit(page, 'signin-wrong')
        await page.setViewportSize({ width: 1440, height: 900 })
      }
      await signIn(page, keys.anna)
      await page.waitForURL('**/documents?q=slate')
      await page.getByText('warranty.md').first().waitFor()

      await page.goto('/')
      await page.locator('#q').fill(question)
      await page.getByRole('button', { name: 'Send' }).click()
      await page.waitForURL('**/c/*')
      await page.getByTestId('answer').getByText('30 years').first().waitFor()
      const conversation = page.url()
      if (javaScriptEnabled) {
        await page.setViewportSize({ width: 390, height: 844 })
        await page.getByRole('link', { name: 'Menu', exact: true }).click()
        await shot(page, 'signed-in-menu')
      }
      await page.getByTitle('Signed in as anna').waitFor()
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.waitForURL('**/signin')
      await page.goto(conversation)
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      await page.goBack()
      assert.equal(await page.getByText('30 years').count(), 0, 'the way back shows nothing')

      await page.goto(conversation)
      await signIn(page, keys.ben)
      await page.getByText('Session not found.').waitFor()
      await page.goto('/')
      assert.equal(await page.locator('#sessions a').count(), 0)
      assert.equal(await page.locator('#document-count').textContent(), '0')
    }, { javaScriptEnabled }))
  }

  it('separates users in the API, and closes a page with a revoked key', tab(async (page, { expect }) => {
    expect(/status of 401/)
    const ask = async (who, path, options = {}) => fetch(server.url + path, {
      ...options, headers: { Accept: 'application/json', 'Content-Type': 'application/json', 'X-API-Key': keys[who] },
    })
    const { session_id: session, run_id: run } = await (await ask('anna', '/agent/chat', { method: 'POST', body: JSON.stringify({ message: question }) })).json()
    for (const path of [`/agent/session/${session}`, `/agent/runs/${run}`, `/agent/runs/${run}/events`, `/c/${session}`, `/agent/runs/${run}/export`]) {
      assert.equal((await ask('anna', path)).status, 200, path)
      assert.equal((await ask('ben', path)).status, 404, path)
      assert.equal((await fetch(server.url + path)).status, 401, path)
    }
    await page.goto('/')
    await signIn(page, keys.ben)
    await page.getByTitle('Signed in as ben').waitFor()
    keys.revoke('ben')
    await until(async () => (await ask('ben', '/sessions')).status === 401, 'the key is revoked')
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  }))
})
