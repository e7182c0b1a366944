// Documents that the tests ask about. The PDF is printed by Chromium, so its words lie where a real program puts them.

export const warranty = `# Slate warranty

## What is covered

The maker guarantees the slates of Highlands House for 30 years against splitting and delamination. The guarantee starts on the day of
practical completion, 14 June 2023.

## What is not covered

Damage by foot traffic is excluded. Lead flashings carry a separate guarantee of 12 years from the contractor, Alder & Sons.

## How to claim

Claims go to the maker in writing within 60 days of finding the damage, with photographs and the batch number of the pallet.
`

const surveyHTML = `<!doctype html><html lang="en"><title>Damp survey, March 2024</title>
<style>@page { size: A4; margin: 25mm } body { font: 12pt/1.5 serif } h1 { font-size: 22pt } h2 { font-size: 15pt } .next { break-before: page }</style>
<h1>Damp survey, March 2024</h1>
<h2>Background</h2>
<p>The roof of Highlands House was renewed between April and June 2023. This survey repeats the moisture readings that were taken before the works.</p>
<p>Readings were taken with a calibrated resistance meter at fourteen points on two floors, by the same surveyor as in October 2022.</p>
<h2 class="next">North gable</h2>
<p>The gable faces the prevailing rain. Five points were read again in March 2024 after a week of dry weather.</p>
<p>Points G2 and G4 remain at 22 % and 24 %; the cause is open pointing in the gable and not the roof covering. The joints between the third and the sixth course below the coping are empty to a depth of 30 to 50 mm.</p>
<p>We recommend raking out and repointing with a hydraulic lime mortar before the winter. Cement mortar must not be used.</p>
</html>`

/** A damp survey of two pages as a PDF. */
export const survey = browser => print(browser, surveyHTML)

/** The second page of that survey as a picture, like a scan of 200 pixels to an inch, turned clockwise by so many degrees. */
export async function photo(browser, type, turn = 0) {
  const size = { width: 794, height: 1123 }
  const page = await browser.newPage({ viewport: size, deviceScaleFactor: 2 })
  await page.setContent(surveyHTML.replace('</style>', 'body { margin: 94px } h1, h1 ~ h2:not(.next), h1 ~ h2:not(.next) ~ p:not(.next ~ p) { display: none }</style>'))
  const upright = await page.screenshot({ type: 'png' })
  if (turn % 180) await page.setViewportSize({ width: size.height, height: size.width })
  await page.setContent(`<body style="margin: 0; overflow: hidden"><img style="position: absolute; width: 794px; left: 50%; top: 50%; transform: translate(-50%, -50%) rotate(${turn}deg)" src="data:image/png;base64,${upright.toString('base64')}">`)
  const picture = type === 'webp' ? await asWebP(page, await page.screenshot({ type: 'png' })) : await page.screenshot({ type })
  await page.close()
  return picture
}

/** A PNG as WebP. */
async function asWebP(page, png) {
  const data = await page.evaluate(async url => {
    const image = await createImageBitmap(await (await fetch(url)).blob())
    const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height })
    canvas.getContext('2d').drawImage(image, 0, 0)
    return canvas.toDataURL('image/webp', .9)
  }, `data:image/png;base64,${png.toString('base64')}`)
  return Buffer.from(data.split(',')[1], 'base64')
}

/** A PDF whose one page is that picture. */
export const scan = async (browser, turn) => print(browser, `<!doctype html><style>@page { size: A4; margin: 0 } body { margin: 0 } img { width: 100% }</style><img src="data:image/jpeg;base64,${(await photo(browser, 'jpeg', turn)).toString('base64')}">`)

/** A page with a drawing and no text, like a scan. */
export const drawing = browser => print(browser, '<!doctype html><svg width="300" height="300"><circle cx="150" cy="150" r="90"/></svg>')

async function print(browser, html) {
  const page = await browser.newPage()
  await page.setContent(html)
  const pdf = await page.pdf({ preferCSSPageSize: true })
  await page.close()
  return pdf
}
