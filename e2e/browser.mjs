// Chromium for the tests. A tab fails its test when its page complains, asks another server for something, or has a
// serious fault of access.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import AxeBuilder from '@axe-core/playwright'
import { chromium } from 'playwright-core'

const shots = process.env.FOOTNOTE_SHOTS

export const launch = () => chromium.launch({
  executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
})

/** Runs body in a tab of its own and then holds the page to its promises. options are those of a browser context. */
export async function inTab(browser, options, body) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
  context.setDefaultTimeout(10_000)
  const complaints = []
  const expected = []
  const complain = text => { if (!expected.some(pattern => pattern.test(text))) complaints.push(text) }
  context.on('console', m => { if (m.type() === 'error' || m.type() === 'warning') complain(`${m.type()}: ${m.text()} ${m.location().url}`) })
  context.on('weberror', e => complain(`exception: ${e.error().stack}`))
  context.on('request', r => { if (!/^(http:\/\/127\.0\.0\.1:|data:|blob:|about:)/.test(r.url())) complain(`foreign request: ${r.url()}`) })
  const page = await context.newPage()
  try {
    await body(page, { context, expect: pattern => expected.push(pattern) })
    assert.deepEqual(complaints, [], 'the page complained')
  } catch (error) {
    if (shots) await shot(page, `failed-${Date.now()}`).catch(() => {})
    throw error
  } finally {
    await context.close()
  }
}

/** What a browser says by itself while a server can't be reached. Only for tests that take the server away. */
export const unreachable = /^error: (Failed to load resource: net::ERR_[A-Z_]+|htmx: htmx:sse:error: .*|htmx: htmx:error: Failed to fetch.*) http:\/\/127\.0\.0\.1:/s

/** Fails on serious faults of access, in light and in dark, and on anything that is wider than the window. */
export async function audit(page, name) {
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.evaluate(finishTransitions)
    const { violations } = await new AxeBuilder({ page }).analyze()
    const serious = violations.filter(v => v.impact === 'serious' || v.impact === 'critical')
      .map(v => `${v.id}: ${v.help}: ${v.nodes.map(n => `${n.html} ${n.failureSummary}`).join(' | ')}`)
    assert.deepEqual(serious, [], `${name ?? page.url()} in ${colorScheme}`)
    if (name) await shot(page, `${name}-${colorScheme}`)
  }
  await page.emulateMedia({ colorScheme: null, reducedMotion: null })
  await named(page)
  await fits(page)
}

/** Fails when something that can be used has no name in the browser's own tree of what it tells to screen readers. */
export async function named(page) {
  const cdp = await page.context().newCDPSession(page)
  const { nodes } = await cdp.send('Accessibility.getFullAXTree')
  const used = nodes.filter(n => !n.ignored && operable.has(n.role?.value))
  assert.ok(used.length > 0, 'there is something to use')
  const nameless = []
  for (const { role, backendDOMNodeId } of used.filter(n => !n.name?.value?.trim())) {
    const { outerHTML } = await cdp.send('DOM.getOuterHTML', { backendNodeId: backendDOMNodeId }).catch(() => ({ outerHTML: '' })) // it went meanwhile
    if (outerHTML) nameless.push(`${role.value}: ${outerHTML.slice(0, 200)}`)
  }
  await cdp.detach()
  assert.deepEqual(nameless, [], `${page.url()}: without an accessible name`)
}
const operable = new Set(['button', 'link', 'textbox', 'searchbox', 'combobox', 'ComboBoxSelect', 'PopUpButton', 'listbox', 'option', 'checkbox', 'radio', 'switch', 'slider', 'spinbutton', 'tab', 'menuitem', 'DisclosureTriangle', 'DisclosureTriangleGrouped', 'progressbar', 'meter', 'splitter', 'dialog', 'alertdialog', 'image', 'img'])

/** Ends transitions that are under way. One that began before motion was reduced still shows the colours of the other scheme. */
const finishTransitions = () => document.getAnimations().filter(a => a instanceof CSSTransition).forEach(a => a.finish())

/** Fails when the page scrolls sideways. */
export async function fits(page) {
  const [wide, window_] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth])
  assert.ok(wide <= window_, `the page is ${wide} px wide in a window of ${window_} px`)
}

/** Keeps a picture when FOOTNOTE_SHOTS names a directory. */
export async function shot(page, name) {
  if (!shots) return
  mkdirSync(shots, { recursive: true })
  await page.screenshot({ path: join(shots, `${name}-${page.viewportSize().width}.png`) })
}
