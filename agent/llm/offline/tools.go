package offline

import (
	"slices"
	"strconv"
	"unicode/utf8"
)

// searchers find passages by a query and readers read one document; the first that is offered is used.
func searchers() []string {
	return []string{"search_documents", "hybrid_search", "retrieve", "semantic_search", "retrieve_documentation"}
}

// readers read one document; lookup has another name for the words that are looked for, see reading.
func readers() []string { return []string{"read_document", "lookup"} }

// isSearch reports whether a tool searches, the one for further pages of a search included.
func isSearch(tool string) bool {
	return tool == "retrieve_more" || slices.Contains(searchers(), tool)
}

// isReading reports whether a tool reads one document.
func isReading(tool string) bool { return slices.Contains(readers(), tool) }

// offered is the first of these tools that is offered; empty for none.
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

// rounds is how often was searched: searches that were made together are one attempt.
func (t turn) rounds() int {
	seen := map[int]bool{}
	for _, r := range t.searches() {
		seen[r.round] = true
	}
	return len(seen)
}

// lastRound returns the documents that the last attempt found. There has to be a search.
func (t turn) lastRound() []document {
	searches := t.searches()
	last := searches[len(searches)-1].round
	return turn{results: slices.DeleteFunc(searches, func(r result) bool { return r.round != last })}.found()
}

// search is a search for words.
func (t turn) search(query string) step {
	return step{t.offered(searchers()), map[string]any{"query": query}}
}

// readings is how many times documents were read: those that were read together are one time.
func (t turn) readings() int {
	seen := map[int]bool{}
	for _, r := range t.results {
		if isReading(r.tool) {
			seen[r.round] = true
		}
	}
	return len(seen)
}

// reading is a call that reads the parts of a document that bear on a query.
func (t turn) reading(doc, about string) step {
	tool, focus := t.offered(readers()), "focus_query"
	if tool == "lookup" {
		focus = "query"
	}
	return step{tool, map[string]any{"doc_id": doc, focus: about}}
}

// found is a passage that a search returns by itself, under any of the names that tools give to its parts.
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

// byDocument puts passages under their documents, documents by their best passage. Score and Similarity, and the like,
// are never both there, so they are added.
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

// add takes passages over that are not there yet.
func (d *document) add(passages []passage) {
	for _, p := range passages {
		if !slices.ContainsFunc(d.Passages, func(o passage) bool { return o.N == p.N }) {
			d.Passages = append(d.Passages, p)
		}
	}
}

// clip shortens a text to n bytes, between runes, without an ellipsis: it is a query, and not shown.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// why says in a sentence what the rules make calls for, which all have one reason. It is shown as the model's
// reasoning. It must say what the rules really did.
func why(t turn, calls []step) string {
	tool, n := calls[0].tool, len(calls)
	switch {
	case isSearch(tool) && t.rounds() == 0:
		return "Nothing was searched for this question yet: I look for its words."
	case isSearch(tool):
		return "What was found does not answer the question yet: I search again, in other words."
	case isReading(tool) && calls[0].input["page"] != nil:
		return "What is asked for may stand anywhere: I read the whole of what fits best."
	case isReading(tool) && n == 1 && t.rounds() == 0:
		return "The question is about this document: I read what it says."
	case isReading(tool) && n == 1:
		return "This document fits best: I read what stands around the words that were found."
	case isReading(tool):
		return "These " + strconv.Itoa(n) + " documents fit best: I read what stands around the words that were found."
	case tool == "calculate":
		return "All figures of the sum are known: I calculate it."
	case tool == queryTool:
		return "The question asks for something of many rows: I ask the table, which has them all."
	case tool == "get_document_summary" && n == 1:
		return "The question is about one document: its own sentences sum it up."
	case tool == "get_document_summary":
		return "A summary of the documents is asked for: each is summed up from its own sentences."
	}
	return "The question asks which documents there are: I look through the list of them."
}
