// The page can be installed, and takes files that another program on a phone shares.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { house } from './house.mjs'

describe('an installed page', () => {
  const at = house({ empty: true })

  it('has a manifest and icons accepted by Chromium', at.tab(async (page, { context }) => {
    await page.goto('/')
    const cdp = await context.newCDPSession(page)
    const { errors, data } = await cdp.send('Page.getAppManifest')
    assert.deepEqual(errors, [])
    const manifest = JSON.parse(data)
    assert.equal(manifest.start_url, '/')
    const { installabilityErrors } = await cdp.send('Page.getInstallabilityErrors')
    assert.deepEqual(installabilityErrors.map(e => e.errorId).filter(id => id !== 'in-incognito'), [])
    const base = await page.locator('link[rel=manifest]').getAttribute('href')
    for (const { src } of manifest.icons) {
      const res = await page.request.get(new URL(src, new URL(base, at.server.url)).href)
      assert.equal(res.headers()['content-type'], 'image/svg+xml')
    }
  }))

  it('takes a shared file as it takes one that was chosen', at.tab(async page => {
    await page.goto('/')
    const { share_target: to } = await (await page.request.get(await page.locator('link[rel=manifest]').getAttribute('href'))).json()
    // as Android's share sheet does: a form, from no page
    const res = await page.request.post(to.action, {
      headers: { Accept: 'text/html', 'Sec-Fetch-Site': 'none' },
      multipart: { [to.params.files[0].name]: { name: 'shared.md', mimeType: 'text/markdown', buffer: Buffer.from('# Shared\n\nIt is dry.') } },
    })
    assert.equal(res.status(), 200)
    assert.ok(res.url().endsWith('/documents'))
    assert.match(await res.text(), /shared\.md|Shared/)
  }))

  /** Shares words as Android's share sheet does: a form, from no page. Returns the draft of the page that answers. */
  const share = async (page, words) => {
    await page.goto('/')
    const { share_target: to } = await (await page.request.get(await page.locator('link[rel=manifest]').getAttribute('href'))).json()
    const fields = Object.fromEntries(Object.entries(words).map(([name, value]) => [to.params[name], value]))
    const res = await page.request.post(to.action, { headers: { Accept: 'text/html', 'Sec-Fetch-Site': 'none' }, multipart: fields })
    assert.equal(res.status(), 200)
    await page.goto(res.url())
    return page.locator('#q')
  }

  it('offers to add a shared page', at.tab(async page => {
    const link = 'https://example.org/roofs?a=1&b=2'
    for (const words of [{ title: 'Roofs', text: 'Roofs', url: link }, { title: 'Roofs', text: link, url: '' }]) {
      await share(page, words)
      assert.equal(await page.getByTestId('add-address').innerText(), link)
      await page.getByRole('heading', { name: 'Roofs' }).waitFor()
      await page.getByRole('button', { name: 'Add page' }).waitFor()
    }
    assert.equal((await at.server.json('/documents')).documents.length, 1, 'nothing was added yet')
  }))

  it('uses shared text as a draft', at.tab(async page => {
    const link = 'https://example.org/roofs?a=1&b=2'
    for (const [words, draft] of [
      [{ title: 'Roofs & gutters', text: `Look at this: ${link}`, url: '' }, `Roofs & gutters\nLook at this: ${link}`],
      [{ title: 'Roofs', text: '“Dry since May”', url: link }, `Roofs\n“Dry since May”\n${link}`],
      [{ text: '<b>Why</b> is the roof wet?\r\nSince when?' }, '<b>Why</b> is the roof wet?\nSince when?'],
    ]) {
      const box = await share(page, words)
      assert.ok(await box.isVisible(), 'the question box is there')
      assert.equal(await box.inputValue(), draft)
      assert.ok(new URL(page.url()).pathname === '/', 'nothing was asked yet')
    }
    assert.ok(await (await share(page, { title: 'x'.repeat(3000) })).inputValue().then(v => v.length === 2000))
    await share(page, { title: '', text: ' ' })
    assert.equal(new URL(page.url()).search, '', 'nothing is no draft')
  }))
})
