#!/usr/bin/env node
// Starts the program that npm has installed beside this package, and ends as it ends.
'use strict'
const { spawn } = require('node:child_process')
const { constants } = require('node:os')

const name = `@footnote/${process.platform}-${process.arch}`
let program
try {
  program = require.resolve(`${name}/${process.platform === 'win32' ? 'footnote.exe' : 'footnote'}`)
} catch {
  console.error(`footnote: the package ${name} is not installed. Either there is no program for this system, or npm was told to leave optional packages out.`)
  process.exit(1)
}

const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' })
// A terminal sends Ctrl-C to both: the program decides when it is over. Other signals come here alone.
process.on('SIGINT', () => {})
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
child.on('error', error => {
  console.error(`footnote: ${error.message}`)
  process.exit(1)
})
child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)))
