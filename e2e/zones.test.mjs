// The days of conversations and documents are the reader's, and in UTC without scripts.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { audit, inTab } from './browser.mjs'
import { until } from './footnote.mjs'
import { house } from './house.mjs'

const at = house()
const [hour, day] = [3_600_000, 86_400_000]
const month = (time, zone) => new Intl.DateTimeFormat('en-GB', { month: 'long', timeZone: zone }).format(time)

/** What the menu's list shows: its headings, each with how many conversations are under it. */
const listed = page => page.locator('#sessions').evaluate(list => [...list.querySelectorAll('h2')].map(h => `${h.textContent}: ${h.nextElementSibling.children.length}`))

it("names days in the reader's time zone", async () => {
  for (const message of ['Who made the survey?', 'How long is the guarantee?']) {
    const asked = await fetch(`${at.server.url}/agent/chat`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ message }) })
    assert.equal(asked.status, 200)
  }
  const [{ updated_at: asked }] = (await at.server.json('/sessions')).sessions
  for (const [timezoneId, east] of [['Asia/Tokyo', 9], ['Pacific/Honolulu', -10]]) {
    await inTab(at.browser, { baseURL: at.server.url, timezoneId }, async page => {
      const midnight = (Math.floor((Date.parse(asked) + east * hour) / day) + 1) * day - east * hour // the next one there
      const days = async now => {
        await page.clock.setFixedTime(now)
        await page.goto('/documents')
        return [await listed(page), await page.locator('time[data-as=added]').allTextContents()]
      }
      const [groups, added] = await days(midnight - 1)
      assert.deepEqual(groups, ['Today: 2'], timezoneId)
      if (midnight - Date.parse(asked) > 2 * hour) assert.deepEqual(added, ['Today', 'Today'], timezoneId) // else it is so many minutes ago
      assert.deepEqual(await days(midnight + 2 * hour), [['Yesterday: 2'], ['Yesterday', 'Yesterday']], timezoneId)
      assert.equal((await days(midnight + 7 * day - 1))[0][0], 'Previous 7 days: 2')
      const year = time => new Date(time + east * hour).getUTCFullYear()
      const later = midnight + 8 * day
      const name = month(midnight - 1, timezoneId) + (year(later) === year(midnight - 1) ? '' : ` ${year(midnight - 1)}`)
      assert.deepEqual((await days(later))[0], [`${name}: 2`])
      // two of one day in UTC, on different days there; the menu that is open stays so
      await page.clock.setFixedTime(midnight + 2 * hour)
      await page.route('**/documents', async route => {
        const response = await route.fetch()
        let n = 0
        await route.fulfill({ response, body: (await response.text()).replace(/data-at="[^"]+"/g, () => `data-at="${new Date(midnight + (n++ ? -hour : hour)).toISOString()}"`) })
      })
      await page.goto('/documents')
      assert.deepEqual(await listed(page), ['Today: 1', 'Yesterday: 1'])
      await page.locator('#sessions .menu summary').last().click()
      const title = page.locator('#sessions .menu[open]').getByLabel('Title')
      await title.focus()
      await page.evaluate(() => { // as if the server had drawn the list again
        const [first, second] = document.querySelectorAll('#sessions > ul')
        second.prepend(first.firstElementChild)
      })
      await until(async () => (await listed(page)).join() === 'Today: 1,Yesterday: 1', 'the days are named again')
      assert.ok(await title.evaluate(e => e === document.activeElement), 'the field lost the keyboard')
      await page.keyboard.press('Escape')
      await audit(page, 'zones')
    })
  }
  await inTab(at.browser, { baseURL: at.server.url, javaScriptEnabled: false, timezoneId: 'Pacific/Kiritimati' }, async page => {
    await page.goto('/documents')
    assert.match((await page.locator('#sessions h2').allTextContents()).join(), /^(Today|Yesterday)$/) // in UTC, and midnight may have passed
  })
})
