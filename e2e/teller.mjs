// A model that calls one tool and then says a text.
import { createServer } from 'node:http'

/** A model's server. It calls the tool for each question, and says text once the tool has answered, or when none is offered. */
export async function teller({ call, input, text }) {
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify({ object: 'list', data: [{ id: 'teller', object: 'model' }] }))
      return
    }
    let body = ''
    request.on('data', d => { body += d }).on('end', () => {
      const { messages, tools } = JSON.parse(body)
      const since = messages.slice(messages.findLastIndex(m => m.role === 'user'))
      const calls = tools?.some(t => t.function.name === call) && !since.some(m => m.role === 'tool')
      response.setHeader('Content-Type', 'text/event-stream')
      const send = (delta, reason = null) => response.write(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'teller', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`)
      if (calls) send({ role: 'assistant', tool_calls: [{ index: 0, id: `call${messages.length}`, type: 'function', function: { name: call, arguments: JSON.stringify(input) } }] })
      else send({ role: 'assistant', content: text })
      send({}, calls ? 'tool_calls' : 'stop')
      response.end('data: [DONE]\n\n')
    })
  })
  await new Promise(done => server.listen(0, '127.0.0.1', done))
  return { url: `http://127.0.0.1:${server.address().port}/v1`, stop: () => new Promise(done => server.close(done)) }
}
