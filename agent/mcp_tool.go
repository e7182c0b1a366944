package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"footnote/chat"
	"footnote/corpus/text"
	"footnote/english"
	"footnote/llm"
	"footnote/mcp"
)

// outsideWait is how long a run that begins right after the server did waits for servers of tools that nobody has reached yet.
const outsideWait = 2 * time.Second

// outsideOutput is what a tool of another server came to. Its text is whatever that server says: data, like a document's.
type outsideOutput struct {
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Text      string          `json:"text"`
	Data      json.RawMessage `json:"data,omitempty"`
	Truncated bool            `json:"truncated,omitempty"`
}

func (o outsideOutput) clip(limit int) any {
	o.Text, o.Truncated = cutText(o.Text, limit/2), true
	if len(o.Data) > limit/4 {
		o.Data = nil
	}
	return o
}

// joined returns a set with the tools of other servers: all of them for a set that is open to them, else those that were named.
func (b toolbox) joined(ctx context.Context, s toolset) toolset {
	if b.mcp == nil || !s.open && len(s.outside) == 0 {
		return s
	}
	patience, cancel := context.WithTimeout(ctx, outsideWait)
	defer cancel()
	b.mcp.Settled(patience)
	s.tools, s.absent = slices.Clone(s.tools), slices.Clone(s.absent)
	there := b.mcp.Tools()
	for _, t := range there {
		if s.open || slices.Contains(s.outside, t.Name) {
			s.tools = append(s.tools, outsideTool(b.mcp, t))
		}
	}
	for _, name := range s.outside {
		if s.find(name) == nil {
			s.absent = append(s.absent, absence{name, "its server can't be reached at the moment, or has no such tool"})
		}
	}
	return s
}

func outsideTool(client *mcp.Client, t *mcp.Tool) *tool {
	name := t.Server + ": " + t.Remote
	return &tool{
		name: t.Name, action: chat.ActionExploring, bare: true, acts: true, verbatim: true, approve: t.Approve, timeout: t.Timeout, schema: resolved(t.Schema),
		spec:  llm.ToolSpec{Name: t.Name, Description: t.Description, Schema: t.Schema},
		doing: func(*desk, json.RawMessage) string { return "Calling " + text.Shorten(name, 120) },
		do: func(ctx context.Context, _ *desk, args json.RawMessage) (result, error) {
			got, err := client.Call(ctx, t, args)
			if err != nil {
				return result{}, err
			}
			if got.Failed {
				return refuse("%s failed: %s", name, cutText(got.Text, 4000))
			}
			out := outsideOutput{Server: t.Server, Tool: t.Remote, Text: got.Text, Data: got.Data, Truncated: got.Cut}
			return result{
				message: "Called " + text.Shorten(name, 120), summary: english.Count(len(got.Text)+len(got.Data), "byte"),
				output: func(numberer) any { return out },
			}, nil
		},
	}
}

// resolved is a foreign schema ready to check arguments with. One that is not understood here lets every object pass: its server checks
// anyway.
func resolved(raw json.RawMessage) *jsonschema.Resolved {
	for _, text := range []json.RawMessage{raw, json.RawMessage(`{"type":"object"}`)} {
		var schema jsonschema.Schema
		if json.Unmarshal(text, &schema) != nil {
			continue
		}
		if r, err := schema.Resolve(nil); err == nil {
			return r
		}
	}
	panic(fmt.Sprintf("agent: the empty schema does not resolve beside %s", raw))
}
