// A conversation that is open in two tabs is the same in both.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { shot } from './browser.mjs'
import { until } from './footnote.mjs'
import { house } from './house.mjs'
import { ask, over, runOf, sameAsAPI, shown } from './page.mjs'

describe('a conversation in two tabs', () => {
  const at = house({ model: { delay: 20, tokens: 60 } })

  it('shows a question of the other tab, and one of a program, with its answer as it grows', at.tab(async (page, { context }) => {
    await page.goto('/')
    await over(await ask(page, 'How is the roof?'))
    const other = await context.newPage()
    await other.goto(page.url())
    await other.locator('#q').fill('Words that are being written.')
    const turns = other.getByTestId('turn')
    assert.equal(await turns.count(), 1)

    const held = at.model.holdAfter(10)
    const asked = await ask(page, 'What is the moisture at point G2?')
    const second = turns.nth(1)
    await second.waitFor({ timeout: 2000 })
    assert.equal(await second.getByTestId('question').textContent(), 'What is the moisture at point G2?')
    await held
    await until(async () => (await shown(second)).length > 0, 'the answer begins in the other tab')
    assert.equal(await second.getAttribute('data-status'), 'running')
    await other.getByRole('button', { name: 'Stop generating' }).waitFor()
    await shot(other, 'second-tab')
    at.model.release()
    await over(asked)
    await over(second)
    await sameAsAPI(at.server, second)
    assert.equal(await other.locator('#q').inputValue(), 'Words that are being written.')

    const session = new URL(page.url()).pathname.split('/').at(-1)
    const { run_id: run } = await (await fetch(`${at.server.url}/chat`, {
      method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'application/json' }, body: JSON.stringify({ message: 'And at point G4?', session_id: session }),
    })).json()
    for (const tab of [page, other]) {
      const third = tab.getByTestId('turn').nth(2)
      await third.waitFor({ timeout: 2000 })
      assert.equal(await runOf(third), run)
      await over(third)
      await sameAsAPI(at.server, third)
      assert.equal(await tab.getByTestId('turn').count(), 3)
    }
    await other.close()
  }))
})
