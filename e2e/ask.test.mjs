// The main job: drop documents, ask, watch the work, read the answer, open a footnote at its very words.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { audit } from './browser.mjs'
import { warranty } from './fixtures.mjs'
import { inBothModes } from './house.mjs'
import { ask, over, sameAsAPI, trace } from './page.mjs'

inBothModes({ delay: 60 }, {}, (at, withModel) => {
  it('shows the steps while it works, then the answer, the same as the API tells', at.tab(async page => {
    await page.goto('/')
    const turn = await ask(page, 'What is the moisture at points G2 and G4 of the north gable?')
    const steps = turn.getByTestId('reasoning-step')
    if (withModel) {
      await turn.locator('.run[open] .step').filter({ hasText: 'Search' }).first().waitFor()
      assert.equal(await turn.getAttribute('data-status'), 'running', 'the step came after the run')
      await turn.locator('.answer[aria-busy=true] .md').first().waitFor()
    }
    await over(turn)
    const run = await sameAsAPI(at.server, turn)
    assert.equal(run.status, 'completed')
    assert.equal(await steps.count(), run.steps.length)
  }))

  it('opens a step and shows its input and output', at.tab(async page => {
    await page.goto('/')
    const turn = await ask(page, 'How long is the guarantee on the slates?')
    await over(turn)
    const run = await trace(at.server, turn)
    const search = run.steps.find(s => s.tool_name === 'search_documents')
    await turn.locator('.run-head').click()
    const row = turn.locator(`.step[data-call="${search.call_id}"]`)
    await row.locator('summary').first().click()
    console.log(await row.innerText())
    await row.getByText('Raw JSON').click()
    console.log(await row.locator('.raw pre').innerText())
    await audit(page, withModel ? 'answered-model' : 'answered')
  }))
})
