// Pictures of text: what is read from them is quoted, and marked on the picture at the very words.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { audit, fits, inTab, launch, shot } from './browser.mjs'
import { photo, scan } from './fixtures.mjs'
import { add, footnote, until } from './footnote.mjs'
import { ask, inPDF, marked, over, sameAsAPI } from './page.mjs'

const question = 'What is the moisture at points G2 and G4 of the north gable?'
const sizes = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } }

for (const [kind, make] of Object.entries({
  'survey.png': browser => photo(browser, 'png'),
  'survey.jpg': browser => photo(browser, 'jpeg', 90),
  'survey.webp': browser => photo(browser, 'webp', 270),
  'survey.pdf': browser => scan(browser, 180),
})) {
  describe(`a picture of text, ${kind}`, () => {
    let browser, server
    before(async () => {
      browser = await launch()
      server = await footnote()
      await add(server, { [kind]: await make(browser) })
    }, { timeout: 120_000 })
    after(async () => {
      await browser?.close()
      await server?.stop()
    })

    for (const [name, viewport] of Object.entries(sizes)) {
      it(`is quoted, with highlights on the picture, ${name}`, () => inTab(browser, { baseURL: server.url, viewport }, async page => {
        await page.goto('/')
        const turn = await ask(page, question)
        await over(turn)
        const { answer: { citations } } = await sameAsAPI(server, turn)
        const cited = citations.find(c => c.quote.includes('22 % and 24 %'))
        assert.ok(cited, `no footnote quotes the readings: ${JSON.stringify(citations)}`)
        assert.equal(cited.page, 1)
        await turn.locator(`.answer a.cite[data-n="${cited.number}"]`).first().click()
        const source = page.getByTestId('source')
        await until(async () => await marked(source) === cited.quote, `the panel marks “${cited.quote}”`)
        await inPDF(source, cited)
        await shot(page, `${kind}-${name}`)
        await page.getByRole('link', { name: 'Open full document' }).click()
        const viewer = page.getByTestId('viewer')
        await viewer.waitFor()
        assert.equal(await marked(viewer), cited.quote)
        await inPDF(viewer, cited)
        await fits(page)
        await audit(page, `${kind}-${name}`)
      }))
    }
  })
}

/** Where a program is on the PATH. */
const found = program => process.env.PATH.split(delimiter).map(dir => join(dir, program)).find(path => existsSync(path))

for (const javaScriptEnabled of [true, false]) {
  it(`a picture waits for a reader, and is retried by a button, ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, { timeout: 90_000 }, async () => {
    const path = mkdtempSync(join(tmpdir(), 'footnote-path-'))
    const browser = await launch()
    const server = await footnote({ PATH: path })
    try {
      const form = new FormData()
      form.append('files', new Blob([await photo(browser, 'png')]), 'survey.png')
      const { documents: [{ id }] } = await (await fetch(`${server.url}/documents`, { method: 'POST', body: form, headers: { Accept: 'application/json' } })).json()
      const state = async () => (await server.json(`/documents/${id}`)).state
      await until(async () => await state() === 'failed', 'it can not be read')
      assert.equal((await server.json(`/documents/${id}`)).error.code, 'needs_ocr')
      await inTab(browser, { baseURL: server.url, javaScriptEnabled }, async page => {
        await page.goto('/documents')
        const row = page.getByTestId('state').first()
        assert.match(await row.innerText(), /OCR required[^]*Install tesseract/)
        if (javaScriptEnabled) await audit(page, 'needs-ocr')
        await shot(page, `needs-ocr-${javaScriptEnabled}`)
        const again = page.getByRole('button', { name: 'Import again survey.png' })
        const press = () => Promise.all([page.waitForResponse(response => response.url().includes('/retry')), again.click()])
        await press()
        await until(async () => await state() === 'failed', 'nothing can read it yet')
        symlinkSync(found('tesseract'), join(path, 'tesseract'))
        await page.goto('/documents')
        await press()
        await until(async () => await state() === 'ready', 'it is read')
        await page.goto('/documents')
        assert.match(await page.getByTestId('state').first().innerText(), /Ready/)
        assert.equal(await again.count(), 0)
      })
    } finally {
      await browser.close()
      await server.stop()
      rmSync(path, { recursive: true })
    }
  })
}

/** A model's server that reads any picture as text. */
async function seer(text) {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const piece of request) body += piece
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify(body.includes('data:image/png;base64,')
      ? { choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }] }
      : { object: 'list', data: [{ id: 'seer', object: 'model' }] }))
  })
  await new Promise(done => server.listen(0, '127.0.0.1', done))
  return { url: `http://127.0.0.1:${server.address().port}/v1`, stop: () => new Promise(done => server.close(done)) }
}

for (const [name, viewport] of Object.entries(sizes)) {
  it(`a picture read by a model is quoted in its text below, ${name}`, { timeout: 90_000 }, async () => {
    const browser = await launch()
    const model = await seer('North gable\n\nPoints G2 and G4 remain at 22 % and 24 %; the cause is open pointing in the gable.')
    const server = await footnote({ FOOTNOTE_OCR: 'model', FOOTNOTE_MODEL: 'offline', OPENAI_BASE_URL: model.url, OPENAI_MODEL: 'seer' })
    try {
      await add(server, { 'survey.png': await photo(browser, 'png') })
      await inTab(browser, { baseURL: server.url, viewport }, async page => {
        await page.goto('/')
        const turn = await ask(page, question)
        await over(turn)
        const { answer: { citations: [cited] } } = await sameAsAPI(server, turn)
        assert.match(cited.quote, /22 % and 24 %/)
        assert.deepEqual([cited.page, cited.boxes ?? []], [1, []])
        await turn.locator(`.answer a.cite[data-n="${cited.number}"]`).first().click()
        const source = page.getByTestId('source')
        await until(async () => await marked(source) === cited.quote.replace(/\s+/g, ' '), `the panel marks “${cited.quote}”`)
        await source.getByText('The model that read this page').waitFor()
        assert.equal(await source.locator('rect.quote').count(), 0)
        await audit(page, `model-${name}`)
        await shot(page, `model-${name}`)
      })
    } finally {
      await browser.close()
      await server.stop()
      await model.stop()
    }
  })
}
