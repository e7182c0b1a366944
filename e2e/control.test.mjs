// Steering a run: stop, answer now, wait, ask again, ask otherwise.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { shot } from './browser.mjs'
import { until } from './footnote.mjs'
import { house, inBothModes } from './house.mjs'
import { ask, over, runOf, sameAsAPI, shown, trace } from './page.mjs'

const question = 'What is the moisture at points G2 and G4 of the north gable?'

describe('a slow run', () => {
  const at = house({ model: { delay: 40, tokens: 80 } })
  const writing = async page => {
    const held = at.model.holdAfter(12)
    const turn = await ask(page, question)
    await held
    await until(async () => (await shown(turn)).split(' ').length > 4, 'the answer is being written')
    return turn
  }

  it('stops at once and keeps its text', at.tab(async page => {
    await page.goto('/')
    const turn = await writing(page)
    const before = await shown(turn)
    await page.getByRole('button', { name: 'Stop generating' }).click()
    await turn.getByText('Stopped by you').waitFor()
    await over(turn)
    const run = await sameAsAPI(at.server, turn)
    assert.equal(run.status, 'cancelled')
    assert.ok((await shown(turn)).startsWith(before), 'text went away')
    await shot(page, 'stopped')
    await turn.getByRole('button', { name: 'Continue' }).click()
    const next = page.locator(`[data-testid=turn]:not([data-run="${run.run_id}"])`)
    await next.waitFor()
    await page.getByRole('button', { name: 'Stop generating' }).waitFor()
    await page.waitForLoadState() // the script that hears keys is there
    await page.keyboard.press('Escape')
    await next.getByText('Stopped by you').waitFor()
    await over(next)
  }))

  it('answers immediately from its results', at.tab(async page => {
    await page.goto('/')
    const turn = await ask(page, `${question} #silent`)
    await turn.locator('.step[data-status=complete]').filter({ hasText: 'Searched' }).first().waitFor()
    await page.getByRole('button', { name: 'Answer now' }).click()
    await over(turn)
    const run = await sameAsAPI(at.server, turn)
    assert.equal(run.answer.stop_reason, 'answer_now')
    await turn.getByText('You asked for an early answer').waitFor()
  }))

  it('queues the next question', at.tab(async page => {
    await page.goto('/')
    at.model.hold()
    const first = await ask(page, question)
    await page.locator('#q').fill('Within how many days must a claim be made?')
    await page.locator('#q').press('Enter')
    await page.locator('#queue .text').getByText('Within how many days must a claim be made?').waitFor()
    assert.equal(await page.getByTestId('turn').count(), 1)
    await page.getByRole('button', { name: 'Stop generating' }).click()
    await first.getByText('Stopped by you').waitFor()
    at.model.release()
    const second = page.getByTestId('turn').nth(1)
    await second.waitFor()
    assert.equal(await second.getByTestId('question').textContent(), 'Within how many days must a claim be made?')
    await until(async () => await page.locator('#queue').textContent() === '', 'nothing waits any more')
    await over(second)
    await sameAsAPI(at.server, second)
  }))
})

inBothModes({ delay: 10 }, {}, at => {
  it('keeps versions of an answer and of an edited question', at.tab(async page => {
    await page.goto('/')
    const first = await ask(page, 'How long is the guarantee on the slates?')
    await over(first)
    const old = await runOf(first)
    await first.getByRole('button', { name: 'Regenerate' }).click()
    const again = page.locator(`[data-testid=turn]:not([data-run="${old}"])`)
    await again.waitFor()
    await over(again)
    await sameAsAPI(at.server, again)
    await again.getByText('2/2').waitFor()

    await page.getByRole('button', { name: 'Previous version' }).click()
    await page.locator(`[data-run="${old}"]`).getByText('1/2').waitFor()
    await page.getByRole('button', { name: 'Next version' }).click()
    await again.getByText('2/2').waitFor()

    const run = await runOf(again)
    await again.locator('.edit > summary').click()
    await again.getByRole('textbox', { name: 'Edit question' }).fill('Within how many days must a claim be made?')
    await again.getByRole('button', { name: 'Ask again' }).click()
    const edited = page.locator(`[data-testid=turn]:not([data-run="${old}"]):not([data-run="${run}"])`)
    await edited.waitFor()
    await over(edited)
    assert.equal(await edited.getByTestId('question').textContent(), 'Within how many days must a claim be made?')
    await edited.getByText('3/3').waitFor()
    assert.equal(await page.getByTestId('turn').count(), 1)
    const answer = await sameAsAPI(at.server, edited)
    assert.match(answer.answer.answer, /in writing within 60 days/)
  }))

  it('makes one run of a duplicate question', at.tab(async page => {
    await page.goto('/')
    await page.locator('#q').fill('Within how many days must a claim be made?')
    await page.locator('#composer').evaluate(form => { form.requestSubmit(); form.requestSubmit() })
    await page.waitForURL('**/c/*')
    const turn = page.getByTestId('turn')
    await over(turn)
    const { sessions } = await at.server.json('/sessions?q=how%20many%20days')
    assert.equal(sessions.filter(s => s.turn_count === 1 && s.title === 'Within how many days must a claim be made?').length, 1)
  }))

  it('answers a question about nothing in the documents without footnotes', at.tab(async page => {
    await page.goto('/')
    const turn = await ask(page, 'Who painted the Mona Lisa?')
    await over(turn)
    const run = await trace(at.server, turn)
    assert.equal(run.answer.stop_reason, 'refused')
    assert.match(await shown(turn), /^I couldn't find relevant information about that in your documents\./)
    assert.equal(await turn.locator('a.cite').count(), 0)
    await turn.getByText('No answer found in your documents.').waitFor()
    await shot(page, 'refused')
  }))

  it('understands a follow-up about it', at.tab(async page => {
    await page.goto('/')
    await over(await ask(page, 'How long is the guarantee on the slates?'))
    const turn = await ask(page, 'How is it claimed?')
    await over(turn)
    const run = await sameAsAPI(at.server, turn)
    assert.equal(run.answer.stop_reason, 'answered')
    assert.equal(run.answer.citations[0].title, 'Slate warranty')
    assert.equal(await page.getByTestId('turn').count(), 2)
  }))
})
