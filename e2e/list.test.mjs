// The list of documents, looked at: nothing sticks out of its place, wide or on a phone.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { audit } from './browser.mjs'
import { drawing } from './fixtures.mjs'
import { ready, until } from './footnote.mjs'
import { house } from './house.mjs'

const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 }
const long = 'The drawing of the west elevation of Highlands House with the notes of the surveyor'

describe('the list of documents', () => {
  const at = house({ empty: true })
  const fill = async () => {
    if ((await at.server.json('/documents')).documents.length > 0) return
    const form = new FormData()
    const files = { 'page.html': '<title>Page</title><p>The gate is open.', 'a.wmwmw': 'The gate is open at noon.', 'a.notes': 'The gate is open at night.', [`${long}.pdf`]: await drawing(at.browser), [`${long}.md`]: 'The gate is open.' }
    for (const [name, content] of Object.entries(files)) form.append('files', new Blob([content]), name)
    const { documents } = await (await fetch(`${at.server.url}/documents`, { method: 'POST', body: form, headers: { Accept: 'application/json' } })).json()
    for (const d of documents) if (!d.filename.endsWith('.pdf')) await ready(at.server, d.id)
    await until(async () => (await at.server.json('/documents?state=failed')).documents.length === 1, 'the drawing fails')
  }
  const boxes = (page, selector) => page.locator(selector).evaluateAll(all => all.filter(e => e.checkVisibility()).map(e => {
    const { top, bottom, left, right } = e.getBoundingClientRect()
    return { top, bottom, left, right, middle: (top + bottom) / 2, text: e.textContent.trim() }
  }))
  /** The boxes of the letters themselves. */
  const letters = (page, selector) => page.locator(selector).evaluateAll(all => all.filter(e => e.checkVisibility()).map(e => {
    const range = document.createRange()
    range.selectNodeContents(e)
    const { top, bottom, left, right } = range.getBoundingClientRect()
    return { top, bottom, left, right, middle: (top + bottom) / 2, text: e.textContent.trim() }
  }))

  for (const [name, options] of [['wide', {}], ['on a phone', phone]]) {
    it(`keeps badge text inside its border, ${name}`, at.tab(async page => {
      await fill()
      await page.goto('/documents')
      await audit(page, 'list')
      const [borders, words, titles] = [await boxes(page, '.docs .type'), await letters(page, '.docs .type'), await boxes(page, '.doc-name a')]
      assert.equal(borders.length, 5)
      borders.forEach((border, i) => {
        assert.ok(words[i].left >= border.left + 1 && words[i].right <= border.right - 1, `“${words[i].text}” from ${words[i].left} to ${words[i].right} in ${border.left} to ${border.right}`)
        assert.ok(border.right <= titles[i].left, `the badge ${border.text} ends at ${border.right}, its title begins at ${titles[i].left}`)
      })
      assert.equal(new Set(titles.filter((_, i) => borders[i].text !== 'WMWMW').map(title => title.left)).size, 1, 'the titles stand below each other')
    }, options))
  }

  it('centres tab labels, and keeps Retry beside the failure, on a phone', at.tab(async page => {
    await fill()
    await page.goto('/documents')
    const [tabs, words] = [await boxes(page, '.tabs a'), await letters(page, '.tabs a')]
    tabs.forEach((tab, i) => assert.ok(Math.abs(tab.middle - words[i].middle) <= 2, `${tab.text}: its middle is ${tab.middle}, that of its words ${words[i].middle}`))
    const failed = '[data-state="failed"]'
    const [[state], [retry], [menu], [title]] = [await boxes(page, `${failed} .state`), await boxes(page, `${failed} form .btn.small:not(.bare)`), await boxes(page, `${failed} .menu > summary`), await boxes(page, `${failed} .doc-name a`)]
    assert.ok(Math.abs(state.middle - retry.middle) <= 3, `the state is at ${state.middle}, Retry at ${retry.middle}`)
    assert.ok(menu.bottom <= retry.top + 8 && title.top <= menu.middle && menu.middle <= title.bottom, `the menu at ${menu.middle} is not beside the title, ${title.top} to ${title.bottom}`)
    const clip = await page.locator('.doc-name a').evaluateAll(all => all.map(e => {
      const line = e.querySelector('span') ?? e
      const range = document.createRange()
      range.selectNodeContents(line)
      const shown = line.getBoundingClientRect()
      return [...range.getClientRects()].filter(r => r.top < shown.bottom - 4 && r.bottom > shown.bottom + 4).length
    }))
    assert.deepEqual(clip, [0, 0, 0, 0, 0], 'no line of a title is cut through')
  }, phone))
})

describe('an empty library on a phone', () => {
  const at = house({ empty: true })

  it('offers to add files, not to drop them', at.tab(async page => {
    await page.goto('/')
    await page.locator('.drop strong').getByText('Add files').waitFor()
    assert.equal(await page.getByText('Drop files or a folder here').isVisible(), false)
    await audit(page, 'phone-empty')
  }, phone))
})
