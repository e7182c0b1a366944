// The handbook's programs in JavaScript; those in Python are run by make test-clients.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { warranty } from './fixtures.mjs'
import { add, footnote } from './footnote.mjs'
import { blocks, run } from './handbook.mjs'

describe('the programs of the handbook', () => {
  let server, documents
  before(async () => {
    server = await footnote({ FOOTNOTE_MODEL: 'offline' })
    documents = await add(server, { 'warranty.md': warranty })
  }, { timeout: 60_000 })
  after(() => server?.stop())

  const programs = blocks('js')
  it('exist', () => assert.ok(programs.length >= 1))
  for (const block of programs) {
    it(`${block.heading}: prints an answer and the links of its footnotes`, async () => {
      const printed = await run(server, block, process.execPath, 'block.mjs')
      assert.match(printed, /30 years/)
      assert.ok(printed.includes(`${server.url}/d/${documents['warranty.md']}`), printed)
    })
  }
})
