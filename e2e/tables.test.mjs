// A table is asked: the step shows a small table, whose rows and the link below it open the document at the rows.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { audit, inTab, launch, shot } from './browser.mjs'
import { add, footnote } from './footnote.mjs'
import { ask, marked, over } from './page.mjs'
import { teller } from './teller.mjs'

const customers = ['Harrow', 'Miller', 'Öztürk & Sons']
const rows = Array.from({ length: 60 }, (_, i) => `INV-${i + 1},${customers[i % 3]},2026-0${i % 9 + 1}-15,"${(i + 1) * 100}.50",${i % 2 ? 'no' : 'yes'}`)
const invoices = ['Number,Customer,Due,Amount,Paid', ...rows, ''].join('\n')
const unpaid = rows.filter(r => r.includes('Harrow') && r.endsWith('no')).map(r => r.split(',')[0])

describe('a table query', () => {
  let browser, model, server
  before(async () => {
    [browser, model] = await Promise.all([launch(), teller({
      call: 'query_table', input: { document: 'Invoices.csv', where: [{ column: 'Customer', op: '=', value: 'Harrow' }, { column: 'Paid', op: '=', value: 'no' }], compute: [{ function: 'sum', column: 'Amount' }, { function: 'max', column: 'Due' }] },
      text: 'The invoice INV-4 of Harrow has the amount 400.50 [1]. The total is 31,005.00 [1][2].',
    })])
    server = await footnote({ OPENAI_BASE_URL: model.url, OPENAI_MODEL: 'teller' })
    await add(server, { 'Invoices.csv': invoices })
  }, { timeout: 60_000 })
  after(async () => {
    await browser?.close()
    await server?.stop()
    await model?.stop()
  })

  it('is shown in its step, and its links highlight the rows in the document', () => inTab(browser, { baseURL: server.url }, async page => {
    await page.goto('/')
    const turn = await ask(page, 'Which invoices has Harrow not paid, and what is the total?')
    await over(turn)
    await turn.locator('.run-head').click()
    await turn.locator('[data-do=expand]').click()
    const step = turn.locator('.step').filter({ hasText: 'Queried the table' }).last()
    const drawn = step.locator('.asked')
    await drawn.waitFor()
    assert.deepEqual(await drawn.locator('tbody tr td:first-child').allTextContents().then(all => all.map(s => s.trim())), unpaid)
    assert.match(await step.locator('.totals').textContent(), /sum of Amount\s*31,?005\.00/)
    await audit(page, 'asked-table')
    await page.setViewportSize({ width: 390, height: 844 })
    await drawn.scrollIntoViewIfNeeded()
    await audit(page, 'asked-table')
    await page.setViewportSize({ width: 1440, height: 900 })
    await step.getByTestId('which-rows').click()
    const source = page.locator('#source')
    await source.locator('mark.quote').first().waitFor()
    const numbers = (await source.locator('tr:has(mark.quote) td:first-child').allTextContents()).map(s => s.replace('|', '').trim()) // bars are copied, not seen
    assert.deepEqual(numbers.filter(n => n.startsWith('INV')), unpaid)
    await shot(page, 'asked-rows')
  }))

  it('has rows with separate links', () => inTab(browser, { baseURL: server.url }, async page => {
    await page.goto('/')
    const turn = await ask(page, 'And the second one?')
    await over(turn)
    const chip = turn.locator('.answer a.cite').first()
    await chip.click()
    await page.locator('#source mark.quote').first().waitFor()
    assert.match(await marked(page.locator('#source')), /^INV-4/)
    await shot(page, 'asked-cited')
  }))
})
