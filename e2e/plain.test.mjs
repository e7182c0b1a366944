// Without JavaScript everything is there: pages, forms, <details> and links.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { fits, shot } from './browser.mjs'
import { warranty } from './fixtures.mjs'
import { ready } from './footnote.mjs'
import { inBothModes } from './house.mjs'
import { ended, marked, runOf, sameAsAPI } from './page.mjs'

inBothModes({ delay: 15 }, { empty: true }, (at, withModel) => {
  const plain = body => at.tab(body, { javaScriptEnabled: false })

  it('takes files', plain(async page => {
    await page.goto('/')
    await page.locator('input[type=file]').first().setInputFiles([
      { name: 'warranty.md', mimeType: 'text/markdown', buffer: Buffer.from(warranty) },
      { name: 'survey.pdf', mimeType: 'application/pdf', buffer: at.survey },
    ])
    await page.getByRole('button', { name: 'Upload' }).click()
    await page.waitForURL('**/documents')
    await fits(page)
    const { documents } = await at.server.json('/documents')
    assert.equal(documents.length, 2)
    for (const d of documents) await ready(at.server, d.id)
  }))

  it('answers, and its footnotes open the document at the passage', plain(async page => {
    await page.goto('/')
    await page.locator('#q').fill('What is the moisture at points G2 and G4 of the north gable?')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.waitForURL('**/c/*')
    const turn = page.getByTestId('turn')
    await ended(at.server, await runOf(turn))
    await turn.locator('.sources').waitFor() // the page loads itself again while the run is under way
    const run = await sameAsAPI(at.server, turn)
    await turn.locator('.run-head').click()
    await turn.locator('.step-head').nth(1).click()
    await turn.locator('.step-body').nth(1).getByText('query').first().waitFor()
    await shot(page, withModel ? 'plain-model' : 'plain')
    const [cited] = run.answer.citations
    await turn.locator('.answer a.cite').first().click()
    await page.waitForURL('**/d/**')
    const viewer = page.getByTestId('viewer')
    assert.equal(await marked(viewer), cited.quote)
    const box = await viewer.locator('rect.quote').first().boundingBox()
    assert.ok(box.y > 0 && box.y < 900, `the passage is at ${box.y}, out of the window`)
    await page.goBack()
    await page.locator('#q').fill('Within how many days must a claim be made?')
    await page.getByRole('button', { name: 'Send' }).click()
    const second = page.getByTestId('turn').nth(1)
    await second.waitFor()
    await ended(at.server, await runOf(second))
    await second.locator('.sources').waitFor()
    await sameAsAPI(at.server, second)
  }))

  if (withModel) it('lets a question wait, and goes on with both answers by itself', plain(async page => {
    await page.goto('/')
    at.model.hold()
    await page.locator('#q').fill('What is the moisture at points G2 and G4 of the north gable?')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.waitForURL('**/c/*')
    await page.getByRole('link', { name: 'Pause reloading to write' }).click()
    await page.getByRole('link', { name: 'Show updates' }).waitFor()
    await page.locator('#q').pressSequentially('Within how many days must a claim be made?', { delay: 60 })
    await page.getByRole('button', { name: 'Add to queue' }).click()
    await page.waitForURL('**/c/*#queue')
    await page.locator('#queue .text').getByText('Within how many days').waitFor()
    await shot(page, 'plain-queue')
    at.model.release()
    await page.getByTestId('turn').nth(1).locator('.sources').waitFor({ timeout: 20_000 })
    assert.equal(await page.getByTestId('turn').count(), 2)
  }))

  it('stops a run, renames and deletes conversations by forms', plain(async page => {
    await page.goto('/')
    at.model?.hold()
    await page.locator('#q').fill('How long is the guarantee on the slates?')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.waitForURL('**/c/*')
    const turn = page.getByTestId('turn')
    if (withModel) {
      await page.getByRole('button', { name: 'Stop generating' }).click()
      await page.waitForURL('**/c/*')
      await turn.getByText('Stopped by you').waitFor()
    } else {
      await turn.locator('.sources').waitFor()
    }
    await page.locator('.topbar .menu summary').click()
    await page.locator('#rename').fill('Slates')
    await page.locator('.topbar .menu').getByRole('button', { name: 'Rename' }).click()
    await page.locator('#sessions').getByText('Slates').waitFor()
    await page.locator('.topbar .menu summary').click()
    await page.locator('.topbar .menu').getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Undo' }).click()
    await turn.waitFor()
  }))
})
