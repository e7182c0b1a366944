// A browser and a server for all tests of a suite, with the documents they ask about.
import { after, before, describe } from 'node:test'
import { inTab, launch } from './browser.mjs'
import { survey, warranty } from './fixtures.mjs'
import { add, footnote, modelServer } from './footnote.mjs'

/** Runs body once in offline mode and once with the scripted model. model: options of its server. */
export function inBothModes(model, options, body) {
  describe('offline', () => body(house(options), false))
  describe('with a model', () => body(house({ ...options, model }), true))
}

/**
 * Opens a house before the suite's tests and closes it after them. model: options of the model's server, none: offline mode.
 * empty: no documents; else warranty.md and survey.pdf are there, with their ids in documents.
 */
export function house({ model, empty = false, env = {} } = {}) {
  const at = {
    /** Runs a test in a tab of its own, which must stay without complaints. */
    tab: (body, options = {}) => () => {
      at.model?.release()
      return inTab(at.browser, { baseURL: at.server.url, ...options }, body)
    },
  }
  before(async () => {
    at.browser = await launch()
    if (model) at.model = await modelServer(model)
    at.server = await footnote({ ...at.model?.env, ...env })
    at.survey = await survey(at.browser)
    if (!empty) at.documents = await add(at.server, { 'warranty.md': warranty, 'survey.pdf': at.survey })
  }, { timeout: 90_000 })
  after(async () => {
    await at.browser?.close()
    await at.server?.stop()
    await at.model?.stop()
  })
  return at
}
