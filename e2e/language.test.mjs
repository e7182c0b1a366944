// The page in the reader's language: what it says, how it counts and dates, and that nothing is left in English.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { house } from './house.mjs'
import { ask, choose, over } from './page.mjs'

const question = 'How long is the guarantee on the slates?'

/** Words that the page shows, or says to screen readers, outside documents, answers and names. */
const left = () => {
  const found = new Set()
  const ours = '.md, q, .hit, .kv, pre, code, kbd, time, bdi, textarea, .type, .badge, [lang], .question, .host, .address, script, style, template, noscript'
  const note = (words, element) => {
    if (/\p{L}{2}/u.test(words) && !words.includes('⟦') && !element.closest(ours)) found.add(`${element.tagName} ${element.className}: ${words.trim().slice(0, 80)}`)
  }
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walk.nextNode()) note(walk.currentNode.textContent, walk.currentNode.parentElement)
  for (const name of ['aria-label', 'title', 'placeholder']) for (const element of document.querySelectorAll(`[${name}]`)) note(element.getAttribute(name), element)
  return [...found]
}

// what is called by its name in every language: the product, documents, questions, models and sets of tools
const names = /: (Footnote|warranty|survey|Slate warranty|Survey.*|How long is .*|offline|cursor|react|strategy|documentation|OpenAI|Anthropic|OpenRouter|Mistral|Groq|DeepSeek|Google Gemini|\d.*)$|: .*(warranty\.md|survey\.pdf|“)/i

async function bare(page, where) {
  assert.deepEqual((await page.evaluate(left)).filter(words => !names.test(words)), [], where)
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, `${where} is wider than the window`)
}

describe('the pseudo-language', () => {
  const at = house()
  for (const [name, options] of Object.entries({ wide: {}, phone: { viewport: { width: 390, height: 844 } } })) {
    it(`leaves no English text, and fits right to left: ${name}`, at.tab(async (page, { context }) => {
      await context.addCookies([{ name: 'footnote_language', value: 'en-XA', url: at.server.url }])
      for (const path of ['/', '/documents', '/documents?q=nothing', '/find', '/find?q=slates', '/find?q=zebra', '/model', '/leave?to=https%3A%2F%2Fexample.org', '/signin']) {
        await page.goto(path)
        assert.equal(await page.locator('html').getAttribute('dir'), 'rtl')
        await bare(page, path)
      }
      await page.goto('/')
      const turn = await ask(page, question)
      await over(turn)
      await turn.locator('.run-head').click()
      for (const head of await turn.locator('.step-head').all()) await head.click()
      await bare(page, 'an answer')
      await turn.locator('.answer a.cite').first().click()
      await page.locator('#source [data-testid=source]').waitFor()
      await bare(page, 'a source')
      await page.goto(`/d/${at.documents['warranty.md']}`)
      await bare(page, 'a document')
    }, options))
  }
})

describe('a German browser', () => {
  const at = house()
  const german = { locale: 'de-DE', timezoneId: 'Europe/Berlin' }

  it('shows the page in German, with numbers and dates', at.tab(async page => {
    await page.goto('/')
    assert.equal(await page.locator('html').getAttribute('lang'), 'de')
    assert.equal(await page.locator('#q').getAttribute('placeholder'), await page.locator('label[for=q]').textContent())
    await page.getByRole('link', { name: /^2 Dokumente$/ }).first().waitFor()
    const turn = await ask(page, question)
    await over(turn)
    await turn.getByText('Dauer:', { exact: false }).or(turn.locator('.run-now')).first().waitFor()
    assert.doesNotMatch(await turn.locator('.run-head').textContent(), /Worked|step|read/)
    await page.goto('/documents')
    const day = page.locator('time[data-as=added]').first()
    assert.match(await day.getAttribute('title'), /^\d{1,2}\. (Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember) \d{4}/)
  }, german))

  it('shows the reason for a rejected file in German', at.tab(async (page, { expect }) => {
    expect(/status of 400/) // the answer with the reason
    await page.goto('/documents')
    await choose(page, () => page.locator('[data-do=add-files]').click(), [{ name: 'leer.txt', mimeType: 'text/plain', buffer: Buffer.from('') }])
    const row = page.locator('.upload-files li').filter({ hasText: 'leer.txt' })
    await row.getByText(/leer/i).first().waitFor()
    await page.waitForFunction(() => /ist leer|leere/i.test(document.querySelector('.upload-files')?.textContent ?? ''))
  }, german))

  it('saves the selected language, also without a script', at.tab(async page => {
    await page.goto('/documents')
    await page.locator('details.menu.up summary').click()
    await page.getByRole('button', { name: 'Français' }).click()
    await page.waitForURL('**/documents')
    assert.equal(await page.locator('html').getAttribute('lang'), 'fr')
    await page.goto('/')
    assert.equal(await page.locator('html').getAttribute('lang'), 'fr')
    await page.locator('details.menu.up summary').click()
    await page.getByRole('button', { name: 'English' }).click()
    await page.waitForURL('**/')
    assert.equal(await page.locator('html').getAttribute('lang'), 'en')
  }, { ...german, javaScriptEnabled: false }))

  it('gets API messages in English', at.tab(async page => {
    const res = await page.request.get('/agent/runs/none', { headers: { Accept: 'application/json', 'Accept-Language': 'de' } })
    assert.match((await res.json()).detail, /^Run not found/)
  }, german))
})

describe('two readers of one run', () => {
  const at = house({ model: { delay: 20 } })
  it('see it in their own language', at.tab(async (page, { context }) => {
    await page.goto('/')
    at.model.hold()
    await ask(page, question)
    await page.waitForURL('**/c/*')
    const other = await (await context.browser().newContext({ baseURL: at.server.url, locale: 'ja' })).newPage()
    await other.goto(page.url())
    assert.equal(await other.locator('html').getAttribute('lang'), 'ja')
    at.model.release()
    await over(page.getByTestId('turn').last())
    await other.locator('.turn .actions').waitFor({ timeout: 30_000 })
    assert.match(await page.locator('.run-head').textContent(), /Worked for/)
    assert.doesNotMatch(await other.locator('.run-head').textContent(), /Worked|step|read/)
    await other.context().close()
  }))
})
