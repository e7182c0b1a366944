// The main job: drop documents, ask, watch the work, read the answer, open a footnote at its very words.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { audit, shot } from './browser.mjs'
import { warranty } from './fixtures.mjs'
import { ready, until } from './footnote.mjs'
import { inBothModes } from './house.mjs'
import { ask, choose, drop, inPDF, marked, over, sameAsAPI } from './page.mjs'

const aboutPDF = 'What is the moisture at points G2 and G4 of the north gable?'
const aboutText = 'How long is the guarantee on the slates?'

inBothModes({ delay: 20 }, { empty: true }, (at, withModel) => {
  const name = text => (withModel ? `${text}-model` : text)

  it('accepts a PDF and a Markdown file dropped anywhere', at.tab(async page => {
    await page.goto('/')
    await drop(page, { 'survey.pdf': at.survey, 'warranty.md': warranty })
    await page.locator('#q').waitFor()
    const { documents } = await until(async () => { const list = await at.server.json('/documents'); return list.documents.length === 2 && list }, 'both are taken')
    assert.deepEqual(documents.map(d => d.filename).sort(), ['survey.pdf', 'warranty.md'])
    for (const d of documents) await ready(at.server, d.id)
    at.documents = Object.fromEntries(documents.map(d => [d.filename, d.id]))
    await page.goto('/documents')
    for (const d of documents) await page.locator('#main').getByText(d.filename).first().waitFor()
  }))

  it('accepts selected files, and recognizes duplicates', at.tab(async page => {
    await page.goto('/documents')
    await choose(page, () => page.getByRole('button', { name: 'Add files' }).click(), [
      { name: 'warranty.md', mimeType: 'text/markdown', buffer: Buffer.from(warranty) },
      { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('The gate code of the bin store is kept by the porter.') },
    ])
    await until(async () => (await at.server.json('/documents')).documents.some(d => d.filename === 'note.txt' && d.state === 'ready'), 'the chosen file is ready')
    assert.equal((await at.server.json('/documents')).documents.length, 3)
  }))

  it('shows the steps during the run, then the same answer as the API', at.tab(async page => {
    await page.goto('/')
    at.model?.hold()
    const turn = await ask(page, aboutPDF)
    if (withModel) {
      await turn.locator('.run[open] .step').first().waitFor()
      const decided = at.model.holdAfterReply()
      at.model.release()
      await decided
      await turn.locator('.run[open] .step').filter({ hasText: 'Searched' }).waitFor()
      assert.equal(await turn.getAttribute('data-status'), 'running', 'the step came after the run')
      const written = at.model.holdAfter(5)
      at.model.release()
      await written
      await turn.locator('.answer[aria-busy=true] .md').first().waitFor()
      await turn.locator('.run:not([open])').waitFor()
      at.model.release()
    }
    await over(turn)
    const run = await sameAsAPI(at.server, turn)
    assert.equal(run.status, 'completed')
    assert.equal(await turn.getByTestId('reasoning-step').count(), run.steps.length)
    assert.match(await turn.locator('.run-head').textContent(), /^\s*Worked for (<1|\d)/)
    await page.reload()
    await sameAsAPI(at.server, turn)
  }))

  it('keeps the beginning of a long answer visible', at.tab(async page => {
    await page.setViewportSize({ width: 390, height: 380 })
    await page.goto('/')
    const turn = await ask(page, aboutPDF)
    await over(turn)
    const [top, long] = await turn.locator('.answer').evaluate(answer => [answer.getBoundingClientRect().top, document.documentElement.scrollHeight - innerHeight])
    assert.ok(long > 300, `the page has ${long} px more than the window`)
    assert.ok(top > 0 && top < 300, `the answer begins at ${top} px`)
  }))

  it('expands a step with its input and output', at.tab(async page => {
    await page.goto('/')
    const turn = await ask(page, aboutText)
    await over(turn)
    const run = await sameAsAPI(at.server, turn)
    const search = run.steps.find(s => s.tool_name === 'search_documents')
    const row = turn.locator(`.step[data-call="${search.call_id}"]`)
    await turn.locator('.run-head').click()
    await row.locator('.step-head').click()
    const values = await row.locator('.io .kv').first().locator('dd').allTextContents()
    assert.ok(values.includes(search.tool_input.query), `${search.tool_input.query} is not in ${values}`)
    const [first] = search.tool_output.documents
    const hit = row.locator('.hits .hit').first()
    assert.ok((await hit.textContent()).includes(first.title))
    assert.ok((await hit.locator('mark').count()) > 0, 'nothing is marked in the snippet')
    await row.getByText('Raw JSON').click()
    assert.deepEqual(JSON.parse(await row.locator('.raw pre').textContent()), search.tool_output)
    await shot(page, name('steps'))
  }))

  it('shows the same text in card and sources', at.tab(async page => {
    await page.goto('/')
    const turn = await ask(page, aboutPDF)
    await over(turn)
    const { answer: { citations: [cited] } } = await sameAsAPI(at.server, turn)
    const chip = turn.locator('.answer a.cite').first()
    await chip.hover()
    const card = page.locator('.card')
    await card.waitFor()
    await shot(page, name('card'))
    const source = turn.locator('.sources .source').first()
    for (const place of [card, source]) {
      assert.equal(await place.locator('.source-title').textContent(), cited.title)
      assert.equal(await place.locator('.source-quote').textContent(), cited.quote)
      const [, section] = (await place.locator('.loc').textContent()).match(/^p\. 2 · (.+)$/)
      assert.ok(cited.section.endsWith(section), `${section} is not the end of ${cited.section}`)
      assert.equal((await place.locator('.check').textContent()).trim(), 'Verified')
    }
    assert.equal(await chip.getAttribute('aria-label'), `Source 1: ${cited.title}, page ${cited.page}`)
    await page.mouse.move(5, 5)
    await card.waitFor({ state: 'detached' })
    await chip.focus()
    await card.waitFor()
    await page.keyboard.press('Escape')
    await card.waitFor({ state: 'detached' })
    await turn.getByText(/^Confidence/).press('Enter')
    await turn.getByText(/sentences? with footnotes? (is|are) supported/).waitFor()
  }))

  for (const [kind, question] of [['a text', aboutText], ['a PDF', aboutPDF]]) {
    it(`opens a footnote of ${kind} at its words, in the panel and on its page`, at.tab(async page => {
      await page.goto('/')
      const turn = await ask(page, question)
      await over(turn)
      const { answer: { citations } } = await sameAsAPI(at.server, turn)
      const source = page.getByTestId('source')
      for (const cited of citations) {
        const chip = turn.locator(`.answer a.cite[data-n="${cited.number}"]`).first()
        await chip.click()
        await page.locator(`.answer a.cite[data-n="${cited.number}"][aria-current=true]`).first().waitFor()
        await source.waitFor()
        await until(async () => await marked(source) === cited.quote, `the panel marks “${cited.quote}”`)
        if (cited.page) await inPDF(source, cited)
      }
      await shot(page, name(`source-${kind.split(' ')[1]}`))
      await page.getByRole('link', { name: 'Open full document' }).click()
      const viewer = page.getByTestId('viewer')
      await viewer.waitFor()
      const last = citations.at(-1)
      assert.equal(await marked(viewer), last.quote)
      if (last.page) await inPDF(viewer, last)
      if (!withModel) await audit(page, `viewer-${kind.split(' ')[1]}`)
    }))
  }

  if (withModel) it('shows the whole of a long thought when it is asked for', at.tab(async page => {
    await page.goto('/')
    const turn = await ask(page, 'How long is the guarantee on the slates? #muse')
    await over(turn)
    await turn.locator('.run-head').click()
    const step = turn.locator('.step', { has: page.locator('.thought') }).first()
    await step.locator('.step-head').click()
    const whole = step.getByTestId('whole-thought')
    assert.match(await step.locator('.thought').textContent(), /^Slate or tile\? .*…$/)
    await whole.getByText('Show all (15,006 characters)').click()
    await whole.locator('pre').getByText(/^(Slate or tile\? ){1000}Slate\.$/).waitFor()
    await shot(page, 'whole-thought')
  }))
})
