// The keyboard, and the theme.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { audit } from './browser.mjs'
import { until } from './footnote.mjs'
import { house } from './house.mjs'
import { ask, marked, over, sameAsAPI } from './page.mjs'

describe('without a mouse', () => {
  const at = house({ model: { delay: 0 } })
  const focused = page => page.evaluate(() => document.activeElement?.closest('.step')?.dataset.call ?? document.activeElement?.id)
  const open = turn => turn.locator('.step > details[open]').count()

  it('navigates and expands the steps', at.tab(async page => {
    await page.goto('/')
    const turn = await ask(page, 'How long is the guarantee on the slates?')
    await over(turn)
    const calls = await turn.locator('.step').evaluateAll(all => all.map(step => step.dataset.call))
    await page.evaluate(() => document.activeElement.blur())
    await page.keyboard.press('j') // unfolds the timeline
    assert.equal(await turn.locator('.run').getAttribute('open'), '')
    for (const [key, at_] of [['j', 0], ['j', 1], ['j', 2], ['k', 1]]) {
      await page.keyboard.press(key)
      assert.equal(await focused(page), calls[at_], `after ${key}`)
    }
    await page.keyboard.press('Enter')
    await until(async () => await open(turn) === 1, 'Enter opens the step')
    await page.keyboard.press('e')
    await until(async () => await open(turn) === 0, 'e closes the step')
    await page.keyboard.press('Shift+E')
    await until(async () => await open(turn) === calls.length, 'E opens all steps')
    await page.keyboard.press('Shift+E')
    await until(async () => await open(turn) === 0, 'E closes all steps')
  }))

  it('navigates and opens the footnotes', at.tab(async page => {
    await page.goto('/')
    const turn = await ask(page, 'How long is the guarantee on the slates?')
    await over(turn)
    const { answer: { citations } } = await sameAsAPI(at.server, turn)
    assert.equal(citations.length, 3)
    await page.evaluate(() => document.activeElement.blur())
    const source = page.getByTestId('source')
    const chip = n => page.evaluate(() => Number(document.activeElement.dataset.n)).then(got => assert.equal(got, n))
    await page.keyboard.press(']')
    await chip(1)
    await page.keyboard.press(']')
    await chip(2)
    await page.keyboard.press('o')
    await until(async () => await marked(source) === citations[1].quote, 'o opens footnote 2')
    await turn.locator('.answer a.cite[data-n="2"]').focus()
    await page.keyboard.press('[')
    await until(async () => await marked(source) === citations[0].quote, '[ opens footnote 1')
    await page.keyboard.press('Escape') // the card
    await page.keyboard.press('Escape')
    await source.waitFor({ state: 'hidden' })
    await chip(1)
    assert.equal(await turn.locator('.card').count(), 0, 'the focus that comes back covers nothing with a card')
  }))

  it('reaches the question box, the palette, the shortcuts and a new question', at.tab(async page => {
    await page.goto('/')
    await over(await ask(page, 'How long is the guarantee on the slates?'))
    await page.evaluate(() => document.activeElement.blur())
    await page.keyboard.press('/')
    assert.equal(await focused(page), 'q')
    await page.keyboard.press('ArrowUp')
    assert.equal(await page.locator('#q').inputValue(), 'How long is the guarantee on the slates?')
    await page.keyboard.press('?')
    assert.match(await page.locator('#q').inputValue(), /\?/, 'a key in the box is text')
    await page.locator('#q').fill('')
    await page.locator('#q').press('Shift+Enter')
    assert.equal(await page.locator('#q').inputValue(), '\n')
    await page.evaluate(() => document.activeElement.blur())
    await page.keyboard.press('?')
    const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await sheet.waitFor()
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'hidden' })
    await page.keyboard.press('Control+k')
    const search = page.getByRole('dialog', { name: 'Search' })
    await search.waitFor()
    await page.evaluate(() => { // both before the page is drawn again, as on a busy machine
      for (const shiftKey of [false, true]) document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', shiftKey, bubbles: true, cancelable: true }))
    })
    await search.waitFor({ state: 'hidden' })
    assert.equal(await focused(page), 'q')
    await page.keyboard.press('Control+Shift+O')
    await page.waitForURL(url => url.pathname === '/')
    await until(async () => await focused(page) === 'q', 'the box of a new page has the keyboard')
  }))

  it('changes and saves the theme', at.tab(async page => {
    await page.emulateMedia({ colorScheme: 'light' })
    await page.goto('/')
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).reduce((sum, n) => sum + Number(n), 0))
    assert.ok(await paper() > 600, 'light follows the system')
    const toggle = page.getByRole('button', { name: 'Switch theme' })
    await toggle.click()
    assert.ok(await paper() < 200, 'the toggle makes it dark')
    await page.reload()
    assert.ok(await paper() < 200, 'dark stays after a reload')
    await toggle.click()
    assert.ok(await paper() > 600, 'the toggle goes back')
    await page.emulateMedia({ colorScheme: 'dark' })
    assert.ok(await paper() < 200, 'dark follows the system')
    await page.emulateMedia({ colorScheme: null })
  }))

  it('has no serious accessibility violation on the start page and an answer', at.tab(async page => {
    await page.goto('/')
    await page.locator('.starter').first().waitFor()
    await audit(page, 'start')
    const turn = await ask(page, 'What is the moisture at points G2 and G4 of the north gable?')
    await over(turn)
    await turn.locator('.run-head').click()
    await turn.locator('[data-do=expand]').click()
    await turn.locator('.answer a.cite').first().click()
    await page.getByTestId('source').waitFor()
    await audit(page, 'answered')
  }))
})
