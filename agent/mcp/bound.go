package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
)

// maxMessage is how many bytes one message of a server may have. A model is shown maxText of a result; the rest is for
// pictures and sounds, which are only named. maxNested is how many objects and arrays it may have: the SDK makes some
// hundred bytes of each.
const (
	maxMessage = 4 << 20
	maxNested  = 200_000
)

// nested counts what may begin an object or an array. Brackets in texts count as well, so that no part of an event can
// hide others.
func nested(message []byte) int {
	return bytes.Count(message, []byte("{")) + bytes.Count(message, []byte("["))
}

// bounded takes at most maxMessage of each message of a server into memory. A call whose result is larger fails as if
// the server had refused it: the connection serves other calls too. Why: docs/decisions/limits.md.
//
// Without a bound, a server that a user has set up by mistake could fill this process's memory with one answer.
type bounded struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper. A plain answer is read as a whole, at most maxMessage of it; a stream is
// passed on event by event.
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

// makeRefusal returns the message that stands for one that is too large, or nil for a request that is no call. Its
// code, -32000, is the first of those that JSON-RPC 2.0 leaves to servers.
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

// events passes server-sent events on, each when it is whole. One that is too large is left out; on a call's stream
// another stands for it, which is the last.
type events struct {
	from    io.ReadCloser
	lines   *bufio.Reader
	instead []byte // empty: not a call's
	ready   []byte // to be passed on
	err     error  // behind ready
}

// newEvents passes the events of a body on. Closing it closes the body.
func newEvents(from io.ReadCloser, instead []byte) *events {
	return &events{from: from, lines: bufio.NewReader(from), instead: instead}
}

// Read implements io.Reader.
func (e *events) Read(p []byte) (int, error) {
	for len(e.ready) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		e.readEvent()
	}
	n := copy(p, e.ready)
	e.ready = e.ready[n:]
	return n, nil
}

// Close implements io.Closer.
func (e *events) Close() error { return e.from.Close() }

// readEvent reads up to the end of an event: an empty line. A line that is longer than the reader's buffer comes in
// parts; begins tells whether a part begins its line, as only an empty line that begins is the end of an event.
func (e *events) readEvent() {
	e.ready = nil
	begins, tooLarge, values := true, false, 0 // a line
	for {
		part, err := e.lines.ReadSlice('\n')
		values += nested(part)
		if tooLarge = tooLarge || len(e.ready)+len(part) > maxMessage || values > maxNested; tooLarge {
			e.ready = nil
		} else {
			e.ready = append(e.ready, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull): // the line goes on
			begins = false
			continue
		case err != nil:
			e.err = err
		case !begins || len(bytes.TrimRight(part, "\r\n")) > 0:
			begins = true
			continue
		}
		// The stream of a call ends with the message that stands for its result.
		if tooLarge && len(e.instead) > 0 {
			e.ready, e.err = e.instead, io.EOF
		}
		return
	}
}
