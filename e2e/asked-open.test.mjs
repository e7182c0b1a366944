// Who asks for a footnote or a document to be opened sees it open beside the answer, at the quote, with a model and without.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { shot } from './browser.mjs'
import { until } from './footnote.mjs'
import { inBothModes } from './house.mjs'
import { ask, inPDF, marked, over, sameAsAPI } from './page.mjs'

inBothModes({}, {}, (at, withModel) => {
  it("opens a footnote's source at its words, and a named document", at.tab(async page => {
    await page.goto('/')
    const first = await ask(page, 'What is the moisture at points G2 and G4 of the north gable?')
    await over(first)
    const [cited] = (await sameAsAPI(at.server, first)).answer.citations
    const source = page.getByTestId('source')
    const turn = await ask(page, 'Open citation 1')
    await over(turn)
    assert.equal((await sameAsAPI(at.server, turn)).answer.answer, `Opened footnote 1: survey.pdf, page ${cited.page}.`)
    await source.waitFor()
    await until(async () => await marked(source) === cited.quote, 'the panel marks the quote')
    await inPDF(source, cited)
    await shot(page, withModel ? 'asked-open-model' : 'asked-open')
    const named = await ask(page, 'open the document warranty.md')
    await over(named)
    assert.equal((await sameAsAPI(at.server, named)).answer.answer, 'Opened warranty.md.')
    await until(async () => (await source.textContent()).includes('The maker guarantees the slates'), 'the panel shows the document')
    const missing = await ask(page, 'Open footnote 9')
    await over(missing)
    assert.match((await sameAsAPI(at.server, missing)).answer.answer, /^There is no footnote 9 in the last answer\. It has 1 \(survey\.pdf, page 2\)/)
  }))
})
