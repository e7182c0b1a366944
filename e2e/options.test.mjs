// How a question is answered: the model, the tools and the namespace, chosen in the question box.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { audit, fits, shot } from './browser.mjs'
import { ready, until } from './footnote.mjs'
import { house } from './house.mjs'
import { ask, ended, over, runOf, trace } from './page.mjs'

const question = 'How long is the guarantee on the slates?'
const small = 'a-rather-long-model-name-2026-preview-mini'

/** Adds a document to a namespace of its own. */
async function lease(server) {
  const form = new FormData()
  form.set('namespace', 'contracts')
  form.append('files', new Blob(['# Lease\n\nThe lease of Highlands House ends in 2031.\n']), 'lease.md')
  const { documents: [{ id }] } = await (await fetch(`${server.url}/documents`, { method: 'POST', body: form, headers: { Accept: 'application/json' } })).json()
  await ready(server, id)
}

/** What the question box is set to. */
const set = page => page.locator('#composer').evaluate(form => ['model', 'toolset', 'namespace'].map(name => form.elements[name].value))
const label = async page => (await page.locator('#options-label').textContent()).trim()

describe('a server with two models', () => {
  // The scripted model can neither plan nor judge, which react asks of a model by itself.
  const at = house({ model: { delay: 10 }, env: { FOOTNOTE_AGENT_MODELS_ALLOWED: small, FOOTNOTE_AGENT_WITHOUT: 'plan,reflect' } })
  const choose = async page => {
    await page.locator('#options > summary').click()
    await page.getByLabel('Model').selectOption(small)
    await page.getByLabel('react').check()
  }

  it('lets a question name model, tools and namespace, and keeps them for the conversation', at.tab(async page => {
    await lease(at.server)
    await page.goto('/')
    assert.equal(await label(page), 'scripted')
    await choose(page)
    await page.getByLabel('Namespace').selectOption('contracts')
    assert.equal(await label(page), `${small} · contracts · react`)
    const turn = await ask(page, 'When does the lease end?')
    await over(turn)
    const run = await trace(at.server, turn)
    assert.deepEqual([run.model, run.toolset], [small, 'react'])
    assert.deepEqual(await set(page), [small, 'react', 'contracts'])
    await page.reload()
    assert.deepEqual(await set(page), [small, 'react', 'contracts'])
    await page.locator('#options > summary').click()
    await page.getByLabel('Namespace').selectOption('')
    const second = await ask(page, question)
    await over(second)
    const next = await trace(at.server, second)
    assert.deepEqual([next.model, next.toolset], [small, 'react'])
    await second.getByTestId('answered-by').getByText(`Answered by ${small}`).waitFor()
    await page.reload()
    assert.deepEqual(await set(page), [small, 'react', ''])

    await second.getByRole('button', { name: 'Regenerate' }).click()
    const again = page.locator(`[data-testid=turn]:not([data-run="${next.run_id}"])`).nth(1)
    await again.waitFor()
    await over(again)
    const same = await trace(at.server, again)
    assert.deepEqual([same.model, same.toolset], [small, 'react'])
    assert.notEqual(same.run_id, next.run_id)
  }))

  it('keeps model and tools for a new conversation and its starters', at.tab(async page => {
    await page.goto('/')
    await choose(page)
    await page.goto('/documents')
    await page.goto('/')
    assert.deepEqual(await set(page), [small, 'react', ''])
    await page.locator('.starter').first().click()
    await page.waitForURL('**/c/*')
    const turn = page.getByTestId('turn')
    await over(turn)
    const run = await trace(at.server, turn)
    assert.deepEqual([run.model, run.toolset], [small, 'react'])
    await page.goto('/')
    await page.locator('#options > summary').click()
    await page.getByLabel('Model').selectOption('offline')
    await page.getByLabel('cursor').check()
    assert.equal(await label(page), 'Offline mode')
    const offline = await ask(page, question)
    await over(offline)
    assert.equal((await trace(at.server, offline)).model, 'offline')
    await offline.getByText('Answered by Offline mode').waitFor()
    assert.equal(await offline.getByTestId('fell-back').count(), 0)
  }))

  it('works by the keyboard, and Enter in the menu does not send', at.tab(async page => {
    await page.goto('/')
    await page.locator('#q').fill(question)
    await page.locator('#options > summary').focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate(() => document.activeElement.name), 'model')
    await page.keyboard.press('ArrowDown')
    await page.getByLabel('cursor').focus()
    await page.keyboard.press('ArrowDown')
    assert.deepEqual((await set(page)).slice(0, 2), [small, 'documentation'])
    await page.keyboard.press('Enter')
    assert.equal(await page.evaluate(() => document.activeElement.closest('#options')?.open), false)
    await page.keyboard.press('Enter')
    await page.keyboard.press('Escape')
    await until(() => page.locator('#options').evaluate(menu => !menu.open), 'Escape closes the menu')
    assert.equal(new URL(page.url()).pathname, '/')
    assert.equal(await page.locator('#q').inputValue(), question)
  }))

  it('reports a removed option, and keeps the question', at.tab(async (page, { expect }) => {
    expect(/status of 400/)
    expect(/htmx:response:error/)
    const gone = () => page.locator('#option-model option').nth(1).evaluate(option => { option.value = 'gone'; option.selected = true })
    await page.goto('/')
    await gone()
    await page.locator('#q').fill(question)
    await page.locator('#q').press('Enter')
    const sentence = page.locator('#composer-error').getByText(`The model “gone” is not allowed here. Allowed: scripted, ${small}, offline.`)
    await sentence.waitFor()
    assert.equal(await page.locator('#q').inputValue(), question)
    assert.deepEqual(await set(page), ['', '', ''])
    await over(await ask(page, question))
    await gone()
    await page.locator('#q').fill('And the gutters?')
    await page.locator('#q').press('Enter')
    await sentence.waitFor()
    assert.equal(await page.locator('#q').inputValue(), 'And the gutters?')
    assert.equal(await page.getByTestId('turn').count(), 1)
  }))

  it('is accessible while open, and fits', at.tab(async page => {
    await page.goto('/')
    await page.locator('#options > summary').click()
    await audit(page, 'options')
    const turn = await ask(page, question)
    await over(turn)
    await page.locator('#options > summary').click()
    await audit(page, 'options-conversation')
  }))

  it('fits a phone, also during a run', at.tab(async page => {
    await page.goto('/')
    await page.locator('#options > summary').tap()
    await page.getByLabel('Model').selectOption(small)
    await fits(page)
    const menu = await page.locator('#options > .menu-body').boundingBox()
    assert.ok(menu.x >= 0 && menu.x + menu.width <= 390, `the menu is ${JSON.stringify(menu)}`)
    await audit(page, 'options-phone')
    at.model.hold()
    await ask(page, question)
    const send = page.getByRole('button', { name: 'Stop generating' })
    await send.waitFor()
    await fits(page)
    const box = await send.boundingBox()
    assert.ok(box.x + box.width <= 390, `the button is ${JSON.stringify(box)}`)
    await page.locator('#options > summary').tap()
    await page.getByLabel('strategy').check()
    await shot(page, 'options-phone-running')
    at.model.release()
  }, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }))

  it('works without JavaScript', at.tab(async (page, { expect }) => {
    expect(/status of 400/)
    await page.goto('/')
    await page.locator('#options > summary').click()
    await page.getByLabel('Model').selectOption(small)
    await page.getByLabel('react').check()
    await page.locator('#q').fill(question)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.waitForURL('**/c/*')
    const turn = page.getByTestId('turn').first()
    const run = await ended(at.server, await runOf(turn))
    assert.deepEqual([run.model, run.toolset], [small, 'react'])
    await turn.locator('.sources').waitFor()
    assert.equal(await label(page), `${small} · react`)
    const next = turn.locator('.followup button').first()
    if (await next.count()) {
      await next.click()
      const follow = page.getByTestId('turn').nth(1)
      await follow.waitFor()
      const second = await ended(at.server, await runOf(follow))
      assert.deepEqual([second.model, second.toolset], [small, 'react'])
    }
    await page.goto('/')
    await page.locator('#option-model option').nth(1).evaluate(option => { option.value = 'gone'; option.selected = true })
    await page.locator('#q').fill(question)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.locator('#composer-error').getByText('The model “gone” is not allowed here.').waitFor()
    assert.equal(await page.locator('#q').inputValue(), question)
    await page.getByRole('button', { name: 'Send' }).click()
    await page.waitForURL('**/c/*')
  }, { javaScriptEnabled: false }))
})

describe('offline', () => {
  const at = house()

  it('offers the tools alone', at.tab(async page => {
    await page.goto('/')
    assert.equal(await label(page), 'Options')
    await page.locator('#options > summary').click()
    assert.equal(await page.locator('#options select').count(), 0)
    await page.getByLabel('documentation').check()
    assert.equal(await label(page), 'documentation')
    const turn = await ask(page, question)
    await over(turn)
    const run = await trace(at.server, turn)
    assert.equal(run.toolset, 'documentation')
    assert.ok(run.answer.citations.length > 0, 'the answer has footnotes')
    assert.equal(await turn.getByTestId('answered-by').count(), 0)
  }))
})
