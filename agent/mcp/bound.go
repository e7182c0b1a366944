package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/footnote/footnote/text/sse"
)

// maxMessage is the maximum size of one message of a server, in bytes. A model gets maxText of a result; the rest is
// for images and audio, which are only named. maxNested is the maximum number of objects and arrays, as the SDK
// allocates some hundred bytes for each.
const (
	maxMessage = 4 << 20
	maxNested  = 200_000
)

// nested counts the possible starts of objects and arrays in a message. Brackets in strings count as well, so it is
// an upper bound.
func nested(message []byte) int {
	return bytes.Count(message, []byte("{")) + bytes.Count(message, []byte("["))
}

// bounded limits the memory for each message of a server to maxMessage. A call with a larger result gets a JSON-RPC
// error, and the connection stays open for other calls: docs/decisions/limits.md.
//
// Without the limit, a misconfigured server could fill this process's memory with one response.
type bounded struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper. A plain response is buffered, up to maxMessage; a stream is passed on
// event by event.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	instead := makeRefusal(r)
	resp, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return resp, err
	}
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err == nil && kind == "text/event-stream" {
		if instead != nil {
			instead = fmt.Appendf(nil, "data: %s\n\n", instead)
		}
		resp.Body = newEvents(resp.Body, instead)
		return resp, nil
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxMessage+1))
	if err != nil {
		return nil, err
	}
	if len(body) > maxMessage || nested(body) > maxNested {
		body = instead
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return resp, nil
}

// makeRefusal returns the JSON-RPC error that replaces a message that is too large, or nil for a request that is not
// a call. Its code, -32000, is the first of those that JSON-RPC 2.0 reserves for servers.
func makeRefusal(r *http.Request) []byte {
	if r.GetBody == nil {
		return nil
	}
	body, err := r.GetBody()
	if err != nil {
		return nil
	}
	defer body.Close()
	var call struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.NewDecoder(body).Decode(&call); err != nil || len(call.ID) == 0 {
		return nil
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":`+
		`"The result is larger than %d MB, or has more values than are read. Ask for less of it."}}`,
		call.ID, maxMessage>>20)
}

// events passes server-sent events on, each after it is complete. An event that is too large is dropped; on a call's
// stream an error replaces it and ends the stream.
type events struct {
	io.Closer
	from    *sse.Reader
	instead []byte // error event; empty: not a call's stream
	ready   []byte // buffer for Read
	err     error  // returned after ready
}

// newEvents returns a reader of a body's events. Closing it closes the body.
func newEvents(from io.ReadCloser, instead []byte) *events {
	return &events{Closer: from, from: sse.NewReader(from, maxMessage), instead: instead}
}

// Read implements io.Reader.
func (e *events) Read(p []byte) (int, error) {
	for len(e.ready) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		event, err := e.from.Next()
		tooLarge := errors.Is(err, sse.ErrTooLong) || nested(event.Data) > maxNested
		switch {
		case tooLarge && len(e.instead) > 0:
			e.ready, e.err = e.instead, io.EOF
		case tooLarge:
		case err != nil:
			e.err = err
		default:
			e.ready = e.appendEvent(event)
		}
	}
	n := copy(p, e.ready)
	e.ready = e.ready[n:]
	return n, nil
}

// appendEvent encodes an event with all its fields, and a new reconnection delay.
func (e *events) appendEvent(event sse.Event) (out []byte) {
	if event.ID != "" {
		out = append(out, "id: "+event.ID+"\n"...)
	}
	if e.from.Retry != "" {
		out = append(out, "retry: "+e.from.Retry+"\n"...)
		e.from.Retry = ""
	}
	return sse.Append(out, 0, event.Name, event.Data)
}
