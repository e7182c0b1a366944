// A model is found on this machine and chosen on the page, with and without JavaScript.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { audit, fits, inTab, launch } from './browser.mjs'
import { add, footnote, modelServer } from './footnote.mjs'
import { ask, over } from './page.mjs'
import { warranty } from './fixtures.mjs'

describe('the choice of a model', () => {
  let browser, model, server, folder
  before(async () => {
    browser = await launch()
    model = await modelServer()
    folder = mkdtempSync(join(tmpdir(), 'footnote-e2e-settings-'))
    writeFileSync(join(folder, 'footnote.yaml'), '# mine\n')
    server = await footnote({ FOOTNOTE_CONFIG: join(folder, 'footnote.yaml'), FOOTNOTE_MODEL_PORTS: new URL(model.env.OPENAI_BASE_URL).port })
    await add(server, { 'warranty.md': warranty })
  }, { timeout: 90_000 })
  after(async () => {
    await browser?.close()
    await server?.stop()
    await model?.stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const offline = () => fetch(`${server.url}/model`, { method: 'PUT', headers: { 'Content-Type': 'application/json' }, body: '{"service":"offline"}' })
  const tab = (body, options = {}) => async () => {
    model.release()
    assert.equal((await offline()).status, 200)
    await inTab(browser, { baseURL: server.url, ...options }, body)
  }

  for (const javaScriptEnabled of [true, false]) {
    it(`is chosen with one click ${javaScriptEnabled ? 'with' : 'without'} JavaScript, and answers the next question`, tab(async page => {
      await page.goto('/')
      await page.getByTestId('head-model').click()
      const row = page.locator('.model-row')
      await row.getByRole('button', { name: 'Use model', exact: true }).click()
      await page.getByTestId('model-said').getByText('Footnote now uses scripted').waitFor()
      await row.getByText('in use').waitFor()
      assert.equal(await page.getByTestId('answering').textContent(), 'scripted')
      if (!javaScriptEnabled) return
      await page.goto('/')
      const turn = await ask(page, 'How long does the warranty last?')
      await over(turn)
      const run = await (await fetch(`${server.url}/agent/runs/${await turn.getAttribute('data-run')}`)).json()
      assert.equal(run.model, 'scripted')
    }, { javaScriptEnabled }))
  }

  it('announces each attempt once', tab(async page => {
    await page.goto('/model')
    const sent = []
    page.on('request', r => { if (r.method() === 'POST') sent.push(r.url()) })
    const said = await page.evaluate(() => { // at once: tools for tests wait until a form is answered
      const button = document.querySelector('[data-busy] button')
      button.click()
      const { textContent } = button
      button.click()
      return textContent
    })
    assert.equal(said, 'Testing…')
    await page.getByText('in use').waitFor()
    assert.equal(sent.length, 1)
  }))

  for (const [width, height, colorScheme] of [[1440, 900, 'light'], [390, 844, 'dark']]) {
    it(`fits ${width} × ${height}, and is accessible`, tab(async page => {
      await page.goto('/model')
      await page.getByRole('button', { name: 'Use model', exact: true }).waitFor()
      await fits(page)
      await audit(page, `model-${width}`)
    }, { viewport: { width, height }, colorScheme }))
  }

  it('keeps the input after a rejection, except the key', tab(async (page, { expect }) => {
    expect(/400 \(Bad Request\)/)
    await page.goto('/model')
    const form = page.locator('.model-key')
    await form.getByLabel('Service').selectOption('Mistral')
    await form.getByLabel('Model').fill('x'.repeat(200))
    await form.getByLabel('Model').evaluate(input => { input.removeAttribute('maxlength'); input.value += 'x' })
    await form.getByLabel('API key').fill('sk-secret')
    await form.getByRole('button').click()
    await page.getByRole('alert').getByText('up to 200').waitFor()
    assert.equal(await form.getByLabel('Service').inputValue(), 'mistral')
    assert.equal(await form.getByLabel('API key').inputValue(), '')
    assert.ok(!(await page.content()).includes('sk-secret'))
  }))
})
