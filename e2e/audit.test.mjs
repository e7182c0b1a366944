// What make audit says of reports like those of govulncheck 1.9 and npm 11: the programs are replaced by ones that print them.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const day = days => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
const inGo = (trace) => JSON.stringify({ osv: { id: 'GO-1', summary: 'it falls' } }, null, 2) + '\n' +
  JSON.stringify({ finding: { osv: 'GO-1', fixed_version: 'v1.0.1', trace: [{ module: 'example.com/a', version: 'v1.0.0', ...trace }] } }, null, 2)
const fromNPM = vulnerabilities => JSON.stringify({ auditReportVersion: 2, vulnerabilities })
const advisory = severity => ({ title: 'it leaks', url: 'https://github.com/advisories/GHSA-a', severity, range: '<2.0.0' })
const entry = `GO-1 example.com/a ${day(-9)} ${day(0)} it is not called`

for (const { name, list = '', go, npm = fromNPM({}), database = '{"Dir": "/none", "Version": "v1"}', ok, says } of [
  { name: 'nothing is found', go: '', ok: true, says: /govulncheck .*: 0 not accepted, 0 accepted\nnpm audit: 0 not accepted, 0/ },
  { name: 'a finding', go: inGo({ package: 'a' }), says: /1 not accepted.*\n {2}GO-1 example.com\/a v1.0.0 repaired in v1.0.1: it falls/ },
  { name: 'two of one module', go: inGo({ package: 'a' }) + '\n' + inGo({ package: 'b' }), says: /1 not accepted, 0 accepted/ },
  { name: 'a module of which nothing is imported', go: inGo({}), ok: true, says: /0 not accepted, 0 accepted/ },
  { name: 'an accepted one, on its last day', list: '# why\n\n' + entry, go: inGo({ package: 'a' }), ok: true, says: /0 not accepted, 1 accepted/ },
  { name: 'the day after', list: entry.replace(day(0), day(-1)), go: '', says: /GO-1 .* was accepted until .*: look again/ },
  { name: 'accepted in another module', list: entry.replace('/a', '/b'), go: inGo({ package: 'a' }), says: /1 not accepted/ },
  { name: 'no reason', list: `GO-1 example.com/a ${day(0)} ${day(9)}`, go: '', says: /want id, module/ },
  { name: 'no day', list: entry.replace(day(0), 'never'), go: '', says: /want id, module/ },
  { name: 'a last day before the first', list: entry.replace(day(-9), day(1)), go: '', says: /want id, module/ },
  { name: 'a report that is cut', go: '{"finding": {"osv": "GO-1", "tra', says: /SyntaxError/ },
  { name: 'no database', go: 'unused', database: '', ok: true, says: /govulncheck could not be asked, so nothing is known/ },
  { name: 'npm: packages', go: '', npm: fromNPM({ a: { via: [advisory('high'), 'b'] }, b: { via: [advisory('low')] } }), says: /npm audit: 1 not accepted, 0 accepted\n {2}GHSA-a a <2.0.0 it leaks/ },
  { name: 'npm: a registry that refuses', go: '', npm: '{"message": "405 Method Not Allowed"}', ok: true, says: /npm audit could not be asked.* 405/ },
  { name: 'npm: another report', go: '', npm: '{"auditReportVersion": 3}', says: /npm audit failed/ },
  { name: 'npm: an error', go: '', npm: '{"error": {"code": "ENOLOCK"}}', says: /npm audit failed/ },
  { name: 'npm: nothing', go: '', npm: '', says: /npm audit failed/ },
]) {
  test('make audit: ' + name, () => {
    const dir = mkdtempSync(join(tmpdir(), 'audit-'))
    try {
      const print = (program, text, code = 0) => writeFileSync(join(dir, program), `#!/bin/sh\ncat <<'END'\n${text}\nEND\nexit ${code}\n`, { mode: 0o755 })
      print('go', database, database ? 0 : 1)
      print('govulncheck', go)
      print('npm', npm, 1)
      writeFileSync(join(dir, 'accepted'), list)
      const got = spawnSync(process.execPath, ['e2e/audit.mjs', join(dir, 'govulncheck'), 'tag'], {
        encoding: 'utf8', env: { ...process.env, PATH: dir + ':' + process.env.PATH, ACCEPTED: join(dir, 'accepted') },
      })
      assert.match(got.stdout + got.stderr, says)
      assert.equal(got.status, ok ? 0 : 1)
    } finally {
      rmSync(dir, { recursive: true })
    }
  })
}
