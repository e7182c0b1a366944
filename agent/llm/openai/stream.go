package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"unicode/utf8"

	"github.com/openai/openai-go/v3/option"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/httpllm"
	"github.com/footnote/footnote/text/sse"
)

// maxLessons is the maximum number of tries of a request whose fields the server refuses. Each try learns at most
// one field.
const maxLessons = 4

// attemptRequest sends the request, and retries it without a field that the server refuses.
func (m *Model) attemptRequest(
	ctx context.Context, req llm.Request, yield func(llm.Part, error) bool,
) (yielded bool, err *llm.Error) {
	for range maxLessons {
		known := m.learnt.load()
		yielded, err = m.streamOnce(ctx, req, known, yield)
		if err == nil || yielded {
			break
		}
		lesson := known.correctionFor(err, req)
		if lesson == nil {
			break
		}
		m.learnt.learn(lesson)
	}
	return yielded, err
}

// streamOnce sends a request and yields the parts of its reply. yielded reports whether any part was yielded: after
// that there must be no retry. The SDK's client sends and authenticates; the body is parsed here from http.Response,
// not by the SDK's decoder (docs/decisions/model-servers.md). llama.cpp is identified by a header: later requests
// ask it for the prompt progress.
func (m *Model) streamOnce(
	ctx context.Context, req llm.Request, known serverFeatures, yield func(llm.Part, error) bool,
) (yielded bool, failed *llm.Error) {
	ctx, dog := httpllm.Watch(ctx, m.patience)
	defer dog.Stop()
	body, err := m.requestBody(req, known)
	if err != nil {
		return false, &llm.Error{Kind: llm.KindInvalid, Message: "The request to the model could not be " +
			"created.", Err: err}
	}
	var res *http.Response
	err = m.post(ctx, "chat/completions", body, &res, option.WithHeader("Accept", "text/event-stream"))
	if err != nil {
		return false, m.server.Transport(ctx, err)
	}
	defer res.Body.Close()
	if !known.tellsReading && res.Header.Get("Server") == "llama.cpp" {
		m.learnt.learn(func(now *serverFeatures) { now.tellsReading = true })
	}
	dog.Body = res.Body
	r := &reply{m: m, req: req, known: known, yield: yield, dog: dog, events: newEvents(dog)}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "application/json" ||
		kind == "text/html" {
		failed = r.readDocument(ctx, kind, res.Header)
	} else {
		failed = r.readEvents(ctx)
	}
	return r.yielded, failed
}

// readDocument parses a document instead of a stream: a complete reply of a server that ignores "stream", or an
// error.
func (r *reply) readDocument(ctx context.Context, kind string, header http.Header) *llm.Error {
	body, err := io.ReadAll(io.LimitReader(r.dog, maxEvent))
	if err != nil {
		return r.m.server.Transport(ctx, err)
	}
	if kind != "application/json" {
		return r.m.noStream(ctx, kind, body)
	}
	if message, code, _ := httpllm.ReadFault(body); message != "" || code != "" {
		return r.m.server.Classify(0, body, header)
	}
	if c, ok := r.parser.parseEvent(body); !ok || c.choices == 0 || !json.Valid(body) {
		return r.m.noStream(ctx, kind, body)
	}
	if err := r.handleEvent(body, false); err != nil {
		err.Shown = r.text
		return err
	}
	r.ended = true
	return r.endReply(ctx)
}

// noStream returns the error for a response that is not a stream, mostly because of a wrong URL. The beginning of
// the response is logged, with the key redacted.
func (m *Model) noStream(ctx context.Context, kind string, begin []byte) *llm.Error {
	m.log.WarnContext(ctx, "the model server returned no event stream", "content_type", kind, "begin", m.server.Redact(
		httpllm.Clip(string(begin), 200),
	))
	return &llm.Error{
		Kind:    llm.KindProtocol,
		Message: "The model server sent an invalid response. Check OPENAI_BASE_URL: it usually ends with /v1.",
	}
}

// maxEvent is the maximum size of one event of a stream, in bytes.
const maxEvent = 8 << 20

// doneMark is the data of the event that ends a stream.
const doneMark = "[DONE]"

// newEvents returns a reader of a stream's events.
func newEvents(r io.Reader) *sse.Reader {
	events := sse.NewReader(r, maxEvent)
	events.Last = doneMark
	return events
}

// reply converts the events of one stream to parts. ended and finish are the two proofs of a complete reply; either
// is enough. A separate usage is a proof only after a chunk of the reply.
type reply struct {
	m       *Model
	req     llm.Request
	known   serverFeatures // snapshot that the request was encoded with
	yield   func(llm.Part, error) bool
	dog     *httpllm.Watchdog
	events  *sse.Reader
	parser  chunkParser
	calls   callBuilder
	usage   usage
	first   []llm.Logprob // alternatives of the first token, if requested
	finish  string
	refused bool
	ended   bool // by [DONE], or by a separate usage
	sawAny  bool // a valid event was parsed
	text    bool // visible text was yielded
	yielded bool
	stopped bool   // the consumer stopped
	tail    []byte // an incomplete rune, which the next chunk continues
}

// readEvents reads the stream to its end: [DONE], a finish reason with a clean end, or the consumer's stop. A
// connection that breaks after a proof of the end is not an error.
func (r *reply) readEvents(ctx context.Context) *llm.Error {
	for {
		event, err := r.events.Next()
		if err != nil {
			if !errors.Is(err, io.EOF) && r.finish == "" && !r.ended {
				return r.classifyBreak(ctx, err)
			}
			break
		}
		if string(event.Data) == doneMark {
			r.ended, r.sawAny = true, true
			break
		}
		if err := r.handleEvent(event.Data, event.Name == "error"); err != nil {
			err.Shown = r.text
			return err
		}
		if r.stopped {
			return nil
		}
	}
	return r.endReply(ctx)
}

// classifyBreak classifies a read error before the reply's end.
func (r *reply) classifyBreak(ctx context.Context, err error) *llm.Error {
	e := r.m.server.Transport(ctx, err)
	if e.Kind == llm.KindUnreachable {
		e = &llm.Error{
			Kind: llm.KindIncomplete, Message: "The connection to the model was lost during its reply.",
			Err: e.Err,
		}
	}
	e.Shown = r.text
	return e
}

// handleEvent handles the data of one event. Data that is not a JSON object may be a keep-alive, an error as a
// string, or a protocol error, whose data is only logged. isError means that the event has the name error.
func (r *reply) handleEvent(data []byte, isError bool) *llm.Error {
	c, ok := r.parser.parseEvent(data)
	if !ok {
		switch data = bytes.TrimSpace(data); {
		case len(data) == 0, data[0] == ':', string(data) == "null":
			r.events.Skipped++
			return nil
		case data[0] == '"', isError:
			return r.m.server.Classify(0, data, nil)
		}
		return &llm.Error{Kind: llm.KindProtocol, Message: "The model server sent an invalid chunk.",
			Err: errors.New(r.m.server.Redact(httpllm.Clip(string(data), 200)))}
	}
	if c.fault == nil && isError {
		c.fault = data
	}
	if c.fault != nil {
		return r.m.server.Classify(0, c.fault, nil)
	}
	if string(c.finish) == "error" {
		return &llm.Error{
			Kind: llm.KindServer, Code: "error",
			Message: "The model server failed during its reply. Try again in a moment.",
		}
	}
	r.sawAny = true
	if c.usage.said {
		r.usage = c.usage
	}
	// Servers send the usage in a separate event, without choices, after the last chunk.
	alone := c.usage.said && len(c.content) == 0 && len(c.calls) == 0 && len(c.reasoning) == 0 && c.choices == 0
	r.ended = alone && (r.yielded || len(r.calls.open) > 0)
	return r.yieldPieces(c)
}

// yieldPieces yields the parts of a chunk, in the order reasoning, text, calls. Each part resets the watchdog. Calls
// are only collected here: endReply yields them when they are complete.
func (r *reply) yieldPieces(c *chunk) *llm.Error {
	if c.toRead > 0 && !r.yielded && !r.stopped { // not part of the reply: a retry is still possible
		r.stopped = !r.yield(llm.Reading(float64(c.read)/float64(c.toRead)), nil)
	}
	if len(c.reasoning) > 0 {
		r.dog.SawPiece()
		r.yieldPart(llm.Reasoning(c.reasoning))
	}
	if r.req.TopLogprobs > 0 && r.first == nil && len(c.logprobs) > 0 {
		r.first = readLogprobs(c.logprobs)
	}
	r.yieldText(c.content)
	if len(c.refusal) > 0 {
		r.refused = true
		r.yieldText(c.refusal)
	}
	for i := range c.calls {
		r.dog.SawPiece()
		if err := r.calls.addDelta(&c.calls[i]); err != nil {
			return &llm.Error{Kind: llm.KindProtocol, Message: "The model sent invalid tool calls.", Err: err}
		}
	}
	if len(c.finish) > 0 && r.finish == "" {
		r.finish = string(c.finish)
		r.dog.LimitRest(r.m.afterFinish())
	}
	return nil
}

// readLogprobs decodes the alternatives of the first token in a choice's "logprobs", nil if there are none.
func readLogprobs(raw []byte) []llm.Logprob {
	var said struct {
		Content []struct {
			llm.Logprob
			Top []llm.Logprob `json:"top_logprobs"`
		} `json:"content"`
	}
	if json.Unmarshal(raw, &said) != nil || len(said.Content) == 0 {
		return nil // some servers send null, or another format
	}
	first := said.Content[0]
	if len(first.Top) == 0 {
		return []llm.Logprob{first.Logprob}
	}
	return first.Top
}

// yieldText yields text, except an incomplete rune at its end. Servers that split at tokens also split runes, most
// often in emoji and in Chinese.
func (r *reply) yieldText(text []byte) {
	if len(text) == 0 {
		return
	}
	r.dog.SawPiece()
	if len(r.tail) > 0 {
		text = append(r.tail, text...)
		r.tail = nil
	}
	if n := cutRune(text); n > 0 {
		r.tail = bytes.Clone(text[len(text)-n:])
		text = text[:len(text)-n]
	}
	if len(text) > 0 {
		r.text = true
		r.yieldPart(llm.Text(text))
	}
}

// cutRune returns the number of bytes of an incomplete rune at the end of b, at most 3.
func cutRune(b []byte) int {
	for n := 1; n <= min(3, len(b)); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(b[len(b)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

// yieldPart yields a part, unless the consumer has stopped.
func (r *reply) yieldPart(p llm.Part) {
	if r.stopped {
		return
	}
	r.yielded = true
	r.stopped = !r.yield(p, nil)
}
