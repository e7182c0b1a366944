package views

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"

	"footnote/chat"
	"footnote/english"
)

// activity is a step in words: verb and object. The tense follows the state.
type activity struct {
	Verb   string
	Object string
	Style  string // how the object is set: "quote", "code" or plain
}

// verbs of a tool: while it runs, when it is done, and the input field that names its object.
type verbs struct{ doing, done, field, style string }

var toolVerbs = map[string]verbs{
	"search_documents":        {"Searching for", "Searched for", "query", "quote"},
	"retrieve":                {"Searching for", "Searched for", "query", "quote"},
	"retrieve_more":           {"Searching on for", "Searched on for", "query", "quote"},
	"semantic_search":         {"Searching for", "Searched for", "query", "quote"},
	"hybrid_search":           {"Searching for", "Searched for", "query", "quote"},
	"retrieve_book_content":   {"Searching for", "Searched for", "query", "quote"},
	"retrieve_documentation":  {"Searching for", "Searched for", "query", "quote"},
	"lookup":                  {"Looking into", "Looked into", "", ""},
	"summarize":               {"Summarising", "Summarised", "", ""},
	"finish":                  {"Finishing", "Finished", "", ""},
	"grep_documents":          {"Looking for", "Looked for", "pattern", "code"},
	"calculate":               {"Calculating", "Calculated", "expression", "code"},
	"read_document":           {"Reading", "Read", "", ""},
	"read_multiple_documents": {"Reading", "Read", "", ""},
	"get_document_summary":    {"Summarising", "Summarised", "", ""},
	"open_document":           {"Opening", "Opened", "", ""},
	"rerank_documents":        {"Ranking by", "Ranked by", "query", "quote"},
	"metadata_search":         {"Filtering documents", "Filtered documents", "", ""},
	"list_documents":          {"Listing documents", "Listed documents", "", ""},
	"cite_source":             {"Checking the quote", "Checked the quote", "cited_text", "quote"},
}

func (s *Step) activity() activity {
	if s.Made || len(s.Children) > 1 && s.Step.Step == "parallel" {
		return groupActivity(s)
	}
	v, known := toolVerbs[s.ToolName]
	if !known {
		return s.plainActivity()
	}
	a := activity{Verb: v.doing, Style: v.style}
	if s.Status == chat.StatusComplete || s.Status == chat.StatusCancelled {
		a.Verb = v.done
	}
	input := s.input()
	switch {
	case v.field != "":
		a.Object = plainValue(input[v.field])
	case s.ToolName == "metadata_search" || s.ToolName == "list_documents" || s.ToolName == "finish":
	default:
		a.Object, a.Style = s.documentName(input), ""
	}
	if s.Status == chat.StatusError {
		a.Verb = "Failed: " + lowerFirst(v.doing)
	}
	if s.Status == chat.StatusCancelled {
		a.Verb = v.doing
	}
	return a
}

// plainActivity splits a phase's own words where the first is a verb.
func (s *Step) plainActivity() activity {
	words := s.Message
	if s.Title != "" {
		words = s.Title
	}
	if words == "" {
		words = strings.ReplaceAll(s.Step.Step, "_", " ")
	}
	if s.Status == chat.StatusError {
		return activity{Verb: "Failed:", Object: words}
	}
	verb, rest, _ := strings.Cut(words, " ")
	if verb == "Read" || strings.HasSuffix(verb, "ing") || strings.HasSuffix(verb, "ed") {
		return activity{Verb: verb, Object: rest}
	}
	return activity{Object: words}
}

// documentName is the title of the document a step works on: from its output, its message or its input.
func (s *Step) documentName(input map[string]any) string {
	if title := s.output().Title; title != "" {
		return title
	}
	for _, verb := range []string{
		"Reading ", "Read ", "Summarising ", "Summarised ", "Opening ", "Opened ", "Looking into ", "Looked into ",
	} {
		if rest, ok := strings.CutPrefix(s.Message, verb); ok {
			return rest
		}
	}
	for _, field := range []string{"doc_id", "document_id", "title", "citation_number"} {
		if name := plainValue(input[field]); name != "" {
			return name
		}
	}
	if s.Message != "" {
		return lowerFirst(s.Message)
	}
	return ""
}

// result is the short outcome at the end of the row.
func (s *Step) result() string {
	if s.Status == chat.StatusRunning || s.Status == chat.StatusPending || s.Status == chat.StatusError {
		return ""
	}
	if s.Status == chat.StatusCancelled {
		return statusWord[s.Status]
	}
	if len(s.Children) > 1 {
		return groupResult(s)
	}
	text := s.Summary
	if text == "" && toolVerbs[s.ToolName].field != "" {
		text = s.Message
	}
	if value := s.output().Value; value != "" {
		text = "= " + value
	}
	if s.Cached {
		if text != "" {
			text += ", "
		}
		text += txtFromMemory
	}
	return text
}

// note is the reason of a failure, under the row.
func (s *Step) note() string {
	if s.Status != chat.StatusError {
		return ""
	}
	if s.Error != nil && s.Error.Message != "" {
		return strings.TrimSpace(s.Error.Message + " " + s.Summary)
	}
	if why := s.output().Failure; why != "" {
		return why
	}
	return s.Summary
}

// present is what the header says while the step runs.
func (s *Step) present() string {
	if s.Message != "" {
		return s.Message
	}
	a := s.activity()
	return strings.TrimSpace(a.Verb + " " + a.Object)
}

func (s *Step) input() map[string]any {
	var in map[string]any
	if json.Unmarshal(s.ToolInput, &in) != nil {
		return nil
	}
	return in
}

// pair is one field of a step's input.
type pair struct{ Key, Value string }

// facts are the details of a phase: it has no input and output.
func (s *Step) facts() []pair {
	if len(s.output().Todo) > 0 {
		return nil
	}
	return pairs(s.Details)
}

// inputs returns the input's fields, the query first, then by name.
func (s *Step) inputs() []pair { return pairs(s.input()) }

func pairs(fields map[string]any) []pair {
	pairs := make([]pair, 0, len(fields))
	for key, value := range fields {
		if text := plainValue(value); text != "" {
			pairs = append(pairs, pair{key, text})
		}
	}
	first := func(key string) bool {
		return key == "query" || key == "doc_id" || key == "expression" || key == "pattern"
	}
	sort.Slice(pairs, func(i, j int) bool {
		if a, b := first(pairs[i].Key), first(pairs[j].Key); a != b {
			return a
		}
		return pairs[i].Key < pairs[j].Key
	})
	return pairs
}

func plainValue(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		parts := make([]string, 0, len(v))
		for _, item := range v {
			parts = append(parts, plainValue(item))
		}
		return strings.Join(parts, ", ")
	case map[string]any:
		b, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(b)
	default:
		return fmt.Sprint(v)
	}
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

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
