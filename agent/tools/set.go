// Package tools has the tools that a model calls: search, read, list, calculate, open. There is one implementation of
// each, and a table of the names by which the toolsets know them. A Registry builds the table once for all runs and
// groups it into toolsets; a Context is the state of one run. Tools write no events and call no model.
//
// The input of a call is the model's arguments, JSON that may be invalid. Its result is a Result, which builds an
// output for the model and API clients, and a chat.StepResult for the page, the log and resumed runs. table.go is the
// table, params.go has the parameters, tool.go defines a tool, set.go a toolset, context.go the state of a run.
// coerce_args.go normalises arguments, output.go truncates and encodes outputs. Every other file is an implementation,
// or a part of one, with its descriptions for the model beside it.
//
// A tool never writes to the log or assigns passage numbers while it runs, since the calls of a turn run
// concurrently. Numbers are assigned when outputs are made, in the order of the calls.
//
// To add a tool, add a row to agent/tools/table.go and a section with its name and its description for the model to
// agent/tools/*.md; a new implementation gets its own file, agent/tools/*.go. Requests to models, the setting
// agent.tools and the field enabled_tools then have it.
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

// DefaultToolset is the toolset of requests that name none.
const DefaultToolset = "cursor"

// Set is a toolset: tools with limits. Sets are shared by all runs, so a set is copied before it is changed.
//
// Absent lists tools that the set lacks because of the configuration, such as web_search without a provider. The
// model gets the reason.
type Set struct {
	Name               string
	Budget             chat.Budget
	MaxQuestions       int     // maximum number of questions in a session
	MaxTemperature     float64 // maximum temperature
	DefaultTemperature float64 // temperature of requests without one
	// Selection is the default for requests and settings that do not set it.
	Selection Selection
	// Reflective is the default of planning and of judging answers by the model, for questions that are not simple.
	Reflective bool
	// Thorough is the default of query decomposition and self-evaluation.
	Thorough  bool
	Tools     []*Tool
	Absent    []missingTool
	OpenToMCP bool                       // also has the tools of all MCP servers
	MCPTools  []string                   // names of MCP tools in the set
	known     map[string]chat.Capability // capabilities of all tools that have fallbacks, by name
}

// missingTool is a tool that a set lacks, with the reason.
type missingTool struct{ Name, Why string }

// Registry holds all toolsets by name, and all tools.
//
// It is built once at the start and immutable, so it is safe for concurrent use.
type Registry struct {
	Toolsets map[string]Set
	Tools    []*Tool
	absent   []missingTool // tools that can't work in this configuration, with the reason
	mcp      *mcp.Client
}

// Config holds the dependencies of tools.
type Config struct {
	Web        *web.Web    // nil: no web_search
	MCP        *mcp.Client // nil: no MCP tools
	ApproveWeb bool        // a user approves each web search
}

// NewRegistry builds all tools and toolsets; table.go assigns tools to toolsets. Each row below is a toolset with
// its defaults. All runs have 300 s and 200,000 tokens. Steps are the model's turns, and retrieval calls are calls of
// tools that search or read, in a run.
//
// cursor is the general set, whose search returns documents. react returns passages and decomposes questions.
// strategy selects its first tools by rules where it can. documentation answers from one collection with two tools.
// The budgets were not measured.
func NewRegistry(cfg Config) (Registry, error) {
	box := Registry{Toolsets: map[string]Set{}, mcp: cfg.MCP}
	known := map[string]chat.Capability{}
	budget := func(steps, calls int) chat.Budget {
		return chat.Budget{Steps: steps, RetrievalCalls: calls, Seconds: 300, Tokens: 200_000}
	}
	for _, set := range []Set{
		{Name: "cursor", Budget: budget(10, 10), OpenToMCP: true},
		{Name: "react", Budget: budget(10, 5), DefaultTemperature: 0.1, OpenToMCP: true, Thorough: true},
		{
			Name: "strategy", Budget: budget(3, 5), DefaultTemperature: 0.3, Reflective: true, Selection: SelectAuto,
		},
		{Name: "documentation", Budget: budget(10, 5), MaxQuestions: 20, MaxTemperature: 1},
	} {
		set.known, set.Selection = known, cmp.Or(set.Selection, SelectModel)
		set.MaxQuestions, set.MaxTemperature = cmp.Or(set.MaxQuestions, 200), cmp.Or(set.MaxTemperature, 2)
		box.Toolsets[set.Name] = set
	}
	for _, t := range rows(cfg) {
		if err := t.build(); err != nil {
			return Registry{}, err
		}
		if t.missing != "" {
			box.absent = append(box.absent, missingTool{t.Name, t.missing})
		} else {
			box.Tools = append(box.Tools, t)
			if !t.unique {
				known[t.Name] = t.Capability
			}
		}
		for name := range strings.FieldsSeq(t.sets) {
			set, ok := box.Toolsets[name]
			switch {
			case !ok:
				return Registry{}, fmt.Errorf("the toolset %[2]s of the tool %[1]s does not exist", t.Name, name)
			case t.missing == "":
				set.Tools = append(set.Tools, t)
			default:
				set.Absent = append(set.Absent, missingTool{t.Name, t.missing})
			}
			box.Toolsets[name] = set
		}
	}
	return box, nil
}

// Toolset returns a toolset by name. The text is a refusal with the existing names, empty if the toolset exists.
func (b Registry) Toolset(name string) (Set, string) {
	if set, ok := b.Toolsets[name]; ok {
		return set, ""
	}
	return Set{}, "There is no toolset “" + text.Shorten(name, 60) + "”. There are: " +
		strings.Join(slices.Sorted(maps.Keys(b.Toolsets)), ", ") + "."
}

// Find returns the tool with a name, in any toolset or none, or nil.
func (b Registry) Find(name string) *Tool { return Set{Tools: b.Tools}.Find(name) }

// Check validates the settings of the toolset's name and of its tools. Its error names the setting.
func (b Registry) Check(name string, tools []string) error {
	set, why := b.Toolset(cmp.Or(name, DefaultToolset))
	if why != "" {
		return chat.Invalid("agent.toolset: {1}", why)
	}
	if _, why = b.Pick(set, tools); why != "" {
		return chat.Invalid("agent.tools: {1}", why)
	}
	return nil
}

// Pick replaces a set's tools with the named ones, in the order of the names; without names the set is unchanged.
// The text is a refusal that contains the unknown name, empty if all are known. Names are deduplicated. The budget
// and the temperature stay those of the set. MCP tools are kept by name, because their server may be reached later:
// see WithMCPTools.
//
// A tool that can't work in this configuration is refused with the reason, not omitted.
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
			if i := slices.IndexFunc(b.absent, func(a missingTool) bool { return a.Name == name }); i >= 0 {
				return s, "The tool " + name + " can't be used: " + b.absent[i].Why + "."
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

// Find returns the tool with a name, or nil if the set lacks it.
func (s Set) Find(name string) *Tool {
	for _, t := range s.Tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Names returns the names of the set's tools, in order.
func (s Set) Names() []string {
	out := make([]string, len(s.Tools))
	for i, t := range s.Tools {
		out[i] = t.Name
	}
	return out
}

// MaxTopK returns the highest top_k that a tool of the set accepts, 0 if no tool has it.
func (s Set) MaxTopK() int {
	most := 0
	for _, t := range s.Tools {
		most = max(most, t.MaxTopK)
	}
	return most
}

// Available resolves names of tools to tools of the set. A tool that the set lacks is replaced by the set's tool of
// the same capability, and omitted if there is no such tool. Plans and rules name tools of the default toolset and
// resolve them for any other set: a plan with search_documents uses retrieve in another set. The order is that of
// the names, deduplicated.
func (s Set) Available(names []string) []string {
	out := []string{}
	for _, name := range names {
		if t := s.similarTool(name); t != nil && !slices.Contains(out, t.Name) {
			out = append(out, t.Name)
		}
	}
	return out
}

// similarTool returns a tool of the set, or else the best fallback for its capability, or nil. The lowest preference
// above 0 is best.
func (s Set) similarTool(name string) (best *Tool) {
	if t := s.Find(name); t != nil {
		return t
	}
	c := s.known[name]
	for _, t := range s.Tools {
		if c != "" && t.Capability == c && t.preference > 0 && (best == nil || t.preference < best.preference) {
			best = t
		}
	}
	return best
}

// SearchTool returns the set's tool that finds passages by a query, or nil.
func (s Set) SearchTool() *Tool { return s.similarTool("search_documents") }

// ReadTool returns the set's tool that reads one document, or nil.
func (s Set) ReadTool() *Tool { return s.similarTool("read_document") }

// AbsenceNote returns the lines of the prompt about absent tools and the reasons, empty if no tool is absent.
//
// Without them, models call tools that they know from elsewhere.
func (s Set) AbsenceNote() string {
	var b strings.Builder
	for _, a := range s.Absent {
		b.WriteString("\nThere is no tool " + a.Name + " here: " + a.Why + ".")
	}
	return b.String()
}

// Selection is the way a run's first tools are selected.
type Selection string

// The values of Selection. With model, the model selects. With rules, the program's rules do. With auto, rules
// select for simple questions, and a model's selection for a similar earlier question is reused.
const (
	SelectModel Selection = "model"
	SelectRules Selection = "rules"
	SelectAuto  Selection = "auto"
)

// Check validates the value and returns an error with CodeInvalid. Empty is valid and means the default.
func (s Selection) Check() error {
	switch s {
	case "", SelectModel, SelectRules, SelectAuto:
		return nil
	default:
		return chat.Invalid("selection must be model, rules or auto, not “%s”.", text.Shorten(string(s), 60))
	}
}
