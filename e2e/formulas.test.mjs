// Formulas are drawn by the page's script, and copied as they were written.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { audit, fits, inTab, launch, shot } from './browser.mjs'
import { add, footnote, until } from './footnote.mjs'
import { over } from './page.mjs'
import { parrot } from './parrot.mjs'

const answer = String.raw`## The optimum $p^*$

The optimum is \( p^* = \frac{a}{b} \), it costs $5 and $10, and the roots of a quadratic are

\[
x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}
\]

- With $a_1 < 5$ the share is $\tfrac{1}{2}$.
- Code stays code: ${'`\\(x\\)`'} and ${'`$y$`'}.

| Variable | Price |
|---|---|
| $\sigma^2$ | $5 |

$$
\begin{aligned}
f(x) &= \sum_{i=1}^{n} x_i \int_0^\infty e^{-t^2}\,dt \\
&= \begin{cases} 1 & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases}
\end{aligned}
$$

\[ \boxed{\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} \vec{v} = \hat{\beta}} \qquad \unknown{x} \]

$$\boxed{\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} \vec{v} = \hat{\beta} + \begin{array}{l|c} a & b \\ \hline c & d \end{array} + \cancel{x} + \underbrace{a + b + c + d + e + f + g + h + i + j + k}_{\text{eleven letters}} \xrightarrow{\text{limit}} \infty}$$
`

describe('formulas', () => {
  const says = { text: answer, size: 7 }
  let browser, model, server
  before(async () => {
    browser = await launch()
    model = await parrot(says)
    server = await footnote({ OPENAI_BASE_URL: model.url, OPENAI_MODEL: 'parrot' })
  }, { timeout: 60_000 })
  after(async () => {
    await browser?.close()
    await server?.stop()
    await model?.stop()
  })
  const tab = (body, options) => () => inTab(browser, { baseURL: server.url, ...options }, body)

  async function answered(page) {
    const asked = await (await fetch(`${server.url}/chat`, {
      method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify({ message: 'What is the optimum?', context_text: 'The roof is sound.' }),
    })).json()
    await until(async () => (await server.json(`/agent/runs/${asked.run_id}`)).status !== 'running', 'the run is over')
    await page.goto(`/c/${asked.session_id}`)
    const turn = page.getByTestId('turn').last()
    await turn.locator('math, .tex').first().waitFor()
    return turn
  }

  it('are rendered as MathML', tab(async page => {
    const turn = await answered(page)
    await turn.locator('mtable').last().waitFor()
    const box = selector => turn.locator(selector).first().evaluate(node => {
      const { width, height } = node.getBoundingClientRect()
      return { width, height, top: node.children[0]?.getBoundingClientRect().bottom, bottom: node.children[1]?.getBoundingClientRect().top }
    })
    const fraction = await box('.math-line mfrac')
    assert.ok(fraction.width > 60 && fraction.height > 30, `a fraction of ${fraction.width} × ${fraction.height}`)
    assert.ok(fraction.top < fraction.bottom, 'the numerator stands above the denominator')
    const parts = await turn.locator('.math-line munderover').first().evaluate(node => [...node.children].map(child => child.getBoundingClientRect().top))
    assert.ok(parts[2] < parts[0] && parts[0] < parts[1], `limits stand above and below their sum: ${parts}`)
    assert.equal(await turn.locator('math').count(), 8)
    assert.equal(await turn.locator('code.tex').count(), 1)
    assert.match(await turn.innerText(), /it costs \$5 and \$10, and/)
    assert.deepEqual(await turn.locator('li code').allTextContents(), ['\\(x\\)', '$y$'])
    assert.match(await turn.locator('td').last().innerText(), /^\$5/)
    await audit(page, 'formulas')
    await shot(page, 'formulas')
    await page.mouse.wheel(0, 4000)
    await shot(page, 'formulas-below')
    await page.setViewportSize({ width: 390, height: 844 })
    await fits(page)
    await audit(page, 'formulas')
    await shot(page, 'formulas-narrow')
  }))

  it('are copied as TeX', tab(async (page, { context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const turn = await answered(page)
    await turn.locator('mtable').last().waitFor()
    await turn.hover()
    await turn.getByRole('button', { name: 'Copy', exact: true }).last().click()
    const all = await page.evaluate(() => navigator.clipboard.readText())
    const html = await page.evaluate(async () => (await (await navigator.clipboard.read())[0].getType('text/html')).text())
    assert.ok(/The optimum is <span class="math"><math>/.test(html) && !/<button|class="(cite|flag)"/.test(html), html)
    assert.ok(all.includes(String.raw`The optimum is \(p^* = \frac{a}{b}\), it costs $5 and $10`), all)
    assert.ok(all.includes(String.raw`\[ x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a} \]`), all)
    // from within one formula to within the next
    await page.evaluate(() => {
      const [first, second] = document.querySelectorAll('.answer p math')
      getSelection().setBaseAndExtent(first.querySelector('mo').firstChild, 0, second.querySelector('mo').firstChild, 1)
    })
    await page.keyboard.press('ControlOrMeta+C')
    const part = await page.evaluate(() => navigator.clipboard.readText())
    assert.ok(part.startsWith(String.raw`\(p^* = \frac{a}{b}\), it costs`) && part.endsWith(String.raw`{2a} \]`), part)
  }))

  it('are rendered in a streaming answer, within a sentence', tab(async page => {
    const turn = await answered(page)
    says.text = String.raw`The optimum is \( p^* = \frac{a}{b} \), for all of us. ${'It stays so. '.repeat(60)}`
    await turn.getByRole('button', { name: 'Regenerate' }).click()
    await page.getByText('It stays so.').first().waitFor()
    await over(turn)
    const line = turn.locator('.answer .math')
    assert.equal(await line.count(), 1)
    const level = await line.evaluate(math => {
      const text = document.createRange()
      text.selectNodeContents(math.previousSibling)
      const [words, formula] = [text.getBoundingClientRect(), math.getBoundingClientRect()]
      return Math.abs((words.top + words.bottom) / 2 - (formula.top + formula.bottom) / 2)
    })
    assert.ok(level < 6, `the formula stands ${level} px beside its line`)
    says.text = answer
  }))

  it('with hostile content stay TeX, and the page works', tab(async page => {
    says.text = [
      String.raw`\(${String.raw`\mathllap{`.repeat(40)}x${'}'.repeat(40)}\)`, // Temml does not end
      String.raw`\(\begin{matrix}${'&'.repeat(1500)}${String.raw`\\`.repeat(1000)}\end{matrix}\)`,
      String.raw`\(\def\a{\a\a}\a\)`, String.raw`\(\href{javascript:alert(1)}{x}\)`, String.raw`\(\includegraphics{http://a.b/c.png}\)`,
      String.raw`\(${'{'.repeat(1900)}\)`, String.raw`\(\style{color:red}{x}\)`, `\\(${'x'.repeat(4001)}\\)`,
      String.raw`\(\label{menu} \rule{900em}{900em} \rlap{z} \hspace{-90em} \text{<img src=x onerror=alert(1)> "> onload="x"} \color{red} y\)`,
    ].join('\n\n')
    const turn = await answered(page)
    await turn.locator('math').first().waitFor()
    assert.equal(await turn.locator('.tex').count(), 8)
    assert.equal(await turn.locator('math').count(), 1)
    assert.equal(await turn.locator('.math :is([style], [id], [href], img)').count(), 0)
    const { width, height } = await turn.locator('.math').boundingBox()
    assert.ok(width < 700 && height < 250, `a formula of ${width} × ${height}`)
    await page.getByRole('button', { name: 'Copy', exact: true }).last().hover()
    says.text = answer
  }))

  it('are legible without JavaScript', tab(async page => {
    const turn = await answered(page)
    assert.equal(await turn.locator('.tex').count(), 9)
    assert.match(await turn.innerText(), /The optimum is \\\( p\^\* = \\frac\{a\}\{b\} \\\), it costs/)
    await fits(page)
    await shot(page, 'formulas-plain')
    await page.setViewportSize({ width: 390, height: 844 })
    await fits(page)
    await shot(page, 'formulas-plain')
  }, { javaScriptEnabled: false }))
})

const paper = String.raw`# Prices

The optimal price is \( p^* = \frac{a}{b} \), the ratio of the two costs. It falls when demand rises.

## Demand

The demand of a market is given by the following sum, which falls with the price:

\[
D(p) = \sum_{i=1}^{n} \frac{w_i}{p}
- c
\]

A basket costs $5 and a box costs $10, see \[1\].

| Symbol | Meaning |
|---|---|
| $w_i$ | the wealth of buyer $i$ |
`

describe('formulas of documents, offline', () => {
  let browser, server, documents
  before(async () => {
    browser = await launch()
    server = await footnote({ FOOTNOTE_MODEL: 'offline' })
    documents = await add(server, { 'prices.md': paper })
  }, { timeout: 60_000 })
  after(async () => {
    await browser?.close()
    await server?.stop()
  })
  const tab = (body, options) => () => inTab(browser, { baseURL: server.url, ...options }, body)

  it('are rendered in the document', tab(async page => {
    await page.goto(`/d/${documents['prices.md']}`)
    const document = page.locator('.document')
    await document.locator('mfrac').first().waitFor()
    const sum = await document.locator('.math-line munderover').evaluate(node => [...node.children].map(child => child.getBoundingClientRect().top))
    assert.ok(sum[2] < sum[0] && sum[0] < sum[1], `limits stand above and below their sum: ${sum}`)
    assert.equal(await document.locator('math').count(), 4)
    assert.match(await document.innerText(), /A basket costs \$5 and a box costs \$10, see \[1\]\./)
    await audit(page, 'formula-document')
    await shot(page, 'formula-document')
    await page.setViewportSize({ width: 390, height: 844 })
    await fits(page)
    await audit(page, 'formula-document')
  }))

  it('are rendered in quotes, which link to their formulas', tab(async page => {
    const asked = await (await fetch(`${server.url}/chat`, {
      method: 'POST', headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify({ message: 'What is the optimal price?' }),
    })).json()
    const run = await until(async () => { const run = await server.json(`/agent/runs/${asked.run_id}`); return run.status !== 'running' && run }, 'the run is over')
    assert.deepEqual(run.unsupported ?? [], [])
    await page.goto(`/c/${asked.session_id}`)
    const quote = page.getByTestId('turn').last().locator('blockquote').first()
    await quote.locator('mfrac').waitFor()
    assert.equal(await page.locator('.answer .flag').count(), 0)
    await page.locator('.source-quote mfrac').first().waitFor()
    await shot(page, 'formula-quote')
    await quote.locator('a.cite').first().click()
    const mark = page.locator('#panel mark.quote').first()
    await mark.locator('mfrac').waitFor()
    await shot(page, 'formula-source')
  }))
})
