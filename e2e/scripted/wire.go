package scripted

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/footnote/footnote/agent/llm"
)

// Fault is a fault of a server's reply. The zero value is no fault.
//
// These are real faults of model servers and networks: a refusal, a broken stream, a hang, or an invalid response.
// Several may be set; an error status takes precedence over all others except Slow, and Raw over the rest.
//
// A test that sets one checks the user-visible result of a provider's fault: the product must end the run with a
// reason, retry, or use another model, and must never show a partial answer as a complete one.
type Fault struct {
	Status     int           // an HTTP error instead of a reply
	Body       string        // of Status; empty: a plain error object
	RetryAfter string        // the Retry-After header
	Raw        []byte        // written instead of the stream
	RawType    string        // content type of Raw; empty: text/event-stream
	CutAfter   int           // break the connection after a number of chunks; -1: before the first
	StallAfter int           // send no more after a number of chunks until the client disconnects; -1: from the start
	Error      string        // an error event at the end instead of a finish reason
	NoDone     bool          // no [DONE]
	Slow       time.Duration // delay before the headers
}

// isNone ignores the fields that only modify another one: Body, RetryAfter and RawType.
func (f Fault) isNone() bool {
	return f.Status == 0 && f.Raw == nil && f.CutAfter == 0 && f.StallAfter == 0 && f.Error == "" && !f.NoDone &&
		f.Slow == 0
}

// flushBytes is the buffer size before a flush if chunks have no delay.
const flushBytes = 2 << 10

// streamReply streams a reply as server-sent events. It returns when the reply is sent or the client has
// disconnected. A broken connection is a panic with http.ErrAbortHandler.
func streamReply(w http.ResponseWriter, r *http.Request, reply Reply) {
	f := reply.Fault
	if waitFor(r.Context(), f.Slow) != nil {
		return
	}
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	switch {
	case f.Status != 0 && f.Body == "":
		writeRefusal(w, f.Status, "scripted_fault", "the script says so")
		return
	case f.Status != 0:
		w.WriteHeader(f.Status)
		_, _ = w.Write([]byte(f.Body)) // the client has disconnected
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	if f.RawType != "" {
		w.Header().Set("Content-Type", f.RawType)
	}
	if f.Raw != nil {
		_, _ = w.Write(f.Raw) // the client has disconnected
		return
	}
	s := &sender{w: w, r: r, control: http.NewResponseController(w), delay: reply.Delay}
	s.sendReply(reply) //nolint:contextcheck // s holds the request's context
}

// sender writes the events of one reply. gone means that the client has disconnected, or that no more is to be
// sent.
type sender struct {
	w       http.ResponseWriter
	r       *http.Request
	control *http.ResponseController
	delay   time.Duration
	buf     []byte
	pieces  int
	gone    bool
}

const (
	eventHead = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"scripted",` +
		`"choices":[{"index":0,"delta":`
	eventTail = `,"finish_reason":null}]}` + "\n\n"
)

// sendReply sends a whole reply: thought, text, calls, the finish reason, usage and [DONE].
func (s *sender) sendReply(reply Reply) {
	// No bytes are sent: the client gets a connection that ends before the response.
	if reply.Fault.CutAfter < 0 {
		panic(http.ErrAbortHandler)
	}
	if reply.Reasoning != "" {
		s.sendDelta(`{"reasoning_content":`, reply.Reasoning, `}`, reply.Fault)
	}
	for _, chunk := range reply.Chunks {
		s.sendDelta(`{"content":`, chunk, `}`, reply.Fault)
	}
	for i, call := range reply.Calls {
		s.sendCall(i, call, reply.Fault)
	}
	if s.gone {
		return
	}
	if reply.Fault.Error != "" {
		s.buf = append(s.buf, `data: {"error":{"message":`...)
		s.buf = appendString(s.buf, reply.Fault.Error)
		s.buf = append(s.buf, `,"code":500}}`+"\n\n"...)
		s.flushBuffer()
		return
	}
	s.buf = append(
		s.buf,
		`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},`+
			`"finish_reason":`...,
	)
	s.buf = appendString(s.buf, string(reply.Finish))
	s.buf = append(s.buf, "}]}\n\n"...)
	s.buf = append(
		s.buf, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":`...,
	)
	s.buf = strconv.AppendInt(s.buf, int64(reply.Usage.In), 10)
	s.buf = append(s.buf, `,"completion_tokens":`...)
	s.buf = strconv.AppendInt(s.buf, int64(reply.Usage.Out), 10)
	s.buf = append(s.buf, "}}\n\n"...)
	if !reply.Fault.NoDone {
		s.buf = append(s.buf, "data: [DONE]\n\n"...)
	}
	s.flushBuffer()
}

// sendCall sends a call's name, then its arguments in two chunks, split between characters.
func (s *sender) sendCall(i int, call llm.Call, f Fault) {
	// The first chunk has the id and the name, the others only the index of the call.
	at := `{"tool_calls":[{"index":` + strconv.Itoa(i) + `,`
	name := at + `"id":` + string(appendString(nil, call.ID)) + `,"type":"function","function":{"name":` +
		string(appendString(nil, call.Name)) + `,"arguments":`
	half := len(call.Arguments) / 2
	for half > 0 && call.Arguments[half] >= 0x80 {
		half--
	}
	s.sendDelta(name, "", `}}]}`, f)
	s.sendDelta(at+`"function":{"arguments":`, string(call.Arguments[:half]), `}}]}`, f)
	s.sendDelta(at+`"function":{"arguments":`, string(call.Arguments[half:]), `}}]}`, f)
}

// sendDelta sends one chunk, after the delay. The chunk is counted, and a fault at its number is injected here.
func (s *sender) sendDelta(before, text, after string, f Fault) {
	if s.gone {
		return
	}
	// A StallAfter of -1 stalls before the first chunk.
	if f.StallAfter != 0 && s.pieces >= f.StallAfter {
		s.flushBuffer()
		<-s.r.Context().Done()
		s.gone = true
		return
	}
	if waitFor(s.r.Context(), s.delay) != nil {
		s.gone = true
		return
	}
	s.buf = append(s.buf, eventHead...)
	s.buf = append(s.buf, before...)
	s.buf = appendString(s.buf, text)
	s.buf = append(s.buf, after...)
	s.buf = append(s.buf, eventTail...)
	s.pieces++
	if s.delay > 0 || len(s.buf) >= flushBytes {
		s.flushBuffer()
	}
	if f.CutAfter > 0 && s.pieces >= f.CutAfter {
		s.flushBuffer()
		panic(http.ErrAbortHandler)
	}
}

// flushBuffer sends the buffer. On an error the client has disconnected.
func (s *sender) flushBuffer() {
	if _, err := s.w.Write(s.buf); err != nil || s.control.Flush() != nil {
		s.gone = true
	}
	s.buf = s.buf[:0]
}

// appendString appends an encoded JSON string.
func appendString(b []byte, s string) []byte {
	quoted, err := json.Marshal(s)
	if err != nil {
		return append(b, `""`...)
	}
	return append(b, quoted...)
}
