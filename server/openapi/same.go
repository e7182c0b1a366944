package openapi

import (
	"fmt"
	"slices"
	"strings"
)

// sameFields lists equivalent fields with different names, since the interfaces of this API were specified
// separately. Each row has one meaning; its fields are written Component.field. GET /openapi.json names the others
// of a row at each field, in its description and as x-same-as.
//
// It is a separate list, since the types do not refer to each other. Other fields of one meaning have the same name.
func sameFields() [][]string {
	return [][]string{
		{"Question.message", "AgentQuestion.message", "AgentQuery.question", "SearchQuery.query"},
		{"AgentAnswer.response", "AgentResponse.answer", "GroundedResponse.answer"},
		{"AgentAnswer.citations", "AgentResponse.citations", "GroundedResponse.sources"},
		{"AgentAnswer.run_id", "AgentResponse.id", "GroundedResponse.run_id"},
		{"AgentAnswer.latency_ms", "AgentResponse.total_latency_ms"},
		{"Citation.quote", "QueryCitation.content_snippet", "GroundedSource.quote"},
		{"SearchQuery.top_k", "RunConfig.retrieval_top_k"},
		{"AgentAnswer.retrieval_mode", "GroundedResponse.retrieval_mode", "Trace.mode"},
	}
}

// nameSame adds the rows of sameFields to the components. It fails for an unknown field.
//
// It modifies the descriptions in place, so it runs once per Document.
func (doc *Document) nameSame() error {
	for _, row := range sameFields() {
		for _, name := range row {
			component, field, _ := strings.Cut(name, ".")
			schema := doc.Components.Schemas[component]
			if schema == nil || schema.Properties[field] == nil {
				return fmt.Errorf("%s is not described, and can't be the same as %s", name, row[0])
			}
			others := slices.DeleteFunc(slices.Clone(row), func(other string) bool { return other == name })
			// The description is for people, x-same-as for programs.
			p := schema.Properties[field]
			p.Description = strings.TrimSpace(p.Description + " The same as " + strings.Join(others, ", ") + ".")
			p.Extra = map[string]any{"x-same-as": others}
		}
	}
	return nil
}
