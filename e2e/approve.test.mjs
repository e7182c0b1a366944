// A call that needs a person's word waits for it: as it is, with another input, or not at all.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { audit, fits, inTab, launch, shot, unreachable } from './browser.mjs'
import { warranty } from './fixtures.mjs'
import { add, footnote, modelServer, until } from './footnote.mjs'
import { ask, ended, over, runOf, shown, trace } from './page.mjs'
import { stock } from './stock.mjs'

const reserve = 'Reserve them, please. #call stock__reserve {"item":"slates","count":12}'
const both = `${reserve} #call stock__order {"item":"nails","count":500}`

describe('a call that needs approval', () => {
  let browser, model, store, server
  before(async () => {
    [browser, model, store] = await Promise.all([launch(), modelServer(), stock()])
    server = await footnote({ ...model.env, ...store.env })
    await add(server, { 'warranty.md': warranty })
  }, { timeout: 60_000 })
  after(async () => {
    await browser?.close()
    await server?.stop()
    await model?.stop()
    await store?.stop()
  })
  beforeEach(() => { store.calls.length = 0 })
  const tab = (body, options) => () => inTab(browser, { baseURL: server.url, ...options }, body)
  const form = (turn, tool) => turn.getByRole('group', { name: `Approve or deny ${tool}` })

  /** Opens the form's box for another input and writes into it. */
  const edit = async (asked, input) => {
    await asked.getByText('Edit input').click()
    await asked.getByRole('textbox').fill(input)
  }

  it('shows its input and waits over a reload; one is edited and approved, the other denied', tab(async (page, { expect }) => {
    await page.goto('/')
    let turn = await ask(page, both)
    await form(turn, 'stock__order').waitFor()
    const step = turn.locator('.step', { has: page.getByTestId('approval') }).filter({ hasText: 'reserve' }).last()
    assert.match(await step.locator('.kv').first().textContent(), /count\s*12\s*item\s*slates/)
    await audit(page, 'approval')
    await page.setViewportSize({ width: 390, height: 844 })
    await audit(page, 'approval')
    await page.setViewportSize({ width: 1440, height: 900 })
    assert.deepEqual(store.calls, [], 'nothing runs before somebody says so')

    await page.reload()
    turn = page.getByTestId('turn')
    await form(turn, 'stock__reserve').waitFor()
    expect(/status of 400/)
    await edit(form(turn, 'stock__reserve'), '{"item":"slates","count":0}')
    await shot(page, 'approval-edit')
    await form(turn, 'stock__reserve').getByRole('button', { name: 'Approve' }).click()
    await form(turn, 'stock__reserve').getByRole('alert').filter({ hasText: 'Invalid input for stock__reserve: “count” must be a whole number' }).waitFor()
    await shot(page, 'approval-wrong')
    assert.deepEqual(store.calls, [])

    await form(turn, 'stock__reserve').getByRole('textbox').fill('{"item":"slates","count":9}')
    await form(turn, 'stock__reserve').getByRole('button', { name: 'Approve' }).click()
    await form(turn, 'stock__reserve').waitFor({ state: 'detached' })
    await form(turn, 'stock__order').getByRole('button', { name: 'Deny' }).click()
    await over(turn)
    assert.match(await shown(turn), /reserve 9 slates: done\. The user denied this call/)
    assert.deepEqual(store.calls, [['reserve', { item: 'slates', count: 9 }]])
    const { steps } = await trace(server, turn)
    assert.deepEqual(steps.filter(s => s.tool_name).map(s => s.status), ['complete', 'skipped'])
    assert.equal(await page.getByTestId('approval').count(), 0)
    await turn.locator('[data-do=expand]').click() // the timeline is open, as somebody worked in it
    await shot(page, 'approved')
    await page.setViewportSize({ width: 390, height: 844 })
    await audit(page, 'approved')
  }))

  it('is decided by keyboard', tab(async page => {
    await page.goto('/')
    const turn = await ask(page, reserve)
    const asked = form(turn, 'stock__reserve')
    await asked.waitFor()
    /** Goes on with Tab until the element has the focus. */
    const reach = async place => {
      for (let n = 0; n < 60; n++) {
        if (await place.evaluate(e => e === document.activeElement)) return
        await page.keyboard.press('Tab')
      }
      assert.fail('it is not reached with Tab')
    }
    await turn.locator('.run-head').focus()
    await reach(asked.locator('summary'))
    await page.keyboard.press('Enter')
    await reach(asked.getByRole('textbox'))
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.type('{"item":"tiles","count":3}')
    await reach(asked.getByRole('button', { name: 'Approve' }))
    await page.keyboard.press('Enter')
    await over(turn)
    assert.deepEqual(store.calls, [['reserve', { item: 'tiles', count: 3 }]])
  }))

  it('is decided without JavaScript', tab(async page => {
    const send = async question => {
      await page.goto('/')
      await page.locator('#q').fill(question)
      await page.getByRole('button', { name: 'Send' }).click()
      await page.waitForURL('**/c/*')
      const turn = page.getByTestId('turn')
      await form(turn, 'stock__reserve').waitFor() // the page loads itself again while the run is under way
      return turn
    }
    const changed = await send(reserve)
    await fits(page)
    await shot(page, 'approval-plain')
    await edit(form(changed, 'stock__reserve'), '{"item":"slates","count":7}')
    await form(changed, 'stock__reserve').getByRole('button', { name: 'Approve' }).click()
    await page.waitForURL('**/c/*')
    await ended(server, await runOf(changed))
    await changed.getByTestId('answer').getByText('reserve 7 slates: done.').waitFor()

    const denied = await send(reserve)
    await form(denied, 'stock__reserve').getByRole('button', { name: 'Deny' }).click()
    await page.waitForURL('**/c/*')
    const { steps } = await ended(server, await runOf(denied))
    assert.deepEqual(steps.filter(s => s.tool_name === 'stock__reserve').map(s => s.status), ['skipped'])
    await denied.locator('.actions').waitFor()
    assert.equal(await form(denied, 'stock__reserve').count(), 0)
    assert.match(await shown(denied), /“Calling stock: reserve” was not done, because you denied it\./)
    assert.deepEqual(store.calls, [['reserve', { item: 'slates', count: 7 }]])
  }, { javaScriptEnabled: false }))

  it('is approved unchanged after a restart', tab(async (page, { expect }) => {
    expect(unreachable)
    await page.goto('/')
    const turn = await ask(page, reserve)
    await form(turn, 'stock__reserve').waitFor()
    await server.restart('SIGKILL')
    const asked = form(turn, 'stock__reserve')
    await until(async () => {
      const run = await trace(server, turn)
      return run.steps.some(s => s.tool_name && s.status === 'pending')
    }, 'the call waits again', 40_000)
    await page.reload()
    await asked.getByRole('button', { name: 'Approve' }).click()
    await over(turn)
    assert.deepEqual(store.calls, [['reserve', { item: 'slates', count: 12 }]])
  }))
})
