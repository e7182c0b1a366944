// What a person does on the page, and what the API says of the same.
import assert from 'node:assert/strict'
import { until } from './footnote.mjs'

/** Asks a question from the page that is open and returns its turn. */
export async function ask(page, question) {
  const turns = page.getByTestId('turn')
  const before = page.url().includes('/c/') ? await turns.count() : 0
  await page.waitForLoadState() // Enter sends once the page's scripts are there
  await page.locator('#q').fill(question)
  await page.locator('#q').press('Enter')
  await page.waitForURL('**/c/*')
  const turn = turns.nth(before)
  await turn.waitFor()
  assert.equal(await turn.getByTestId('question').textContent(), question)
  return turn
}

/** Waits until the turn's run is over and the page says so: no spinner, the question box free again. */
export async function over(turn) {
  const page = turn.page()
  await turn.locator('.actions').waitFor({ timeout: 30_000 })
  await until(() => turn.locator('[data-stream]').count().then(n => n === 0), 'the page stops listening')
  assert.equal(await turn.locator('.spin').count(), 0, 'something still spins')
  assert.equal(await turn.locator('[aria-busy=true]').count(), 0, 'something is still busy')
  await page.getByRole('button', { name: 'Send' }).waitFor()
}

/**
 * Opens the dialog that chooses files and gives it some. The browser takes keys and clicks and the wish to answer the dialog
 * by two ways: one of these must have arrived before the other is sent, or the dialog opens unseen.
 */
export async function choose(page, open, files) {
  const chooser = page.waitForEvent('filechooser')
  await page.evaluate(() => 0)
  await open()
  await (await chooser).setFiles(files)
}

export const runOf = turn => turn.getAttribute('data-run')

/** The run as the API tells it. */
export const trace = async (server, turn) => server.json(`/agent/runs/${await runOf(turn)}`)

/** Waits until the run is over by the API. */
export const ended = (server, run) => until(async () => {
  const t = await server.json(`/agent/runs/${run}`)
  return t.status !== 'running' && t
}, `run ${run} ends`)

/** The words of a Markdown answer as the page shows them. */
// Between a word and its footnote stands a word joiner, which nobody sees.
export const words = markdown => markdown.split('\n').map(cells).join('\n').replaceAll('\u2060', '').replace(/\\(?=[!-/:-@[-`{-~])/g, '').replace(/^\s*(?:(?:[-*>]|\d+\.|#+) )+/gm, '').replace(/[*_`]/g, '').replace(/\s+/g, ' ').replace(/ (\[\d+\])/g, '$1').trim()

/** The words of a table's row, without its bars; of other lines the line. */
function cells(line) {
  const row = line.replace(/^> /, '')
  if (!/^\|.*\|$/.test(row)) return line
  return /^\|(?:-+\|)+$/.test(row) ? '' : row.slice(1, -1).split(/(?<!\\)\|/).join(' ')
}

/** The answer that the page shows. */
export async function shown(turn) {
  return words(await turn.getByTestId('answer').evaluate(answer => [...answer.querySelectorAll('.md')].map(block => {
    const copy = block.cloneNode(true)
    for (const flag of copy.querySelectorAll('.flag, .host, .place')) flag.remove() // what the page says of a sentence, a link or a quote is not the answer's
    return copy.textContent
  }).join('\n')))
}

/** The page's answer is the API's, word for word, and every footnote of it is there. */
export async function sameAsAPI(server, turn) {
  const run = await trace(server, turn)
  assert.equal(await shown(turn), words(run.answer?.answer ?? run.text))
  if (run.answer) {
    const chips = await turn.locator('.answer a.cite').evaluateAll(all => all.map(a => Number(a.dataset.n)))
    assert.deepEqual([...new Set(chips)].sort((a, b) => a - b), run.answer.citations.map(c => c.number))
  }
  return run
}

/** Drops files on the page, as a person does: the events carry a DataTransfer with the real bytes. */
export async function drop(page, files) {
  const list = Object.entries(files).map(([name, content]) => [name, Buffer.from(content).toString('base64')])
  const transfer = await page.evaluateHandle(all => {
    const carried = new DataTransfer()
    for (const [name, content] of all) carried.items.add(new File([Uint8Array.from(atob(content), c => c.charCodeAt(0))], name))
    return carried
  }, list)
  for (const type of ['dragenter', 'dragover', 'drop']) await page.dispatchEvent('main', type, { dataTransfer: transfer })
}

/** The words that are marked as the quote. */
export const marked = async place => (await place.locator('mark.quote, tspan.quote').allTextContents()).join('').replace(/\s+/g, ' ').trim()

/** On a page of a PDF the marks lie over the very words, and there the picture that a person sees shows ink on yellow. */
export async function inPDF(place, cited) {
  const sheet = place.locator(`.sheet[data-page="${cited.page}"]`)
  const page = place.page()
  await place.locator('.quote.flash').first().waitFor({ state: 'attached' }) // the page has gone to the words
  await until(() => sheet.locator('img').evaluate(img => img.complete && img.naturalWidth > 0), 'the page is drawn')
  await until(() => page.locator('#panel').evaluateAll(all => all.every(e => e.getAnimations().length === 0)), 'the panel stands')
  const [marks, words] = await sheet.evaluate(e => ['rect.quote', 'tspan.quote'].map(selector => // at one moment: the panel may be sliding in
    [...e.querySelectorAll(selector)].flatMap(part => [...part.getClientRects()]).map(({ left, top, right, bottom, width, height }) => ({ left, top, right, bottom, width, height }))))
  assert.equal(marks.length, cited.boxes.length)
  for (const w of words) {
    const y = (w.top + w.bottom) / 2
    assert.ok(marks.some(m => m.left - 2 <= w.left && w.right <= m.right + 2 && m.top <= y && y <= m.bottom), `no mark over the words at ${w.left}, ${y}`)
  }
  await until(() => sheet.evaluate(e => e.getAnimations({ subtree: true }).length === 0), 'the flash is over')
  for (const m of marks) {
    const picture = await page.screenshot({ clip: { x: m.left, y: m.top, width: m.width, height: m.height } })
    const { ink, yellow } = await page.evaluate(colours, picture.toString('base64'))
    assert.ok(ink > 0.03 && yellow > 0.5, `a mark is ${ink} ink and ${yellow} yellow`)
  }
}

/** Runs in the page: how much of a picture is dark, and how much yellow. */
async function colours(png) {
  const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(png), c => c.charCodeAt(0))]))
  const pen = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d')
  pen.drawImage(bitmap, 0, 0)
  const { data } = pen.getImageData(0, 0, bitmap.width, bitmap.height)
  let [ink, yellow] = [0, 0]
  for (let i = 0; i < data.length; i += 4) {
    if (data[i] + data[i + 1] + data[i + 2] < 300) ink++
    else if (data[i] > data[i + 2] + 40 && data[i + 1] > data[i + 2] + 40) yellow++
  }
  return { ink: ink * 4 / data.length, yellow: yellow * 4 / data.length }
}
