package offline

import (
	"slices"
	"unicode/utf8"
)

// searchers are the tools that search passages by a query; the first that is offered is used.
func searchers() []string {
	return []string{"search_documents", "hybrid_search", "retrieve", "semantic_search", "retrieve_documentation"}
}

// readers are the tools that read one document; lookup has another name for the query, see reading.
func readers() []string { return []string{"read_document", "lookup"} }

// isSearch reports whether a tool searches, including the one for further results.
func isSearch(tool string) bool {
	return tool == "retrieve_more" || slices.Contains(searchers(), tool)
}

// isReading reports whether a tool reads one document.
func isReading(tool string) bool { return slices.Contains(readers(), tool) }

// offered returns the first of these tools that is offered, empty for none.
func (t turn) offered(names []string) string {
	for _, name := range names {
		if t.has(name) {
			return name
		}
	}
	return ""
}

// canSearch reports whether any tool that searches is offered.
func (t turn) canSearch() bool { return t.offered(searchers()) != "" }

// searches returns the results of all searches.
func (t turn) searches() []result {
	return slices.DeleteFunc(slices.Clone(t.results), func(r result) bool { return !isSearch(r.tool) })
}

// rounds returns the number of rounds of calls of such tools; calls of one turn are one round.
func (t turn) rounds(is func(tool string) bool) int {
	seen := map[int]bool{}
	for _, r := range t.results {
		if is(r.tool) {
			seen[r.round] = true
		}
	}
	return len(seen)
}

// lastRound returns the documents of the last round of searches. There must be a search.
func (t turn) lastRound() []document {
	searches := t.searches()
	last := searches[len(searches)-1].round
	return turn{results: slices.DeleteFunc(searches, func(r result) bool { return r.round != last })}.found()
}

// search returns a call that searches for a query.
func (t turn) search(query string) step {
	return step{t.offered(searchers()), map[string]any{"query": query}}
}

// reading returns a call that reads the parts of a document about a query.
func (t turn) reading(doc, about string) step {
	tool, focus := t.offered(readers()), "focus_query"
	if tool == "lookup" {
		focus = "query"
	}
	return step{tool, map[string]any{"doc_id": doc, focus: about}}
}

// found is a passage in a search result, with the field names of all search tools.
type found struct {
	N           int     `json:"n"`
	DocID       string  `json:"doc_id"`
	Filename    string  `json:"filename"`
	Title       string  `json:"title"`
	PageTitle   string  `json:"page_title"`
	Section     string  `json:"section"`
	SectionPath string  `json:"section_heading"`
	Page        int     `json:"page"`
	Content     string  `json:"content"`
	ChunkText   string  `json:"chunk_text"`
	Score       float64 `json:"score"`
	Similarity  float64 `json:"similarity_score"`
}

// byDocument groups passages by document, ordered by their best passage. Alternative fields, such as Score and
// Similarity, are never both set, so they are added.
func byDocument(passages []found) []document {
	var out []document
	at := map[string]int{}
	for _, f := range passages {
		key := f.DocID + "\x00" + f.PageTitle
		i, known := at[key]
		if !known {
			i = len(out)
			at[key] = i
			out = append(out, document{
				DocID: f.DocID, Filename: f.Filename, Title: f.Title + f.PageTitle, Score: f.Score + f.Similarity,
			})
		}
		out[i].Passages = append(out[i].Passages, passage{
			N: f.N, Page: f.Page, Section: f.Section + f.SectionPath, Text: f.Content + f.ChunkText,
		})
	}
	return out
}

// add appends passages, deduplicated by number.
func (d *document) add(passages []passage) {
	for _, p := range passages {
		if !slices.ContainsFunc(d.Passages, func(o passage) bool { return o.N == p.N }) {
			d.Passages = append(d.Passages, p)
		}
	}
}

// clip truncates a query to n bytes, at a rune boundary and without an ellipsis.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// why returns the reason for calls in one sentence, which is shown as the model's reasoning. It must be true of the
// rules.
func why(t turn, calls []step) string {
	tool, n := calls[0].tool, len(calls)
	switch {
	case isSearch(tool) && t.rounds(isSearch) == 0:
		return "No search yet for this question. Searching for its keywords."
	case isSearch(tool):
		return "The results don't answer the question yet. Searching again with other keywords."
	case isReading(tool) && calls[0].input["page"] != nil:
		return "The answer may be anywhere. Reading the best-matching text in full."
	case isReading(tool) && n == 1 && t.rounds(isSearch) == 0:
		return "The question is about this document. Reading it."
	case isReading(tool) && n == 1:
		return "This document is the best match. Reading the text around the keywords."
	case isReading(tool):
		return "These documents are the best matches. Reading the text around the keywords."
	case tool == "calculate":
		return "All values are known. Calculating the result."
	case tool == queryTool:
		return "The question covers many rows. Querying the whole table."
	case tool == "get_document_summary" && n == 1:
		return "The question is about one document. Extracting its key sentences."
	case tool == "get_document_summary":
		return "The question asks for a summary. Extracting each document's key sentences."
	}
	return "The question asks which documents there are. Listing them."
}
