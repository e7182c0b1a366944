// What a model writes is drawn within bounds, and its links say where they lead and ask before they do.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { audit, fits, inTab, launch, shot } from './browser.mjs'
import { footnote, until } from './footnote.mjs'
import { parrot } from './parrot.mjs'

const table = n => `|${'a|'.repeat(n)}\n|${'-|'.repeat(n)}\n${'|\n'.repeat(n)}`

describe('the output of a model', () => {
  const says = { text: '' }
  let browser, model, server
  before(async () => {
    browser = await launch()
    model = await parrot(says)
    server = await footnote({ OPENAI_BASE_URL: model.url, OPENAI_MODEL: 'parrot' })
  }, { timeout: 60_000 })
  after(async () => {
    await browser?.close()
    await server?.stop()
    await model?.stop()
  })
  const tab = (body, options) => () => inTab(browser, { baseURL: server.url, ...options }, body)

  /** Has the model say a text and opens the conversation when it is over. */
  async function said(page, text) {
    says.text = text
    const asked = await (await fetch(`${server.url}/chat`, {
      method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify({ message: 'What does this text say?', context_text: 'The roof is sound.' }),
    })).json()
    await until(async () => (await server.json(`/agent/runs/${asked.run_id}`)).status !== 'running', 'the run is over')
    await page.goto(`/c/${asked.session_id}`)
    return page.getByTestId('turn').last()
  }

  it('is shown as plain text over the render limit', tab(async page => {
    const text = `The roof is sound.\n\n${table(2000)}`
    const turn = await said(page, text)
    await turn.getByTestId('too-large').waitFor()
    assert.ok((await turn.locator('.plain').textContent()).trim() === text.trim(), 'the text is not the one that was written')
    assert.equal(await turn.locator('table').count(), 0)
    await audit(page, 'too-large')
    await page.setViewportSize({ width: 390, height: 844 })
    await audit(page, 'too-large')
  }))

  for (const javaScriptEnabled of [true, false]) {
    it(`has links that show their target and ask, ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, tab(async (page, { context }) => {
      const turn = await said(page, 'See [your bank](https://evil.example/login?next=a&b=c), [https://bank.example](https://b\u0430nk.example/) and https://example.org/a?b=c for more.')
      const link = turn.getByRole('link', { name: 'your bank' })
      assert.match(await turn.getByTestId('answer').innerText(), /See your bank \(evil\.example\), https:\/\/bank\.example \(xn--bnk-6cd\.example\) and https:\/\/example\.org\/a\?b=c for more\./)
      if (javaScriptEnabled) await audit(page, 'links')
      const opened = context.waitForEvent('page')
      await link.click()
      const asks = await opened
      await asks.getByTestId('leave-host').waitFor()
      assert.equal(await asks.getByTestId('leave-host').innerText(), 'evil.example')
      assert.equal(await asks.getByTestId('leave-address').innerText(), 'https://evil.example/login?next=a&b=c')
      assert.equal(await asks.getByRole('link', { name: 'Open link' }).getAttribute('href'), 'https://evil.example/login?next=a&b=c')
      assert.ok(asks.url().startsWith(server.url), `the page is at ${asks.url()}`)
      if (!javaScriptEnabled) return
      await audit(asks, 'leave')
      await asks.setViewportSize({ width: 390, height: 844 })
      await audit(asks, 'leave')
      await page.setViewportSize({ width: 390, height: 844 })
      await fits(page)
      await shot(page, 'links')
    }, { javaScriptEnabled }))
  }
})
