// A run belongs to the server: whatever happens to the page, the network or the server, the page ends with what the log says.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { shot, unreachable } from './browser.mjs'
import { proxy, until } from './footnote.mjs'
import { house, inBothModes } from './house.mjs'
import { ask, ended, over, runOf, sameAsAPI, shown, trace, words } from './page.mjs'

const question = 'What is the moisture at points G2 and G4 of the north gable?'

/** Asks, with the model held up in the middle of its answer. */
async function midway(at, page) {
  const held = at.model.holdAfter(20)
  const turn = await ask(page, question)
  await held
  await until(async () => (await shown(turn)).split(' ').length > 8, 'the answer is being written')
  assert.equal(await turn.getAttribute('data-status'), 'running')
  await soFar(at, turn)
  return turn
}

/** What the page shows of an answer that is being written is what the API has of it, from its first word on. */
async function soFar(at, turn) {
  const text = await shown(turn)
  const all = words((await trace(at.server, turn)).text)
  assert.ok(all.startsWith(text), `the page shows “${text}”, the API says “${all}”`)
}
const restarts = (turn, n) => until(() => turn.locator('.step').filter({ hasText: 'The server was restarted' }).count().then(found => found === n), `restart ${n} is shown`)

/** Holds an interrupted turn to its promises: its text stays, also after a reload, and it can be continued. */
async function interrupted(at, turn) {
  const page = turn.page()
  await turn.getByTestId('run-ending').waitFor({ timeout: 5000 })
  await over(turn)
  const run = await sameAsAPI(at.server, turn)
  assert.equal(run.status, 'interrupted')
  await shot(page, 'interrupted')
  await page.reload()
  await sameAsAPI(at.server, turn)
  at.model.release()
  await turn.getByRole('button', { name: 'Continue' }).click()
  const next = page.locator(`[data-testid=turn]:not([data-run="${run.run_id}"])`)
  await next.waitFor()
  await over(next)
  assert.equal((await sameAsAPI(at.server, next)).status, 'completed')
}
const lost = turn => turn.locator('.lost')

describe('a slow answer', () => {
  const at = house({ model: { delay: 30, tokens: 80 } })

  const throughProxy = body => at.tab(async (page, { expect }) => {
    expect(unreachable)
    const way = await proxy(at.server.port)
    try { await body(page, way) } finally { await way.stop() }
  })

  it('has no gap with slow scripts', at.tab(async page => {
    await page.goto('/')
    await midway(at, page)
    let come
    const slow = new Promise(done => { come = done })
    await page.route('**/app/*.js', route => slow.then(() => route.continue()))
    await page.reload({ waitUntil: 'commit' })
    await page.getByTestId('turn').waitFor()
    await page.waitForFunction(() => window.htmx && document.readyState === 'interactive')
    await page.waitForTimeout(300) // a stream that was asked for too early is open by now
    const further = at.model.holdAfter(50)
    at.model.release()
    await further
    await page.waitForTimeout(300)
    come()
    const turn = page.getByTestId('turn')
    await until(async () => (await shown(turn)).split(' ').length > 30, 'the answer goes on')
    await soFar(at, turn)
    at.model.release()
    await over(turn)
    await sameAsAPI(at.server, turn)
  }))

  it('streams although each script loads late', at.tab(async page => {
    await page.goto('/')
    await midway(at, page)
    const asked = []
    await page.route('**/vendor/*.js', route => { asked.push(route) })
    await page.reload({ waitUntil: 'commit' })
    await page.waitForFunction(() => document.readyState === 'interactive')
    await until(async () => asked.length === await page.locator('script[src*="/vendor/"]').count(), 'all are asked for')
    for (const route of asked) {
      await route.continue()
      await page.waitForFunction(() => window.htmx)
      await page.waitForTimeout(100) // what it does by itself is done
    }
    at.model.release()
    const turn = page.getByTestId('turn')
    await over(turn)
    await sameAsAPI(at.server, turn)
  }))

  it('continues after a reload in both tabs without gaps or duplicates', at.tab(async (page, { context }) => {
    await page.goto('/')
    const turn = await midway(at, page)
    await shot(page, 'running')
    await page.reload()
    const other = await context.newPage()
    await other.goto(page.url())
    for (const tab of [page, other]) {
      assert.ok((await shown(tab.getByTestId('turn'))).length > 20, 'the text so far is gone')
      await soFar(at, tab.getByTestId('turn'))
    }
    at.model.release()
    for (const tab of [page, other]) {
      const again = tab.getByTestId('turn')
      await over(again)
      await sameAsAPI(at.server, again)
    }
  }))

  it('continues within 5 s after a server crash', at.tab(async (page, { expect }) => {
    expect(unreachable)
    await page.goto('/')
    const turn = await midway(at, page)
    await at.server.down('SIGKILL')
    await lost(turn).waitFor()
    await at.server.up()
    await lost(turn).waitFor({ state: 'detached', timeout: 5000 })
    await restarts(turn, 1)
    at.model.release()
    await over(turn)
    const run = await sameAsAPI(at.server, turn)
    assert.equal(run.status, 'completed')
    await page.reload()
    await sameAsAPI(at.server, page.getByTestId('turn'))
  }))

  it('is interrupted when the server stops, and can be continued', at.tab(async (page, { expect }) => {
    expect(unreachable)
    await page.goto('/')
    const turn = await midway(at, page)
    await at.server.restart('SIGTERM')
    await interrupted(at, turn)
  }))

  it('is interrupted after repeated crashes, and can be continued', at.tab(async (page, { expect }) => {
    expect(unreachable)
    await page.goto('/')
    const turn = await midway(at, page)
    for (const time of [1, 2, 3]) {
      await at.server.restart('SIGKILL')
      if (time < 3) await restarts(turn, time)
    }
    await interrupted(at, turn)
  }))

  it('resumes without a gap after a lost connection', throughProxy(async (page, way) => {
    await page.goto(way.url)
    const turn = await midway(at, page)
    for (let cuts = 0; cuts < 2; cuts++) {
      way.cut()
      await lost(turn).waitFor()
      way.heal()
      await lost(turn).waitFor({ state: 'detached', timeout: 5000 })
      await soFar(at, turn)
    }
    at.model.release()
    await over(turn)
    await sameAsAPI(at.server, turn)
  }))

  it('shows the end when the connection returns after the run', throughProxy(async (page, way) => {
    await page.goto(way.url)
    const turn = await midway(at, page)
    way.cut()
    await lost(turn).waitFor()
    await shot(page, 'lost')
    at.model.release()
    await ended(at.server, await runOf(turn))
    way.heal()
    await over(turn)
    await sameAsAPI(at.server, turn)
  }))
})

inBothModes({ delay: 30 }, {}, at => {
  it('is complete after a reload or a crash right after the question', at.tab(async (page, { expect }) => {
    expect(unreachable)
    await page.goto('/')
    await over(await ask(page, question))
    const turn = await ask(page, 'How long is the guarantee on the slates?')
    await at.server.restart('SIGKILL')
    await over(turn)
    await sameAsAPI(at.server, turn)
    const last = await ask(page, 'Within how many days must a claim be made?')
    await page.reload()
    await over(last)
    assert.equal((await sameAsAPI(at.server, last)).status, 'completed')
  }))
})
