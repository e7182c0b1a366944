// The first files arrive on the first page that is open: questions that their own headings answer are offered there, without a reload.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { audit } from './browser.mjs'
import { until } from './footnote.mjs'
import { house } from './house.mjs'
import { over } from './page.mjs'

const lease = `# Lease of Mill House

## Break clause

The tenant may end the lease after three years, with six months of notice in writing.

## Deposit

The deposit is 2,400 euros, and is paid back within 30 days of the end of the lease.

## Repairs

The landlord repairs the roof, the gutters and the outer walls.

## Garden

The garden may be used by all tenants of the house, from sunrise to ten in the evening.
`

describe('the first files', () => {
  const at = house({ empty: true })

  it('add at least three answerable questions without a reload', at.tab(async page => {
    await page.goto('/')
    await page.evaluate(() => { window.stayed = true })
    await page.locator('input[type=file]').first().setInputFiles([{ name: 'lease.md', mimeType: 'text/markdown', buffer: Buffer.from(lease) }])
    const starters = page.locator('.starter b')
    await until(async () => await starters.count() >= 3, async () => `three questions: ${await starters.allTextContents()}`)
    const questions = await starters.allTextContents()
    const headings = ['Break clause', 'Deposit', 'Repairs', 'Garden']
    const asked = questions.map(q => headings.find(h => q.includes(`“${h}”`)))
    assert.ok(asked.every(Boolean), `each is about a heading: ${questions}`)
    assert.equal(new Set(asked).size, asked.length, `each about another one: ${questions}`)
    assert.equal(await page.evaluate(() => window.stayed), true, 'the page was loaded again')
    await audit(page, 'starters')
    for (let i = 0; i < 3; i++) {
      await page.goto('/')
      await page.locator('.starter', { hasText: questions[i] }).click()
      await page.waitForURL('**/c/*')
      const turn = page.getByTestId('turn')
      await over(turn)
      const said = lease.split('## ').find(part => part.startsWith(asked[i])).split('\n\n')[1].slice(0, 30)
      assert.ok((await turn.getByTestId('answer').textContent()).includes(said), `${questions[i]} is answered by its own section`)
    }
  }))
})
