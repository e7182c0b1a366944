// What the program noticed about an answer stands under it: sums that are wrong, footnotes that no passage has.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { audit, fits } from './browser.mjs'
import { ended, runOf } from './page.mjs'
import { house } from './house.mjs'

const at = house({ model: {} })
const question = 'What is the moisture at points G2 and G4 of the north gable? #notes'

const expected = ['The model wrote the footnote [99], but no passage has that number: it was left out.', '“2 + 3 = 6” is wrong: it is 5.']

async function ask(page, scripts) {
  await page.goto('/')
  await page.locator('#q').fill(question)
  await page.getByRole('button', { name: 'Send' }).click()
  await page.waitForURL('**/c/*')
  const turn = page.getByTestId('turn')
  await ended(at.server, await runOf(turn))
  const notes = turn.getByTestId('answer-notes')
  await notes.waitFor()
  assert.deepEqual(await notes.locator('li').allInnerTexts(), expected, scripts)
  await notes.scrollIntoViewIfNeeded()
  return turn
}

for (const [name, viewport] of [['wide', { width: 1440, height: 900 }], ['narrow', { width: 390, height: 844 }]]) {
  it(`draws notes under the answer, ${name}`, at.tab(async page => {
    const turn = await ask(page, 'with scripts')
    await audit(page, 'notes')
    await page.reload()
    assert.deepEqual(await turn.getByTestId('answer-notes').locator('li').allInnerTexts(), expected, 'after a reload')
  }, { viewport }))
}

it('draws them without scripts', at.tab(async page => {
  await ask(page, 'without scripts')
  await fits(page)
}, { javaScriptEnabled: false }))
