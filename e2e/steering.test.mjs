// Questions that wait their turn on the server, and steps that are run again with another input.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { audit } from './browser.mjs'
import { until } from './footnote.mjs'
import { house, inBothModes } from './house.mjs'
import { ask, over, sameAsAPI, trace } from './page.mjs'

const question = 'What is the moisture at points G2 and G4 of the north gable?'
const second = 'Within how many days must a claim be made?'
const third = 'How long is the guarantee on the slates?'

describe('during a run', () => {
  const at = house({ model: { delay: 5, tokens: 40 } })
  const wait = async (page, text) => {
    await page.locator('#q').fill(text)
    await page.locator('#q').press('Enter')
    await page.locator('#queue').getByText(text, { exact: true }).first().waitFor()
  }

  it('questions are queued on the server, edited, removed, and sent in order', at.tab(async page => {
    await page.goto('/')
    at.model.hold()
    const first = await ask(page, question)
    for (const text of ['to be removed', 'to be changed', third]) await wait(page, text)
    await page.getByTestId('queued').nth(0).getByRole('button', { name: 'Remove queued question' }).click()
    await until(async () => await page.getByTestId('queued').count() === 2, 'one is removed')
    await page.getByTestId('queued').nth(0).locator('.edit-queued > summary').click()
    await page.getByTestId('queued').nth(0).getByRole('textbox').fill(second)
    await page.getByTestId('queued').nth(0).getByRole('button', { name: 'Save' }).click()
    await page.locator('#queue .text').getByText(second).waitFor()
    await audit(page, 'queue')
    await page.setViewportSize({ width: 390, height: 844 })
    await audit(page, 'queue')
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.reload() // what waits is not the page's
    assert.deepEqual(await page.locator('#queue .text').allTextContents(), [second, third])
    at.model.release()
    const turns = page.getByTestId('turn')
    await turns.nth(2).waitFor({ timeout: 20_000 })
    await over(turns.nth(2))
    assert.deepEqual(await page.getByTestId('question').allTextContents(), [question, second, third])
    assert.equal((await trace(at.server, first)).status, 'completed')
    for (const n of [1, 2]) await sameAsAPI(at.server, turns.nth(n))
    assert.equal(await page.getByTestId('queued').count(), 0)
  }))

  it('Send now ends the run and goes first', at.tab(async page => {
    await page.goto('/')
    at.model.hold()
    const first = await ask(page, question)
    await wait(page, 'later')
    await wait(page, third)
    await page.getByTestId('queued').nth(1).getByRole('button', { name: 'Send now' }).click()
    await first.getByText('Stopped by you').waitFor()
    const next = page.getByTestId('turn').nth(1)
    await next.waitFor()
    assert.equal(await next.getByTestId('question').textContent(), third)
    await until(async () => (await page.locator('#queue .text').allTextContents()).join() === 'later', 'the other one waits')
    await page.getByTestId('queued').getByRole('button', { name: 'Remove queued question' }).click()
    at.model.release()
    await over(next)
  }))

  it('an edit of a queued question can be cancelled, and messages on a removed one disappear', at.tab(async (page, { expect }) => {
    expect(/404/) // the browser's own word on a form that is refused
    await page.goto('/')
    at.model.hold()
    const first = await ask(page, question)
    await wait(page, second)
    await wait(page, third)
    const row = page.getByTestId('queued').nth(0)
    const box = row.getByRole('textbox')
    const edit = () => row.locator('.edit-queued > summary').click()
    for (const leave of [() => row.getByRole('button', { name: 'Cancel' }).click(), () => box.press('Escape')]) {
      await edit()
      await box.fill('something else')
      await leave()
      await box.waitFor({ state: 'hidden' })
      await edit()
      assert.equal(await box.inputValue(), second)
      await box.press('Escape')
    }
    assert.equal((await trace(at.server, first)).status, 'running') // Escape ended the change, not the run
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 844 })
      const tops = await row.locator('.text, button:visible, summary').evaluateAll(all => all.map(e => { const { top, height } = e.getBoundingClientRect(); return top + height / 2 }))
      assert.ok(Math.max(...tops) - Math.min(...tops) < 4, `one row at ${width} px: ${tops}`)
      await edit()
      await audit(page, 'queue-edit')
      await box.press('Escape')
    }
    const session = new URL(page.url()).pathname.split('/').at(-1)
    const { queue } = await at.server.json(`/sessions/${session}/queue`)
    await edit()
    await box.fill('other words')
    await fetch(`${at.server.url}/sessions/${session}/queue/${queue[0].id}`, { method: 'DELETE' })
    await row.getByRole('button', { name: 'Save' }).click()
    const said = page.locator('#composer-error')
    await said.filter({ hasText: 'Queued question not found' }).waitFor()
    await until(async () => (await page.locator('#queue .text').allTextContents()).join() === third, 'the row that is gone goes')
    assert.equal(await page.locator('#q').inputValue(), 'other words')
    at.model.release()
    await over(page.getByTestId('turn').nth(1))
    assert.equal(await said.textContent(), '')
  }))

  it('a long queued question keeps the buttons in reach, and the focus', at.tab(async page => {
    await page.goto('/')
    at.model.hold()
    await ask(page, question)
    await until(() => page.locator('#q').evaluate(e => e === document.activeElement), 'one can type on after the first question')
    for (const text of [second, `Is ${'very '.repeat(60)}long?`, `https://example.org/${'long-'.repeat(60)}`]) await wait(page, text)
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 844 })
      const ends = await page.locator('#queue button:visible, #queue summary').evaluateAll(all => all.map(e => e.getBoundingClientRect().right))
      assert.ok(Math.max(...ends) <= width, `buttons end at ${ends} of ${width} px`)
    }
    const row = page.getByTestId('queued').nth(0)
    await row.locator('.edit-queued > summary').click()
    await row.getByRole('textbox').fill(third)
    await row.getByRole('button', { name: 'Save' }).press('Enter')
    await page.locator('#queue .text').getByText(third).waitFor()
    await until(() => row.locator('.edit-queued > summary').evaluate(e => e === document.activeElement), 'the row that was changed has the keyboard')
    for (const left of [2, 1, 0]) {
      await row.getByRole('button', { name: 'Remove queued question' }).press('Enter')
      await until(async () => await page.getByTestId('queued').count() === left, 'one is removed')
      await until(() => page.locator('#q').evaluate(e => e === document.activeElement), 'the question box has the keyboard')
    }
    await page.getByRole('button', { name: 'Stop generating' }).click()
    await page.getByText('Stopped by you').waitFor()
    at.model.release()
  }))

  it('the server sends queued questions without a page, also after a restart', at.tab(async page => {
    await page.goto('/')
    at.model.hold()
    await ask(page, question)
    await wait(page, third)
    const session = new URL(page.url()).pathname.split('/').at(-1)
    await page.goto('about:blank')
    await at.server.restart()
    at.model.release()
    const history = await until(async () => {
      const { messages } = await at.server.json(`/agent/session/${session}`)
      return messages.some(m => m.role === 'assistant' && messages.some(q => q.run_id === m.run_id && q.content === third)) && messages
    }, 'the waiting question is answered', 40_000)
    assert.equal(history.filter(m => m.content === third).length, 1)
    assert.deepEqual((await at.server.json(`/sessions/${session}/queue`)).queue, [])
  }))
})

inBothModes({ delay: 5 }, {}, at => {
  it('runs a step again with another input and keeps both versions', at.tab(async (page, { expect }) => {
    expect(/400/) // the browser's own word on a form that is refused
    await page.goto('/')
    const turn = await ask(page, third)
    await over(turn)
    const old = await trace(at.server, turn)
    await turn.locator('.run-head').click()
    const step = turn.locator('.step').filter({ has: page.locator('.rerun') }).first()
    await step.locator('.step-head').first().click()
    await step.locator('.rerun > summary').first().click()
    const box = step.getByLabel('Tool input (JSON)').first()
    await box.fill('{"query": 7}')
    await step.getByRole('button', { name: 'Rerun from here' }).first().click()
    await step.getByRole('alert').filter({ hasText: 'Invalid input for' }).waitFor()
    await box.fill('{"query": ')
    await step.getByRole('button', { name: 'Rerun from here' }).first().click()
    await step.getByRole('alert').filter({ hasText: 'must be a JSON object' }).waitFor()
    await audit(page, 'rerun')
    await page.setViewportSize({ width: 390, height: 844 })
    await audit(page, 'rerun')
    await page.setViewportSize({ width: 1440, height: 900 })
    await box.fill('{"query": "claim in writing"}')
    await step.getByRole('button', { name: 'Rerun from here' }).first().click()
    const again = page.locator(`[data-testid=turn]:not([data-run="${old.run_id}"])`)
    await again.waitFor()
    await over(again)
    const run = await sameAsAPI(at.server, again)
    const edited = run.steps.find(s => s.details.edited)
    assert.equal(edited.tool_input.query, 'claim in writing')
    await again.getByText('2/2').waitFor()
    await page.getByRole('button', { name: 'Previous version' }).click()
    const before = page.locator(`[data-run="${old.run_id}"]`)
    await before.getByText('1/2').waitFor()
    assert.equal((await trace(at.server, before)).answer.answer, old.answer.answer)
  }))
})
