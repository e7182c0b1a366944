// Exported answers, read by programs that others wrote: python-docx, bibtexparser and rispy: make test-clients.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { warranty } from '../fixtures.mjs'
import { footnote, ready } from '../footnote.mjs'

const python = resolve(import.meta.dirname, '../../.cache/clients/venv/bin/python')

// What a Word document has: the footnotes that its text refers to, in order, each with its text and its links.
const word = `
import docx, json, sys
from lxml import etree
W = '{http://schemas.openxmlformats.org/wordprocessingml/2006/main}'
R = '{http://schemas.openxmlformats.org/officeDocument/2006/relationships}'
book = docx.Document(sys.argv[1])
part = next(p for p in book.part.package.iter_parts() if str(p.partname) == '/word/footnotes.xml')
notes = {n.get(W + 'id'): n for n in etree.fromstring(part.blob).iter(W + 'footnote')}
refs = [r.get(W + 'id') for r in book.element.body.iter(W + 'footnoteReference')]
print(json.dumps({
  'paragraphs': [p.text for p in book.paragraphs],
  'notes': [{'text': ''.join(notes[i].itertext()), 'links': [part.rels[h.get(R + 'id')].target_ref for h in notes[i].iter(W + 'hyperlink') if h.get(R + 'id')]} for i in refs],
}))`
const bib = `
import bibtexparser, json, sys
library = bibtexparser.parse_string(open(sys.argv[1], encoding='utf-8').read())
assert not library.failed_blocks, library.failed_blocks
print(json.dumps([{f.key: f.value for f in e.fields} for e in library.entries]))`
const ris = `
import rispy, json, sys
print(json.dumps(rispy.load(open(sys.argv[1], encoding='utf-8'))))`

describe('an exported answer', () => {
  let server, run, folder
  const source = 'https://example.org/warranty'
  const read = async (format, program) => {
    const file = join(folder, `answer.${format}`)
    writeFileSync(file, Buffer.from(await (await fetch(`${server.url}/agent/runs/${run}/export?format=${format}`)).arrayBuffer()))
    return JSON.parse(execFileSync(python, ['-c', program, file], { encoding: 'utf8' }))
  }
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'footnote-exports-'))
    server = await footnote({ FOOTNOTE_MODEL: 'offline' })
    const form = new FormData()
    form.append('meta', JSON.stringify({ source_url: source }))
    form.append('files', new Blob([warranty]), 'warranty.md')
    const added = await (await fetch(`${server.url}/documents`, { method: 'POST', body: form, headers: { Accept: 'application/json' } })).json()
    await ready(server, added.documents[0].id)
    const asked = await fetch(`${server.url}/agent/chat`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ message: 'How is the warranty claimed?' }) })
    run = (await asked.json()).run_id
  }, { timeout: 60_000 })
  after(async () => { await server?.stop(); rmSync(folder, { recursive: true, force: true }) })

  it('has Word footnotes with quotes and links for python-docx', async () => {
    const { paragraphs, notes } = await read('docx', word)
    assert.ok(paragraphs.some(text => text.includes('How is the warranty claimed?')))
    assert.ok(notes.length >= 1)
    const { citations } = await server.json(`/agent/runs/${run}`)
    for (const [i, note] of notes.entries()) {
      assert.ok(note.text.replace(/\s+/g, ' ').includes(citations[i].quote.replace(/\s+/g, ' ').slice(0, 60)), note.text)
      assert.deepEqual(note.links, [source])
    }
  })

  it('names its sources for bibtexparser and rispy', async () => {
    const [entry, ...others] = await read('bib', bib)
    assert.equal(others.length, 0)
    assert.match(entry.title, /[Ww]arranty/)
    const [reference] = await read('ris', ris)
    assert.match(reference.title ?? reference.primary_title, /[Ww]arranty/)
  })
})
