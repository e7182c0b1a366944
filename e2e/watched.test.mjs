// The documents page says which files of a followed folder are left out, and why, and follows as that changes.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { audit } from './browser.mjs'
import { until } from './footnote.mjs'
import { house } from './house.mjs'

describe('a followed folder', () => {
  const dir = mkdtempSync(join(tmpdir(), 'footnote-papers-'))
  const put = (name, content) => writeFileSync(join(dir, name), content)
  put('empty.md', '')
  put('.footnoteignore', 'drafts\n')
  mkdirSync(join(dir, 'drafts'))
  for (let i = 0; i < 120; i++) put(`film ${String(i).padStart(3, '0')}.mov`, 'film')
  const at = house({ empty: true, env: { FOOTNOTE_WATCH: dir } })
  after(() => rmSync(dir, { recursive: true }))
  const left = page => page.getByTestId('folder-left-out')

  it('shows skipped files without documents, and follows', at.tab(async page => {
    await page.goto('/documents')
    await left(page).getByText(`Not imported from folder ${basename(dir)}: 122 files`).waitFor()
    await left(page).locator('summary').click()
    const rows = await until(async () => {
      const all = await left(page).locator('tbody tr').allTextContents()
      return all.length === 100 && all
    }, 'a hundred files are listed')
    assert.match(rows[0], /^empty\.md\s*The file is empty/)
    assert.match(rows[1], /^drafts\/\s*It is named in \.footnoteignore\.$/)
    assert.match(rows[2], /^film 000\.mov\s*Files that end with \.mov can't be read\.$/)
    await left(page).getByText('and 22 more').waitFor()
    put('empty.md', '# Lease\n\nThe tenant may end the lease after three years.')
    await page.getByTestId('document').filter({ hasText: 'Lease' }).waitFor()
    await left(page).getByText(': 121 files').waitFor()
    assert.equal(await left(page).getAttribute('open'), '', 'it stays open')
    await audit(page, 'left-out')
    put('a film.mov', 'film')
    await left(page).getByText(': 122 files').waitFor()
  }))

  it('fits on a phone', at.tab(async page => {
    await page.goto('/documents')
    await left(page).locator('summary').click()
    await audit(page, 'left-out-phone')
  }, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 }))
})
