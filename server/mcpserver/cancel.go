package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"sync"

	"github.com/footnote/footnote/server/httpio"
)

const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
	// from this revision on, closing the request cancels the call
	closingCancels = "2026-07-28"
	// maxLabel is the maximum length in bytes of a session's label and of a request id for a cancellable call.
	maxLabel = 200
)

// calls holds the calls that a cancellation message can end, by name. It is safe for concurrent use.
//
// A name is registered only while its call is under way. In another process a cancellation has no effect, which the
// protocol allows, since it may always be late.
type calls struct {
	mu   sync.Mutex
	stop map[string]context.CancelFunc
}

// begin returns a context that is cancelled with the call, and a function that removes the call. A call without a
// name can't be cancelled.
func (c *calls) begin(ctx context.Context, name string) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	if name == "" {
		return ctx, cancel
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stop == nil {
		c.stop = map[string]context.CancelFunc{}
	}
	if c.stop[name] != nil { // a duplicate name: cancellation would be ambiguous
		name = ""
		return ctx, cancel
	}
	c.stop[name] = cancel
	return ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.stop, name)
		cancel()
	}
}

// cancel cancels the call of that name, if any.
func (c *calls) cancel(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if stop := c.stop[name]; stop != nil {
		stop()
	}
}

// callName returns the name of a user's call: our label of its client, and the client's id of the call. It is empty
// if either is missing, since two clients often use the same ids.
//
// The user is a part of it, so a user can't cancel another user's call.
func callName(c httpio.Context, id json.RawMessage) string {
	label := c.Request().Header.Get(sessionHeader)
	if label == "" || len(id) == 0 || len(label) > maxLabel || len(id) > maxLabel {
		return ""
	}
	return httpio.Scope(c).User + "\n" + label + "\n" + string(id)
}

// readEnvelope returns the name of a call, and handles a cancellation message. An initialising client gets a label,
// which it sends with all later requests; the server stores nothing.
//
// It must be called once per message, before the library reads it.
func (h *Handlers) readEnvelope(c httpio.Context, body []byte) (call string) {
	var message struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if json.Unmarshal(body, &message) != nil { // a batch or invalid: the protocol's library reports it
		return ""
	}
	switch message.Method {
	case "initialize":
		c.Response().Header().Set(sessionHeader, rand.Text())
	case "tools/call":
		return callName(c, message.ID)
	case "notifications/cancelled":
		var cancelled struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(message.Params, &cancelled) == nil {
			h.calls.cancel(callName(c, cancelled.RequestID))
		}
	}
	return ""
}

// endsWithRequest reports whether closing a request cancels its call. Revisions are dates and compared as text. A
// client that sends none counts as an older one.
func endsWithRequest(r *http.Request) bool { return r.Header.Get(versionHeader) >= closingCancels }
