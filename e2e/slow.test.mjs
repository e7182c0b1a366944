// On a slow line nothing that somebody does meanwhile is lost, doubled or turned round.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { unreachable } from './browser.mjs'
import { until } from './footnote.mjs'
import { house } from './house.mjs'
import { ask, over, sameAsAPI } from './page.mjs'

const question = 'What is the moisture at points G2 and G4 of the north gable?'
const second = 'Within how many days must a claim be made?'
const third = 'How long is the guarantee on the slates?'

describe('on a slow line', () => {
  const at = house({ model: {} })

  /** Holds up requests that match. The result lets them go, and asked() says how many there are. */
  const holdUp = async (page, matches) => {
    const held = []
    let go
    const gone = new Promise(done => { go = done })
    await page.route(url => matches.test(url.pathname), async route => {
      held.push(route)
      await gone
      await route.continue()
    })
    return { go, asked: () => held.length }
  }
  const type = async (page, text) => {
    await page.locator('#q').fill(text)
    await page.locator('#q').press('Enter')
  }

  it('a queued question starts, also if the server is down when its run ends', at.tab(async (page, { expect }) => {
    expect(unreachable)
    await page.goto('/')
    at.model.hold()
    await ask(page, question)
    await type(page, third)
    await page.locator('#queue .text').getByText(third).waitFor()
    let lost = 0
    await page.route(/\/c\/[^/]+\/next/, route => (++lost < 4 ? route.abort('connectionrefused') : route.continue()))
    at.model.release()
    const next = page.getByTestId('turn').nth(1)
    await next.waitFor()
    await over(next)
    await sameAsAPI(at.server, next)
    assert.ok(lost >= 4)
  }))

  it('questions are queued in the order of input', at.tab(async page => {
    await page.goto('/')
    at.model.hold()
    await ask(page, question)
    let asked = 0
    await page.route(/\/c\/[^/]+\/queue$/, async route => {
      if (++asked === 1) await until(() => asked > 1, 'the other one is asked for', 500).catch(() => {}) // which may come first then
      await route.continue()
    })
    await type(page, second)
    await type(page, third)
    await page.getByTestId('queued').nth(1).waitFor()
    assert.deepEqual(await page.locator('#queue .text').allTextContents(), [second, third])
    await page.getByRole('button', { name: 'Stop generating' }).click()
    await page.getByText('Stopped by you').waitFor()
    at.model.release()
    await over(page.getByTestId('turn').nth(2))
    assert.deepEqual(await page.getByTestId('question').allTextContents(), [question, second, third])
  }))

  it('a duplicate question is one turn, and new input stays', at.tab(async page => {
    await page.goto('/')
    await over(await ask(page, question))
    const line = await holdUp(page, /^\/chat$/)
    await type(page, second)
    await page.locator('#q').press('Enter')
    await until(() => line.asked() > 0, 'it is asked')
    await page.locator('#q').fill(third)
    line.go()
    const turn = page.getByTestId('turn').nth(1)
    await over(turn)
    assert.equal(await page.locator('#q').inputValue(), third)
    assert.deepEqual(await page.getByTestId('question').allTextContents(), [question, second])
  }))

  it('a source closed while loading stays closed', at.tab(async page => {
    await page.goto('/')
    const turn = await ask(page, third)
    await over(turn)
    const chips = turn.locator('.answer a.cite')
    await chips.first().click()
    await page.getByTestId('source').waitFor()
    const line = await holdUp(page, /^\/d\//)
    await chips.nth(1).focus()
    await page.keyboard.press('o')
    await until(() => line.asked() > 0, 'it is asked for')
    await page.getByRole('button', { name: 'Close source' }).click()
    await page.locator('body[data-source=closed]').waitFor()
    const come = page.waitForResponse(response => new URL(response.url()).pathname.startsWith('/d/'))
    line.go()
    await (await come).finished()
    await page.waitForTimeout(200)
    assert.equal(await page.locator('body').getAttribute('data-source'), 'closed')
  }))
})
