// What stands where on the page: nothing that only a pointer shows, nothing that looks like another thing.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { audit, shot } from './browser.mjs'
import { add, until } from './footnote.mjs'
import { house } from './house.mjs'
import { ask, over } from './page.mjs'

const letter = `From: Leila Haddad
To: Tom Brandt
Subject: the worktop

Dear Tom,

we take the offer with the oak worktop and not the laminate. Please protect the old floor tiles.

Leila
`

describe('a conversation of several questions', () => {
  const at = house()
  const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 }

  for (const [name, options] of Object.entries({ 'with a mouse': {}, 'on a phone': phone })) {
    it(`shows the buttons of every answer without a gap, ${name}`, at.tab(async page => {
      await page.goto('/')
      await over(await ask(page, 'How long is the guarantee on the slates?'))
      const last = await ask(page, 'Which mortar is recommended for repointing?')
      await over(last)
      await last.hover()
      const shown = await page.locator('.turn .actions').evaluateAll(all => all.map(e => [getComputedStyle(e).opacity, getComputedStyle(e).visibility]))
      assert.deepEqual(shown, [['1', 'visible'], ['1', 'visible']])
      const copy = page.getByTestId('turn').first().getByRole('button', { name: 'Copy', exact: true })
      await copy.focus()
      await copy.click({ trial: true })
      await page.evaluate(() => document.activeElement.blur())
      await audit(page, options.isMobile ? 'answers-phone' : 'answers')
    }, options))
  }

  it('distinguishes conversations with the same name, also for screen readers', at.tab(async page => {
    for (const question of ['Who wrote the damp survey?', 'What is excluded?', 'Who wrote the damp survey?']) {
      await page.goto('/')
      await over(await ask(page, question))
    }
    await page.goto('/')
    const links = page.locator('#sessions').getByRole('link', { name: 'Who wrote the damp survey?' })
    assert.equal(await links.count(), 2)
    const names = await links.evaluateAll(all => all.map(a => a.textContent.replace(/\s+/g, ' ').trim()))
    assert.notEqual(names[0], names[1])
    const clock = await links.locator('time').evaluateAll(all => all.map(e => [e.textContent, new Date(e.dateTime).toLocaleTimeString('en-GB')]))
    for (const [shown, local] of clock) assert.ok(local.startsWith(shown), `${shown} is not ${local}, the reader's own time`)
    for (const name of names) {
      await page.getByRole('link', { name, exact: true }).waitFor()
      await page.locator('#sessions summary').and(page.getByLabel(`More: ${name}`, { exact: true })).waitFor()
    }
    const alone = page.locator('#sessions').getByRole('link', { name: 'What is excluded?' })
    assert.equal(await alone.locator('time').count(), 0, 'a name of its own needs no time')
    await shot(page, 'namesakes')
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('dialog', { name: 'Search' })
    await palette.getByRole('searchbox').fill('who wrote')
    const found = palette.getByRole('list', { name: 'Conversations' }).getByRole('link')
    await until(async () => await found.count() === 2, 'the palette finds both')
    assert.equal(new Set(await found.allTextContents()).size, 2)
    await shot(page, 'namesakes-palette')
  }, { timezoneId: 'Asia/Tokyo' }))

  it("shows a conversation's whole number after a long name", at.tab(async page => {
    const question = 'Which mortar is recommended for repointing the brickwork of the chimney above the slates?'
    const body = JSON.stringify({ question })
    await Promise.all(Array.from({ length: 8 }, async () => {
      const answer = await fetch(`${at.server.url}/agent/query`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body })
      assert.equal(answer.status, 200, await answer.text())
    }))
    await page.goto('/')
    const numbers = page.locator('#sessions a span.num')
    await numbers.first().waitFor()
    const cut = await numbers.evaluateAll(all => all.filter(e => e.scrollWidth > e.clientWidth || e.clientWidth === 0).map(e => e.textContent))
    assert.deepEqual(cut, [], 'numbers that are cut')
  }))
})

describe('the panel of a text', () => {
  const at = house()
  for (const [width, options] of [[1440, {}], [390, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }]]) {
    it(`fills the panel with a margin, at ${width} px`, at.tab(async page => {
      await add(at.server, { 'letter.txt': letter })
      await page.goto('/')
      const turn = await ask(page, 'Which worktop does Leila take?')
      await over(turn)
      await turn.locator('.answer a.cite').first().click()
      const source = page.getByTestId('source')
      await source.locator('.quote').first().waitFor()
      await until(() => page.locator('#panel').evaluate(e => e.getAnimations().length === 0), 'the panel stands')
      const [pages, panel, words] = await Promise.all([source, page.locator('#panel'), source.locator('.block').first()].map(l => l.boundingBox()))
      assert.ok(Math.abs(pages.y + pages.height - panel.y - panel.height) <= 1, `the text ends at ${pages.y + pages.height}, its panel at ${panel.y + panel.height}`)
      assert.equal(await source.evaluate(e => getComputedStyle(e).borderTopWidth + getComputedStyle(e).marginTop), '0px0px')
      assert.ok(words.x - panel.x >= 16 && panel.x + panel.width - words.x - words.width >= 16, 'the words keep off the edge')
      await audit(page, 'text-panel')
    }, options))
  }
})
