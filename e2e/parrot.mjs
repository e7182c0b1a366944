// A model whose answer is what a test wants it to be.
import { createServer } from 'node:http'

/** A model's server that always says what says.text holds, in pieces of says.size bytes, 500 if it is not given. */
export async function parrot(says) {
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify({ object: 'list', data: [{ id: 'parrot', object: 'model' }] }))
      return
    }
    request.resume().on('end', () => {
      response.setHeader('Content-Type', 'text/event-stream')
      const send = (delta, reason = null) => response.write(`data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'parrot', choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`)
      const size = says.size ?? 500
      for (let at = 0; at < says.text.length; at += size) send({ role: 'assistant', content: says.text.slice(at, at + size) })
      send({}, 'stop')
      response.end('data: [DONE]\n\n')
    })
  })
  await new Promise(done => server.listen(0, '127.0.0.1', done))
  return { url: `http://127.0.0.1:${server.address().port}/v1`, stop: () => new Promise(done => server.close(done)) }
}
