// Writes the third-party scripts that the page uses to static/vendor/htmx.js, which becomes part of the binary. They are one file because htmx
// reads the page as soon as it is there: an extension that comes later, as on a slow line, is not asked about what htmx has read by then.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const to = join(root, 'static/vendor')
rmSync(to, { recursive: true, force: true })
mkdirSync(to)
const scripts = ['htmx.min.js', 'ext/hx-sse.min.js'].map(file => readFileSync(join(root, 'node_modules/htmx.org/dist', file), 'utf8'))
writeFileSync(join(to, 'htmx.js'), scripts.join('\n;\n'))
