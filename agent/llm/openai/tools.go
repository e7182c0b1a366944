package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/httpllm"
)

// These limits bound memory; models make only a handful of calls in a turn.
const (
	maxCalls     = 128 // of one reply
	maxArguments = 1 << 20
	maxExtra     = 1 << 18 // bytes of llm.Call.Extra
)

// openCall is a tool call that is still being streamed.
type openCall struct {
	index     int
	hasIndex  bool
	id, name  string
	arguments []byte
	extra     json.RawMessage
	tooLong   bool
}

// callBuilder joins the chunks of a reply's tool calls. Servers disagree about indexes, ids and repeats. So a chunk
// is assigned to a call by its index, its id or, without either, its place in the stream.
type callBuilder struct {
	open []*openCall
}

// addDelta adds a chunk. It returns an error if the chunk matches no call, or there are too many calls.
func (b *callBuilder) addDelta(d *callDelta) error {
	call, err := b.callFor(d)
	if err != nil {
		return err
	}
	if call.id == "" {
		call.id = string(d.id)
	}
	if len(d.extra) > 0 && len(d.extra) <= maxExtra && json.Valid(d.extra) {
		call.extra = bytes.Clone(d.extra)
	}
	call.addName(string(d.name))
	call.addArguments(d.arguments)
	return nil
}

// callFor returns the call of a chunk, which may be a new one. A chunk without index, id and name belongs to the
// only call. If there are several, it is an error, since arguments that are appended to another call could run as a
// call that was never made.
func (b *callBuilder) callFor(d *callDelta) (*openCall, error) {
	call := b.findOpen(d)
	if call != nil && !call.startsAnother(d) {
		return call, nil
	}
	if call == nil && len(d.name) == 0 && len(d.id) == 0 && len(b.open) > 0 {
		if len(b.open) == 1 {
			return b.open[0], nil
		}
		return nil, fmt.Errorf(
			"a piece of a tool call with index %d belongs to none of the %d calls", d.index, len(b.open),
		)
	}
	if len(b.open) == maxCalls {
		return nil, fmt.Errorf("the reply has more than %d tool calls", maxCalls)
	}
	call = &openCall{index: d.index, hasIndex: d.hasIndex, id: string(d.id)}
	b.open = append(b.open, call)
	return call, nil
}

// findOpen returns the call that a chunk may continue: the last with its index, else the last with its id, else the
// last.
func (b *callBuilder) findOpen(d *callDelta) *openCall {
	for i := len(b.open) - 1; i >= 0 && d.hasIndex; i-- {
		if b.open[i].hasIndex && b.open[i].index == d.index {
			return b.open[i]
		}
	}
	for i := len(b.open) - 1; i >= 0 && len(d.id) > 0; i-- {
		if b.open[i].id == string(d.id) && (!d.hasIndex || len(d.name) == 0) {
			return b.open[i]
		}
	}
	if !d.hasIndex && len(d.id) == 0 && len(b.open) > 0 {
		return b.open[len(b.open)-1]
	}
	return nil
}

// startsAnother reports whether a chunk that refers to c starts a new call nevertheless. It must have a tool's name,
// and either another id or complete arguments before it. Some servers give every call the index 0, others repeat
// name and id with each chunk; complete arguments distinguish the two.
func (c *openCall) startsAnother(d *callDelta) bool {
	if len(d.name) == 0 {
		return false
	}
	if len(d.id) > 0 && c.id != "" && string(d.id) != c.id {
		return true
	}
	if len(d.id) > 0 && d.hasIndex && string(d.id) == c.id {
		return false
	}
	if !httpllm.IsObject(c.arguments) {
		return false
	}
	return string(d.name) != c.name || len(bytes.TrimSpace(d.arguments)) > 0 && !sameJSON(c.arguments, d.arguments)
}

// addName sets the name; a repeat is ignored. It truncates the name at “<|”, the start of special tokens that leak
// from a model's template. The limit of 256 bytes is far above the length of a name.
func (c *openCall) addName(name string) {
	name, _, _ = strings.Cut(name, "<|")
	if name == "" || name == c.name || len(c.name)+len(name) > 256 {
		return
	}
	if c.name == "" || len(c.arguments) == 0 {
		c.name += name
	}
}

// addArguments appends a chunk, unless it repeats the complete arguments.
func (c *openCall) addArguments(piece []byte) {
	if len(piece) == 0 {
		return
	}
	if len(c.arguments)+len(piece) > maxArguments {
		c.tooLong = true
		return
	}
	// A chunk that starts an object after a complete one is a repeat or a replacement.
	if start := bytes.TrimSpace(piece); len(start) > 0 && (start[0] == '{' || start[0] == '"') &&
		httpllm.IsObject(c.arguments) {
		if string(bytes.TrimSpace(c.arguments)) == "{}" {
			c.arguments = c.arguments[:0] // an empty object was a placeholder
		} else if sameJSON(c.arguments, piece) {
			return
		}
	}
	c.arguments = append(c.arguments, piece...)
}

// finishCalls returns the calls in order, each with a unique id that is not in taken. cut reports that the reply was
// cut off, so that none of them may run. Generated ids contain the turn, the call's place and a counter, so that
// equal replies get equal ids.
func (b *callBuilder) finishCalls(taken map[string]bool, turn int, cut bool) []llm.Call {
	out := make([]llm.Call, 0, len(b.open))
	for i, c := range b.open {
		call := llm.Call{ID: c.id, Name: strings.TrimSpace(c.name), Extra: c.extra}
		for n := 0; call.ID == "" || taken[call.ID]; n++ {
			call.ID = fmt.Sprintf("call_%d_%d_%d", turn, i, n)
		}
		taken[call.ID] = true
		call.Arguments, call.Malformed = httpllm.Arguments(c.arguments)
		switch {
		case cut:
			call.Malformed = "the reply was truncated at its token limit before the call was complete"
		case c.tooLong:
			call.Malformed = "the arguments are longer than 1 MiB"
		case call.Name == "":
			call.Malformed = "the call names no tool"
		}
		out = append(out, call)
	}
	return out
}

// sameJSON reports whether piece is the same object, plain or encoded as a string.
func sameJSON(object, piece []byte) bool {
	var inner string
	if json.Unmarshal(piece, &inner) == nil {
		piece = []byte(inner)
	}
	var a, b bytes.Buffer
	return json.Compact(&a, object) == nil && json.Compact(&b, piece) == nil && bytes.Equal(a.Bytes(), b.Bytes())
}
