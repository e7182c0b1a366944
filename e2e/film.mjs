// Makes the film of the README with the binary in bin/: `make film`. A question is asked in offline mode, its steps are opened, and a footnote leads
// to the marked words. Nothing is sped up or cut.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { launch } from './browser.mjs'
import { add, footnote } from './footnote.mjs'
import { survey, warranty } from './fixtures.mjs'

const size = { width: 1200, height: 750 }
const to = resolve(import.meta.dirname, '../docs/footnote.webp')
const at = mkdtempSync(join(tmpdir(), 'footnote-film-'))
const browser = await launch()
const server = await footnote({ FOOTNOTE_EMBEDDING_DIR: resolve(import.meta.dirname, '../.cache/embedding/all-MiniLM-L6-v2') })

/** Shows where the mouse is, which a picture of a page leaves out. */
const pointer = () => addEventListener('DOMContentLoaded', () => {
  const arrow = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  arrow.setAttribute('viewBox', '0 0 16 22')
  arrow.innerHTML = '<path d="M1 1v17l4.2-4 2.6 6.4 3-1.3-2.7-6.2h6z" fill="#111" stroke="#fff" stroke-width="1.2"/>'
  Object.assign(arrow.style, { position: 'fixed', width: '18px', zIndex: 99, pointerEvents: 'none', left: '-40px', top: '0' })
  document.documentElement.append(arrow)
  addEventListener('mousemove', e => Object.assign(arrow.style, { left: `${e.clientX}px`, top: `${e.clientY}px` }), true)
})

try {
  await add(server, { 'Damp survey, March 2024.pdf': await survey(browser), 'Slate warranty.md': warranty })
  const page = await (await browser.newContext({ viewport: size, baseURL: server.url, colorScheme: 'light' })).newPage()
  await page.addInitScript(pointer)
  await page.goto('/')
  const cdp = await page.context().newCDPSession(page)
  const frames = []
  cdp.on('Page.screencastFrame', ({ data, metadata, sessionId }) => {
    const name = join(at, `${String(frames.length).padStart(4, '0')}.png`)
    writeFileSync(name, Buffer.from(data, 'base64'))
    frames.push({ name, time: metadata.timestamp })
    cdp.send('Page.screencastFrameAck', { sessionId }).catch(() => {})
  })
  let mouse = [size.width / 2, size.height - 80]
  const move = async locator => {
    const box = await locator.boundingBox()
    const goal = [box.x + Math.min(box.width / 2, 60), box.y + box.height / 2]
    for (let i = 1; i <= 18; i++) {
      const part = (1 - Math.cos(Math.PI * i / 18)) / 2
      await page.mouse.move(mouse[0] + (goal[0] - mouse[0]) * part, mouse[1] + (goal[1] - mouse[1]) * part)
      await page.waitForTimeout(28)
    }
    mouse = goal
  }
  const click = async locator => { await move(locator); await page.waitForTimeout(150); await page.mouse.click(...mouse) }
  await page.mouse.move(...mouse)
  await cdp.send('Page.startScreencast', { format: 'png', maxWidth: size.width, maxHeight: size.height })
  await page.waitForTimeout(500)
  await click(page.locator('#q'))
  await page.locator('#q').pressSequentially('Is the roof covering the cause of the damp gable?', { delay: 38 })
  await page.waitForTimeout(300)
  await page.keyboard.press('Enter')
  await page.locator('.sources').waitFor()
  await page.waitForTimeout(1500)
  await click(page.locator('summary.run-head'))
  await page.waitForTimeout(900)
  await click(page.locator('summary.step-head').nth(1))
  await page.waitForTimeout(1300)
  await click(page.locator('summary.run-head'))
  await page.waitForTimeout(500)
  await click(page.locator('.answer a.cite[aria-label*="survey" i]').first())
  await page.locator('#source .quote').first().waitFor({ state: 'attached' })
  await page.waitForTimeout(2200)
  await cdp.send('Page.stopScreencast')
  const end = frames.at(-1).time + 1.2
  const list = frames.map(({ name, time }, i) => `file '${name}'\nduration ${((frames[i + 1]?.time ?? end) - time).toFixed(3)}`)
  writeFileSync(join(at, 'list.txt'), list.join('\n') + `\nfile '${frames.at(-1).name}'\n`)
  execFileSync('ffmpeg', ['-y', '-loglevel', 'error', '-f', 'concat', '-safe', '0', '-i', join(at, 'list.txt'), '-vf', 'fps=10', '-c:v', 'libwebp_anim',
    '-lossless', '0', '-quality', '62', '-compression_level', '6', '-loop', '0', to])
  console.log(`${frames.length} pictures, ${(end - frames[0].time).toFixed(1)} s, ${statSync(to).size} bytes`)
} finally {
  await server.stop()
  await browser.close()
  rmSync(at, { recursive: true, force: true })
}
