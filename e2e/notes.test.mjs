// What the program noticed about an answer stands under it: sums that are wrong, footnotes that no passage has.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { audit, fits } from './browser.mjs'
import { ask as begin, ended, over, runOf } from './page.mjs'
import { until } from './footnote.mjs'
import { house } from './house.mjs'

const at = house({ model: {} })
const question = 'What is the moisture at points G2 and G4 of the north gable?'

const expected = ['The model wrote the footnote [99], but no passage has that number: it was left out.', '“2 + 3 = 6” is wrong: it is 5.']

async function ask(page, scripts, trouble = '#notes', said = expected) {
  await page.goto('/')
  await page.locator('#q').fill(`${question} ${trouble}`)
  await page.getByRole('button', { name: 'Send' }).click()
  await page.waitForURL('**/c/*')
  const turn = page.getByTestId('turn')
  await ended(at.server, await runOf(turn))
  const notes = turn.getByTestId('answer-notes')
  await notes.waitFor()
  assert.deepEqual(await notes.locator('li').allInnerTexts(), said, scripts)
  await notes.scrollIntoViewIfNeeded()
  return turn
}

for (const [name, viewport] of [['wide', { width: 1440, height: 900 }], ['narrow', { width: 390, height: 844 }]]) {
  it(`shows notes under the answer, ${name}`, at.tab(async page => {
    const turn = await ask(page, 'with scripts')
    await audit(page, 'notes')
    await page.reload()
    assert.deepEqual(await turn.getByTestId('answer-notes').locator('li').allInnerTexts(), expected, 'after a reload')
  }, { viewport }))
}

it('shows notes without scripts', at.tab(async page => {
  await ask(page, 'without scripts')
  await fits(page)
}, { javaScriptEnabled: false }))

for (const [name, options] of [['wide, light', {}], ['narrow, dark', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }]]) {
  it(`marks an answer truncated at its limit, ${name}`, at.tab(async page => {
    await ask(page, 'with scripts', '#length', ['The model\'s answer was cut at its length limit. Ask for a shorter one, or for the rest.'])
    await audit(page, `cut-${name.split(', ')[1]}`)
  }, options))

  it(`shows the dropped part of a reply, ${name}`, at.tab(async page => {
    await page.goto('/')
    const turn = await begin(page, `${question} #another`)
    await over(turn)
    assert.ok(!(await turn.locator('.answer').innerText()).includes('south gable'), 'it is not part of the answer')
    await turn.locator('.run-head').click()
    const step = turn.getByTestId('reasoning-step').filter({ hasText: "Removed text written as another speaker" })
    await step.locator('summary').first().click()
    await until(async () => (await step.innerText()).includes('And the south gable?'), 'the step shows the text')
    await audit(page, `dropped-${name.split(', ')[1]}`)
  }, options))
}
