// How a page starts: all its scripts are asked for at once.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { house } from './house.mjs'

describe('how a page starts', () => {
  const at = house({ empty: true })

  it('asks for all scripts before it has read one', { timeout: 15_000 }, at.tab(async page => {
    const asked = new Set()
    let answer
    const all = new Promise(done => { answer = done })
    await page.route('**/app/*.js', async route => { // no script comes before each was asked for
      asked.add(route.request().url())
      if (asked.size === await page.locator('link[rel=modulepreload]').count()) answer([...asked])
      await all
      await route.continue()
    })
    await page.goto('/', { waitUntil: 'commit' })
    const wave = await all
    await page.waitForLoadState('load')
    const fetched = await page.evaluate(() => performance.getEntriesByType('resource').map(r => r.name).filter(name => name.includes('/app/')))
    assert.deepEqual(fetched.toSorted(), wave.toSorted())
    assert.ok(fetched.length > 10, `${fetched.length} scripts`)
  }))
})
