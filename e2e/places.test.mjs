// Places: a folder on another server is followed, from the page, with and without a script.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { audit } from './browser.mjs'
import { until } from './footnote.mjs'
import { house } from './house.mjs'

/** A WebDAV server with one folder. files: {name: text}; it takes one password and can be down. */
async function cloud(files) {
  const state = { files, down: false, login: 'ada:open sesame' }
  const entry = (path, inside) => `<d:response><d:href>${path}</d:href><d:propstat><d:prop>${inside}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`
  const server = createServer((request, response) => {
    if (state.down) return request.socket.destroy()
    if (state.wait) return state.wait.then(() => response.writeHead(503).end())
    if (request.headers.authorization !== `Basic ${Buffer.from(state.login).toString('base64')}`) return response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="cloud"' }).end()
    const name = decodeURIComponent(request.url.replace(/^\/dav\//, ''))
    if (request.method === 'PROPFIND') {
      const all = Object.entries(state.files).map(([file, text]) => entry(`/dav/${encodeURIComponent(file)}`, `<d:resourcetype/><d:getetag>"${text.length}"</d:getetag><d:getcontentlength>${Buffer.byteLength(text)}</d:getcontentlength>`))
      const body = `<?xml version="1.0"?><d:multistatus xmlns:d="DAV:">${entry('/dav/', '<d:resourcetype><d:collection/></d:resourcetype>')}${all.join('')}</d:multistatus>`
      return response.writeHead(207, { 'Content-Type': 'application/xml' }).end(body)
    }
    if (request.method === 'GET' && name in state.files) return response.writeHead(200, { ETag: `"${state.files[name].length}"` }).end(state.files[name])
    response.writeHead(404).end()
  })
  await new Promise(done => server.listen(0, '127.0.0.1', done))
  return Object.assign(state, {
    url: `http://127.0.0.1:${server.address().port}/dav/`,
    stop: () => new Promise(done => { server.close(done); server.closeAllConnections() }),
  })
}

describe('places', () => {
  const at = house({ empty: true })
  let dav
  before(async () => { dav = await cloud({ 'roof.md': '# Roof\n\nThe slates are guaranteed for 30 years.', 'tool.exe': 'MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff\x00\x00' }) })
  after(() => dav.stop())
  const documents = async () => (await at.server.json('/documents?limit=100')).documents.filter(d => d.state === 'ready').map(d => d.filename).sort()

  it('are added, checked, kept during failures and removed', at.tab(async (page, { expect }) => {
    expect(/400/) // a wrong password
    await page.goto('/documents')
    await page.getByTestId('places-way').click()
    await page.getByTestId('kind-webdav').click()
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      await audit(page, 'a new place')
      if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/new-${width}.png`, fullPage: true })
    }
    await page.locator('[name="settings.url"]').fill(dav.url)
    await page.locator('[name="settings.username"]').fill('ada')
    await page.locator('[name="settings.password"]').fill('wrong')
    await page.locator('[name="name"]').fill('Cloud')
    await page.getByRole('button', { name: 'Add source' }).click()
    await page.getByTestId('place-said').waitFor()
    assert.equal(await page.locator('[name="settings.url"]').inputValue(), dav.url)
    assert.equal(await page.locator('[name="settings.password"]').inputValue(), '')
    await page.locator('[name="settings.password"]').fill('open sesame')
    await page.getByRole('button', { name: 'Add source' }).click()
    const place = page.getByTestId('place')
    await place.locator('b', { hasText: 'Cloud' }).waitFor()
    await until(async () => (await documents()).join() === 'roof.md', 'its document is ready', 60_000)
    await place.getByTestId('place-refused').waitFor() // the program among the files
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      await audit(page, 'places')
      if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/places-${width}.png` })
    }

    dav.down = true
    await place.getByRole('button', { name: 'Sync now' }).click()
    await place.getByTestId('place-failure').waitFor({ timeout: 60_000 })
    assert.deepEqual(await documents(), ['roof.md'])
    dav.down = false
    dav.files = { 'drain.md': '# Drain\n\nThe drain was cleaned in May.' }
    await place.getByRole('button', { name: 'Sync now' }).click()
    await until(async () => (await documents()).join() === 'drain.md', 'the folder is followed', 60_000)
    await place.getByTestId('place-remove').click()
    await place.getByRole('button', { name: 'Remove and delete documents' }).click()
    await page.getByText('No connected sources yet').waitFor({ timeout: 30_000 })
    await until(async () => (await documents()).length === 0, 'its documents go', 30_000)
  }))

  it('are added without a script', at.tab(async (page, { expect }) => {
    expect(/400/) // an address that nobody may reach
    await page.goto('/places/new?kind=webdav')
    await page.locator('[name="settings.url"]').fill('http://169.254.169.254/latest/')
    await page.getByRole('button', { name: 'Add source' }).click()
    await page.getByTestId('place-said').waitFor()
    await page.locator('[name="settings.url"]').fill(dav.url)
    await page.locator('[name="settings.username"]').fill('ada')
    await page.locator('[name="settings.password"]').fill('open sesame')
    await page.getByRole('button', { name: 'Add source' }).click()
    await page.getByTestId('place').waitFor()
    await until(async () => (await documents()).join() === 'drain.md', 'its document is ready', 60_000)
  }, { javaScriptEnabled: false }))

  for (const [javaScriptEnabled, now] of [[true, 'eva:new sesame'], [false, 'eva:third sesame']]) {
    it(`with a rejected password ask for another one, ${javaScriptEnabled ? 'with' : 'without'} a script`, at.tab(async (page, { expect }) => {
      expect(/400/)
      const before = dav.login
      dav.login = now
      const [user, password] = now.split(':')
      await page.goto('/places')
      await page.getByRole('button', { name: 'Sync now' }).click()
      const form = page.getByTestId('place-mend')
      await until(async () => { if (!await form.count()) await page.reload(); return form.count() }, 'the form', 30_000)
      const [name, secret] = [form.locator('[name="settings.username"]'), form.locator('[name="settings.password"]')]
      assert.equal(await name.inputValue(), before.split(':')[0])
      assert.equal(await secret.inputValue(), '')
      assert.ok(!(await page.content()).includes('sesame'), 'no password is shown')
      await name.fill(user)
      await secret.fill('wrong')
      await form.getByRole('button').click()
      await page.getByTestId('mend-said').waitFor()
      assert.equal(await name.inputValue(), user)
      assert.equal(await secret.inputValue(), '')
      if (javaScriptEnabled) {
        for (const width of [390, 1440]) {
          await page.setViewportSize({ width, height: 900 })
          await audit(page, 'mend')
        }
      }
      await secret.fill(password)
      await form.getByRole('button').click()
      await until(async () => { const [place] = (await at.server.json('/places')).places; return place.state === 'idle' && !place.failure }, 'it is looked at again', 30_000)
      await page.goto('/places')
      assert.equal(await form.count(), 0)
      assert.equal(await page.getByTestId('place-failure').count(), 0)
    }, { javaScriptEnabled }))
  }

  it('keep the input while another one is checked', at.tab(async page => {
    const [first] = (await at.server.json('/places')).places
    dav.login = 'eva:fourth sesame'
    const post = (path, body) => fetch(at.server.url + path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })
    await post(`/places/${first.id}/look`, {})
    await until(async () => (await at.server.json(`/places/${first.id}`)).failure, 'it is refused', 30_000)
    const slow = await cloud({ 'a.md': '# A' })
    try {
      assert.equal((await post('/places', { kind: 'webdav', name: 'Slow', settings: { url: slow.url, username: 'ada', password: 'open sesame' } })).status, 201)
      const state = async () => (await at.server.json('/places')).places.find(p => p.name === 'Slow')
      const other = await until(async () => { const p = await state(); return p.state === 'idle' && p }, 'its first look ends', 30_000)
      let release
      slow.wait = new Promise(done => { release = done })
      await post(`/places/${other.id}/look`, {})
      await until(async () => (await state()).state === 'looking', 'the other one is looked at', 30_000)
      await page.goto('/places')
      const secret = page.getByTestId('place-mend').locator('[name="settings.password"]')
      await secret.fill('fourth ')
      for (let i = 0; i < 2; i++) await page.waitForResponse(r => r.url().endsWith('/places'))
      await page.keyboard.type('sesame')
      assert.equal(await secret.inputValue(), 'fourth sesame')
      release()
    } finally {
      await slow.stop()
    }
  }))
})
