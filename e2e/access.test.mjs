// The page for eyes, screen readers and paper: names, contrast, a still page while an answer comes, and what is printed.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import AxeBuilder from '@axe-core/playwright'
import { fits, named, shot } from './browser.mjs'
import { until } from './footnote.mjs'
import { house, inBothModes } from './house.mjs'
import { ask, over, runOf } from './page.mjs'

const question = 'What is the moisture at points G2 and G4 of the north gable?'

inBothModes({ delay: 10 }, {}, at => {
  for (const [name, viewport] of Object.entries({ wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } })) {
    it(`layout is stable while an answer streams, ${name}`, at.tab(async page => {
      await page.addInitScript(() => {
        window.shifts = []
        new PerformanceObserver(list => {
          for (const e of list.getEntries()) if (!e.hadRecentInput) window.shifts.push({ value: e.value, moved: e.sources.map(s => `${s.node?.nodeName}.${s.node?.className ?? ''} ${JSON.stringify(s.previousRect)} → ${JSON.stringify(s.currentRect)}`) })
        }).observe({ type: 'layout-shift', buffered: true })
      })
      const still = async what => {
        const shifts = await page.evaluate(() => window.shifts)
        const sum = shifts.reduce((sum, s) => sum + s.value, 0)
        assert.ok(sum < 0.1, `${what}: ${JSON.stringify(shifts, null, 1)}`)
      }
      await page.goto('/')
      await over(await ask(page, question)) // the page of the conversation is loaded, and the answer comes
      await still('the first answer')
      await page.evaluate(() => { window.shifts = [] })
      await over(await ask(page, 'How long is the guarantee on the slates?')) // in the page that is open
      await still('the second answer')
      await until(() => page.evaluate(() => { // what moves soon after a key was pressed is not counted, so it moves to and fro until it is
        document.documentElement.style.overflowAnchor = 'none'
        const { style } = document.querySelector('#thread')
        style.paddingTop = style.paddingTop === '160px' ? '' : '160px'
        return window.shifts.reduce((sum, s) => sum + s.value, 0) >= 0.1
      }), 'a jump is seen when there is one')
    }, { viewport }))
  }
})

describe('every page', () => {
  const at = house()

  it('labels controls and has 7:1 contrast on request', at.tab(async (page, { expect }) => {
    expect(/404 \(Not Found\) .*\/nowhere$/)
    await page.goto('/')
    const turn = await ask(page, question)
    await over(turn)
    const conversation = new URL(page.url()).pathname
    assert.ok(await runOf(turn))
    const document = `/d/${at.documents['warranty.md']}`
    for (const path of ['/', conversation, '/documents', document, '/folders', '/model', '/find?q=slates', '/docs', '/nowhere']) {
      await page.goto(path)
      for (const colorScheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme, contrast: 'more', reducedMotion: 'reduce' })
        const { violations } = await new AxeBuilder({ page }).withRules(['color-contrast-enhanced']).analyze()
        assert.deepEqual(violations.flatMap(v => v.nodes.map(n => `${n.html.slice(0, 120)}: ${n.failureSummary}`)), [], `${path} in ${colorScheme}`)
        await shot(page, `contrast-${path.split(/[/?]/)[1] || 'start'}-${colorScheme}`)
      }
      await page.emulateMedia({ colorScheme: null, contrast: null, reducedMotion: null })
      await named(page)
    }
  }))

  it('prints a conversation as questions, answers and sources', at.tab(async page => {
    await page.goto('/')
    const turn = await ask(page, question)
    await over(turn)
    await turn.locator('.run-head').click()
    await turn.locator('.step-head').first().waitFor()
    await turn.locator('.answer a.cite').first().click()
    await page.locator('#panel').getByTestId('source').waitFor()
    await page.setViewportSize({ width: 680, height: 960 }) // a sheet of A4 within its margins
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    for (const seen of [turn.getByTestId('question'), turn.getByTestId('answer'), turn.locator('.answer a.cite').first(), turn.locator('.source-quote').first(), turn.locator('.run-head')]) assert.ok(await seen.isVisible(), `${seen} is printed`)
    for (const hidden of ['.sidebar', '.topbar', '#composer', '#panel', '.steps', '.actions', '.followups', '.connect']) {
      assert.deepEqual(await page.locator(hidden).evaluateAll(all => all.filter(e => e.checkVisibility()).length), 0, `${hidden} is not printed`)
    }
    assert.equal(await page.getByRole('button').count(), 0, 'no buttons are printed')
    const paper = await page.evaluate(() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color])
    assert.deepEqual(paper, ['rgb(255, 255, 255)', 'rgb(27, 27, 25)'], 'paper is white, also at night')
    await fits(page)
    await shot(page, 'printed')
    assert.ok((await page.pdf({ format: 'A4' })).length > 10_000)
  }))
})
