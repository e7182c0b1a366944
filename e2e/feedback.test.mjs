// What a reader says of an answer, and taking the answer along.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readFile } from 'node:fs/promises'
import { audit } from './browser.mjs'
import { until } from './footnote.mjs'
import { house } from './house.mjs'
import { ask, ended, over, runOf } from './page.mjs'

const question = 'How long is the guarantee on the slates?'

describe('an answer', () => {
  const at = house({})
  const said = async () => (await at.server.json('/feedback')).feedback

  it('is rated with a reason, rated again, and not rated', at.tab(async page => {
    await page.goto('/')
    const turn = await ask(page, question)
    await over(turn)
    const thumb = name => turn.getByRole('button', { name })
    await thumb('Poor answer').click()
    await turn.getByRole('radio', { name: 'Wrong sources' }).check()
    await turn.locator('.why textarea').fill('The survey <b>of 2023</b> was meant.')
    await audit(page, 'feedback')
    await page.setViewportSize({ width: 390, height: 844 })
    await audit(page, 'feedback')
    await page.setViewportSize({ width: 1440, height: 900 })
    await turn.locator('.why').getByRole('button', { name: 'Save' }).click()
    await turn.getByText('Wrong sources · “The survey <b>of 2023</b> was meant.”').waitFor()
    const [first] = await said()
    assert.deepEqual([first.rating, first.reason, first.comment, first.run_id], ['down', 'wrong_sources', 'The survey <b>of 2023</b> was meant.', await runOf(turn)])
    await page.reload()
    assert.equal(await thumb('Poor answer').getAttribute('aria-pressed'), 'true')
    await thumb('Good answer').click()
    await until(async () => (await said())[0]?.rating === 'up', 'the other thumb')
    await turn.getByRole('button', { name: 'Good answer', pressed: true }).waitFor()
    await thumb('Good answer').click()
    await until(async () => (await said()).length === 0, 'it is withdrawn')
    await turn.locator('.why').waitFor({ state: 'detached' })
  }))

  it('is exported and verified', at.tab(async page => {
    await page.goto('/')
    const turn = await ask(page, question)
    await over(turn)
    for (const [label, ending] of [['Markdown', 'md'], ['Web page', 'html'], ['JSON', 'json']]) {
      await turn.getByTestId('export').locator('summary').click()
      const [download] = await Promise.all([page.waitForEvent('download'), turn.getByRole('link', { name: label, exact: true }).click()])
      assert.equal(download.suggestedFilename(), `footnote-how-long-is-the-guarantee-on-the-slates.${ending}`)
      const file = await readFile(await download.path(), 'utf8')
      const report = await (await fetch(`${at.server.url}/evidence/verify`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ file }) })).json()
      assert.ok(report.ok && report.citations.length > 0, JSON.stringify(report))
      await turn.getByTestId('export').locator('summary').click()
    }
    await turn.getByTestId('export').locator('summary').click()
    const [word] = await Promise.all([page.waitForEvent('download'), turn.getByRole('link', { name: 'Word document' }).click()])
    assert.equal(word.suggestedFilename(), 'footnote-how-long-is-the-guarantee-on-the-slates.docx')
    assert.equal((await readFile(await word.path())).subarray(0, 2).toString(), 'PK')
  }))

  it('is rated without a script', at.tab(async page => {
    await page.goto('/')
    await page.locator('#q').fill(question)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.waitForURL('**/c/*')
    const turn = page.getByTestId('turn')
    await ended(at.server, await runOf(turn))
    await turn.locator('.sources').waitFor()
    await turn.getByRole('button', { name: 'Good answer' }).click()
    await turn.getByRole('radio', { name: 'Well sourced' }).check()
    await turn.locator('.why').getByRole('button', { name: 'Save' }).click()
    await until(async () => (await said())[0]?.reason === 'well_sourced', 'the reason is stored')
    assert.equal(await turn.getByRole('button', { name: 'Good answer' }).getAttribute('aria-pressed'), 'true')
  }, { javaScriptEnabled: false }))
})
