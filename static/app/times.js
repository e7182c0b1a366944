// Times, as this machine's clock and calendar have them. The server writes them in UTC, for pages without a script.
import { $, $$, language, word } from './page.js'

const clock = new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit' })
const day = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'long' })
const month = new Intl.DateTimeFormat(language, { month: 'long' })
const monthOfYear = new Intl.DateTimeFormat(language, { month: 'long', year: 'numeric' })
const brevity = options => {
  const form = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', ...options })
  return { format: at => form.format(at).replace('Sept', 'Sep') } // as the server has it
}
const short = brevity({})
const shortDate = brevity({ year: 'numeric' })
const date = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'long', year: 'numeric' })

const daysFromNow = at => Math.round((new Date(at).setHours(12, 0, 0, 0) - new Date().setHours(12, 0, 0, 0)) / 86_400_000)

/** "at 15:04", "tomorrow at 15:04", "on 2 January at 15:04". */
function when(at) {
  const name = ['today', 'tomorrow'][daysFromNow(at)] ?? 'day'
  return word(name).replace('{day}', day.format(at)).replace('{time}', clock.format(at))
}

/** The day of something past, as lists name it; none for one that is further back than rest names. */
const past = (at, rest) => {
  const days = -daysFromNow(at)
  if (days <= 1) return word(days < 1 ? 'on-today' : 'on-yesterday')
  return rest(at, days)
}
const thisYear = at => at.getFullYear() === new Date().getFullYear()
const added = at => past(at, () => (thisYear(at) ? day : shortDate).format(at))
const group = at => past(at, (_, days) => (days <= 7 ? word('on-week') : (thisYear(at) ? month : monthOfYear).format(at)))
const full = at => `${date.format(at)}, ${clock.format(at)}`

const seconds = new Intl.DateTimeFormat(language, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const brief = (at, form) => `${daysFromNow(at) === 0 ? '' : `${short.format(at)} `}${form.format(at)}`

/** Says when a conversation was worked on beside its name, and in the name of its menu. */
function tellApart(time, text) {
  time.textContent = text
  const name = time.closest('a').textContent.replace(/\s+/g, ' ').trim()
  $('summary', time.closest('li'))?.setAttribute('aria-label', `${word('more')}: ${name}`)
}

const forms = {
  minute: (time, at) => tellApart(time, brief(at, clock)),
  second: (time, at) => tellApart(time, brief(at, seconds)),
  when: (time, at) => { time.textContent = when(at) },
  date: (time, at) => { time.textContent = full(at) },
  title: (time, at) => { time.title = full(at) },
  added: (time, at) => {
    time.title = full(at)
    if (Date.now() - at < 3_600_000) return // "5 min ago" is so in every zone
    const text = added(at)
    if (time.textContent !== text) time.textContent = text
  },
}

function show(time) {
  const at = new Date(time.dateTime)
  if (!Number.isNaN(at.getTime())) forms[time.dataset.as]?.(time, at)
}

/** Puts the conversations of the menu under the days that they are of here. */
function regroup(list) {
  const items = $$('li[data-at]', list)
  const names = items.map(item => group(new Date(item.dataset.at)))
  if (items.every((item, i) => item.parentElement.previousElementSibling?.textContent === names[i])) return
  const held = document.activeElement
  for (const old of $$('h2, ul', list)) if (old.parentElement === list) old.remove()
  const rebuilt = []
  items.forEach((item, i) => {
    if (names[i] !== names[i - 1]) {
      const heading = document.createElement('h2')
      heading.textContent = names[i]
      rebuilt.push(heading, document.createElement('ul'))
    }
    rebuilt.at(-1).append(item)
  })
  list.prepend(...rebuilt)
  if (list.contains(held)) held.focus({ preventScroll: true })
}

/** A sentence of the API, with its times for people. */
export const said = sentence => sentence.replace(/\b(?:at )?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)/g, (_, at) => when(new Date(at)))

const shown = '[data-as]'
new MutationObserver(changes => {
  for (const { addedNodes } of changes) {
    for (const node of addedNodes) {
      if (node.nodeType !== Node.ELEMENT_NODE) continue
      if (node.matches(shown)) show(node)
      for (const time of $$(shown, node)) show(time)
      const list = node.closest('#sessions') ?? $('#sessions', node)
      if (list) regroup(list)
    }
  }
}).observe(document.body, { childList: true, subtree: true })
for (const time of $$(shown)) show(time)
if ($('#sessions')) regroup($('#sessions'))
// What is drawn again in place has its title in UTC again until somebody looks.
document.addEventListener('mouseover', event => { if (event.target.matches?.('time[data-as="title"], time[data-as="added"]')) show(event.target) })
