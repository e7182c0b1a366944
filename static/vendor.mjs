// Copies the third-party scripts that the page uses to static/vendor/, from where they become part of the binary.
import { copyFileSync, mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const to = join(root, 'static/vendor')
mkdirSync(to, { recursive: true })
for (const file of ['htmx.min.js', 'ext/hx-sse.min.js']) {
  copyFileSync(join(root, 'node_modules/htmx.org/dist', file), join(to, file.split('/').pop()))
}
