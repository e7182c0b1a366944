// Fails for a known vulnerability that is not accepted, and for an acceptance past its day. A database that can't be asked
// is no failure: it says nothing about the program.  node e2e/audit.mjs GOVULNCHECK BUILD-TAGS
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const fail = line => { console.log(line); process.exitCode = 1 }
const list = process.env.ACCEPTED ?? '.ci/accepted-vulnerabilities.txt'
const accepted = readFileSync(list, 'utf8').split('\n').filter(line => line && !line.startsWith('#')).map(line => line.split(/\s+/))
for (const [id, module, on, until, why] of accepted) {
  if (!why || ![on, until].every(Date.parse) || until < on) fail(`${list}: ${id}: want id, module, day of acceptance, last day, and why`)
  else if (until < new Date().toISOString().slice(0, 10)) fail(`${id} ${module} was accepted until ${until}: look again`)
}

// A minute for npm, two for 25 MB of a database.
function run (program, ...args) {
  return spawnSync(program, args, { encoding: 'utf8', timeout: 120_000, maxBuffer: 1 << 30 })
}

// tell prints the findings that are not accepted, each [id, module, what is known of it].
function tell (name, findings) {
  const unique = [...new Map(findings.map(finding => [finding.join(), finding])).values()]
  const refused = unique.filter(([id, module]) => !accepted.some(a => a[0] === id && a[1] === module))
  console.log(`${name}: ${refused.length} not accepted, ${unique.length - refused.length} accepted`)
  for (const finding of refused) fail('  ' + finding.join(' '))
}

// govulncheck would ask vuln.go.dev. The same database is a module, and module proxies are reached wherever Go builds. Packages
// are looked at, which takes a second; calls would take a minute and 7 GB.
const fetched = run('go', 'mod', 'download', '-json', 'golang.org/x/vulndb@latest')
if (fetched.status !== 0) console.log('govulncheck could not be asked, so nothing is known:', fetched.stdout, fetched.stderr)
else {
  const { Dir, Version } = JSON.parse(fetched.stdout)
  const [govulncheck, tags] = process.argv.slice(2)
  const asked = run(govulncheck, '-json', '-scan=package', '-test', '-tags=' + tags, `-db=file://${Dir}/data/osv`, './...')
  if (asked.status !== 0) fail('govulncheck failed: ' + asked.stderr)
  else {
    const messages = asked.stdout.split(/^(?=\{)/m).filter(text => text.trim()).map(text => JSON.parse(text))
    const summaries = new Map(messages.filter(m => m.osv).map(m => [m.osv.id, m.osv.summary]))
    // The first frame of a trace is the vulnerable one. Without a package nothing of the module is imported.
    tell(`govulncheck by Go's database ${Version}`, messages.filter(m => m.finding?.trace[0].package).map(({ finding: f }) => [
      f.osv, f.trace[0].module, f.trace[0].version, f.fixed_version ? `repaired in ${f.fixed_version}:` : '', summaries.get(f.osv)]))
  }
}

const asked = run('npm', 'audit', '--json', '--fetch-retries=0')
let said
try { said = JSON.parse(asked.stdout) } catch {}
if (asked.error || said?.message) console.log('npm audit could not be asked, so nothing is known:', asked.error ?? said.message)
else if (said?.auditReportVersion !== 2) fail('npm audit failed: ' + asked.stdout + asked.stderr)
else {
  // A name instead of an advisory is a package with an entry of its own.
  tell('npm audit', Object.entries(said.vulnerabilities).flatMap(([name, { via }]) => via
    .filter(v => v.url && !['low', 'info'].includes(v.severity)).map(v => [v.url.split('/').pop(), name, v.range, v.title])))
}
