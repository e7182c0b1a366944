// Takes the picture of the README with the binary in bin/: `make picture`.
import { resolve } from 'node:path'
import { launch } from './browser.mjs'
import { add, footnote } from './footnote.mjs'
import { survey, warranty } from './fixtures.mjs'

const browser = await launch()
// with the embedding model, as `make run` starts it
const server = await footnote({ FOOTNOTE_EMBEDDING_DIR: resolve(import.meta.dirname, '../.cache/embedding/all-MiniLM-L6-v2') })
try {
  await add(server, { 'Damp survey, March 2024.pdf': await survey(browser), 'Slate warranty.md': warranty })
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  await page.goto(server.url)
  await page.fill('textarea', 'Is the roof covering the cause of the damp gable?')
  await page.keyboard.press('Enter')
  const chips = page.locator('.answer a.cite')
  await page.locator('.sources').waitFor()
  const pdf = page.locator('.answer a.cite[aria-label*="survey" i]').first()
  await (await pdf.count() ? pdf : chips.first()).click()
  await page.locator('#source .quote').first().waitFor({ state: 'attached' })
  await page.waitForLoadState('load') // a conversation's page keeps a stream open
  await page.waitForFunction(() => [...document.querySelectorAll('#source img, #source image')].some(i => i.complete !== false))
  await page.waitForTimeout(1500) // the marked words flash before they rest
  await page.screenshot({ path: resolve(import.meta.dirname, '../docs/footnote.png') })
} finally {
  await server.stop()
  await browser.close()
}
