// The form that has changes of kept questions sent to a program.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { describe, it } from 'node:test'
import { audit } from './browser.mjs'
import { until } from './footnote.mjs'
import { house } from './house.mjs'

/** Calls body with the address of a program, and what it was sent. */
async function program(body) {
  const taken = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const piece of request) text += piece
    taken.push({ url: request.url, text })
    response.writeHead(request.url === '/away' ? 410 : 204).end()
  })
  await new Promise(ready => server.listen(0, '127.0.0.1', ready))
  try {
    await body(`http://127.0.0.1:${server.address().port}`, taken)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

for (const [how, options] of [['with scripts'], ['without JavaScript', { javaScriptEnabled: false }]]) {
  describe(`the webhook form, ${how}`, () => {
    const at = house({ empty: true })
    const state = async () => (await fetch(`${at.server.url}/standing/webhook`, { headers: { Accept: 'application/json' } })).status

    it('saves, shows the secret once, and removes', at.tab((page, { expect }) => program(async (address, taken) => {
      expect(/400/) // a wrong address
      const form = page.locator('#webhook')
      const send = async url => {
        await form.getByLabel('Webhook URL').fill(url)
        await form.getByRole('button', { name: /^(Add webhook|Save with new secret)$/ }).click()
      }
      const secret = page.getByTestId('hook-secret')
      await page.goto('/standing')
      await page.getByText('Send changes to a webhook').click()

      // what is no address is said beside what was typed, and nothing is set
      const wrong = 'https://ada:secret@example.org/hook'
      await send(wrong)
      await page.getByRole('alert').getByText('Invalid webhook URL.').waitFor()
      const field = form.getByLabel('Webhook URL')
      assert.equal(await field.inputValue(), wrong)
      assert.equal(await field.getAttribute('aria-invalid'), 'true')
      assert.equal(await field.getAttribute('aria-describedby'), 'hook-said')
      if (!options) await audit(page, 'a webhook at a wrong address')
      assert.equal(await secret.count(), 0)
      assert.equal(await state(), 404)

      await send(`${address}/hook`)
      const first = await secret.textContent()
      assert.match(first, /^whsec_[A-Za-z0-9+/]{43}=$/)
      assert.equal(await page.getByRole('alert').count(), 0, 'the wrong address is forgotten')
      await until(async () => taken[0], 'the program is told')
      assert.deepEqual([taken[0].url, JSON.parse(taken[0].text).type], ['/hook', 'webhook.set'])
      await page.goto('/standing')
      await page.getByText('Changes are sent to a webhook').click()
      await page.getByText('Last delivery succeeded').waitFor()
      assert.equal(await secret.count(), 0, 'the secret is shown once')
      assert.equal((await page.content()).includes(first), false)
      assert.equal(await field.inputValue(), `${address}/hook`)
      if (!options) await audit(page, 'a webhook that takes changes')

      // a wrong address leaves what is set
      await send('ftp://example.org/')
      await page.getByRole('alert').waitFor()
      await page.goto('/standing')
      await page.getByText('Changes are sent to a webhook').click()
      assert.equal(await field.inputValue(), `${address}/hook`)

      // another address has another secret; one that takes nothing says so by itself
      await send(`${address}/away`)
      const second = await secret.textContent()
      assert.notEqual(second, first)
      await until(async () => taken.some(t => t.url === '/away'), 'the other program is told')
      await until(async () => { await page.goto('/standing'); return await page.getByTestId('hook-state').getByText('410').count() }, 'the page says that nothing was taken')
      if (!options) await audit(page, 'a webhook that takes nothing')

      await page.getByRole('button', { name: 'Remove webhook' }).click()
      await page.getByText('Send changes to a webhook').waitFor()
      assert.equal(await state(), 404)
      await page.getByText('Send changes to a webhook').click()
      assert.equal(await field.inputValue(), '')
    }), options))
  })
}
