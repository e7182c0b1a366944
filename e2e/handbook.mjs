// The programs in the handbook's chapter “Use it from …”, run against a server as they stand there.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const chapter = resolve(import.meta.dirname, '../docs/handbook/06-use-it-from.md')

/** The chapter's blocks of a language, each with the heading that it stands under. */
export function blocks(language) {
  const list = []
  let heading = '', block
  for (const line of readFileSync(chapter, 'utf8').split('\n')) {
    if (block) {
      if (line !== '```') block.text += line + '\n'
      else { list.push(block); block = undefined }
    } else if (line === '```' + language) block = { heading, text: '' }
    else if (line.startsWith('## ')) heading = line.slice(3)
  }
  return list
}

/** Runs a block against a server and resolves with what it prints. It lies where a program finds this house's packages. */
export async function run(server, block, command, name) {
  const dir = mkdtempSync(join(import.meta.dirname, '../bin/block-'))
  try {
    const file = join(dir, name)
    writeFileSync(file, block.text.replaceAll('http://localhost:8080', server.url))
    const { stdout } = await promisify(execFile)(command, [file], { timeout: 120_000 })
    return stdout
  } finally { rmSync(dir, { recursive: true }) }
}
