// Tables over many documents: planned, filled before one's eyes, checked, edited, exported; without a script too.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { audit } from './browser.mjs'
import { add, until } from './footnote.mjs'
import { inBothModes } from './house.mjs'
import { marked } from './page.mjs'

const lease = (name, rent, months) => `# Lease of the ${name}\n\nThe rent of the ${name} is ${rent} euros a month.\n\n${months ? `The notice period is ${months} months.\n\n` : ''}Pets are allowed in the ${name}.\n`

inBothModes({ tokens: 20 }, { empty: true }, (at, modelled) => describe('a table', () => {
  const tables = async () => (await at.server.json('/tables')).tables
  const done = id => until(async () => { const t = await at.server.json(`/tables/${id}`); return t.state === 'done' && t }, 'the table is filled', 90_000)
  const plan = async page => {
    await page.goto('/tables')
    await page.getByLabel('Columns (one per line)').fill('Notice period: How long is the notice period?\nRent')
    await page.getByRole('button', { name: 'Preview' }).click()
  }

  it('requires a document', at.tab(async (page, { expect }) => {
    expect(/409/)
    await plan(page)
    assert.match(await page.getByTestId('table-said').textContent(), /no document yet/)
    assert.match(await page.getByLabel('Columns (one per line)').inputValue(), /Rent$/, 'what was typed is still there')
  }))

  it('is planned, filled, checked, edited and exported', at.tab(async page => {
    await add(at.server, { 'Mill.md': lease('mill', 900, 3), 'Barn.md': lease('barn', 1200, 6), 'Shop.md': lease('shop', 2450) })
    await plan(page)
    assert.match(await page.getByTestId('table-plan').textContent(), /3 documents × 2 columns = 6 cells/)
    assert.equal(await page.getByTestId('table-plan').getByText('tokens').count(), modelled ? 1 : 0)
    assert.equal((await tables()).length, 0, 'a plan makes nothing')
    await page.getByTestId('table-make').click()
    await page.waitForURL(/\/tables\/[0-9a-f-]+$/)
    await page.locator('#table-progress[data-state="done"]').waitFor({ timeout: 90_000 }) // the page went on by itself
    assert.equal(await page.locator('td[data-state="waiting"]').count(), 0, 'every cell came to the page')
    const [{ id }] = await tables()
    const { rows, cells } = await done(id)
    assert.deepEqual(rows.map(r => r.title), ['Lease of the barn', 'Lease of the mill', 'Lease of the shop'])
    assert.equal(cells.length, 6)
    for (const cell of cells) for (const cite of cell.citations) assert.equal(cite.document_id, rows[cell.row].document_id, 'each cell reads its own document')
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      await audit(page, 'a table')
    }
    if (!modelled) {
      assert.equal(cells.find(c => c.row === 2 && c.column === 0).state, 'absent', 'the shop does not say')
      assert.ok(['found', 'closest'].includes(cells.find(c => c.row === 1 && c.column === 0).state))
      await page.locator('#cell-1-0 .cite').click()
      await page.locator('#source .quote').first().waitFor()
      assert.equal(await marked(page.locator('#source')), 'The notice period is 3 months.')
      assert.match(page.url(), new RegExp(`/tables/${id}$`), 'it opens beside the table')
      await page.locator('[data-do="close-source"]').click()
    }
    await page.locator('#cell-1-0').hover()
    await page.locator('#cell-1-0 .cell-open').click()
    await page.getByLabel('Cell text').fill('3 months, in writing')
    await audit(page, 'a cell')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL(/#cell-1-0$/)
    assert.match(await page.locator('#cell-1-0').textContent(), /3 months, in writing.*edited/s)
    const csv = await (await fetch(`${at.server.url}/tables/${id}/export?format=csv`)).text()
    assert.match(csv, /3 months, in writing/)
    const file = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Export Excel' }).click()
    assert.match((await file).suggestedFilename(), /^footnote-.*\.xlsx$/)
  }))

  it('streams events and resumes', async () => {
    const [{ id }] = await tables()
    const read = async headers => (await fetch(`${at.server.url}/tables/${id}/events`, { headers })).text()
    const all = await read({})
    assert.match(all, /^: open\n\nevent: table\n/)
    assert.match(all, /event: table_done\n/)
    const ids = [...all.matchAll(/^id: (\d+)$/gm)].map(m => Number(m[1]))
    assert.deepEqual(ids, [...ids].sort((a, b) => a - b))
    assert.equal([...all.matchAll(/^event: cell$/gm)].length, 6)
    const rest = await read({ 'Last-Event-ID': String(ids.at(-2)) })
    assert.equal([...rest.matchAll(/^event: cell$/gm)].length, 1)
  })

  it('works without a script', at.tab(async (page, { expect }) => {
    expect(/400/)
    await plan(page)
    await page.getByTestId('table-make').click()
    await page.waitForURL(/\/tables\/[0-9a-f-]+$/)
    await page.locator('#table-progress[data-state="done"]').waitFor({ timeout: 90_000 }) // it reloads
    const id = page.url().split('/').at(-1)
    await page.locator('#cell-0-1 .cell-open').click({ force: true })
    await page.getByLabel('Cell text').fill('x'.repeat(5000))
    await page.getByRole('button', { name: 'Save' }).click()
    assert.match(await page.getByRole('alert').textContent(), /at most 4,?000 characters/)
    assert.equal((await page.getByLabel('Cell text').inputValue()).length, 5000)
    await page.getByRole('button', { name: 'Ask again' }).click()
    await page.waitForURL(/#cell-0-1$/)
    await done(id)
    assert.equal((await at.server.json(`/tables/${id}`)).cells.find(c => c.row === 0 && c.column === 1).turn, 1)
    await page.goto(`/tables/${id}`)
    await page.locator('summary', { hasText: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.waitForURL(/\/tables$/)
    assert.equal((await tables()).length, 1)
  }, { javaScriptEnabled: false }))
}))
