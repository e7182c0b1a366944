package agent

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"footnote/chat"
	"footnote/corpus/text"
	"footnote/mcp"
	"footnote/web"
)

// DefaultToolset is the one that a request without a toolset gets.
const DefaultToolset = "cursor"

// toolset is a set of tools with the limits they are made for.
type toolset struct {
	name   string
	budget chat.Budget
	turns  int     // questions of a session
	warm   float64 // the highest temperature
	usual  float64 // the temperature of requests without one
	// selection is who chooses the first tools, unless a request or the settings say it.
	selection Selection
	// reflective: the model plans questions that are not simple and judges its answers, unless a request says otherwise.
	reflective bool
	// thorough: query decomposition and self-evaluation are on, unless a request says otherwise.
	thorough bool
	tools    []*tool
	absent   []absence
	open     bool     // has the tools of other servers too
	outside  []string // of those, the ones that were named
}

// absence is a tool that a set should have and why it has not.
type absence struct{ name, why string }

// toolbox is every toolset by name, and every tool.
type toolbox struct {
	sets   map[string]toolset
	tools  []*tool
	absent []absence // known tools that can't work as the program is set up: left out of what is offered
	mcp    *mcp.Client
}

// toolConfig is what tools need beside the documents.
type toolConfig struct {
	Web        *web.Web    // nil: there is no web_search
	MCP        *mcp.Client // nil: there are no tools of other servers
	ApproveWeb bool        // a person allows each search of the web
}

// newToolbox builds every toolset. This is the one table of defaults.
func newToolbox(cfg toolConfig) (toolbox, error) {
	box := toolbox{sets: map[string]toolset{}, mcp: cfg.MCP}
	built := map[string]*tool{}
	builders := []func() (*tool, error){
		searchDocuments, readDocument, readMultipleDocuments, documentSummary, rerankDocuments, metadataSearch, listDocuments, grepDocuments,
		calculate, citeSource, openDocument, retrieve, retrieveMore, lookup, summarize, finishAnswer, semanticSearch, hybridSearch, retrieveDocumentation, retrieveBookContent, generateAnswer,
	}
	if cfg.Web != nil {
		builders = append(builders, webSearch(cfg.Web, cfg.ApproveWeb))
	} else {
		box.absent = append(box.absent, absence{"web_search", "no web search provider is set up"})
	}
	for _, build := range builders {
		t, err := build()
		if err != nil {
			return toolbox{}, err
		}
		built[t.name] = t
		box.tools = append(box.tools, t)
	}
	for _, row := range []struct {
		name                string
		steps, calls, turns int
		warm, usual         float64
		tools               string
	}{
		{"cursor", 10, 10, 200, 2, 0, "search_documents read_document read_multiple_documents get_document_summary rerank_documents metadata_search list_documents grep_documents calculate cite_source open_document generate_answer"},
		{"react", 10, 5, 200, 2, 0.1, "retrieve retrieve_more calculate web_search lookup summarize finish"},
		{"strategy", 3, 5, 200, 2, 0.3, "semantic_search read_document metadata_search hybrid_search"},
		{"documentation", 10, 5, 20, 1, 0, "retrieve_documentation retrieve_book_content"},
	} {
		set := toolset{name: row.name, selection: SelectModel, turns: row.turns, warm: row.warm, usual: row.usual, budget: chat.Budget{Steps: row.steps, RetrievalCalls: row.calls, Seconds: 300, Tokens: 200_000}}
		for name := range strings.FieldsSeq(row.tools) {
			if t, ok := built[name]; ok {
				set.tools = append(set.tools, t)
			}
			for _, a := range box.absent {
				if a.name == name {
					set.absent = append(set.absent, a)
				}
			}
		}
		if row.name == "strategy" {
			set.selection, set.reflective = SelectAuto, true
		}
		set.thorough = row.name == "react"
		set.open = row.name == "cursor" || row.name == "react"
		box.sets[row.name] = set
	}
	return box, nil
}

// set returns a toolset. The text says which ones there are, if there is none of that name.
func (b toolbox) set(name string) (toolset, string) {
	if set, ok := b.sets[name]; ok {
		return set, ""
	}
	return toolset{}, "There is no toolset “" + text.Shorten(name, 60) + "”. There are: " + strings.Join(slices.Sorted(maps.Keys(b.sets)), ", ") + "."
}

// check names the setting that is wrong: the toolset's name, or the tools instead of its own.
func (b toolbox) check(name string, tools []string) error {
	set, why := b.set(cmp.Or(name, DefaultToolset))
	if why != "" {
		return chat.Invalid("agent.toolset: %s", why)
	}
	if _, why = b.pick(set, tools); why != "" {
		return chat.Invalid("agent.tools: %s", why)
	}
	return nil
}

// pick gives a set the named tools instead of its own, from all there are, in the order in which they are named; none named leaves it
// whole. The text says which name is unknown.
func (b toolbox) pick(s toolset, names []string) (toolset, string) {
	if len(names) == 0 {
		return s, ""
	}
	whole := toolset{tools: b.tools}
	s.tools, s.absent, s.open = nil, nil, false
	for _, name := range names {
		t := whole.find(name)
		if t == nil && b.mcp != nil && b.mcp.Knows(name) {
			s.outside = append(s.outside, name)
			continue
		}
		if t == nil {
			for _, a := range b.absent {
				if a.name == name {
					return s, "The tool " + name + " can't be used: " + a.why + "."
				}
			}
			return s, "There is no tool “" + text.Shorten(name, 60) + "”. There are: " + strings.Join(whole.names(), ", ") + "."
		}
		if s.find(name) == nil {
			s.tools = append(s.tools, t)
		}
	}
	return s, ""
}

func (s toolset) find(name string) *tool {
	for _, t := range s.tools {
		if t.name == name {
			return t
		}
	}
	return nil
}

// acts reports whether a call of a tool may change something elsewhere.
func (s toolset) acts(name string) bool {
	t := s.find(name)
	return t != nil && t.acts
}

func (s toolset) names() []string {
	out := make([]string, len(s.tools))
	for i, t := range s.tools {
		out[i] = t.name
	}
	return out
}

// mostResults is the highest top_k that a tool of the set takes; 0 if none has one.
func (s toolset) mostResults() int {
	most := 0
	for _, t := range s.tools {
		most = max(most, t.topK)
	}
	return most
}

// standIns are the tools that do what another does, in sets that do not have it.
var standIns = map[string][]string{
	"search_documents":        {"hybrid_search", "retrieve", "semantic_search", "retrieve_documentation", "retrieve_book_content"},
	"read_document":           {"lookup"},
	"read_multiple_documents": {"read_document", "lookup"},
	"get_document_summary":    {"summarize"},
	"list_documents":          {"metadata_search"},
}

// having returns the named tools, or those of the set that stand in for them; what the set can't do is left out.
func (s toolset) having(names []string) []string {
	out := []string{}
	for _, name := range names {
		for _, candidate := range append([]string{name}, standIns[name]...) {
			if s.find(candidate) != nil {
				if !slices.Contains(out, candidate) {
					out = append(out, candidate)
				}
				break
			}
		}
	}
	return out
}

// searcher is the tool of the set that finds passages by a query; nil if it has none.
func (s toolset) searcher() *tool {
	for _, name := range s.having([]string{"search_documents"}) {
		return s.find(name)
	}
	return nil
}

// lacking tells the model what it can't do, and why.
func (s toolset) lacking() string {
	var b strings.Builder
	for _, a := range s.absent {
		b.WriteString("\nThere is no tool " + a.name + " here: " + a.why + ".")
	}
	return b.String()
}
