// One page of the web becomes a document: by its address, with and without a script, and by the bookmark on another page.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { audit, fits, shot } from './browser.mjs'
import { footnote, freePort, until } from './footnote.mjs'
import { house } from './house.mjs'

const article = title => `<!doctype html><html lang="en"><head><title>${title}</title></head><body><nav>Home</nav>
<article><h1>${title}</h1>${'<p>The chimney was swept in October 2024 by Brandt & Sons, who found no damage to the flue and wrote so.</p>'.repeat(8)}</article></body></html>`

/** A site of another origin, which lets nothing of others run on its pages. */
async function site(port) {
  const state = { broken: false }
  const server = createServer((request, response) => {
    if (state.broken) return response.writeHead(502).end()
    const { pathname } = new URL(request.url, 'http://site')
    if (!pathname.startsWith('/guide')) return response.writeHead(404).end()
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': "default-src 'none'", 'Cross-Origin-Opener-Policy': 'same-origin' })
    response.end(article(`Chimneys ${pathname.slice(6)}`.trim()))
  })
  await new Promise(done => server.listen(port, '127.0.0.1', done))
  return Object.assign(state, {
    url: `http://127.0.0.1:${port}`,
    stop: () => new Promise(done => { server.close(done); server.closeAllConnections() }),
  })
}

const port = await freePort()
describe('a page of the web', () => {
  const at = house({ empty: true, env: { FOOTNOTE_PLACES_ALLOW: `127.0.0.1:${port}` } })
  let web
  before(async () => { web = await site(port) })
  after(() => web.stop())
  /** Waits until a page that was added is read, and opens its document. */
  const opened = async page => {
    await page.locator('[data-testid=added][data-state=ready]').waitFor()
    await page.getByTestId('added-open').click()
    await page.getByTestId('viewer').getByText('swept in October 2024').first().waitFor()
  }

  it('is added to an empty library, and keeps the input after an error', at.tab(async (page, { expect }) => {
    expect(/400/)
    await page.goto('/')
    await page.getByLabel('Or paste the URL of a web page').fill(`${web.url}/nowhere`)
    await page.getByRole('button', { name: 'Add page' }).click()
    assert.match(await page.getByTestId('add-said').innerText(), /No page found at this URL/)
    const field = page.getByLabel('Page URL')
    assert.equal(await field.inputValue(), `${web.url}/nowhere`)
    assert.ok(await field.evaluate(e => e === document.activeElement), 'the field has the focus')
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      await audit(page, 'add-said')
    }
    await field.fill(`${web.url}/guide`)
    await page.getByRole('button', { name: 'Add page' }).click()
    await page.locator('[data-testid=added][data-state=ready]').waitFor()
    await page.getByRole('heading', { name: 'Chimneys' }).waitFor()
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      await audit(page, 'added')
    }
    await opened(page)
    assert.ok((await page.content()).includes(`${web.url}/guide`), 'the document leads back')
    const { documents: [one] } = await at.server.json('/documents')
    assert.equal((await at.server.json(`/documents/${one.id}`)).meta.source_url, `${web.url}/guide`)
  }))

  it('is added from the page of documents', at.tab(async page => {
    await page.goto('/documents')
    const menu = page.locator('#add-page')
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      await menu.locator('summary').click()
      await audit(page, 'add-menu')
      await menu.locator('summary').click()
    }
    await menu.locator('summary').click()
    await until(() => page.getByLabel('Page URL').evaluate(e => e === document.activeElement), 'the field has the focus')
    await page.keyboard.type(`${web.url}/guide`)
    await page.keyboard.press('Enter')
    await page.getByText('This page is already in your library').waitFor()
    await opened(page)
  }))

  it('is added without a script', at.tab(async (page, { expect }) => {
    expect(/503/)
    await page.goto('/documents')
    await page.locator('#add-page summary').click()
    await page.getByLabel('Page URL').fill(`${web.url}/guide/two`)
    web.broken = true
    await page.getByRole('button', { name: 'Add page' }).click()
    await page.getByTestId('add-said').waitFor()
    assert.equal(await page.getByLabel('Page URL').inputValue(), `${web.url}/guide/two`)
    web.broken = false
    await page.getByRole('button', { name: 'Add page' }).click()
    await opened(page)
  }, { javaScriptEnabled: false }))

  it('is added by the bookmarklet', at.tab(async (page, { context }) => {
    for (const address of ['/places', '/add']) {
      await page.goto(address)
      const mark = page.getByTestId('bookmarklet')
      await mark.click() // here it does nothing but say what it is for
      await page.locator('#mark-here').waitFor()
      assert.equal(new URL(page.url()).pathname, address)
      for (const width of [390, 1440]) {
        await page.setViewportSize({ width, height: 900 })
        await audit(page, `mark${address.replace('/', '-')}`)
      }
    }
    const code = await page.getByTestId('bookmarklet').getAttribute('href')
    await page.goto(`${web.url}/guide/three?a=1&b=ü#part`)
    const opens = context.waitForEvent('page')
    await page.evaluate(decodeURI(code.replace(/^javascript:/, '')))
    const small = await opens
    await small.getByRole('heading', { name: 'Chimneys /three' }).waitFor()
    assert.ok(small.url().startsWith(`${at.server.url}/add?`), 'the window is Footnote’s own')
    assert.equal(await small.getByTestId('add-address').innerText(), `${web.url}/guide/three?a=1&b=%C3%BC#part`)
    assert.ok(page.url().startsWith(web.url), 'the page that is read stays')
    await fits(small)
    await shot(small, 'small-window')
    const count = async () => (await at.server.json('/documents')).documents.length
    const before = await count()
    await small.reload()
    assert.equal(await count(), before, 'to open it adds nothing')
    await small.getByRole('button', { name: 'Add page' }).click()
    await opened(small)
    assert.equal(await count(), before + 1)
  }))
})

describe('a cross-site request to add a page', () => {
  it('is rejected', async () => {
    const server = await footnote()
    try {
      const post = headers => fetch(`${server.url}/add`, { method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers }, body: 'url=https://example.org/' })
      for (const headers of [{ Origin: 'https://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }]) assert.equal((await post(headers)).status, 403)
      assert.equal((await server.json('/documents')).documents.length, 0)
    } finally {
      await server.stop()
    }
  })
})
