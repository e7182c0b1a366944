// The library: an empty one, the samples, files that can't be read, the list, deleting with a way back, the viewer.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { audit, shot } from './browser.mjs'
import { drawing } from './fixtures.mjs'
import { ready, until } from './footnote.mjs'
import { house } from './house.mjs'
import { ask, drop, over, sameAsAPI } from './page.mjs'

describe('an empty library', () => {
  const at = house({ empty: true })

  it('offers a drop zone and sample documents with answerable starters', at.tab(async page => {
    await page.goto('/')
    await page.getByText('Drop files or a folder here').waitFor()
    await audit(page, 'empty')
    await page.getByTestId('samples').click()
    await page.waitForURL('**/documents')
    const { documents } = await until(async () => { const list = await at.server.json('/documents'); return list.documents.length > 0 && list }, 'the samples are taken')
    assert.ok(documents.every(d => d.filename.endsWith('.md')), 'the handbook is there as Markdown')
    for (const d of documents) await ready(at.server, d.id)
    await page.goto('/')
    const starter = page.locator('.starter').first()
    const question = await starter.locator('b').textContent()
    await starter.click()
    await page.waitForURL('**/c/*')
    const turn = page.getByTestId('turn')
    assert.equal(await turn.getByTestId('question').textContent(), question)
    await over(turn)
    const run = await sameAsAPI(at.server, turn)
    assert.equal(run.answer.stop_reason, 'answered')
    assert.ok(run.answer.citations.length > 0)
    await shot(page, 'samples-answered')
    const next = await turn.locator('.followup button').first()
    const asked = (await next.textContent()).trim()
    await next.click()
    const second = page.getByTestId('turn').nth(1)
    await second.waitFor()
    assert.equal(await second.getByTestId('question').textContent(), asked)
    await over(second)
    await sameAsAPI(at.server, second)
  }))
})

describe('the list of documents', () => {
  const at = house()
  const row = (page, name) => page.getByTestId('document').filter({ hasText: name })

  it('shows every file with its state', at.tab(async page => {
    await page.goto('/documents')
    assert.match(await row(page, 'warranty.md').textContent(), /Slate warranty/)
    assert.match(await row(page, 'survey.pdf').textContent(), /Damp survey, March 2024/)
    for (const name of ['warranty.md', 'survey.pdf']) assert.match(await row(page, name).getByTestId('state').textContent(), /Ready/)
    await audit(page, 'documents')
  }))

  it('shows the reason for each unreadable file, and continues', at.tab(async (page, { expect }) => {
    expect(/^error: Failed to load resource: the server responded with a status of (415|400) .*\/documents$/) // the browser's own words of a refused file
    await page.goto('/documents')
    await drop(page, {
      'broken.pdf': Buffer.concat([at.survey.subarray(0, 900), Buffer.from('and then nothing')]),
      'drawing.pdf': await drawing(at.browser),
      'archive.pdf': Buffer.from('UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA==', 'base64'),
      'latin.txt': Buffer.from('Caf\xe9 cr\xe8me co\xfbte trois francs \xe0 la gare.', 'latin1'),
      'empty.md': '',
    })
    await row(page, 'latin.txt').getByTestId('state').getByText('Ready').waitFor({ timeout: 30_000 })
    const reasons = { 'broken.pdf': /damaged|broken|could not be read|cut off/i, 'drawing.pdf': /no text/i, 'archive.pdf': /is not a PDF/, 'empty.md': /empty/i }
    for (const [name, reason] of Object.entries(reasons)) {
      const refused = page.locator('.upload-files li').filter({ hasText: name }).filter({ hasText: reason })
      const failed = row(page, name).getByTestId('state').filter({ hasText: reason })
      await until(async () => await refused.count() + await failed.count() > 0, `${name} fails with ${reason}`, 20_000)
    }
    await shot(page, 'failed-files')
    await page.getByRole('navigation', { name: 'Status' }).getByText('Failed').click()
    await until(async () => {
      const states = await page.getByTestId('document').evaluateAll(all => all.map(one => one.dataset.state))
      return states.length > 0 && states.every(state => state === 'failed')
    }, 'only failed files are listed')
    const { documents } = await at.server.json('/documents?q=latin')
    assert.equal(await (await fetch(`${at.server.url}/documents/${documents[0].id}/text`)).text(), 'Café crème coûte trois francs à la gare.')
  }))

  it('is filtered while typing', at.tab(async page => {
    await page.goto('/documents')
    await page.getByPlaceholder('Search titles and file names').pressSequentially('damp')
    await until(async () => await page.getByTestId('document').count() === 1, 'one document is left')
    await row(page, 'survey.pdf').waitFor()
    await page.getByRole('link', { name: 'Damp survey, March 2024' }).click()
    await page.getByTestId('viewer').waitFor()
    assert.equal(await page.locator('.sheet').count(), 2)
    assert.match((await page.locator('.sheet').nth(1).locator('.words').textContent()).replace(/\s+/g, ' '), /Points G2 and G4 remain at 22 %/)
  }))

  it('deletes with undo, and hides deleted documents from search', at.tab(async page => {
    await page.goto('/documents')
    await page.getByLabel('More: Slate warranty').click()
    await row(page, 'warranty.md').getByRole('button', { name: 'Delete' }).click()
    await row(page, 'warranty.md').waitFor({ state: 'detached' })
    const found = async () => (await (await fetch(`${at.server.url}/search`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"query":"slates splitting delamination"}' })).json()).total_results
    assert.equal(await found(), 0)
    await page.getByRole('button', { name: /^Undo/ }).click()
    await row(page, 'warranty.md').waitFor()
    assert.ok(await found() > 0)
  }))
})
