// A document that the agent opens for the reader opens beside the answer while the run goes on, however fast it is, and never again.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { house } from './house.mjs'
import { ask, ended, over, sameAsAPI } from './page.mjs'

const question = 'Where does it stand? #call search_documents {"query": "guarantee on the slates"} #then #call open_document {"citation_number": 1, "reason": "It stands here"}'

const at = house({ model: {} })

/** The page gets the answer to its question only when the run is over, as when the run was faster than the page. */
async function late(page) {
  await page.route('**/chat', async route => {
    const html = await (await route.fetch()).text()
    await ended(at.server, [...html.matchAll(/data-run="([^"]+)"/g)].at(-1)[1])
    await route.continue() // under the same key: the run that is over
  })
}

/** The source panel opens, and shows what the agent opened. */
async function opened(page, turn) {
  await page.locator('body[data-source=open]').waitFor()
  await page.getByTestId('source').waitFor()
  await over(turn)
  const { steps } = await sameAsAPI(at.server, turn)
  const { tool_output: shown } = steps.find(s => s.tool_name === 'open_document')
  assert.equal(shown.opened, true)
  assert.ok((await page.getByRole('link', { name: 'Open full document' }).getAttribute('href')).includes(shown.doc_id))
}

/** The same conversation, come to in another way, opens nothing by itself. */
async function closed(page, come) {
  const asked = []
  const note = request => { if (new URL(request.url()).pathname.startsWith('/d/')) asked.push(request.url()) }
  page.on('request', note)
  await come()
  await over(page.getByTestId('turn').last())
  page.off('request', note)
  assert.deepEqual(asked, [])
  assert.equal(await page.locator('body').getAttribute('data-source'), 'closed')
}

it('opens beside a first answer that precedes its page, but not after a reload or from the list', at.tab(async page => {
  await page.goto('/')
  await late(page)
  const turn = await ask(page, question)
  await opened(page, turn)
  assert.equal(new URL(page.url()).search, '')
  await closed(page, () => page.reload())
  await page.goto('/')
  await closed(page, async () => {
    await page.locator('.sessions a').first().click()
    await page.waitForURL('**/c/*')
  })
}))

it('opens beside later answers that precede their turn, also on a retry', at.tab(async page => {
  await page.goto('/')
  await over(await ask(page, 'How long is the guarantee on the slates?'))
  assert.equal(await page.locator('body').getAttribute('data-source'), 'closed')
  await late(page)
  const turn = await ask(page, question)
  await opened(page, turn)
  await closed(page, () => page.reload())
  await turn.getByRole('button', { name: 'Regenerate' }).click()
  await page.locator('.turn .switch').waitFor()
  await opened(page, page.getByTestId('turn').last())
  await closed(page, () => page.reload())
}))

it('opens during the run', at.tab(async page => {
  await page.goto('/')
  at.model.hold()
  const turn = await ask(page, question)
  await turn.locator('[data-stream]').waitFor({ state: 'attached' })
  at.model.release()
  await opened(page, turn)
}))
