package agent

import (
	"slices"
	"strings"

	"footnote/chat"
)

// DefaultToolset is the one that a request without a toolset gets.
const DefaultToolset = "cursor"

// toolset is a set of tools with the budget they are made for.
type toolset struct {
	name   string
	budget chat.Budget
	tools  []*tool
}

// newToolsets builds every toolset. This is the one table of defaults.
func newToolsets() (map[string]toolset, error) {
	cursor, err := buildAll(
		searchDocuments, readDocument, readMultipleDocuments, documentSummary, rerankDocuments, metadataSearch,
		listDocuments, grepDocuments, calculate, citeSource, openDocument,
	)
	if err != nil {
		return nil, err
	}
	return map[string]toolset{
		"cursor": {name: "cursor", budget: chat.Budget{Steps: 10, RetrievalCalls: 10, Seconds: 300, Tokens: 200_000}, tools: cursor},
	}, nil
}

func buildAll(builders ...func() (*tool, error)) ([]*tool, error) {
	tools := make([]*tool, 0, len(builders))
	for _, build := range builders {
		t, err := build()
		if err != nil {
			return nil, err
		}
		tools = append(tools, t)
	}
	return tools, nil
}

// with narrows the set to the named tools; none named leaves it whole. The text says which name is unknown.
func (s toolset) with(names []string) (toolset, string) {
	if len(names) == 0 {
		return s, ""
	}
	for _, name := range names {
		if s.find(name) == nil {
			return s, "There is no tool “" + shorten(name, 60) + "” in the toolset " + s.name + ". It has: " + strings.Join(s.names(), ", ") + "."
		}
	}
	var kept []*tool
	for _, t := range s.tools {
		if slices.Contains(names, t.name) {
			kept = append(kept, t)
		}
	}
	s.tools = kept
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

func (s toolset) names() []string {
	out := make([]string, len(s.tools))
	for i, t := range s.tools {
		out[i] = t.name
	}
	return out
}
