// A folder of this machine is chosen on the page: its documents come in and follow, until that is ended. With and without JavaScript.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { audit, fits } from './browser.mjs'
import { until } from './footnote.mjs'
import { house } from './house.mjs'
import { ask, over } from './page.mjs'

const lease = '# Lease\n\n## Break clause\n\nThe tenant may end the lease after three years.\n\n## Deposit\n\nThe deposit is 2,400 euros.\n\n## Repairs\n\nThe landlord repairs the roof.\n'

/** A home with some folders: Documents/Case has a lease. */
function home() {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'footnote-home-')))
  for (const name of ['Desktop', 'Documents/Case', 'Documents/Old letters', 'Downloads', 'Music', '.cache', 'a folder with a very long name that goes on and on, as people give them to keep things apart']) mkdirSync(join(dir, name), { recursive: true })
  writeFileSync(join(dir, 'Documents/Case/lease.md'), lease)
  return dir
}

for (const javaScriptEnabled of [true, false]) {
  describe(`a selected folder ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, () => {
    const dir = home()
    const at = house({ empty: true, env: { HOME: dir } })
    after(() => rmSync(dir, { recursive: true }))

    it('is followed until removed, and its documents answer', at.tab(async (page, { expect }) => {
      await page.goto('/')
      await page.getByRole('link', { name: 'Watch a folder' }).click()
      const folders = page.getByRole('list', { name: 'Subfolders' }).getByRole('link')
      await folders.getByText('Music', { exact: true }).waitFor() // the last one: the list is whole
      const names = await folders.allTextContents()
      assert.deepEqual(names.slice(0, 3).map(n => n.trim()), ['Documents', 'Downloads', 'Desktop'])
      assert.ok(!names.some(n => n.includes('.cache')), 'what is hidden is not listed')
      expect(/400 \(Bad Request\)/)
      await page.getByLabel('Folder path').fill(join(dir, 'none'))
      await page.getByRole('button', { name: 'Go to folder' }).click()
      await page.getByTestId('folder-trouble').getByText('Folder not found').waitFor()
      assert.equal(await page.getByLabel('Folder path').inputValue(), join(dir, 'none'))
      await page.getByRole('link', { name: 'Documents', exact: true }).last().click()
      await page.getByRole('link', { name: 'Case', exact: true }).click()
      await page.getByText('No subfolders.').waitFor()
      await page.getByRole('button', { name: 'Watch this folder' }).click()
      await page.waitForURL('**/documents')
      const row = page.getByTestId('followed')
      await row.getByText('Case', { exact: true }).first().waitFor()
      await until(async () => {
        if (!javaScriptEnabled) await page.reload()
        return await page.getByTestId('document').filter({ hasText: 'Ready' }).count() === 1
      }, 'the folder\'s document is ready')
      await until(async () => {
        if (!javaScriptEnabled) await page.reload()
        return /1 file · checked/i.test(await row.textContent())
      }, 'the row says what was seen')
      await page.goto('/')
      if (javaScriptEnabled) {
        const turn = await ask(page, 'When may the tenant end the lease?')
        await over(turn)
        assert.match(await turn.getByTestId('answer').textContent(), /after three years/)
      } else {
        await page.locator('#q').fill('When may the tenant end the lease?')
        await page.getByRole('button', { name: 'Send' }).click()
        await page.getByTestId('turn').locator('.sources').waitFor()
        assert.match(await page.getByTestId('answer').textContent(), /after three years/)
      }
      await page.goto(`/folders?at=${encodeURIComponent(join(dir, 'Documents/Case'))}`)
      await page.getByTestId('folder-refused').getByText('This folder is already watched').waitFor()
      await page.goto('/documents')
      await row.getByRole('button', { name: 'Stop watching Case' }).click()
      await row.waitFor({ state: 'detached' })
      assert.equal(await page.getByTestId('document').count(), 1, 'the document stays')
      await page.getByRole('link', { name: 'Watch a folder' }).waitFor()
    }, { javaScriptEnabled }))
  })
}

describe('the folders of this machine', () => {
  const dir = home()
  const at = house({ env: { HOME: dir, FOOTNOTE_WATCH: join(dir, 'Documents/Old letters') } })
  after(() => rmSync(dir, { recursive: true }))
  for (const [width, height] of [[1440, 900], [390, 844]]) {
    it(`fit ${width} × ${height}, and are accessible`, at.tab(async page => {
      await page.goto('/folders')
      await page.getByRole('button', { name: 'Watch this folder' }).or(page.getByTestId('folder-refused')).first().waitFor()
      await fits(page)
      await audit(page, `folders-${width}`)
      await page.goto('/folders?at=/')
      await page.getByText("You can't watch an entire disk").waitFor()
      await page.goto('/documents')
      await page.getByTestId('followed').getByText('set in the server settings').waitFor()
      assert.equal(await page.getByRole('button', { name: 'Stop watching' }).count(), 0)
      await audit(page, `followed-${width}`)
    }, { viewport: { width, height } }))
  }
})
