// Files arrive while pages are open: as soon as a document is there, each page is the one with the question box, whatever became of the other files.
import assert from 'node:assert/strict'
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { audit, shot } from './browser.mjs'
import { drawing, warranty } from './fixtures.mjs'
import { add, until } from './footnote.mjs'
import { house } from './house.mjs'
import { ask, choose, drop, over } from './page.mjs'

const zip = Buffer.from('UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA==', 'base64')
const lease = '# Lease\n\n## Break clause\n\nThe tenant may end the lease after three years.\n'
const refusal = /^error: Failed to load resource: the server responded with a status of (415|400) .*\/documents$/ // the browser's own words of a refused file

const emptyState = page => page.getByText('Drop files or a folder here')
const count = (page, n) => until(async () => await page.locator('#document-count').textContent() === String(n), `the side bar counts ${n}`)
/** Fails when the page was loaded again since. */
const stay = async page => { await page.evaluate(() => { window.stayed = true }); return () => page.evaluate(() => window.stayed).then(stayed => assert.ok(stayed, 'the page was loaded again')) }

/** The page with the question box, which answers. */
async function asks(page, question, word) {
  await page.locator('#q').waitFor()
  await emptyState(page).waitFor({ state: 'detached' })
  const turn = await ask(page, question)
  await over(turn)
  assert.match(await turn.getByTestId('answer').textContent(), word)
}

describe('partly accepted files', () => {
  const at = house({ empty: true })

  it('open the question box, with a reason for each rejected file', at.tab(async (page, { context, expect }) => {
    expect(refusal)
    await page.goto('/')
    const [other, list] = [await context.newPage(), await context.newPage()]
    await other.goto('/')
    await list.goto('/documents')
    const stayed = await Promise.all([page, other, list].map(stay))
    await drop(page, { 'archive.pdf': zip, 'drawing.pdf': await drawing(at.browser), 'lease.md': lease, 'empty.md': '', 'warranty.md': warranty })
    for (const tab of [page, other]) {
      await tab.locator('#q').waitFor()
      await emptyState(tab).waitFor({ state: 'detached' })
    }
    await list.getByTestId('document').filter({ hasText: 'lease.md' }).waitFor()
    await list.getByPlaceholder('Search titles and file names').waitFor()
    await emptyState(list).waitFor({ state: 'detached' })
    for (const tab of [page, other, list]) await count(tab, 3)
    await until(async () => /^2 of 5 ready$/.test(await page.locator('.upload-head').textContent()), 'the list says how many are ready')
    const rows = await page.locator('.upload-files li').allTextContents()
    assert.match(rows.slice(0, 3).join('\n'), /archive\.pdf.*is not a PDF[^]*drawing\.pdf.*Failed.*OCR found no text[^]*empty\.md.*is empty/s, 'what is not there comes first')
    assert.match(rows.slice(3).join('\n'), /lease\.md\s*Ready\s*\nwarranty\.md\s*Ready/)
    for (const check of stayed) await check()
    await shot(page, 'arrived-some')
    await asks(page, 'When may the tenant end the lease?', /after three years/)
    await asks(other, 'How long is the guarantee on the slates?', /30 years/)
  }))
})

describe('rejected files', () => {
  const at = house({ empty: true })

  it('keep the empty page, with a reason for each', at.tab(async (page, { expect }) => {
    expect(refusal)
    await page.goto('/')
    await drop(page, { 'archive.pdf': zip, 'empty.md': '' })
    await page.locator('.upload-files li').filter({ hasText: 'archive.pdf' }).filter({ hasText: /is not a PDF/ }).waitFor()
    await page.locator('.upload-files li').filter({ hasText: 'empty.md' }).filter({ hasText: /empty/ }).waitFor()
    await emptyState(page).waitFor()
    assert.equal(await page.locator('#q').isVisible(), false)
    assert.equal(await page.locator('#document-count').textContent(), '0')
    await audit(page, 'arrived-none')
  }))
})

describe('accepted files', () => {
  const at = house({ empty: true })

  it('open the question box, with the draft of another tab', at.tab(async (page, { context }) => {
    await page.goto('/')
    const other = await context.newPage()
    await other.goto('/')
    const stayed = await stay(page)
    await page.locator('input[type=file]').first().setInputFiles([
      { name: 'lease.md', mimeType: 'text/markdown', buffer: Buffer.from(lease) },
      { name: 'warranty.md', mimeType: 'text/markdown', buffer: Buffer.from(warranty) },
    ])
    await page.locator('#q').waitFor()
    await emptyState(page).waitFor({ state: 'detached' })
    await count(page, 2)
    await stayed()
    await page.locator('.starter').first().waitFor()
    await audit(page, 'arrived-all')
    await other.locator('#q').fill('Words that are being written.')
    await add(at.server, { 'gate.txt': 'The gate code of the bin store is kept by the porter.' })
    await count(other, 3)
    assert.equal(await other.locator('#q').inputValue(), 'Words that are being written.')
    await asks(page, 'When may the tenant end the lease?', /after three years/)
  }))
})

describe('pasted files', () => {
  const at = house({ empty: true })
  const paste = (locator, { files = {}, text = '' }) => locator.evaluate((target, { files, text }) => {
    const carried = new DataTransfer()
    for (const [name, content] of Object.entries(files)) carried.items.add(new File([content], name))
    if (text) carried.items.add(text, 'text/plain')
    target.dispatchEvent(new ClipboardEvent('paste', { clipboardData: carried, bubbles: true, cancelable: true }))
  }, { files, text })

  it('are added, without the picture beside copied text', at.tab(async page => {
    await page.goto('/')
    await paste(page.locator('body'), { files: { 'lease.md': lease } })
    await page.locator('#q').waitFor()
    await count(page, 1)
    await paste(page.locator('#q'), { files: { 'image.md': '# Picture' }, text: 'copied words' })
    await paste(page.locator('#q'), { files: { 'warranty.md': warranty } })
    await count(page, 2)
    const { documents } = await at.server.json('/documents')
    assert.deepEqual(documents.map(d => d.filename).toSorted(), ['lease.md', 'warranty.md'])
    await asks(page, 'When may the tenant end the lease?', /after three years/)
  }))
})

describe('a folder', () => {
  const at = house({ empty: true })

  it('opens the question box with its readable files', at.tab(async page => {
    const dir = mkdtempSync(join(tmpdir(), 'footnote-folder-'))
    mkdirSync(join(dir, 'House', 'papers'), { recursive: true })
    writeFileSync(join(dir, 'House', 'papers', 'lease.md'), lease)
    writeFileSync(join(dir, 'House', 'warranty.md'), warranty)
    try {
      await page.goto('/')
      await choose(page, () => page.getByRole('button', { name: 'Add folder' }).click(), join(dir, 'House'))
      await page.locator('#q').waitFor()
      await count(page, 2)
      const { documents } = await at.server.json('/documents')
      assert.deepEqual(documents.map(d => d.path).toSorted(), ['House/papers/lease.md', 'House/warranty.md'])
      await until(async () => (await at.server.json('/documents')).documents.every(d => d.state === 'ready'), 'both files are ready')
      await asks(page, 'When may the tenant end the lease?', /after three years/)
    } finally { rmSync(dir, { recursive: true }) }
  }))
})

describe('the upload list', () => {
  const at = house({ empty: true })
  const rows = page => page.locator('.upload-files li')
  const row = (page, name) => rows(page).filter({ hasText: name })
  const head = (page, text) => until(async () => await page.locator('.upload-head').textContent() === text, text)

  it('shows failed files first, and expands', at.tab(async (page, { expect }) => {
    expect(refusal)
    await page.goto('/documents')
    const files = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`note ${i + 1}.md`, `# Note ${i + 1}\n\nThe key of room ${i + 1} hangs at the porter's.`]))
    await drop(page, { ...files, 'drawing.pdf': await drawing(at.browser), 'archive.pdf': zip })
    await head(page, '10 of 12 ready')
    assert.equal(await rows(page).count(), 6)
    assert.match(await rows(page).nth(0).textContent(), /drawing\.pdf.*Failed.*OCR found no text/s)
    assert.match(await rows(page).nth(1).textContent(), /archive\.pdf.*is not a PDF/s)
    await audit(page, 'arrivals')
    await page.getByRole('button', { name: '6 more' }).click()
    assert.equal(await rows(page).count(), 12)
    assert.deepEqual(await rows(page).evaluateAll(all => all.filter(e => e.closest('ul').scrollHeight > e.closest('ul').clientHeight)), [], 'nothing is out of sight')
    await shot(page, 'arrivals-all')
    assert.equal(await page.getByText('Uploaded').count(), 0)
  }))

  it('updates the state of each document, also after a second drop', at.tab(async page => {
    await page.goto('/documents')
    await drop(page, { 'lease.md': lease })
    await row(page, 'lease.md').getByText('Ready', { exact: true }).waitFor()
    await drop(page, { 'roof.md': '# Roof\n\nThe roof is sound.', 'lease.md': lease })
    await row(page, 'roof.md').getByText('Ready', { exact: true }).waitFor()
    assert.match(await row(page, 'lease.md').textContent(), /Already in library\s*Ready/)
    const { documents } = await at.server.json('/documents?q=roof')
    await fetch(`${at.server.url}/documents/${documents[0].id}`, { method: 'DELETE' })
    await row(page, 'roof.md').getByText('Deleted').waitFor()
  }))

  it('is above the question box of a conversation, and updates its menu', at.tab(async page => {
    await page.goto('/')
    const before = Number(await page.locator('#document-count').textContent())
    await over(await ask(page, 'When may the tenant end the lease?'))
    await drop(page, { 'gate.txt': 'The gate code of the bin store is kept by the porter.' })
    await row(page, 'gate.txt').getByText('Ready', { exact: true }).waitFor()
    await count(page, before + 1)
    await page.locator('#choose > summary').getByText(`All ${before}`).waitFor() // one of them failed
    const [list, box] = await Promise.all(['#uploads', '#composer'].map(part => page.locator(part).boundingBox()))
    assert.ok(list.y + list.height <= box.y, `the list ends at ${list.y + list.height}, the box begins at ${box.y}`)
    await audit(page, 'arrivals-conversation')
  }))
})

describe('an unreadable file', () => {
  const at = house({ empty: true, env: { FOOTNOTE_MAX_UPLOAD_MIB: '1' } })
  const film = Buffer.concat([Buffer.from('\0\0\0\x18ftypmp42'), Buffer.alloc(3000, 7)])
  /** The files that the page sends from now on: each is a request. */
  const sent = page => {
    const requests = []
    page.on('request', request => { if (request.method() === 'POST' && request.url().endsWith('/documents')) requests.push(request) })
    return requests
  }
  const paths = async () => (await at.server.json('/documents')).documents.map(d => d.path).toSorted()

  it('is rejected before the upload with the supported types; possible text is uploaded', at.tab(async page => {
    await page.goto('/')
    const requests = sent(page)
    await drop(page, { 'film.mov': film, 'gate.porter': 'The gate code of the bin store is kept by the porter.', 'survey': at.survey, 'long.txt': 'word '.repeat(300_000) })
    await until(async () => await page.locator('.upload-head').textContent() === '2 of 4 ready', '2 of 4 ready')
    assert.match(await page.locator('.upload-files li').filter({ hasText: 'film.mov' }).textContent(), /is a video, which is not supported/)
    assert.match(await page.locator('.upload-files li').filter({ hasText: 'long.txt' }).textContent(), /exceeds the file size limit of 1\.0 MiB/)
    assert.match(await page.locator('.upload-kinds').textContent(), /^Supported formats: PDF, .*web pages.* and text\.$/)
    assert.equal(requests.length, 2)
    assert.deepEqual(await paths(), ['gate.porter', 'survey'])
    await audit(page, 'arrivals-refused')
  }))

  it('is counted in one line for a folder', at.tab(async page => {
    const dir = mkdtempSync(join(tmpdir(), 'footnote-folder-'))
    mkdirSync(join(dir, 'House', 'films'), { recursive: true })
    writeFileSync(join(dir, 'House', 'lease.md'), lease)
    writeFileSync(join(dir, 'House', '.hidden'), film)
    for (let i = 0; i < 60; i++) writeFileSync(join(dir, 'House', 'films', `film ${i}.${i % 3 ? 'MOV' : 'psd'}`), film)
    writeFileSync(join(dir, 'House', 'films', 'film'), film)
    try {
      await page.goto('/documents')
      const requests = sent(page)
      await choose(page, () => page.locator('.topbar').getByRole('button', { name: 'Add folder' }).click(), join(dir, 'House'))
      await until(async () => await page.locator('.upload-head').textContent() === '1 of 1 ready', '1 of 1 ready')
      assert.equal(await page.locator('.upload-left').textContent(), '61 files skipped: 40 .mov, 20 .psd, 1 without an extension')
      assert.equal(requests.length, 1)
      assert.deepEqual(await paths(), ['House/lease.md', 'gate.porter', 'survey'])
      assert.equal(await page.locator('.upload-files li').count(), 1)
      await audit(page, 'arrivals-left')
    } finally { rmSync(dir, { recursive: true }) }
  }))
})

describe('the file input', () => {
  const at = house({ empty: true })
  const control = page => page.locator('.pick-files input')

  it("has the page's style, and opens by keyboard", at.tab(async page => {
    await page.goto('/')
    await page.getByText('Choose files', { exact: true }).waitFor()
    assert.match(await page.locator('.drop p').textContent(), /^PDF, .*web pages.* and text, up to 50 MiB each\./)
    await control(page).focus()
    assert.notEqual(await page.locator('.pick-files .btn').evaluate(e => getComputedStyle(e).outlineStyle), 'none', 'the focus is seen')
    await choose(page, () => page.keyboard.press('Space'), [{ name: 'lease.md', mimeType: 'text/markdown', buffer: Buffer.from(lease) }])
    await page.locator('#q').waitFor()
  }))
})

describe('the file input without JavaScript', () => {
  const at = house({ empty: true })

  for (const address of ['/', '/documents']) {
    it(`lists and uploads the selected files from ${address}`, at.tab(async page => {
      await page.goto(address)
      const input = page.locator('.pick-files input')
      assert.ok((await input.boundingBox()).width <= 1, 'the browser\'s own control is out of sight')
      await page.keyboard.press('Tab')
      for (let i = 0; i < 40 && !await input.evaluate(e => e === document.activeElement); i++) await page.keyboard.press('Tab')
      await choose(page, () => page.keyboard.press('Space'), [{ name: `lease of ${address.slice(1) || 'start'}.md`, mimeType: 'text/markdown', buffer: Buffer.from(lease + address) }])
      assert.ok((await input.boundingBox()).width > 60, 'it says what was chosen')
      await shot(page, `chosen-plain-${address.slice(1) || 'start'}`)
      await page.getByRole('button', { name: 'Upload' }).click()
      await page.waitForURL('**/documents')
      await page.getByTestId('document').first().waitFor()
    }, { javaScriptEnabled: false }))
  }
})
