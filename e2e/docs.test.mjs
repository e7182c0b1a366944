// The API's page: requests are sent from it, and what comes is shown, a stream as it comes.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import AxeBuilder from '@axe-core/playwright'
import { fits, shot } from './browser.mjs'
import { until } from './footnote.mjs'
import { house } from './house.mjs'

const question = JSON.stringify({ question: 'How long is the guarantee on the slates?', config: { enable_query_decomposition: false, enable_self_evaluation: false } })

describe('the API reference', () => {
  const at = house({ model: { delay: 20 } })
  const open = async (page, id) => {
    const form = page.locator(`#${id} form`)
    await page.waitForLoadState() // the script that describes what is opened is there
    await page.locator(`#${id} > summary`).click()
    await page.locator(`#${id} .api-try > summary`).click()
    return { form, send: form.getByRole('button', { name: /^Send/ }), state: form.getByRole('status'), shown: form.locator('pre') }
  }

  it('sends a request and shows response, status and time', at.tab(async page => {
    await page.goto('/docs')
    const search = await open(page, 'post_search')
    assert.deepEqual(JSON.parse(await search.form.getByLabel('Body').inputValue()).query, 'roof repair')
    await search.send.click()
    await until(async () => /^200 OK · [\d.]+ s · [\d,]+ characters$/.test(await search.state.textContent()), () => search.state.textContent())
    assert.equal(JSON.parse(await search.shown.textContent()).query, 'roof repair')
    const health = await open(page, 'get_health')
    assert.equal(await health.form.getByLabel('Body').count(), 0)
    await health.form.getByLabel('Address').press('Enter')
    await until(async () => (await health.state.textContent()).startsWith('200 OK'), () => health.state.textContent())
  }))

  it('shows the reason for a rejected request', at.tab(async (page, { expect }) => {
    expect(/status of 4\d\d/)
    await page.goto('/docs')
    const search = await open(page, 'post_search')
    await search.form.getByLabel('Body').fill('{"query":"roof","top_k":51}')
    await search.send.click()
    await until(async () => (await search.state.textContent()).startsWith('400 '), () => search.state.textContent())
    assert.match(await search.shown.textContent(), /top_k/)
    await search.form.getByLabel('Address').fill('http://example.com/search')
    await search.send.click()
    await until(async () => (await search.state.textContent()).includes('must be one of this server'), () => search.state.textContent())
  }))

  it('shows a stream incrementally', at.tab(async page => {
    await page.goto('/docs')
    const query = await open(page, 'post_agent_query')
    await query.form.getByLabel('Body').fill(question)
    await query.form.getByLabel('Answer as').selectOption('text/event-stream')
    await query.send.click()
    await until(async () => (await query.shown.textContent()).includes('event: run_started'), 'the first event')
    await until(async () => (await query.state.textContent()).startsWith('200 OK ·'), () => query.state.textContent())
    const text = await query.shown.textContent()
    assert.ok(text.indexOf('event: run_done') < text.indexOf('event: response'), 'the response is last')
    const events = await open(page, 'post_chat')
    assert.ok(await events.form.getByRole('button', { name: 'Stop' }).isHidden())
  }))

  for (const [name, viewport] of Object.entries({ wide: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } })) {
    for (const colorScheme of ['light', 'dark']) {
      it(`fits ${name}, ${colorScheme}`, at.tab(async page => {
        await page.goto('/docs')
        const search = await open(page, 'post_search')
        await search.send.click()
        await until(async () => (await search.state.textContent()).startsWith('200 OK ·'), () => search.state.textContent())
        await page.locator('#post_search .api-try').scrollIntoViewIfNeeded()
        await fits(page)
        const { violations } = await new AxeBuilder({ page }).include('#post_search').analyze() // the whole page takes minutes
        assert.deepEqual(violations.map(v => `${v.id}: ${v.help}`), [])
        await shot(page, `docs-${name}-${colorScheme}`)
      }, { viewport, colorScheme }))
    }
  }

  it('opens the operation of a URL, from parameters to errors', at.tab(async page => {
    await page.goto('/docs#post_search')
    const search = page.locator('#post_search')
    await search.locator('pre').first().waitFor()
    const said = await search.textContent()
    for (const part of [/curl -X POST http:\/\/127\.0\.0\.1:\d+\/search/, /1 to 50; default 5/, /hybrid, lexical, semantic/, /querytextneeded/]) assert.match(said, part)
    assert.doesNotMatch(said, /X-API-Key/)
    const answer = search.locator('.api-answers').first()
    await answer.locator('summary').first().click()
    await answer.getByText('results', { exact: true }).waitFor()
    const text = await answer.locator('details[open]').textContent()
    assert.match(text, /list of /)
    await page.goto('/docs#post_agent_query')
    await page.locator('#post_agent_query > summary').waitFor()
    await page.reload()
    await page.locator('#post_agent_query pre').first().waitFor()
    assert.match(await page.locator('#post_agent_query').textContent(), /The same as /)
  }))

  it('lists the operations without scripts', at.tab(async page => {
    await page.goto('/docs')
    assert.equal(await page.getByRole('link', { name: 'openapi.json' }).getAttribute('href'), '/openapi.json')
    assert.match(await page.locator('#post_agent_query > summary').textContent(), /POST\s*\/agent\/query\s*Ask with a custom history/)
    assert.ok(await page.getByTestId('operation').count() > 90)
    await fits(page)
    await shot(page, 'docs-plain')
  }, { javaScriptEnabled: false }))
})
