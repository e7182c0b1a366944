// The search over everything: conversations, documents by name, passages by their words.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { audit, fits, shot } from './browser.mjs'
import { add, until } from './footnote.mjs'
import { house } from './house.mjs'
import { ask, marked, over } from './page.mjs'

const lease = `# Lease of 12 Quay Street

## Rent

The monthly rent is 1,250 pounds. A late payment is no reason to break the peace of the house.

## Break clause

Either party may use the break clause after six months, with two months' notice in writing.

## Repairs

Every other clause of this lease holds while the roof is being repaired.
`

const open = async page => {
  await page.waitForLoadState()
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: 'Search' })
  await palette.waitFor()
  return palette
}
const group = (palette, name) => palette.getByRole('list', { name })
const looked = palette => palette.getByRole('status')
const focused = page => page.evaluate(() => document.activeElement.tagName + ' ' + (document.activeElement.textContent || document.activeElement.value))

describe('the global search', () => {
  const at = house()

  it('describes its scope', at.tab(async page => {
    await page.goto('/')
    const palette = await open(page)
    await until(async () => (await looked(palette).textContent()).trim() === '0 conversations, 2 documents', 'it says what there is')
  }))

  it('lists the matching passage, and opens it at its words', at.tab(async page => {
    await add(at.server, { 'lease.md': lease })
    await page.goto('/')
    await over(await ask(page, 'Where is the mortar?'))
    const palette = await open(page)
    await page.keyboard.type('break clause')
    const passages = group(palette, 'Passages').getByRole('link')
    await passages.first().waitFor()
    assert.match(await passages.first().textContent(), /Lease of 12 Quay Street.*Break clause.*Either party may use the break clause/s)
    assert.deepEqual(await passages.first().locator('mark').allTextContents(), ['Break', 'clause', 'break', 'clause'])
    assert.equal(await passages.count(), 1, 'a passage with one of two words is no answer while another has both')
    assert.match(await looked(palette).textContent(), /Searched 1 conversation, 3 documents$/)
    await audit(page, 'palette')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/d/**')
    const viewer = page.getByTestId('viewer')
    await viewer.waitFor()
    assert.equal(await marked(viewer), 'Break clause')
    await until(() => viewer.locator('mark.quote').evaluate(e => { const { top, bottom } = e.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight }), 'the words are on the screen')
  }))

  it('opens a PDF at the page with the words', at.tab(async page => {
    await page.goto('/')
    const palette = await open(page)
    await page.keyboard.type('repointing with a hydraulic')
    const passage = group(palette, 'Passages').getByRole('link').first()
    await passage.waitFor()
    assert.match(await passage.textContent(), /Damp survey, March 2024\s*p\. 2/)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/d/**', { waitUntil: 'commit' }) // its pages are drawn after that
    const sheet = page.locator('.sheet[data-page="2"]')
    await until(async () => await marked(sheet) === 'repointing with a hydraulic', 'the words are marked')
    await until(() => sheet.locator('rect.quote').first().evaluate(e => { const { top, bottom } = e.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight }), 'they are on the screen')
  }))

  it('finds a word by its prefix', at.tab(async page => {
    await page.goto('/')
    const palette = await open(page)
    await page.keyboard.type('break cla')
    await group(palette, 'Passages').getByRole('link', { name: 'Either party may use the break clause' }).waitFor()
    assert.doesNotMatch(await palette.textContent(), /No document has/)
  }))

  it('drops a late response', at.tab(async page => {
    await page.goto('/')
    let release
    const late = new Promise(done => { release = done })
    const came = []
    await page.route('**/find?*', async route => {
      const text = new URL(route.request().url()).searchParams.get('q')
      const response = await route.fetch()
      if (text === 'mortar') await late
      came.push(text)
      await route.fulfill({ response }).catch(() => {}) // nobody waits for it any more
    })
    const palette = await open(page)
    await until(() => came.includes(''), 'the first list')
    const asked = page.waitForRequest(/q=mortar/)
    await palette.getByRole('searchbox').fill('mortar')
    await asked
    await palette.getByRole('searchbox').fill('break clause')
    await group(palette, 'Passages').getByRole('link', { name: 'Either party' }).waitFor()
    release()
    await until(() => came.includes('mortar'), 'the late answer')
    await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))))
    assert.equal(await palette.getByText('mortar').count(), 0, 'the late answer is not shown')
    await group(palette, 'Passages').getByRole('link', { name: 'Either party' }).waitFor()
  }))

  it('opens the right result after an early Enter', at.tab(async page => {
    await page.goto('/')
    const palette = await open(page)
    await group(palette, 'Conversations').getByRole('link').first().waitFor()
    await page.keyboard.type('break clause')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/d/**')
    assert.equal(await marked(page.getByTestId('viewer')), 'Break clause')
  }))

  it('navigates the groups by keyboard, and continues typing', at.tab(async page => {
    await page.goto('/')
    const palette = await open(page)
    await page.keyboard.type('mortar')
    await group(palette, 'Passages').getByRole('link').first().waitFor()
    assert.deepEqual(await palette.getByRole('heading').allTextContents(), ['Conversations', 'Passages'])
    const names = await palette.getByRole('link').allTextContents()
    assert.ok(names.length >= 2)
    for (const name of [...names, names.at(-1)]) {
      await page.keyboard.press('ArrowDown')
      assert.equal(await focused(page), `A ${name}`)
    }
    await page.keyboard.press('Home')
    assert.equal(await focused(page), `A ${names[0]}`)
    await page.keyboard.press('End')
    assert.equal(await focused(page), `A ${names.at(-1)}`)
    await page.keyboard.press('s')
    assert.equal(await focused(page), 'INPUT mortars')
    await page.keyboard.press('Backspace')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    assert.equal(await focused(page), 'INPUT mortar')
    await page.keyboard.press('Escape')
    await palette.waitFor({ state: 'hidden' })
  }))

  it('reports its scope without results, and offers to ask', at.tab(async page => {
    await page.goto('/')
    const palette = await open(page)
    await page.keyboard.type('zyzzyva')
    await palette.getByText('No results for “zyzzyva”.').waitFor()
    assert.match(await looked(palette).textContent(), /^0 results\. \s*Searched 1 conversation, 3 documents$/)
    await shot(page, 'palette-nothing')
    await palette.getByRole('link', { name: 'Ask “zyzzyva”' }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/?q=zyzzyva')
    assert.equal(await page.locator('#q').inputValue(), 'zyzzyva')
  }))

  it('reports an unreachable server', at.tab(async (page, { expect }) => {
    expect(/^error: Failed to load resource: net::ERR_FAILED/)
    await page.goto('/')
    const palette = await open(page)
    await group(palette, 'Conversations').getByRole('link').first().waitFor()
    await page.route('**/find?*', route => route.abort())
    await page.keyboard.type('mortar')
    await palette.getByText('Search failed.').waitFor()
    assert.equal(await palette.getByRole('link').count(), 0, 'what was found before is not the answer')
  }))

  it('has its own page', at.tab(async page => {
    await page.goto('/find?q=break+clause')
    const main = page.locator('#main')
    await main.getByRole('link', { name: 'Either party may use the break clause' }).click()
    await page.getByTestId('viewer').waitFor()
    assert.equal(await marked(page.getByTestId('viewer')), 'Break clause')
  }))

  it('fits on a phone', at.tab(async page => {
    await page.goto('/')
    await page.getByRole('link', { name: 'Menu', exact: true }).tap()
    await page.getByRole('link', { name: 'Search' }).tap()
    const palette = page.getByRole('dialog', { name: 'Search' })
    await palette.getByRole('searchbox').fill('break clause')
    const passage = group(palette, 'Passages').getByRole('link').first()
    await passage.waitFor()
    await fits(page)
    await audit(page, 'palette-phone')
    await passage.tap()
    await page.getByTestId('viewer').waitFor()
    assert.equal(await marked(page.getByTestId('viewer')), 'Break clause')
  }, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 }))
})
