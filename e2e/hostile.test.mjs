// Documents and questions are data: nothing in them runs, loads or leaves.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { shot } from './browser.mjs'
import { add } from './footnote.mjs'
import { house } from './house.mjs'
import { ask, over, sameAsAPI } from './page.mjs'

for (const model of [undefined, { delay: 0 }]) {
  describe(model ? 'hostile text, with a model' : 'hostile text, offline', () => {
    const at = house({ model, empty: true })
    const canary = { asked: [] }
    const evil = () => `---
title: "<img src=${canary.url}/title onerror=alert(1)> & <b>Poison</b>"
---
# <script src="${canary.url}/heading"></script>Antidote ledger

The antidote is kept in cupboard seven. <script>fetch("${canary.url}/script")</script> ![the antidote in cupboard seven](${canary.url}/image.png)

The antidote costs [forty pounds](javascript:fetch('${canary.url}/link')) a dose. <img src="${canary.url}/img" onerror="fetch('${canary.url}/onerror')">

<iframe src="${canary.url}/frame"></iframe><style>@import url(${canary.url}/style);</style><svg onload="fetch('${canary.url}/svg')"></svg>

The antidote spoils after nine days, see [this page](${canary.url}/outside "x") and <${canary.url}/auto>.
`

    before(async () => {
      canary.server = createServer((request, response) => { canary.asked.push(request.url); response.end() })
      await new Promise(done => canary.server.listen(0, '127.0.0.1', done))
      canary.url = `http://127.0.0.1:${canary.server.address().port}`
      at.ids = await add(at.server, { 'evil <img src=x onerror=alert(1)>.md': evil(), 'evil.html': `<title>Ledger <script>alert(2)</script></title>${evil()}` })
    })
    after(() => canary.server.close())

    /** Nothing of the document became an element that could run or load. */
    async function harmless(page) {
      assert.deepEqual(canary.asked, [], 'the canary was asked')
      const found = await page.evaluate(url => [...document.querySelectorAll('*')].filter(e =>
        [...e.attributes].some(a => a.name.startsWith('on') || /^\s*javascript:/i.test(a.value) || (['src', 'srcset', 'data', 'action'].includes(a.name) && a.value.includes(url)))
        || (e.matches('script, style') && e.textContent.trim()) || e.matches('iframe, object, embed')).map(e => e.outerHTML), canary.url)
      assert.deepEqual(found, [])
    }

    it('is inert in steps, answer, card, sources and panel', at.tab(async page => {
      page.on('dialog', dialog => { canary.asked.push(`dialog: ${dialog.message()}`); dialog.dismiss() })
      await page.goto('/')
      await harmless(page)
      const turn = await ask(page, 'Where is the antidote kept?')
      await over(turn)
      await turn.locator('.run-head').click()
      await turn.locator('[data-do=expand]').click()
      const { answer: { citations } } = await sameAsAPI(at.server, turn)
      assert.ok(citations.length > 0, 'it has no footnotes')
      await harmless(page)
      for (const cited of citations) {
        const chip = turn.locator(`.answer a.cite[data-n="${cited.number}"]`).first()
        await page.mouse.move(5, 5)
        await chip.hover()
        await page.locator('.card').waitFor()
        const shown = page.evaluate(() => new Promise(done => document.addEventListener('footnote:source', () => done(), { once: true })))
        await chip.click()
        await shown // the panel moves the page, and takes the card away, when this source has come
        await page.locator(`#panel .strip [aria-current=true] .cite, #panel [data-testid=check]`).first().waitFor()
        await harmless(page)
      }
      await over(await ask(page, '<img src=x onerror=alert(3)> <script>alert(4)</script> What does the antidote cost?'))
      await harmless(page)
      await shot(page, model ? 'hostile-model' : 'hostile')
    }))

    it('is inert in lists, viewers and titles', at.tab(async page => {
      page.on('dialog', dialog => { canary.asked.push(`dialog: ${dialog.message()}`); dialog.dismiss() })
      const { sessions: [session] } = await at.server.json('/sessions')
      for (const path of ['/', '/documents', '/find?q=antidote', `/c/${session.session_id}`, ...Object.values(at.ids).map(id => `/d/${id}`)]) {
        await page.goto(path)
        await page.waitForLoadState('load') // a conversation's page keeps a stream open
        await harmless(page)
      }
      assert.match(await page.getByTestId('viewer').textContent(), /The antidote is kept in cupboard seven/)
    }))

    it('serves originals as downloads, never as pages', async () => {
      for (const id of Object.values(at.ids)) {
        const { headers } = await fetch(`${at.server.url}/documents/${id}/file`)
        assert.match(headers.get('content-disposition'), /^attachment/)
        assert.equal(headers.get('x-content-type-options'), 'nosniff')
        assert.match(headers.get('content-security-policy'), /sandbox/)
      }
    })
  })
}
