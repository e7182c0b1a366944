// Pages of a PDF made larger: by buttons, keys, fingers and the wheel. Marks stay on the words, and the page scrolls as before.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { audit, fits, shot } from './browser.mjs'
import { until } from './footnote.mjs'
import { house } from './house.mjs'
import { ask, marked, over } from './page.mjs'

const question = 'What is the moisture at points G2 and G4 of the north gable?'
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 }

const still = page => until(() => page.locator('#panel').evaluate(e => e.getAnimations({ subtree: true }).length === 0), 'the panel stands')
const wide = sheet => sheet.evaluate(e => e.getBoundingClientRect().width)
const percent = page => page.getByRole('group', { name: 'Zoom' }).locator('.num').textContent()

/** The marks lie over the marked words, and are on the screen. */
async function markedInSight(page, sheet) {
  const [marks, words] = await sheet.evaluate(e => ['rect.quote', 'tspan.quote'].map(selector => [...e.querySelectorAll(selector)].flatMap(part => [...part.getClientRects()]).map(({ left, top, right, bottom }) => ({ left, top, right, bottom }))))
  assert.ok(marks.length > 0 && words.length > 0, 'something is marked')
  for (const w of words) {
    const y = (w.top + w.bottom) / 2
    assert.ok(marks.some(m => m.left - 2 <= w.left && w.right <= m.right + 2 && m.top <= y && y <= m.bottom), `no mark over the words at ${w.left}, ${y}`)
  }
  const { width, height } = page.viewportSize()
  assert.ok(marks.some(m => m.left < width && m.right > 0 && m.top < height && m.bottom > 0), `no mark is on the screen: ${JSON.stringify(marks)}`)
}

/** The word that stands at a point, and where in it the point is. */
const wordAt = (page, { x, y }) => page.evaluate(([x, y]) => {
  const part = document.elementsFromPoint(x, y).find(e => e.matches('tspan, .words text'))
  const box = part?.getBoundingClientRect()
  return part && { text: part.textContent, along: (x - box.left) / box.width, down: (y - box.top) / box.height }
}, [x, y])

/** Moves fingers: from and to are lists of points, one for each finger. */
async function fingers(page, from, to, steps = 8) {
  const cdp = await page.context().newCDPSession(page)
  const points = share => from.map((p, id) => ({ id, x: p.x + (to[id].x - p.x) * share, y: p.y + (to[id].y - p.y) * share }))
  await cdp.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: points(0) })
  for (let i = 1; i <= steps; i++) await cdp.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: points(i / steps) })
  await cdp.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
  await cdp.detach()
}

/** Taps at a point, at times in seconds from now, as the events have them. */
async function taps(page, point, ...times) {
  const cdp = await page.context().newCDPSession(page)
  const now = Date.now() / 1000
  for (const time of times) {
    await cdp.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [point], timestamp: now + time })
    await cdp.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [], timestamp: now + time + .03 })
  }
  await cdp.detach()
}

async function cited(page) {
  await page.goto('/')
  const turn = await ask(page, question)
  await over(turn)
  await turn.locator('.answer a.cite').first().click()
  const source = page.getByTestId('source')
  await source.locator('.quote').first().waitFor()
  await still(page)
  return { turn, source, sheet: source.locator('.sheet[data-page="2"]') }
}

describe('on a phone', () => {
  const at = house()

  it("buttons zoom the panel's pages with the highlights in view", at.tab(async page => {
    const { source, sheet } = await cited(page)
    const fit = await wide(sheet)
    const [smaller, larger] = [page.getByRole('button', { name: 'Zoom out' }), page.getByRole('button', { name: 'Zoom in' })]
    assert.ok(await smaller.isDisabled(), 'it is as small as it gets')
    for (const size of ['125 %', '150 %', '200 %', '250 %']) {
      await larger.tap()
      assert.equal(await percent(page), size)
      assert.ok(Math.abs(await wide(sheet) - fit * parseInt(size, 10) / 100) < 1)
      await markedInSight(page, sheet)
    }
    await fits(page)
    const height = await sheet.locator('tspan.quote').first().evaluate(e => e.getBoundingClientRect().height)
    assert.ok(height > 14, `a line is ${height} px high`)
    await until(() => sheet.locator('img').evaluate(img => img.complete && img.currentSrc.includes('width=2250')), 'a sharper picture of the page')
    await markedInSight(page, sheet)
    await audit(page, 'zoomed-panel')
    for (const [name, box] of await page.locator('.zoom .btn').evaluateAll(all => all.map(e => [e.textContent, e.getBoundingClientRect()]))) assert.ok(box.width >= 44 && box.height >= 44, `${name} is ${box.width} x ${box.height}`)
    await page.getByRole('button', { name: 'fit to width' }).tap()
    assert.equal(await wide(sheet), fit)
    assert.equal(await source.evaluate(e => e.scrollLeft), 0)
  }, phone))

  it('a pinch zooms around its centre, and only the panel', at.tab(async page => {
    const { source, sheet } = await cited(page)
    const fit = await wide(sheet)
    const mark = await sheet.locator('tspan.quote').first().boundingBox()
    const point = { x: Math.round(mark.x + mark.width / 3), y: Math.round(mark.y + mark.height / 2) }
    const before = await wordAt(page, point)
    assert.ok(before, 'a word is between the fingers')
    await fingers(page, [{ x: point.x - 30, y: point.y }, { x: point.x + 30, y: point.y }], [{ x: point.x - 75, y: point.y }, { x: point.x + 75, y: point.y }])
    assert.ok(Math.abs(await wide(sheet) - 2.5 * fit) < 2, `${await wide(sheet)} is not two and a half times ${fit}`)
    assert.deepEqual((await wordAt(page, point)).text, before.text, 'the same words are between the fingers')
    await markedInSight(page, sheet)
    assert.equal(await page.evaluate(() => visualViewport.scale), 1, 'the browser did not make all of it larger')
    assert.equal(await percent(page), '250 %')
    await fits(page)
    await fingers(page, [{ x: point.x - 75, y: point.y }, { x: point.x + 75, y: point.y }], [{ x: point.x - 10, y: point.y }, { x: point.x + 10, y: point.y }])
    assert.equal(await wide(sheet), fit, 'it does not get smaller than its room')
    await source.waitFor()
  }, phone))

  it('a double tap zooms to a line and back', at.tab(async page => {
    const { sheet } = await cited(page)
    const fit = await wide(sheet)
    const mark = await sheet.locator('tspan.quote').first().boundingBox()
    const line = await sheet.locator('tspan.quote').first().evaluate(e => e.closest('text').getBoundingClientRect().height)
    const point = { x: mark.x + mark.width / 2, y: mark.y + mark.height / 2 }
    await taps(page, point, 0, .1)
    await until(async () => await wide(sheet) > 1.4 * fit, 'two taps make it larger')
    const now = await sheet.locator('tspan.quote').first().evaluate(e => e.closest('text').getBoundingClientRect().height)
    assert.ok(line < 12 && now > 14, `the line was ${line} px high and is ${now}`)
    await markedInSight(page, sheet)
    await shot(page, 'double-tap')
    await taps(page, point, 1, 1.5)
    assert.ok(await wide(sheet) > 1.4 * fit, 'two slow taps do nothing')
    await taps(page, point, 2, 2.1)
    await until(async () => await wide(sheet) === fit, 'two taps again, and it is whole')
  }, phone))

  it('one finger scrolls the panel, both ways when zoomed, and a document page', at.tab(async page => {
    const { source, sheet } = await cited(page)
    const place = () => source.evaluate(e => [e.scrollLeft, e.scrollTop])
    const box = await source.boundingBox()
    const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 }
    const up = { x: middle.x, y: middle.y - 120 }
    await source.evaluate(e => { e.scrollTop = 0 })
    await fingers(page, [middle], [up])
    await until(async () => (await place())[1] > 60, 'it scrolls down')
    for (let i = 0; i < 3; i++) await page.getByRole('button', { name: 'Zoom in' }).tap()
    await source.evaluate(e => { e.scrollLeft = 0 })
    await fingers(page, [middle], [{ x: middle.x - 120, y: middle.y }])
    await until(async () => (await place())[0] > 60, 'it scrolls sideways')
    assert.equal(await page.evaluate(() => scrollX), 0)

    await page.goto(`/d/${at.documents['survey.pdf']}`)
    for (let i = 0; i < 3; i++) await page.getByRole('button', { name: 'Zoom in' }).tap()
    await fits(page)
    const sheets = page.locator('.sheets')
    await page.evaluate(() => scrollTo(0, 0))
    const [from, to] = [{ x: 200, y: 600 }, { x: 200, y: 300 }]
    await fingers(page, [from], [to])
    await until(() => page.evaluate(() => scrollY > 100), 'a finger on a page scrolls the document')
    await sheets.evaluate(e => { e.scrollLeft = 0 })
    await fingers(page, [{ x: 300, y: 500 }], [{ x: 100, y: 500 }])
    await until(() => sheets.evaluate(e => e.scrollLeft > 60), 'and sideways within its room')
    await fits(page)
    await audit(page, 'zoomed-document')
    await sheet.waitFor({ state: 'detached' })
  }, phone))

  it('the next footnote keeps the zoom, with its words in view', at.tab(async page => {
    const { turn, source } = await cited(page)
    for (let i = 0; i < 4; i++) await page.getByRole('button', { name: 'Zoom in' }).tap()
    await page.getByRole('button', { name: 'Close source' }).tap()
    await source.waitFor({ state: 'hidden' })
    await turn.locator('.answer a.cite').first().tap()
    await source.locator('.quote').first().waitFor()
    await still(page)
    assert.equal(await percent(page), '250 %')
    await markedInSight(page, source.locator('.sheet[data-page="2"]'))
    assert.ok((await marked(source)).length > 0)
  }, phone))
})

describe('on a screen', () => {
  const at = house()

  it('keys and wheel zoom pages', at.tab(async page => {
    await page.goto(`/d/${at.documents['survey.pdf']}?page=2`)
    await page.waitForLoadState()
    const sheet = page.locator('.sheet[data-page="2"]')
    const fit = await wide(sheet)
    for (const [key, times] of [['+', 1.25], ['+', 1.5], ['-', 1.25], ['=', 1.5], ['0', 1], ['-', 1]]) {
      await page.keyboard.press(key)
      assert.ok(Math.abs(await wide(sheet) - times * fit) < 1, `after ${key} it is ${await wide(sheet)}, not ${times} times ${fit}`)
      await fits(page)
    }
    for (let i = 0; i < 4; i++) await page.keyboard.press('+')
    await shot(page, 'zoomed-screen')
    await audit(page, 'zoomed-screen')
    const room = page.locator('.sheets')
    assert.ok(await room.evaluate(e => e.scrollWidth > e.clientWidth), 'it is wider than its room')
    await room.focus()
    await room.evaluate(e => { e.scrollLeft = 0 })
    await page.keyboard.press('ArrowRight')
    await until(() => room.evaluate(e => e.scrollLeft > 0), 'the arrow keys scroll it')
    await page.keyboard.press('0')
    const box = await sheet.boundingBox()
    const point = { x: box.x + box.width / 2, y: 400 }
    await page.mouse.move(point.x, point.y)
    await page.keyboard.down('Control')
    await page.mouse.wheel(0, -100)
    await page.keyboard.up('Control')
    await until(async () => await wide(sheet) > 1.2 * fit, 'Ctrl and the wheel make it larger')
    const { y } = { y: await page.evaluate(() => scrollY) }
    await page.mouse.wheel(0, 100)
    await until(() => page.evaluate(before => scrollY > before, y), 'the wheel alone scrolls')
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Zoom in / zoom out / fit width').waitFor()
  }))
})
