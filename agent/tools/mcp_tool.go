package tools

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/mcp"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/locale"
)

// mcpWait is the timeout for MCP servers that were not yet reached, when a run begins right after the server's
// start.
const mcpWait = 2 * time.Second

// mcpOutput is the result of an MCP tool. Its text is untrusted data, like a document's.
type mcpOutput struct {
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Text      string          `json:"text"`
	Data      json.RawMessage `json:"data,omitempty"`
	Truncated bool            `json:"truncated,omitempty"`
}

// clipTo truncates the text, and drops the data if it is large, since truncated JSON can't be parsed.
func (o mcpOutput) clipTo(limit int) any {
	o.Text, o.Truncated = CutText(o.Text, limit/2), true
	if len(o.Data) > limit/4 {
		o.Data = nil
	}
	return o
}

// stepResult includes the server's name; data longer than a snippet is truncated.
func (o mcpOutput) stepResult() chat.StepResult {
	r := chat.StepResult{Text: o.Text}
	if len(o.Data) > 0 {
		r.Facts = []chat.Fact{{Name: "data", Value: CutText(string(o.Data), chat.MaxSnippet)}}
	}
	r.Facts = append(r.Facts, chat.Fact{Name: "server", Value: o.Server}, chat.Fact{Name: "tool", Value: o.Tool})
	if o.Truncated {
		r.Facts = append(r.Facts, chat.Fact{Name: "truncated", Value: "true"})
	}
	return r
}

// WithMCPTools returns a set with the tools of MCP servers: all of them if the set is open to them, else only those
// it names. It waits up to mcpWait for servers that were not yet reached. Sets are shared by all runs, so the set is
// copied before it is changed. It is called once when a run begins, so that a run's tools stay constant.
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
			s.Absent = append(s.Absent, missingTool{
				name, "its server can't be reached at the moment, or has no such tool",
			})
		}
	}
	return s
}

// mcpTool adapts a tool of an MCP server. It is marked as having side effects, its arguments are passed on
// unchanged, and its output has no passages. A failure that the tool reports becomes a refusal with at most 4,000
// characters of the server's text, which the model can correct. An error means that the server can't be reached.
// Timeout and approval are the server's settings.
func mcpTool(client *mcp.Client, t *mcp.Tool) *Tool {
	name := t.Server + ": " + t.Remote
	return &Tool{
		Name: t.Name, Action: chat.ActionExploring, withoutPassages: true, HasSideEffects: true, Verbatim: true,
		Approve: t.Approve, Timeout: t.Timeout, schema: resolveSchema(t.Schema),
		Spec:     llm.ToolSpec{Name: t.Name, Description: t.Description, Schema: t.Schema},
		describe: func(*Context, args) string { return "Calling " + text.Shorten(name, 120) },
		run: func(ctx context.Context, _ *Context, in args) (Result, error) {
			got, err := client.Call(ctx, t, in.raw)
			if err != nil {
				return Result{}, err
			}
			if got.Failed {
				return Result{}, refused("{1} failed: {2}", name, CutText(got.Text, 4000))
			}
			out := mcpOutput{Server: t.Server, Tool: t.Remote, Text: got.Text, Data: got.Data, Truncated: got.Cut}
			return Result{
				Message: locale.Say("Called {1}", text.Shorten(name, 120)),
				Summary: locale.Count(len(got.Text)+len(got.Data), "byte"),
				Output:  func(Numberer) (any, chat.StepResult) { return out, out.stepResult() },
			}, nil
		},
	}
}

// resolveSchema resolves an MCP tool's schema for validation. A schema that can't be parsed is replaced by one that
// accepts every object, since the server validates as well.
func resolveSchema(raw json.RawMessage) *jsonschema.Resolved {
	var s jsonschema.Schema
	if json.Unmarshal(raw, &s) == nil {
		if r, err := s.Resolve(nil); err == nil {
			return r
		}
	}
	r, _ := (&jsonschema.Schema{Type: "object"}).Resolve(nil) // it is valid
	return r
}
