// A link to one answer: made below it, opened by somebody else, counted, ended.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { audit, inTab, launch } from './browser.mjs'
import { house } from './house.mjs'
import { ask, over } from './page.mjs'

const question = 'How long is the guarantee on the slates?'

describe('a shared answer', () => {
  const at = house({})

  it('is readable by link until revoked', at.tab(async page => {
    await page.goto('/')
    const turn = await ask(page, question)
    await over(turn)
    await turn.getByTestId('share').locator('summary').click()
    await audit(page, 'sharing')
    if (process.env.SHOTS) await page.screenshot({ path: process.env.SHOTS + '/menu.png' })
    await turn.getByRole('button', { name: 'Create link' }).click()
    const made = page.getByTestId('share-made')
    await made.getByText('Copy the share link now').waitFor()
    const link = await made.locator('input').inputValue()
    assert.match(link, /\/s\/[A-Z2-7]{26}$/)
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      await audit(page, 'the links')
      if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/links-${width}.png` })
    }

    const other = await launch()
    try {
      for (const [width, colorScheme] of [[1440, 'light'], [390, 'dark']]) {
        await inTab(other, { viewport: { width, height: 844 }, colorScheme, javaScriptEnabled: width > 400 }, async guest => {
          await guest.goto(link)
          await guest.getByRole('heading', { name: question }).waitFor()
          assert.equal(await guest.locator('form, script, [href^="/d/"], [href^="/c/"]').count(), 0)
          await guest.locator('.cite').first().click()
          assert.match(guest.url(), /#quote-1$/)
          if (width > 400) await audit(guest, 'a shared answer')
          if (process.env.SHOTS) await guest.screenshot({ path: `${process.env.SHOTS}/shared-${width}.png`, fullPage: true })
        })
      }
      await page.goto('/shares')
      await page.getByText('opened 2 times').waitFor()
      await page.getByRole('button', { name: 'Revoke link' }).click()
      await page.getByTestId('no-shares').waitFor()
      await inTab(other, {}, async (guest, { expect }) => {
        expect(/404/)
        await guest.goto(link)
        await guest.getByRole('heading', { name: 'Link not found' }).waitFor()
        if (process.env.SHOTS) await guest.screenshot({ path: `${process.env.SHOTS}/gone.png` })
      })
    } finally {
      await other.close()
    }
  }))
})
