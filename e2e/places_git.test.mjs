// Places: a Git repository is followed from the page, by the program that comes with Git for serving one.
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { audit } from './browser.mjs'
import { until } from './footnote.mjs'
import { house } from './house.mjs'

const env = {
  PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.org', GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.org',
}

/** A repository on a server. push(files) commits and pushes. */
async function repository() {
  const top = mkdtempSync(join(tmpdir(), 'footnote-git-'))
  const bare = join(top, 'book.git')
  const clone = join(top, 'clone')
  const git = (dir, ...args) => execFileSync('git', args, { cwd: dir, env, encoding: 'utf8' })
  git(top, 'init', '-q', '--bare', '-b', 'main', bare)
  git(bare, 'config', 'uploadpack.allowFilter', 'true')
  git(top, 'init', '-q', '-b', 'main', clone)
  const backend = join(git(top, '--exec-path').trim(), 'git-http-backend')
  const server = createServer((request, response) => {
    const at = new URL(request.url, 'http://localhost')
    const run = spawn(backend, {
      env: {
        ...env, GIT_PROJECT_ROOT: top, GIT_HTTP_EXPORT_ALL: '1', REQUEST_METHOD: request.method, PATH_INFO: at.pathname,
        QUERY_STRING: at.search.slice(1), CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_GIT_PROTOCOL: request.headers['git-protocol'] ?? '', CONTENT_LENGTH: request.headers['content-length'] ?? '',
      },
    })
    request.pipe(run.stdin)
    run.stdin.on('error', () => {})
    const chunks = []
    run.stdout.on('data', chunk => chunks.push(chunk))
    run.on('close', () => {
      const said = Buffer.concat(chunks)
      const end = said.indexOf('\r\n\r\n')
      const headers = Object.fromEntries(said.subarray(0, end).toString().split('\r\n').map(line => line.split(': ')))
      response.writeHead(Number.parseInt(headers.Status ?? '200', 10), { 'Content-Type': headers['Content-Type'] }).end(said.subarray(end + 4))
    })
  })
  await new Promise(done => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${server.address().port}/book.git`,
    push(files) {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(clone, name)), { recursive: true })
        writeFileSync(join(clone, name), text)
      }
      git(clone, 'add', '-A')
      git(clone, 'commit', '-q', '-m', 'Change')
      git(clone, 'push', '-q', bare, 'HEAD:main')
    },
    stop: () => new Promise(done => { server.close(() => { rmSync(top, { recursive: true }); done() }); server.closeAllConnections() }),
  }
}

describe('a Git repository', () => {
  const at = house({ empty: true })
  let repo
  before(async () => {
    repo = await repository()
    repo.push({
      'README.md': '# Book', 'docs/roof.md': '# Roof\n\nThe slates are guaranteed for 30 years.',
      'docs/film.mp4': 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n',
    })
  })
  after(() => repo.stop())
  const documents = async () => (await at.server.json('/documents?limit=100')).documents.filter(d => d.state === 'ready')

  it('is followed, a folder of it', at.tab(async (page, { expect }) => {
    expect(/400/) // a folder that is not there
    await page.goto('/places/new')
    await page.getByTestId('kind-git').click()
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 900 })
      await audit(page, 'a new repository')
      if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/git-${width}.png`, fullPage: true })
    }
    await page.locator('[name="settings.url"]').fill(repo.url)
    await page.locator('[name="settings.folder"]').fill('manual')
    await page.getByRole('button', { name: 'Add source' }).click()
    await page.getByTestId('place-said').filter({ hasText: 'Folder not found in the repository' }).waitFor()
    await page.locator('[name="settings.folder"]').fill('docs')
    await page.locator('[name="name"]').fill('Book')
    await page.getByRole('button', { name: 'Add source' }).click()
    const place = page.getByTestId('place')
    await place.getByTestId('place-refused').waitFor({ timeout: 60_000 }) // what is in Git LFS
    await until(async () => (await documents()).map(d => d.path).join() === 'Book/roof.md', 'its document is ready', 60_000)
    const [before] = await documents()

    repo.push({ 'docs/roof.md': '# Roof\n\nThe slates are guaranteed for 40 years.', 'docs/drain.md': '# Drain\n\nThe drain was cleaned in May.' })
    await place.getByRole('button', { name: 'Sync now' }).click()
    await until(async () => (await documents()).map(d => d.path).sort().join() === 'Book/drain.md,Book/roof.md', 'the new file is read', 60_000)
    await until(async () => (await documents()).some(d => d.id === before.id && d.sha256 !== before.sha256), 'the changed file is read', 60_000)
  }))
})
