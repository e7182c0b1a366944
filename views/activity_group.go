package views

import (
	"fmt"

	"footnote/chat"
	"footnote/english"
)

// nouns name calls of a tool that are counted.
var nouns = map[string]string{
	"search_documents": "search", "grep_documents": "search", "metadata_search": "search",
	"rerank_documents": "ranking",
	"retrieve":         "search", "retrieve_more": "search", "semantic_search": "search", "hybrid_search": "search",
	"retrieve_documentation": "search", "retrieve_book_content": "search",
	"calculate": "calculation", "cite_source": "quote check", "list_documents": "listing",
}

// groupActivity says what calls have in common that were made together, or one after the other.
func groupActivity(s *Step) activity {
	how := " in parallel"
	if s.Repeat {
		how = ""
	}
	n, tool := len(s.Children), s.Children[0].ToolName
	documents, opening := map[string]bool{}, true
	for _, c := range s.Children {
		if c.ToolName != tool {
			tool = ""
		}
		opening = opening && (c.ActionType == chat.ActionReading || c.ActionType == chat.ActionSummarising)
		documents[c.documentName(c.input())] = true
	}
	switch v := toolVerbs[tool]; {
	case opening && tool != "" && s.over():
		return activity{Verb: v.done, Object: times(n, len(documents)) + how}
	case opening && tool != "":
		return activity{Verb: v.doing, Object: times(n, len(documents)) + how}
	case nouns[tool] != "":
		return activity{Verb: english.Count(n, nouns[tool]) + how}
	case s.Repeat:
		return activity{Verb: english.Count(n, "call"), Object: "of " + tool}
	default:
		return activity{Verb: english.Count(n, "step") + how}
	}
}

// times counts readings: of as many documents, or of fewer.
func times(readings, documents int) string {
	if readings == documents {
		return english.Count(documents, "document")
	}
	return fmt.Sprintf("%s, %d times", english.Count(documents, "document"), readings)
}

// groupResult counts what failed in a group: its row shows no reasons.
func groupResult(s *Step) string {
	failed := 0
	for _, c := range s.Children {
		if c.Status == chat.StatusError {
			failed++
		}
	}
	if failed == 0 {
		return ""
	}
	return fmt.Sprintf("%d %s", failed, txtFailedWord)
}

// opens is the address of the passage that an open_document step shows, empty if it shows none.
func (s *Step) opens() string {
	if s.Capability != chat.CapabilityOpen || s.Status != chat.StatusComplete || len(s.output().Places) == 0 {
		return ""
	}
	return s.output().Places[0].URL
}
