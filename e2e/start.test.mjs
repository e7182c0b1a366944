// How a page starts: all its scripts are asked for at once.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { until } from './footnote.mjs'
import { house } from './house.mjs'

describe('the start of a page', () => {
  const at = house({ empty: true })

  it('requests all scripts in parallel', at.tab(async page => {
    const asked = new Set()
    let answer
    const all = new Promise(done => { answer = done })
    await page.route('**/app/*.js', async route => { // no script comes before each was asked for
      asked.add(route.request().url())
      await all
      await route.continue()
    })
    await page.goto('/', { waitUntil: 'commit' })
    await page.waitForFunction(() => document.readyState === 'interactive') // all of its links are there
    const links = await page.locator('link[rel=modulepreload]').count()
    await until(() => asked.size === links, () => `${asked.size} of ${links} scripts are asked for`)
    const wave = [...asked]
    answer()
    await page.waitForLoadState('load')
    const fetched = await page.evaluate(() => performance.getEntriesByType('resource').map(r => r.name).filter(name => name.includes('/app/')))
    assert.deepEqual(fetched.toSorted(), wave.toSorted())
    assert.ok(fetched.length > 10, `${fetched.length} scripts`)
  }))
})
