// Conversations: found again, renamed, deleted and brought back.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { until } from './footnote.mjs'
import { house } from './house.mjs'
import { ask, over } from './page.mjs'

describe('conversations', () => {
  const at = house()
  const listed = page => page.locator('#sessions a span:first-child').allTextContents()

  it('are listed, the newest first', at.tab(async page => {
    for (const question of ['How long is the guarantee on the slates?', 'Which mortar is recommended for repointing?']) {
      await page.goto('/')
      await over(await ask(page, question))
    }
    assert.deepEqual(await listed(page), ['Which mortar is recommended for repointing?', 'How long is the guarantee on the slates?'])
    await page.getByRole('link', { name: 'How long is the guarantee' }).click()
    await page.getByTestId('question').getByText('How long is the guarantee on the slates?').waitFor()
    assert.equal(await page.locator('#sessions a[aria-current=page]').textContent().then(t => t.trim()), 'How long is the guarantee on the slates?')
  }))

  it('are renamed in the menu', at.tab(async page => {
    await page.goto('/')
    await page.getByLabel('More: Which mortar is recommended for repointing?').click()
    const title = page.locator('#sessions .menu[open]').getByLabel('Title')
    await title.fill('Mortar <b>& lime</b>')
    await title.press('Enter')
    await page.waitForURL('**/c/*')
    assert.deepEqual(await listed(page), ['Mortar <b>& lime</b>', 'How long is the guarantee on the slates?'])
    assert.equal(await page.title(), 'Mortar <b>& lime</b> · Footnote')
  }))

  it('are found in the palette by keyboard, and on a page', at.tab(async page => {
    await page.goto('/')
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('dialog', { name: 'Search' })
    await palette.waitFor()
    await page.keyboard.type('mortar')
    await until(async () => (await palette.getByRole('link').allTextContents()).join().startsWith('Mortar'), 'the palette finds the conversation')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/c/*')
    await page.getByTestId('question').getByText('Which mortar').waitFor()
    await page.goto('/find?q=survey')
    await page.locator('#main').getByRole('list', { name: 'Documents' }).getByRole('link', { name: 'Damp survey' }).click()
    await page.getByTestId('viewer').waitFor()
  }))

  it('are deleted and restored', at.tab(async page => {
    await page.goto('/')
    await page.getByLabel('More: Mortar').click()
    await page.locator('#sessions .menu[open]').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('You can undo this for a minute').waitFor()
    assert.deepEqual(await listed(page), ['How long is the guarantee on the slates?'])
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.waitForURL('**/c/*')
    await page.getByTestId('question').getByText('Which mortar').waitFor()
    assert.equal((await listed(page)).length, 2)
  }))

  it('have a page for a missing one', at.tab(async (page, { expect }) => {
    expect(/^error: Failed to load resource: the server responded with a status of 404/)
    const response = await page.goto('/c/nobody-has-this')
    assert.equal(response.status(), 404)
    await page.getByRole('link', { name: 'Ask a question' }).click()
    await page.locator('#q').waitFor()
  }))
})
