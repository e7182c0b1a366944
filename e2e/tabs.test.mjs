// A conversation that is open in two tabs is the same in both.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { shot } from './browser.mjs'
import { until } from './footnote.mjs'
import { house } from './house.mjs'
import { ask, over, runOf, sameAsAPI, shown } from './page.mjs'

describe('a conversation in two tabs', () => {
  const at = house({ model: { delay: 20, tokens: 60 } })

  it('streams questions of the other tab and of a program', at.tab(async (page, { context }) => {
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
    const rounds = await second.locator('.step[data-turn]').count()
    assert.ok(rounds > 0, 'no step of the run is there')
    assert.equal(await other.locator('[data-use="steps"]').textContent(), await page.locator('[data-use="steps"]').textContent())
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

    // Whoever reads further up stays there, and is told of it.
    await other.setViewportSize({ width: 390, height: 500 })
    await other.evaluate(() => window.scrollTo(0, 0))
    const writing = at.model.holdAfter(10)
    const fourth = await ask(page, 'What is the cause of the damp at the north gable?')
    await turns.nth(3).waitFor({ timeout: 2000 })
    await writing
    assert.equal(await other.evaluate(() => window.scrollY), 0)
    await other.getByRole('link', { name: 'Jump to latest' }).waitFor()
    at.model.release()
    await over(fourth)
    await other.close()
  }))

  it('shows another version of an answer, and of a question, in the other tab', at.tab(async (page, { context }) => {
    await page.goto('/')
    await over(await ask(page, 'How is the roof?'))
    await over(await ask(page, 'How long is the guarantee on the slates?'))
    await over(await ask(page, 'What is the moisture at point G2?'))
    const other = await context.newPage()
    await other.goto(page.url())
    const turns = other.getByTestId('turn')
    const begun = turn => turn.getByTestId('question').textContent()
    await other.locator('#q').fill('Words that are being written.')
    const first = await runOf(turns.nth(0))
    const second = await runOf(turns.nth(1))

    await page.getByTestId('turn').nth(1).getByRole('button', { name: 'Regenerate' }).click()
    await until(async () => await turns.count() === 2 && await runOf(turns.nth(1)) !== second, 'the new version replaces the old one and what followed it', 2000)
    assert.equal(await runOf(turns.nth(0)), first)
    await over(turns.nth(1))
    await sameAsAPI(at.server, turns.nth(1))
    await turns.nth(1).locator('.switch').getByText('2/2').waitFor()
    assert.equal(await other.locator('#q').inputValue(), 'Words that are being written.')
    await over(page.getByTestId('turn').nth(1))

    const edit = page.getByTestId('turn').nth(0)
    await edit.locator('.edit > summary').click()
    await edit.locator('.edit textarea').fill('How is the wall?')
    await edit.getByRole('button', { name: 'Ask again' }).click()
    await until(async () => await turns.count() === 1 && await begun(turns.nth(0)) === 'How is the wall?', 'the edited question is there', 2000)
    await over(turns.nth(0))
    await over(page.getByTestId('turn'))
    await page.getByRole('button', { name: 'Previous version' }).click()
    await until(async () => await turns.count() === 2 && await runOf(turns.nth(0)) === first, 'the version before is shown in both', 2000)
    assert.equal(await page.getByTestId('turn').count(), 2)

    // Words that somebody is changing are not taken away.
    await turns.nth(1).locator('.edit > summary').click()
    await turns.nth(1).locator('.edit textarea').fill('How long is the guarantee on')
    const told = other.waitForResponse(r => r.url().includes('/next?after='))
    await page.getByTestId('turn').nth(1).getByRole('button', { name: 'Previous version' }).click()
    await told
    await page.waitForURL('**#turn-*')
    assert.equal(await turns.nth(1).locator('.edit textarea').inputValue(), 'How long is the guarantee on')
    await turns.nth(1).locator('.edit > summary').click()
    await until(async () => await turns.count() === 3, 'they are left, and the other version comes', 2000)
    assert.equal(await runOf(turns.nth(1)), second)
    await other.close()
  }))
})
