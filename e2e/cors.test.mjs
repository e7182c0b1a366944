// A front end on another origin calls the API from a browser. One whose origin is not allowed gets nothing.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { freePort } from './footnote.mjs'
import { house } from './house.mjs'

/** Serves an empty page: an origin of its own. */
async function site(port) {
  const server = createServer((request, response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>Front end</title>'))
  await new Promise(done => server.listen(port, '127.0.0.1', done))
  return { url: `http://127.0.0.1:${port}`, stop: () => new Promise(done => { server.close(done); server.closeAllConnections() }) }
}

const allowed = await freePort()
describe('a front end on another origin', () => {
  const at = house({ model: {}, env: { FOOTNOTE_ALLOWED_ORIGINS: `https://app.example.org,http://127.0.0.1:${allowed}` } })
  let front, foreign
  before(async () => { [front, foreign] = [await site(allowed), await site(await freePort())] })
  after(async () => { await front.stop(); await foreign.stop() })

  it('sends credentials, and reads the answer and its headers', at.tab(async page => {
    await page.goto(front.url)
    const got = await page.evaluate(async server => {
      const response = await fetch(`${server}/agent/chat`, {
        method: 'POST', credentials: 'include', headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'from-another-origin' },
        body: JSON.stringify({ message: 'Who inspected the roof?' }),
      })
      return { status: response.status, request: response.headers.get('X-Request-Id'), answer: await response.json() }
    }, at.server.url)
    assert.equal(got.status, 200)
    assert.match(got.request, /^[\w-]{8,}$/)
    assert.ok(got.answer.response.length > 0 && got.answer.citations.length > 0, JSON.stringify(got.answer))
  }))

  it('starts a run and reads its event stream', at.tab(async page => {
    await page.goto(front.url)
    const got = await page.evaluate(async server => {
      const asked = await fetch(`${server}/chat`, {
        method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'application/json' }, body: JSON.stringify({ message: 'Who inspected the roof?' }),
      })
      const { run_id } = await asked.json()
      const events = new EventSource(`${server}/agent/runs/${run_id}/events`, { withCredentials: true })
      const seen = []
      for (const name of ['run_started', 'answer', 'run_done']) events.addEventListener(name, e => seen.push(JSON.parse(e.data).type))
      await new Promise((done, fail) => {
        events.addEventListener('run_done', done)
        events.onerror = () => fail(new Error('the stream was refused'))
      }).finally(() => events.close())
      return { status: asked.status, location: asked.headers.get('Location'), run_id, seen }
    }, at.server.url)
    assert.equal(got.status, 202)
    assert.ok(got.location.includes(got.run_id), got.location)
    assert.deepEqual(got.seen, ['run_started', 'answer', 'run_done'])
  }))

  it('reads the reason for a rejection', at.tab(async (page, { expect }) => {
    expect(/404/)
    await page.goto(front.url)
    const problem = await page.evaluate(server => fetch(`${server}/agent/runs/nothing`).then(r => r.json()), at.server.url)
    assert.equal(problem.code, 'not_found')
  }))

  it('without permission can neither send nor read', at.tab(async (page, { expect }) => {
    expect(/CORS|ERR_FAILED/)
    await page.goto(foreign.url)
    const failed = await page.evaluate(server => Promise.all([
      fetch(`${server}/agent/chat`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"message":"Hello","session_id":"foreign"}' }),
      fetch(`${server}/documents`, { credentials: 'include' }),
      fetch(`${server}/agent/runs/nothing/events`),
    ].map(request => request.then(() => 'read', e => e.name))), at.server.url)
    assert.deepEqual(failed, ['TypeError', 'TypeError', 'TypeError'])
    const { status } = await fetch(`${at.server.url}/agent/session/foreign`)
    assert.equal(status, 404, 'the question was asked all the same')
  }))

  it("cannot submit the page's forms", at.tab(async (page, { expect }) => {
    expect(/403|CORS|ERR_FAILED/)
    await page.goto(front.url)
    const failed = await page.evaluate(server => fetch(`${server}/language`, { method: 'POST', body: new URLSearchParams({ language: 'de' }) }).then(() => 'read', e => e.name), at.server.url)
    assert.equal(failed, 'TypeError')
  }))
})
