// Package tools is what a model can do: search, read, list, calculate, open. Each tool is one file with the text for
// the model beside it, and is declared with the Go type of its arguments. A Registry builds them once for all runs and
// groups them into toolsets; a Context is what the calls of one run work on. Tools write no events and call no model.
//
// What comes in are a model's arguments, as JSON that may be wrong in every way; what goes out is a Result, which makes
// an output for the model and programs, and a chat.StepResult for the page, the log and recovery. tool.go says what a
// tool is, table.go which toolsets have it, set.go what a toolset is, context.go what they work on; coerce_args.go
// mends arguments, clip.go and encode.go bound and write outputs, step_result.go and shown_passage.go are shared by
// outputs. Every other file is a tool, or a part of one. A tool never writes to the log and never gives out numbers
// while it runs: calls of a turn run at the same time, and numbers are given when outputs are made, in the order of the
// calls.
//
// To add a tool, add its row with its toolsets to agent/tools/table.go and write the tool, agent/tools/*.go, and what
// the model is told of it, agent/tools/*.md. Requests to models, the setting agent.tools and the field enabled_tools
// then have it.
package tools

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/footnote/footnote/agent/mcp"
	"github.com/footnote/footnote/agent/web"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

// DefaultToolset is the one that a request without a toolset gets.
const DefaultToolset = "cursor"

// Set is a set of tools with the limits they are made for. It is copied before it is changed: sets are shared by all
// runs.
//
// Absent names tools that the set would have if the program were set up for them, such as web_search without a
// provider; the model is told why.
type Set struct {
	Name               string
	Budget             chat.Budget
	MaxQuestions       int     // questions of a session
	MaxTemperature     float64 // the highest temperature
	DefaultTemperature float64 // the temperature of requests without one
	// Selection is who chooses the first tools, unless a request or the settings say it.
	Selection Selection
	// Reflective: the model plans questions that are not simple and judges its answers, unless a request says
	// otherwise.
	Reflective bool
	// Thorough: query decomposition and self-evaluation are on, unless a request says otherwise.
	Thorough  bool
	Tools     []*Tool
	Absent    []absence
	OpenToMCP bool                       // has the tools of other servers too
	MCPTools  []string                   // of those, the ones that were named
	known     map[string]chat.Capability // of all tools that others may stand in for, by name
}

// absence is a tool that a set should have and why it has not.
type absence struct{ Name, Why string }

// Registry is every toolset by name, and every tool.
//
// It is made once at the start and is not changed, so all runs may read it.
type Registry struct {
	Toolsets map[string]Set
	Tools    []*Tool
	absent   []absence // known tools that can't work as the program is set up: left out of what is offered
	mcp      *mcp.Client
}

// Config is what tools need beside the documents.
type Config struct {
	Web        *web.Web    // nil: there is no web_search
	MCP        *mcp.Client // nil: there are no tools of other servers
	ApproveWeb bool        // a person allows each search of the web
}

// NewRegistry builds every toolset, and gives each the tools that table.go says. This is the table of defaults: each
// row is a toolset with its budget. The columns are steps (turns of the model) and calls (of tools that search or read)
// that a run may use, questions of a conversation, the highest temperature, and the usual one. All runs have 300 s and
// 200,000 tokens.
//
// cursor is the general set, with documents as results; react has passages and decomposes questions (Thorough);
// strategy chooses its first tools by rules where it can; documentation answers from one collection with two tools.
// The budgets are choices.
func NewRegistry(cfg Config) (Registry, error) {
	box := Registry{Toolsets: map[string]Set{}, mcp: cfg.MCP}
	known := map[string]chat.Capability{}
	for _, row := range []struct {
		name                string
		steps, calls, turns int
		warm, usual         float64
	}{
		{"cursor", 10, 10, 200, 2, 0},
		{"react", 10, 5, 200, 2, 0.1},
		{"strategy", 3, 5, 200, 2, 0.3},
		{"documentation", 10, 5, 20, 1, 0},
	} {
		set := Set{
			Name: row.name, known: known, Selection: SelectModel, MaxQuestions: row.turns, MaxTemperature: row.warm,
			DefaultTemperature: row.usual,
			Budget:             chat.Budget{Steps: row.steps, RetrievalCalls: row.calls, Seconds: 300, Tokens: 200_000},
		}
		if row.name == "strategy" {
			set.Selection, set.Reflective = SelectAuto, true
		}
		set.Thorough = row.name == "react"
		set.OpenToMCP = row.name == "cursor" || row.name == "react"
		box.Toolsets[row.name] = set
	}
	for _, row := range tableOf(cfg) {
		t, err := row.build()
		if err != nil {
			return Registry{}, err
		}
		if t.missing == "" {
			box.Tools = append(box.Tools, t)
		} else {
			box.absent = append(box.absent, absence{t.Name, t.missing})
		}
		if t.missing == "" && !t.Unique {
			known[t.Name] = t.Capability
		}
		for name := range strings.FieldsSeq(row.sets) {
			set, ok := box.Toolsets[name]
			switch {
			case !ok:
				return Registry{}, fmt.Errorf("tool %s is to be in the toolset %s, which does not exist", t.Name, name)
			case t.missing == "":
				set.Tools = append(set.Tools, t)
			default:
				set.Absent = append(set.Absent, absence{t.Name, t.missing})
			}
			box.Toolsets[name] = set
		}
	}
	return box, nil
}

// Toolset returns a toolset. The text says which ones there are, if there is none of that name.
func (b Registry) Toolset(name string) (Set, string) {
	if set, ok := b.Toolsets[name]; ok {
		return set, ""
	}
	return Set{}, "There is no toolset “" + text.Shorten(name, 60) + "”. There are: " +
		strings.Join(slices.Sorted(maps.Keys(b.Toolsets)), ", ") + "."
}

// Find returns the tool of that name, of any toolset or none; nil for no such tool.
func (b Registry) Find(name string) *Tool { return Set{Tools: b.Tools}.Find(name) }

// Check names the setting that is wrong: the toolset's name, or the tools instead of its own.
func (b Registry) Check(name string, tools []string) error {
	set, why := b.Toolset(cmp.Or(name, DefaultToolset))
	if why != "" {
		return chat.Invalid("agent.toolset: %s", why)
	}
	if _, why = b.Pick(set, tools); why != "" {
		return chat.Invalid("agent.tools: %s", why)
	}
	return nil
}

// Pick gives a set the named tools instead of its own, from all there are, in the order in which they are named; none
// named leaves it whole. The text says which name is unknown. Tools of other servers are kept by name, because their
// server may be reached later: see WithMCPTools. The budget and the temperature stay the set's own. An empty text means
// that all names are known. A name twice counts once.
//
// A tool that can't work as the program is set up is refused with the reason, and not silently left out: whoever named
// it should know.
func (b Registry) Pick(s Set, names []string) (Set, string) {
	if len(names) == 0 {
		return s, ""
	}
	whole := Set{Tools: b.Tools}
	s.Tools, s.Absent, s.OpenToMCP = nil, nil, false
	for _, name := range names {
		t := whole.Find(name)
		if t == nil && b.mcp != nil && b.mcp.Knows(name) {
			s.MCPTools = append(s.MCPTools, name)
			continue
		}
		if t == nil {
			for _, a := range b.absent {
				if a.Name == name {
					return s, "The tool " + name + " can't be used: " + a.Why + "."
				}
			}
			return s, "There is no tool “" + text.Shorten(name, 60) + "”. There are: " +
				strings.Join(whole.Names(), ", ") + "."
		}
		if s.Find(name) == nil {
			s.Tools = append(s.Tools, t)
		}
	}
	return s, ""
}

// Find is the tool of that name; nil if the set has none.
func (s Set) Find(name string) *Tool {
	for _, t := range s.Tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// HasAll reports whether every one of some tools is the set's own.
func (s Set) HasAll(names []string) bool {
	for _, name := range names {
		if s.Find(name) == nil {
			return false
		}
	}
	return true
}

// HasSideEffects reports whether a call of a tool may change something elsewhere.
func (s Set) HasSideEffects(name string) bool {
	t := s.Find(name)
	return t != nil && t.HasSideEffects
}

// Names are those of its tools, in order.
func (s Set) Names() []string {
	out := make([]string, len(s.Tools))
	for i, t := range s.Tools {
		out[i] = t.Name
	}
	return out
}

// MaxTopK is the highest top_k that a tool of the set takes; 0 if none has one.
func (s Set) MaxTopK() int {
	most := 0
	for _, t := range s.Tools {
		most = max(most, t.MaxTopK)
	}
	return most
}

// Available returns the named tools of the set. For one that it does not have, the set's own tool of the same
// capability stands in, and what the set can't do is left out. It is how plans and rules name tools of the default
// toolset and get those of any other. The order is that of the names. A stand-in that was there already is not named
// twice.
//
// So a plan that says search_documents works with retrieve in another set.
func (s Set) Available(names []string) []string {
	out := []string{}
	for _, name := range names {
		t := s.Find(name)
		if t == nil {
			t = s.standIn(s.known[name])
		}
		if t != nil && !slices.Contains(out, t.Name) {
			out = append(out, t.Name)
		}
	}
	return out
}

// standIn is the tool of the set that does best what tools of a capability do; nil if none does. A lower Preference
// stands in first; 0 never does.
func (s Set) standIn(c chat.Capability) *Tool {
	var best *Tool
	for _, t := range s.Tools {
		if c != "" && t.Capability == c && t.Preference > 0 && (best == nil || t.Preference < best.Preference) {
			best = t
		}
	}
	return best
}

// SearchTool is the tool of the set that finds passages by a query; nil if it has none.
func (s Set) SearchTool() *Tool {
	for _, name := range s.Available([]string{"search_documents"}) {
		return s.Find(name)
	}
	return nil
}

// AbsenceNote tells the model what it can't do, and why.
//
// Without it, models call tools that they know from elsewhere and that are not there. It is empty when nothing is
// missing.
func (s Set) AbsenceNote() string {
	var b strings.Builder
	for _, a := range s.Absent {
		b.WriteString("\nThere is no tool " + a.Name + " here: " + a.Why + ".")
	}
	return b.String()
}
