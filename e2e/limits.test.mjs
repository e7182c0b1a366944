// What a user who reached a limit reads: when to go on, by the clock of whoever reads it.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { audit, fits, inTab, launch, shot } from './browser.mjs'
import { binary, footnote } from './footnote.mjs'
import { drop } from './page.mjs'

describe('a limit of 1', () => {
  let browser, server, dir, key
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), 'footnote-keys-'))
    const file = join(dir, 'keys')
    key = execFileSync(binary, ['key', 'new', 'anna'], { env: { ...process.env, FOOTNOTE_CONFIG: '', FOOTNOTE_KEYS: file }, encoding: 'utf8' }).trim()
    browser = await launch()
    server = await footnote({ FOOTNOTE_MODEL: 'offline', FOOTNOTE_KEYS: file, FOOTNOTE_LIMITS_QUESTIONS_PER_DAY: '1', FOOTNOTE_LIMITS_FILES_PER_DAY: '1' })
  }, { timeout: 60_000 })
  after(async () => {
    await browser?.close()
    await server?.stop()
    if (dir) rmSync(dir, { recursive: true, force: true })
  })
  const file = name => ({ name, mimeType: 'text/markdown', buffer: Buffer.from(`# ${name}\n\nThe roof is sound.`) })
  const hour = 3_600_000

  /** The time of a sentence must be the one that its element names, in words of a zone that is so many hours east of UTC. */
  async function inZone(sentence, hours, now = Date.now()) {
    const time = sentence.locator('time')
    const at = Date.parse(await time.getAttribute('datetime')) + hours * hour
    const day = Math.floor(at / (24 * hour)) - Math.floor((now + hours * hour) / (24 * hour))
    assert.equal(await time.textContent(), `${day === 1 ? 'tomorrow ' : ''}at ${new Date(at).toISOString().slice(11, 16)}`)
  }

  it("is shown in the reader's time zone, and in UTC without JavaScript", async () => {
    const signIn = async (page, open = '/') => {
      await page.goto(open)
      await page.getByRole('textbox', { name: 'API key' }).fill(key)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByTitle('Signed in as anna').waitFor()
    }
    await inTab(browser, { baseURL: server.url, javaScriptEnabled: false }, async (page, { expect }) => {
      expect(/status of 4(29|01)/)
      await signIn(page)
      await page.locator('input[type=file]').setInputFiles(file('roof.md'))
      await page.getByRole('button', { name: 'Upload' }).click()
      await page.waitForURL('**/documents')
      await page.goto('/')
      await page.locator('#q').fill('Is the roof sound?')
      await page.getByRole('button', { name: 'Send' }).click()
      await page.waitForURL('**/c/*')
      await page.locator('.sources').waitFor()
      await page.goto('/')
      await page.locator('#q').fill('And the wall?')
      await page.getByRole('button', { name: 'Send' }).click()
      const refused = page.locator('#composer-error')
      await refused.getByText('You have reached the limit').waitFor()
      assert.match((await refused.textContent()).trim(), /^You have reached the limit of 1 question in 24 hours\. Try again on \d+ [A-Z][a-z]+ at \d\d:\d\d UTC\.$/)
      assert.equal(await page.locator('#q').inputValue(), 'And the wall?')
      await shot(page, 'limit-plain')
    })
    for (const [timezoneId, hours] of [['Asia/Tokyo', 9], ['Pacific/Honolulu', -10]]) {
      await inTab(browser, { baseURL: server.url, timezoneId }, async (page, { expect }) => {
        expect(/status of 4(29|01)|htmx/)
        await signIn(page)
        await page.locator('#sessions a').first().click()
        await page.waitForURL('**/c/*')
        await page.locator('#q').fill('And the wall?')
        await page.locator('#q').press('Enter')
        const refused = page.locator('#composer-error')
        await refused.locator('time').waitFor()
        await inZone(refused, hours)
        await page.setViewportSize({ width: 390, height: 844 })
        await audit(page, 'limit')
        await page.goto('/documents')
        await drop(page, { [`wall ${hours}.md`]: '# Wall\n\nThe wall is sound.' })
        const row = page.locator('.upload-word.bad')
        await row.waitFor()
        assert.match(await row.textContent(), /^You have reached the limit of 1 file in 24 hours\. Try again (tomorrow )?at \d\d:\d\d\.$/)
        await fits(page)
        await shot(page, 'limit-upload')
      })
    }
  })
})
