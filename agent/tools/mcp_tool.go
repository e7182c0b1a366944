package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/mcp"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
)

// mcpWait is how long a run that begins right after the server did waits for servers of tools that nobody has reached
// yet.
const mcpWait = 2 * time.Second

// mcpOutput is what a tool of another server came to. Its text is whatever that server says: data, like a document's.
type mcpOutput struct {
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Text      string          `json:"text"`
	Data      json.RawMessage `json:"data,omitempty"`
	Truncated bool            `json:"truncated,omitempty"`
}

// clipTo keeps the text, and the data only if it is small: cut JSON says nothing.
func (o mcpOutput) clipTo(limit int) any {
	o.Text, o.Truncated = CutText(o.Text, limit/2), true
	if len(o.Data) > limit/4 {
		o.Data = nil
	}
	return o
}

// stepResult tells people which server said what; data longer than a snippet is cut.
func (o mcpOutput) stepResult() chat.StepResult {
	r := chat.StepResult{
		Text: o.Text, Facts: []chat.Fact{{Name: "server", Value: o.Server}, {Name: "tool", Value: o.Tool}},
	}
	if len(o.Data) > 0 {
		r.Facts = append([]chat.Fact{{Name: "data", Value: CutText(string(o.Data), chat.MaxSnippet)}}, r.Facts...)
	}
	if o.Truncated {
		r.Facts = append(r.Facts, chat.Fact{Name: "truncated", Value: "true"})
	}
	return r
}

// WithMCPTools returns a set with the tools of other servers: all of them for a set that is open to them, else those
// that were named. It waits up to mcpWait for servers that were never reached. A set is copied before it is changed:
// sets are shared by all runs. It is called when a run begins, and never again in that run: the tools of a run don't
// change under a model.
func (b Registry) WithMCPTools(ctx context.Context, s Set) Set {
	if b.mcp == nil || !s.OpenToMCP && len(s.MCPTools) == 0 {
		return s
	}
	patience, cancel := context.WithTimeout(ctx, mcpWait)
	defer cancel()
	b.mcp.Settled(patience)
	s.Tools, s.Absent = slices.Clone(s.Tools), slices.Clone(s.Absent)
	there := b.mcp.Tools()
	for _, t := range there {
		if s.OpenToMCP || slices.Contains(s.MCPTools, t.Name) {
			s.Tools = append(s.Tools, mcpTool(b.mcp, t))
		}
	}
	for _, name := range s.MCPTools {
		if s.Find(name) == nil {
			s.Absent = append(s.Absent, absence{name, "its server can't be reached at the moment, or has no such tool"})
		}
	}
	return s
}

// mcpTool makes a tool of one of another server. It may do anything there: it counts as having side effects, its
// arguments go on as the model wrote them, and what it says is data that no passage stands behind. A refusal has at
// most 4,000 characters of what the server said. Timeout is the server's own setting. An error is one of reaching the
// server; what the tool itself says of its failure is a refusal that the model may mend.
func mcpTool(client *mcp.Client, t *mcp.Tool) *Tool {
	name := t.Server + ": " + t.Remote
	return &Tool{
		Name: t.Name, Action: chat.ActionExploring, WithoutPassages: true, HasSideEffects: true, Verbatim: true,
		Approve: t.Approve, Timeout: t.Timeout, Schema: resolveSchema(t.Schema),
		Spec:     llm.ToolSpec{Name: t.Name, Description: t.Description, Schema: t.Schema},
		Describe: func(*Context, json.RawMessage) string { return "Calling " + text.Shorten(name, 120) },
		Run: func(ctx context.Context, _ *Context, args json.RawMessage) (Result, error) {
			got, err := client.Call(ctx, t, args)
			if err != nil {
				return Result{}, err
			}
			if got.Failed {
				return refusedResult("%s failed: %s", name, CutText(got.Text, 4000))
			}
			out := mcpOutput{Server: t.Server, Tool: t.Remote, Text: got.Text, Data: got.Data, Truncated: got.Cut}
			return Result{
				Message: "Called " + text.Shorten(name, 120),
				Summary: english.Count(len(got.Text)+len(got.Data), "byte"),
				Output:  func(Numberer) (any, chat.StepResult) { return out, out.stepResult() },
			}, nil
		},
	}
}

// resolveSchema is a foreign schema ready to check arguments with. One that is not understood here lets every object
// pass: its server checks anyway.
func resolveSchema(raw json.RawMessage) *jsonschema.Resolved {
	for _, text := range []json.RawMessage{raw, json.RawMessage(`{"type":"object"}`)} {
		var schema jsonschema.Schema
		if json.Unmarshal(text, &schema) != nil {
			continue
		}
		if r, err := schema.Resolve(nil); err == nil {
			return r
		}
	}
	panic(fmt.Sprintf("tools: the empty schema does not resolve beside %s", raw))
}
