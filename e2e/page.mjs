// What a person does on the page, and what the API says of the same.
import assert from 'node:assert/strict'
import { until } from './footnote.mjs'

/** Asks a question from the page that is open and returns its turn. */
export async function ask(page, question) {
  const turns = page.getByTestId('turn')
  const before = page.url().includes('/c/') ? await turns.count() : 0
  await page.locator('#q').fill(question)
  await page.locator('#q').press('Enter')
  await page.waitForURL('**/c/*')
  const turn = turns.nth(before)
  await turn.waitFor()
  assert.equal(await turn.getByTestId('question').textContent(), question)
  return turn
}

/** Waits until the turn's run is over and the page says so: no spinner, the question box free again. */
export async function over(turn, ms = 15_000) {
  const page = turn.page()
  await turn.locator('.actions').waitFor({ timeout: ms })
  await until(() => turn.locator('[data-stream]').count().then(n => n === 0), 'the page stops listening', 5000)
  assert.equal(await turn.locator('.spin').count(), 0, 'something still spins')
  assert.equal(await turn.locator('[aria-busy=true]').count(), 0, 'something is still busy')
  await page.getByRole('button', { name: 'Send' }).waitFor()
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
export const words = markdown => markdown.replaceAll('\u2060', '').replace(/^\s*(?:[-*>]|\d+\.|#+) /gm, '').replace(/[*_`]/g, '').replace(/\s+/g, ' ').replace(/ (\[\d+\])/g, '$1').trim()

/** The answer that the page shows. */
export async function shown(turn) {
  return words(await turn.getByTestId('answer').evaluate(answer => [...answer.querySelectorAll('.md')].map(block => block.textContent).join('\n')))
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
