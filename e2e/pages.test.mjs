// Office files as LibreOffice prints them: the words that an answer quotes are marked on the drawn pages.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { audit, fits, inTab, launch, shot } from './browser.mjs'
import { add, footnote, until } from './footnote.mjs'
import { letter, text } from './office.mjs'
import { ask, inPDF, marked, over, trace } from './page.mjs'

const question = 'What were the slates of the north gable fixed with?'
const sizes = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } }
const letters = s => s.replace(/[^\p{L}\p{N}]+/gu, '')

describe('an Office file as it is printed', () => {
  let browser
  before(async () => { browser = await launch() })
  after(async () => { await browser?.close() })
  for (const [file, make] of Object.entries({ 'survey.docx': letter, 'survey.odt': text })) {
    describe(file, () => {
      let server
      before(async () => {
        server = await footnote({ FOOTNOTE_OFFICE_PAGES: 'true' })
        await add(server, { [file]: make() })
      }, { timeout: 120_000 })
      after(async () => { await server?.stop() })
      for (const [name, viewport] of Object.entries(sizes)) {
        it(`highlights the quoted words on its pages, ${name}`, () => inTab(browser, { baseURL: server.url, viewport }, async page => {
          await page.goto('/')
          const turn = await ask(page, question)
          await over(turn)
          const { answer: { citations } } = await trace(server, turn)
          const cited = citations.find(c => c.quote.includes('copper nails'))
          await turn.locator(`.answer a.cite[data-n="${cited.number}"]`).first().click()
          const source = page.getByTestId('source')
          await until(async () => letters(await marked(source)) === letters(cited.quote), 'the text is marked')
          await page.locator('#panel').getByRole('link', { name: 'Pages', exact: true }).click()
          await source.locator('.sheet').first().waitFor({ timeout: 60_000 })
          await until(async () => letters(await marked(source)) === letters(cited.quote), `the pages mark “${cited.quote}”, not “${await marked(source)}”`)
          const sheet = source.locator('.sheet:has(tspan.quote)').first()
          await inPDF(source, { page: Number(await sheet.getAttribute('data-page')), boxes: await sheet.locator('rect.quote').all() })
          await shot(page, `pages-${file}-${name}`)
          await page.getByRole('link', { name: 'Open full document' }).click()
          const viewer = page.getByTestId('viewer')
          await viewer.locator('.sheet').first().waitFor()
          assert.equal(letters(await marked(viewer)), letters(cited.quote))
          await fits(page)
          await audit(page, `pages-${file}-${name}`)
          await page.getByRole('link', { name: 'Text', exact: true }).click()
          await viewer.locator('.sheet').first().waitFor({ state: 'detached' })
          assert.equal(letters(await marked(viewer)), letters(cited.quote))
        }))
      }
    })
  }
})
