package chat

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// importedTools are the tools of logs from before steps had a result, with their capabilities. The list is closed:
// later tools write their capability into the step.
var importedTools = map[string]Capability{
	"search_documents": CapabilitySearch, "grep_documents": CapabilitySearch, "retrieve": CapabilitySearch,
	"retrieve_more":   CapabilitySearch,
	"semantic_search": CapabilitySearch, "hybrid_search": CapabilitySearch, "retrieve_documentation": CapabilitySearch,
	"retrieve_book_content": CapabilitySearch, "web_search": CapabilitySearch,
	"read_document": CapabilityRead, "read_multiple_documents": CapabilityRead, "lookup": CapabilityRead,
	"list_documents": CapabilityList, "metadata_search": CapabilityList,
	"get_document_summary": CapabilitySummarise, "summarize": CapabilitySummarise,
	"calculate": CapabilityCalculate, "cite_source": CapabilityCite, "open_document": CapabilityOpen,
	"finish": CapabilityAnswer,
}

// importedLabels are the labels for tools from before steps had labels, so that old logs use the current words. The
// list is closed, too.
var importedLabels = map[Capability]Label{
	CapabilitySearch:    {"Searching for", "Searched for", "search", "query", LabelQuote},
	CapabilityRead:      {"Reading", "Read", "reading", "doc_id", LabelTitle},
	CapabilityList:      {"Listing documents", "Listed documents", "listing", "", ""},
	CapabilitySummarise: {"Summarizing", "Summarized", "summary", "doc_id", LabelTitle},
	CapabilityCalculate: {"Calculating", "Calculated", "calculation", "expression", LabelCode},
	CapabilityCite:      {"Checking the quote", "Checked the quote", "quote check", "cited_text", LabelQuote},
	CapabilityOpen:      {"Opening", "Opened", "", "doc_id", LabelTitle},
	CapabilityAnswer:    {"Finishing", "Finished", "", "", ""},
}

// oldHit has the field names of a hit in the tools' outputs. Each tool used its own names (title or page_title, text
// or chunk_text or content); fields that a tool lacks stay empty.
type oldHit struct {
	N          int      `json:"n"`
	DocID      string   `json:"doc_id"`
	ChunkID    string   `json:"chunk_id"`
	BlockID    string   `json:"block_id"`
	URL        string   `json:"url"`
	Title      string   `json:"title"`
	PageTitle  string   `json:"page_title"`
	Filename   string   `json:"filename"`
	Type       string   `json:"type"` // a MIME type
	Section    string   `json:"section"`
	Heading    string   `json:"section_heading"`
	Page       int      `json:"page"`
	Score      *float64 `json:"score"`
	Similarity *float64 `json:"similarity_score"`
	Snippet    string   `json:"snippet"`
	Text       string   `json:"text"`
	ChunkText  string   `json:"chunk_text"`
	Content    string   `json:"content"`
	Line       string   `json:"line"`
	Why        string   `json:"why"` // why a web page was not read
	Matches    [][2]int `json:"matches"`
	Passages   []oldHit `json:"passages"`
}

// oldInput has the tool arguments that describe the search.
type oldInput struct {
	Query      string          `json:"query"`
	Pattern    string          `json:"pattern"`
	FocusQuery string          `json:"focus_query"`
	DocID      string          `json:"doc_id"`
	DocIDs     []string        `json:"doc_ids"`
	Filters    json.RawMessage `json:"filters"`
	Page       int             `json:"page"`
	CitedText  string          `json:"cited_text"`
}

// importStep sets the label and the result of a step stored before steps had them: the label by capability, the
// result from the tool's output. Only this file knows tools by name and their output formats. It runs when a step is
// decoded; the log is not modified.
func importStep(s *Step) {
	if s.Capability == "" {
		s.Capability = importedTools[s.ToolName]
	}
	if label, ok := importedLabels[s.Capability]; ok && s.Label == nil {
		s.Label = &label
	}
	if s.Result != nil || len(s.ToolOutput) == 0 {
		return
	}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(s.ToolOutput, &fields) != nil {
		return // other values than objects were shown as empty
	}
	var in oldInput
	_ = json.Unmarshal(s.ToolInput, &in) // fields of other types stay empty
	o := oldOutput{fields: fields}
	o.readInto(s, in)
	s.Result = o.result.Bounded()
}

// oldOutput is a tool's output during its conversion to a result.
type oldOutput struct {
	fields map[string]json.RawMessage
	result StepResult
}

// readInto derives the result of an old step from its stored tool output. The order matters: hits are decoded first,
// since the text of some outputs repeats them. Facts are last, since they take the remaining fields.
func (o *oldOutput) readInto(s *Step, in oldInput) {
	r := &o.result
	var self oldHit
	_ = json.Unmarshal(s.ToolOutput, &self)
	r.Title = cmp.Or(self.Title, self.Filename)
	if r.Query = o.textField("query"); r.Query == "" && s.Status == StatusComplete {
		r.Query = cmp.Or(
			in.Query, in.Pattern, in.FocusQuery, in.DocID, strings.Join(in.DocIDs, ", "), compactJSON(in.Filters),
		)
	}
	r.Failure = o.textField("error")
	r.Notes = append(o.listField("notes"), o.listField("note")...)
	r.Outline = o.listField("outline")
	r.Formula, r.Value = o.textField("expression"), o.textField("result")
	r.Text = cmp.Or(strings.Join(o.listField("key_sentences"), "\n\n"), o.textField("summary"), o.textField("text"))
	o.decodeField("sub_queries", &r.Parts)
	o.addHits(self)
	if s.Status == StatusComplete {
		o.addReadings(s.ToolName, self, in)
	}
	switch {
	case s.Status != StatusComplete:
	case s.ToolName == "cite_source":
		o.decodeField("citation_number", &self.N)
		r.Quote = &QuotedWords{N: self.N, Words: in.CitedText}
	case s.ToolName == "open_document":
		r.Hits = []Hit{o.readHit(self, self)}
	}
	if s.ToolName == "retrieve_book_content" && len(r.Hits) > 0 {
		r.Text = "" // the hits have it
	}
	if len(r.Hits) == 0 {
		o.addFacts()
	}
}

// addHits decodes the lists of an output. Totals come after the lists, since a total includes results that were not
// listed.
func (o *oldOutput) addHits(self oldHit) {
	r := &o.result
	for _, name := range []string{"documents", "matches", "pages", "passages", "results"} {
		var list []oldHit
		if !o.decodeField(name, &list) || list == nil {
			continue
		}
		r.Found = len(list)
		for _, h := range list {
			o.addHit(h, self)
		}
	}
	var unread []oldHit
	o.decodeField("unread", &unread)
	for _, h := range unread {
		r.Hits = append(r.Hits, Hit{Title: h.Title, SourceURL: h.URL, Snippet: h.Snippet, Note: h.Why})
	}
	for _, name := range []string{"total_found", "total_results"} {
		o.decodeField(name, &r.Found)
	}
}

// addHit decodes a hit and its passages. The first passage shares the document's line; later ones become hits of
// their own, marked Sub.
func (o *oldOutput) addHit(h, parent oldHit) {
	if len(h.Passages) == 0 {
		o.result.Hits = append(o.result.Hits, o.readHit(h, parent))
		return
	}
	first := h.Passages[0]
	first.DocID, first.Title, first.Filename, first.Type, first.URL = h.DocID, h.Title, h.Filename, h.Type, h.URL
	first.Score, first.Similarity, first.Snippet, first.Matches = h.Score, h.Similarity, cmp.Or(
		h.Snippet, first.Text,
	), h.Matches
	first.BlockID = cmp.Or(h.BlockID, first.BlockID)
	o.result.Hits = append(o.result.Hits, o.readHit(first, parent))
	for _, p := range h.Passages[1:] {
		sub := o.readHit(p, h)
		sub.Sub = true
		o.result.Hits = append(o.result.Hits, sub)
	}
}

// readHit decodes one hit, whatever the tool's field names. Missing fields are inherited from the parent hit. A file
// name equal to the title is left out, and so is a MIME type that the file name's extension implies.
func (o *oldOutput) readHit(h, parent oldHit) Hit {
	out := Hit{
		N: h.N, DocumentID: cmp.Or(h.DocID, parent.DocID), ChunkID: h.ChunkID, BlockID: h.BlockID,
		Title:    cmp.Or(h.Title, h.PageTitle, h.Filename),
		Filename: h.Filename, MIME: h.Type, Page: h.Page, Section: cmp.Or(h.Section, h.Heading), Score: h.Score,
		Similarity: h.Similarity,
		Snippet:    cmp.Or(h.Snippet, h.Text, h.ChunkText, h.Line, h.Content), Matches: h.Matches,
	}
	if out.Filename == out.Title {
		out.Filename = ""
	}
	if path.Ext(cmp.Or(out.Filename, out.Title)) != "" {
		out.MIME = ""
	}
	if IsLink(h.URL) {
		out.URL = h.URL
	} else {
		out.SourceURL = h.URL
	}
	return out
}

// addReadings records the opened parts. Memory and coverage count them, so they are restored for old runs as well.
// Documents read together were read from their first page.
func (o *oldOutput) addReadings(tool string, self oldHit, in oldInput) {
	add := func(id string, page int) {
		if id != "" {
			o.result.Opened = append(o.result.Opened, OpenedPart{DocumentID: id, Part: strconv.Itoa(max(1, page))})
		}
	}
	var list []oldHit
	switch tool {
	case "read_document", "lookup", "get_document_summary":
		add(self.DocID, in.Page)
	case "read_multiple_documents":
		o.decodeField("documents", &list)
	case "web_search":
		o.decodeField("pages", &list)
	}
	for _, h := range list {
		add(h.DocID, 1)
	}
}

// addFacts keeps the remaining fields as facts, sorted by name for a stable display. The skipped names have a field
// of their own in a result, or are irrelevant to people.
func (o *oldOutput) addFacts() {
	for _, name := range slices.Sorted(maps.Keys(o.fields)) {
		switch name {
		case "documents", "matches", "pages", "passages", "results", "content", "text", "summary", "expression",
			"result", "error", "notes", "note", "outline",
			"sub_queries", "query", "key_sentences", "title", "filename", "page_count", "doc_id", "document_id", "url",
			"boxes", "chunk_id", "schema":
			continue
		}
		if value := o.textField(name); value != "" && value != "0" && value != "false" {
			o.result.Facts = append(o.result.Facts, Fact{name, value})
		}
	}
}

// decodeField decodes a field; it reports whether the field exists and has that type.
func (o *oldOutput) decodeField(name string, into any) bool {
	raw, ok := o.fields[name]
	return ok && json.Unmarshal(raw, into) == nil
}

// textField returns a field of any type as a text. Numbers keep their original form, since a float64 would change
// long ones.
func (o *oldOutput) textField(name string) string {
	var v any
	if !o.decodeField(name, &v) {
		return ""
	}
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []any:
		return strings.Join(o.listField(name), ", ")
	case map[string]any:
		return compactJSON(o.fields[name])
	case float64:
		return string(o.fields[name])
	default:
		return fmt.Sprint(v)
	}
}

// listField returns a field as texts; a single value becomes a list of one.
func (o *oldOutput) listField(name string) []string {
	var items []json.RawMessage
	if !o.decodeField(name, &items) {
		if text := o.fields[name]; len(text) > 0 && text[0] == '"' {
			return []string{o.textField(name)}
		}
		return nil
	}
	var out []string
	for _, item := range items {
		one := oldOutput{fields: map[string]json.RawMessage{"": item}}
		out = append(out, one.textField(""))
	}
	return out
}

// compactJSON returns JSON without white space, and "" for null.
func compactJSON(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil || v == nil {
		return ""
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}
