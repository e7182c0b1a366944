// Writes what the page uses of others to static/vendor, which becomes part of the binary: scripts, and the font of formulas, without which
// systems that have none draw their brackets and roots too small. The scripts are one file because htmx reads the page as soon as it is there:
// an extension that comes later, as on a slow line, is not asked about what htmx has read by then.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const to = join(root, 'static/vendor')
rmSync(to, { recursive: true, force: true })
mkdirSync(to)
const scripts = ['htmx.min.js', 'ext/hx-sse.min.js'].map(file => readFileSync(join(root, 'node_modules/htmx.org/dist', file), 'utf8'))
writeFileSync(join(to, 'htmx.js'), scripts.join('\n;\n'))
const font = join(root, 'node_modules/@fontsource/noto-sans-math')
copyFileSync(join(font, 'files/noto-sans-math-latin-400-normal.woff2'), join(to, 'noto-sans-math.woff2'))
copyFileSync(join(font, 'LICENSE'), join(to, 'noto-sans-math.txt'))
