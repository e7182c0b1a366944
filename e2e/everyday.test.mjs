// Office files, mails and books: the words that an answer quotes are marked where the page draws them, and the footnote
// says in words where that is.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { audit, fits, inTab, launch, shot } from './browser.mjs'
import { add, footnote, until } from './footnote.mjs'
import { book, deck, letter, mail, text, workbook } from './office.mjs'
import { ask, marked, over, trace } from './page.mjs'

const question = 'What were the slates of the north gable fixed with?'
const sizes = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } }
const plain = s => s.replace(/[\s|]+/g, ' ').trim() // cells have bars between them in a quote

for (const [file, make, place] of [
  ['survey.docx', letter, ''],
  ['survey.odt', text, ''],
  ['survey.pptx', deck, 'slide 2'],
  ['survey.xlsx', workbook, 'Roof, row 3'],
  ['survey.epub', book, ''],
  ['survey.eml', mail, ''],
]) {
  describe(`the words of ${file}`, () => {
    let browser, server
    before(async () => {
      browser = await launch()
      server = await footnote()
      await add(server, { [file]: make() })
    }, { timeout: 120_000 })
    after(async () => {
      await browser?.close()
      await server?.stop()
    })

    for (const [name, viewport] of Object.entries(sizes)) {
      it(`are marked, ${name}`, () => inTab(browser, { baseURL: server.url, viewport }, async page => {
        await page.goto('/')
        const turn = await ask(page, question)
        await over(turn)
        const { answer: { citations } } = await trace(server, turn)
        const cited = citations.find(c => c.quote.includes('copper nails'))
        assert.ok(cited, `no footnote quotes the nails: ${JSON.stringify(citations)}`)
        if (place) assert.equal(cited.place, place)
        await turn.locator(`.answer a.cite[data-n="${cited.number}"]`).first().click()
        const source = page.getByTestId('source')
        await until(async () => plain(await marked(source)) === plain(cited.quote), `the panel marks “${cited.quote}”, not “${await marked(source)}”`)
        assert.ok(await inView(source), 'the marked words are in view')
        await shot(page, `${file}-${name}`)
        await page.getByRole('link', { name: 'Open full document' }).click()
        const viewer = page.getByTestId('viewer')
        await viewer.waitFor()
        assert.equal(plain(await marked(viewer)), plain(cited.quote))
        await until(() => inView(viewer), 'the marked words of the whole document are in view')
        await fits(page)
        await audit(page, `${file}-${name}`)
      }))
    }
  })
}

/** Whether a click at the first marked word would reach it: nothing covers it, and no box that scrolls hides it. */
const inView = place => place.locator('mark.quote').first().evaluate(mark => {
  const { left, top, width, height } = mark.getBoundingClientRect()
  const at = document.elementFromPoint(left + Math.min(width, 8) / 2, top + height / 2)
  return at !== null && (mark.contains(at) || at.contains(mark) && at.closest('table, .block') !== null)
})
