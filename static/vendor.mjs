// Writes what the page uses of others to static/vendor, which becomes part of the binary: scripts, and the font of formulas, without which
// systems that have none draw their brackets and roots too small. htmx and its extension are one file because htmx reads the page as soon as it
// is there: an extension that comes later, as on a slow line, is not asked about what htmx has read by then.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const to = join(root, 'static/vendor')
rmSync(to, { recursive: true, force: true })
mkdirSync(to)
const read = file => readFileSync(join(root, 'node_modules', file), 'utf8')
const copy = (file, name) => copyFileSync(join(root, 'node_modules', file), join(to, name))
writeFileSync(join(to, 'htmx.js'), ['htmx.min.js', 'ext/hx-sse.min.js'].map(file => read(`htmx.org/dist/${file}`)).join('\n;\n'))
writeFileSync(join(to, 'temml.js'), `${read('temml/dist/temml.min.js')}\nexport default temml\n`)
copy('temml/dist/Temml-Local.css', 'temml.css')
copy('temml/dist/Temml.woff2', 'Temml.woff2')
copy('temml/LICENSE', 'temml.txt')
copy('@fontsource/noto-sans-math/files/noto-sans-math-latin-400-normal.woff2', 'noto-sans-math.woff2')
copy('@fontsource/noto-sans-math/LICENSE', 'noto-sans-math.txt')
