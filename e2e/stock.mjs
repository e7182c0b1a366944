// A small server of tools, as somebody else would run it: it speaks the Model Context Protocol on loopback and keeps what it was asked.
import { createServer } from 'node:http'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'

const inputSchema = { type: 'object', properties: { item: { type: 'string' }, count: { type: 'integer', minimum: 1 } }, required: ['item', 'count'], additionalProperties: false }
const tools = [
  { name: 'reserve', description: 'Reserves things in the store.', inputSchema },
  { name: 'order', description: 'Orders things that are not in the store.', inputSchema },
]

/** Two tools, reserve and order, that need a person's word. calls are those that came, as [name, arguments]. */
export async function stock() {
  const calls = []
  const listener = createServer(async (req, res) => {
    const server = new Server({ name: 'stock', version: '1' }, { capabilities: { tools: {} } })
    server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }))
    server.setRequestHandler(CallToolRequestSchema, ({ params: { name, arguments: input } }) => {
      calls.push([name, input])
      return { content: [{ type: 'text', text: `${name} ${input.count} ${input.item}: done.` }] }
    })
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true })
    res.on('close', () => transport.close())
    await server.connect(transport)
    await transport.handleRequest(req, res)
  })
  await new Promise(done => listener.listen(0, '127.0.0.1', done))
  return {
    calls,
    env: { FOOTNOTE_MCP_SERVERS: JSON.stringify({ stock: { url: `http://127.0.0.1:${listener.address().port}/` } }) },
    async stop() {
      listener.closeAllConnections()
      await new Promise(done => listener.close(done))
    },
  }
}
