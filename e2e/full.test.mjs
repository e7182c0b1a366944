// A conversation that has all the questions it may have offers a new one.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { audit } from './browser.mjs'
import { until } from './footnote.mjs'
import { house } from './house.mjs'
import { ask, over } from './page.mjs'

const first = 'How long is the guarantee on the slates?'
const second = 'Within how many days must a claim be made?'
const offer = 'Ask in a new conversation'

describe('a full conversation', () => {
  const at = house({ model: { delay: 5, tokens: 40 }, env: { FOOTNOTE_SESSION_MAX_TURNS: '1' } })
  const session = page => new URL(page.url()).pathname.split('/').at(-1)
  const narrow = async page => {
    await page.locator('#choose > summary').click()
    await page.locator('#choose-list label').filter({ hasText: 'warranty' }).click()
    await page.locator('#choose > summary').click()
  }
  const narrowed = page => page.locator('#choose-list input:checked').evaluateAll(all => all.map(e => e.value))

  it('offers a new one, which keeps the question and documents', at.tab(async (page, { expect }) => {
    expect(/status of 409/)
    expect(/htmx:response:error/)
    await page.goto('/')
    await over(await ask(page, first))
    const full = session(page)
    await narrow(page)
    await page.locator('#q').fill('Within how many weeks?')
    await page.locator('#q').press('Enter')
    const button = page.locator('#composer-error').getByRole('button', { name: offer })
    await button.waitFor()
    await audit(page, 'full')
    await page.locator('#q').fill(second) // the offer stays while the question is changed
    await button.click()
    await until(() => session(page) !== full, 'another conversation')
    const turn = page.getByTestId('turn')
    await turn.getByTestId('question').getByText(second).waitFor()
    await over(turn)
    assert.deepEqual(await narrowed(page), [at.documents['warranty.md']])
    assert.equal(await page.getByTestId('turn').count(), 1)
    await page.goto(`/c/${full}`)
    assert.equal(await page.locator('#q').inputValue(), '')
  }))

  it('rejects queued questions over its limit', at.tab(async (page, { expect }) => {
    expect(/status of 409/)
    await page.goto('/')
    at.model.hold()
    const turn = await ask(page, first)
    await page.locator('#q').fill(second)
    await page.locator('#q').press('Enter')
    await page.locator('#composer-error').getByRole('button', { name: offer }).waitFor()
    assert.equal(await page.locator('#q').inputValue(), second)
    assert.equal(await page.getByTestId('queued').count(), 0)
    at.model.release()
    await over(turn)
  }))

  it('offers it without JavaScript', at.tab(async (page, { expect }) => {
    expect(/status of 409/)
    await page.goto('/')
    await page.locator('#q').fill(first)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('.sources').waitFor()
    const full = session(page)
    await narrow(page)
    await page.locator('#q').fill(second)
    await page.getByRole('button', { name: 'Send' }).click()
    const button = page.locator('#composer-error').getByRole('button', { name: offer })
    await button.waitFor()
    assert.equal(await page.locator('#q').inputValue(), second)
    await button.click()
    await page.waitForURL('**/c/*')
    assert.notEqual(session(page), full)
    assert.equal(await page.getByTestId('question').textContent(), second)
    assert.deepEqual(await narrowed(page), [at.documents['warranty.md']])
  }, { javaScriptEnabled: false }))

  it('returns an error code to programs', async () => {
    const post = (path, body) => fetch(at.server.url + path, { method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'application/json' }, body: JSON.stringify(body) })
    const { session_id } = await (await post('/agent/chat', { message: first })).json()
    for (const path of ['/chat', '/agent/chat', `/sessions/${session_id}/queue`]) {
      const no = await post(path, { message: second, session_id })
      assert.equal(no.status, 409)
      const { code, detail } = await no.json()
      assert.equal(code, 'turn_limit')
      assert.match(detail, /session_id/)
    }
  })
})
