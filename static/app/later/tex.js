// The worker that draws formulas. Temml takes seconds for some and does not end for others: then the page ends the worker.
import temml from '../../vendor/temml.js'

const maxLength = 4000 // of TeX
const maxElements = 2000 // of MathML
const kept = new Set(['class', 'display', 'displaystyle', 'scriptlevel', 'stretchy', 'fence', 'separator', 'form', 'symmetric', 'lspace', 'rspace',
  'minsize', 'maxsize', 'movablelimits', 'accent', 'accentunder', 'linethickness', 'width', 'height', 'depth', 'voffset', 'encoding'])
const options = { annotate: true, throwOnError: true, maxExpand: 200, maxSize: [10, 100], trust() { throw new Error('links and pictures stay TeX') } }
const macros = /\\([egx]?def|let|futurelet|global|long|(re)?newcommand|providecommand)(?![a-zA-Z])/

/** The MathML of a formula with its delimiters, or '' when it stays as it was written. */
function draw(source, display) {
  const mark = /^\$[^$]/.test(source) ? 1 : 2
  const tex = source.slice(mark, -mark).trim()
  if (tex.length > maxLength || macros.test(tex)) return ''
  // Models leave out the environment of aligned lines, and write environments for lines of their own in running text.
  for (const [text, displayMode] of [[tex, display], [tex, true], [`\\begin{aligned}${tex}\\end{aligned}`, display]]) {
    try {
      const mathml = clean(temml.renderToString(text, { ...options, displayMode }))
      return mathml.split('<').length > 2 * maxElements ? '' : mathml
    } catch { /* another form may be right */ }
  }
  return ''
}

// Of styles only borders stay: colours and places are the page's. Quotation marks in text are escaped.
const clean = mathml => mathml.replace(/ ([\w-]+)="([^"]*)"/g, (all, name, value) => {
  if (name !== 'style') return kept.has(name) ? all : ''
  return Array.from(value.matchAll(/border(?:-(\w+))?:/g), ([, side = 'box']) => ` data-${side}=""`).join('')
})

onmessage = ({ data }) => {
  for (const key of data) {
    const [kind, source] = key.split(/\n(.*)/s)
    postMessage([key, draw(source, kind.endsWith('line'))])
  }
}
postMessage([])
