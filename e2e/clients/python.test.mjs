// The handbook's programs in Python, each with the real client: make test-clients.
import assert from 'node:assert/strict'
import { resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { warranty } from '../fixtures.mjs'
import { add, footnote } from '../footnote.mjs'
import { blocks, run } from '../handbook.mjs'

const python = resolve(import.meta.dirname, '../../.cache/clients/venv/bin/python')

describe("the handbook's programs in Python", () => {
  let server, documents
  before(async () => {
    server = await footnote({ FOOTNOTE_MODEL: 'offline' })
    documents = await add(server, { 'warranty.md': warranty })
  }, { timeout: 60_000 })
  after(() => server?.stop())

  const programs = blocks('python')
  it('exist', () => assert.ok(programs.length >= 6))
  for (const block of programs) {
    it(`${block.heading}: prints an answer and the links of its footnotes`, async () => {
      const printed = await run(server, block, python, 'block.py')
      assert.match(printed, block.text.includes('How is it claimed?') ? /within\s+60\s+days/ : /30 years/)
      if (/\burl\b/.test(block.text)) assert.ok(printed.includes(`${server.url}/d/${documents['warranty.md']}`), printed)
    })
  }
})
