// On a phone: nothing wider than the screen, the menu as a drawer, a source as a sheet from below.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { audit, fits, shot } from './browser.mjs'
import { until } from './footnote.mjs'
import { house } from './house.mjs'
import { ask, inPDF, marked, over, sameAsAPI } from './page.mjs'

describe('on a phone', () => {
  const at = house({ model: { delay: 10 } })
  const phone = body => at.tab(body, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 })

  it('asks, and opens the source as a sheet with the footnote still in view', phone(async page => {
    await page.goto('/')
    await fits(page)
    await shot(page, 'start')
    const turn = await ask(page, 'What is the moisture at points G2 and G4 of the north gable?')
    await over(turn)
    await fits(page)
    const { answer: { citations: [cited] } } = await sameAsAPI(at.server, turn)
    const chip = turn.locator('.answer a.cite').first()
    await chip.tap()
    const source = page.getByTestId('source')
    await source.waitFor()
    await until(async () => await marked(source) === cited.quote, 'the sheet marks the quote')
    await inPDF(source, cited)
    await fits(page)
    const panel = page.locator('#panel')
    const sheet = await until(async () => { const box = await panel.boundingBox(); return box.y + box.height <= 845 && box }, 'the sheet stands at the lower edge')
    assert.ok(sheet.width === 390 && sheet.y > 200, `the sheet is ${JSON.stringify(sheet)}`)
    const { y, height } = await chip.boundingBox()
    assert.ok(y >= 0 && y + height <= sheet.y, `the footnote at ${y} is not above the sheet at ${sheet.y}`)
    await shot(page, 'sheet')
    await audit(page)
    await page.getByRole('button', { name: 'Close source' }).tap()
    await source.waitFor({ state: 'hidden' })
  }))

  it('keeps a long search without results within the screen', phone(async page => {
    await page.goto('/')
    const turn = await ask(page, `Where does it stand? #call search_documents {"query": "${'zyzzyva qwertz '.repeat(20).trim()}"}`)
    await over(turn)
    await turn.locator('.coverage').first().waitFor()
    await turn.getByText('“zyzzyva').last().waitFor()
    await fits(page)
  }))

  it('opens the menu as a drawer that takes the focus and gives it back', phone(async page => {
    await page.goto('/')
    const menu = page.locator('#menu')
    assert.ok((await menu.boundingBox())?.x < 0 || !(await menu.isVisible()), 'the drawer is closed')
    await page.getByRole('link', { name: 'Menu', exact: true }).tap()
    await until(async () => (await menu.boundingBox())?.x === 0, 'the drawer comes')
    await until(() => page.evaluate(() => document.querySelector('#menu').contains(document.activeElement)), 'the focus is in the drawer')
    await shot(page, 'drawer')
    await fits(page)
    await page.keyboard.press('Escape')
    await until(() => page.evaluate(() => document.activeElement.matches('.topbar [href="#menu"]')), 'the focus comes back')
    await page.getByRole('link', { name: 'Menu', exact: true }).tap()
    await menu.getByRole('link', { name: /^Documents/ }).tap()
    await page.waitForURL('**/documents')
    await page.locator('#documents').getByText('Damp survey, March 2024').waitFor()
    await fits(page)
    await shot(page, 'documents')
  }))

  it('has large touch targets', phone(async page => {
    const pressed = '.btn, .send, .field, .nav a, .sessions a, .tabs a, .run-head, summary.step-head, .starter, .api-contents :is(a, summary)'
    const small = () => page.locator(pressed).evaluateAll(all => all.filter(e => e.checkVisibility({ visibilityProperty: true })).map(e => [e.outerHTML.slice(0, 120), e.getBoundingClientRect()])
      .filter(([, r]) => r.height < 44 || r.width < 44).map(([e, r]) => `${r.width} x ${r.height}: ${e}`))
    await page.goto('/')
    assert.deepEqual(await small(), [], 'the first page')
    const turn = await ask(page, 'How long is the guarantee on the slates of the house, and what does it cover?')
    await over(turn)
    await turn.locator('.run-head').tap()
    assert.deepEqual(await small(), [], 'a conversation')
    await fits(page)
    await shot(page, 'fingers')
    for (const address of ['/documents', '/docs', '/leave?to=https://example.org/']) {
      await page.goto(address)
      assert.deepEqual(await small(), [], address)
      await fits(page)
    }
    await page.goto('/')
    await page.getByRole('link', { name: 'Menu', exact: true }).tap()
    await until(async () => (await page.locator('#menu').boundingBox())?.x === 0, 'the drawer comes')
    assert.deepEqual(await small(), [], 'the menu')
  }))

  it('shows whole documents', phone(async page => {
    for (const [name, id] of Object.entries(at.documents)) {
      await page.goto(`/d/${id}`)
      await page.getByTestId('viewer').waitFor()
      await fits(page)
      await shot(page, `viewer-${name}`)
    }
  }))

  it('keeps steps with long inputs within the screen', phone(async page => {
    await page.goto('/')
    const turn = await ask(page, `What does ${'delamination-'.repeat(20)} mean for the slates?`)
    await over(turn)
    await turn.locator('.run-head').click()
    await turn.locator('[data-do=expand]').click()
    for (const raw of await turn.locator('.raw > summary').all()) await raw.click()
    await fits(page)
    await shot(page, 'steps')
  }))
})
