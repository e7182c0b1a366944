// Times, as this machine's clock and calendar have them. The server writes them in UTC, for pages without a script.
import { $$, word } from './page.js'

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long' })
const date = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric' })

const daysFromNow = at => Math.round((new Date(at).setHours(12, 0, 0, 0) - new Date().setHours(12, 0, 0, 0)) / 86_400_000)

/** "at 15:04", "tomorrow at 15:04", "on 2 January at 15:04". */
function when(at) {
  const name = ['today', 'tomorrow'][daysFromNow(at)] ?? 'day'
  return word(name).replace('{day}', day.format(at)).replace('{time}', clock.format(at))
}
const full = at => `${date.format(at)}, ${clock.format(at)}`

const forms = {
  when: (time, at) => { time.textContent = when(at) },
  date: (time, at) => { time.textContent = full(at) },
  title: (time, at) => { time.title = full(at) },
}

function show(time) {
  const at = new Date(time.dateTime)
  if (!Number.isNaN(at.getTime())) forms[time.dataset.as]?.(time, at)
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
    }
  }
}).observe(document.body, { childList: true, subtree: true })
for (const time of $$(shown)) show(time)
// What is drawn again in place has its title in UTC again until somebody looks.
document.addEventListener('mouseover', event => { if (event.target.matches?.('time[data-as="title"]')) show(event.target) })
