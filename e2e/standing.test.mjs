// A question that is kept is asked again when its document changes, and says what is different.
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import { describe, it } from 'node:test'
import { audit, fits, named } from './browser.mjs'
import { add, until } from './footnote.mjs'
import { house } from './house.mjs'
import { ask, marked, over } from './page.mjs'

const lease = months => `# Lease of the mill

The rent of the mill is 900 euros a month.

The notice period is ${months} months.

Pets are allowed in the mill.
`

describe('a standing question', () => {
  const at = house({ empty: true })
  const kept = async () => (await at.server.json('/standing')).questions
  const changed = n => until(async () => { const [q] = await kept(); return q?.changes.length === n && q }, 'the answer is compared', 60_000)

  it('reports a change with both quotes', at.tab(async page => {
    await add(at.server, { 'Lease.md': lease(3) })
    await page.goto('/')
    const turn = await ask(page, 'How long is the notice period?')
    await over(turn)
    await turn.getByTestId('keep').click()
    await page.waitForURL(/\/standing/)
    await page.getByText(/^Added .*, unchanged/).waitFor()
    assert.equal(await page.getByTestId('kept-mark').count(), 0)
    await add(at.server, { 'Lease.md': lease(6) })
    await changed(1)
    await page.goto('/')
    assert.equal(await page.getByTestId('kept-mark').textContent(), '1')
    await page.getByRole('link', { name: 'Monitored questions' }).click()
    const change = page.getByTestId('kept-change')
    assert.equal((await change.locator('.kept-says').textContent()).trim(), 'Lease of the mill: “The notice period is 3 months” changed to “6 months”')
    assert.deepEqual(await change.locator('mark').allTextContents(), ['3', '6'])
    await audit(page, 'standing')
    await page.setViewportSize({ width: 390, height: 844 })
    await audit(page, 'standing')
    await page.setViewportSize({ width: 1440, height: 900 })
    await change.getByRole('link', { name: 'Now 2: Lease of the mill' }).click()
    await page.waitForURL('**/d/**')
    assert.equal(await marked(page.locator('main')), 'The notice period is 6 months.')
    await page.goBack()
    assert.equal(await page.getByTestId('kept-mark').count(), 0, 'it was seen')
    await change.getByRole('link', { name: 'Before 1: Lease of the mill' }).click()
    await page.getByText('Document changed.').first().waitFor()
  }))

  it('is paused, asked and removed without a script', at.tab(async page => {
    await page.goto('/standing')
    const question = page.getByTestId('kept')
    await question.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('Paused').waitFor()
    await question.getByRole('button', { name: 'Resume' }).click()
    await question.getByRole('button', { name: 'Run now' }).click()
    await until(async () => { const [q] = await kept(); return q.state === 'changed' && new Date(q.asked_at) > new Date(q.changes[0].at) }, 'it is asked', 60_000)
    await page.reload()
    await page.getByText('unchanged').waitFor()
    assert.equal((await kept())[0].changes.length, 1)
    await page.getByText('Subscribe in a feed reader').click()
    await page.getByRole('button', { name: 'Create feed URL' }).click()
    const address = await page.getByTestId('feed-address').textContent()
    const feed = await fetch(address)
    assert.match(feed.headers.get('content-type'), /^application\/atom\+xml/)
    assert.match(await feed.text(), /<title>Lease of the mill: “The notice period is 3 months” changed to “6 months”<\/title>/)
    assert.equal((await fetch(address, { headers: { 'If-None-Match': feed.headers.get('etag') } })).status, 304)
    await page.goto('/standing')
    await page.getByText('Subscribe in a feed reader').click()
    await page.getByRole('button', { name: 'Revoke all feed URLs' }).click()
    await page.waitForURL(/\/standing/)
    assert.equal((await fetch(address)).status, 404)
    const taken = []
    const program = createServer(async (request, response) => {
      let body = ''
      for await (const piece of request) body += piece
      taken.push({ head: request.headers, body })
      response.writeHead(204).end()
    })
    await new Promise(ready => program.listen(0, '127.0.0.1', ready))
    try {
      await page.getByText('Send changes to a webhook').click()
      await page.getByLabel('Webhook URL').fill(`http://127.0.0.1:${program.address().port}/hook`)
      await page.getByRole('button', { name: 'Add webhook' }).click()
      const secret = await page.getByTestId('hook-secret').textContent()
      const { head, body } = await until(async () => taken[0], 'the program is told')
      const signed = createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'))
        .update(`${head['webhook-id']}.${head['webhook-timestamp']}.${body}`).digest('base64')
      assert.equal(head['webhook-signature'], `v1,${signed}`)
      assert.equal(JSON.parse(body).type, 'webhook.set')
      await page.goto('/standing')
      await page.getByText('Changes are sent to a webhook').click()
      await page.getByText('Last delivery succeeded').waitFor()
      assert.equal(await page.getByTestId('hook-secret').count(), 0, 'the secret is shown once')
      await named(page) // axe needs scripts: it sees this page in webhook.test.mjs
      await fits(page)
      await page.getByRole('button', { name: 'Remove webhook' }).click()
      await page.getByText('Send changes to a webhook').waitFor()
    } finally {
      program.close()
    }
    await question.getByRole('button', { name: 'Remove' }).click()
    await page.getByText('No monitored questions yet').waitFor()
  }, { javaScriptEnabled: false }))
})
