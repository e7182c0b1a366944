package tools

import (
	"context"
	_ "embed"
	"slices"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/english"
)

//go:embed search_documents.md
var searchDocumentsDoc string

// searchDocumentsSchema counts documents, unlike top_k of the other searches, which counts passages.
const searchDocumentsSchema = `{
	"type": "object", "additionalProperties": false, "required": ["query"],
	"properties": {
		"query": {"type": "string", "minLength": 1, "maxLength": 1000,
			"description": "What to search for: keywords or a short question"},
		"max_results": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10,
			"description": "How many documents to return at most"}
	}
}`

// DefaultTopK is how many passages of one search are shown whole, unless the request says otherwise; further documents
// come with a snippet. It is a choice.
const DefaultTopK = 10

// searchDocumentsInput are the arguments of search_documents.
type searchDocumentsInput struct {
	Query      string `json:"query"`
	MaxResults int    `json:"max_results"`
}

// foundDocument is a document with the passages of it that are shown whole; Snippet stands in for them where none is.
//
// Score is the best passage's. Matches are pairs of beginning and end in the snippet, counted in runes.
type foundDocument struct {
	DocID    string  `json:"doc_id"`
	Filename string  `json:"filename"`
	Title    string  `json:"title"`
	Score    float64 `json:"score"`
	// Similarity is that of the best passage, where it is known. It is for programs: models go by Score.
	Similarity *float64       `json:"similarity_score,omitempty"`
	Snippet    string         `json:"snippet"`
	BlockID    string         `json:"block_id,omitempty"` // that the snippet stands in
	Page       int            `json:"page,omitempty"`     // likewise
	Matches    [][2]int       `json:"matches,omitempty"`  // rune ranges in the snippet, for the page
	Passages   []ShownPassage `json:"passages"`
}

// searchDocumentsOutput is what was found, best document first.
//
// TotalFound is how many documents are in the list. Notes say what was not searched, or not in the way that was asked.
type searchDocumentsOutput struct {
	Documents  []foundDocument `json:"documents"`
	TotalFound int             `json:"total_found"`
	Notes      []string        `json:"notes"`
}

// ForModel leaves out what the passages already say.
func (o searchDocumentsOutput) ForModel() any {
	docs := make([]foundDocument, len(o.Documents))
	for i, doc := range o.Documents {
		if len(doc.Passages) > 0 {
			doc.Snippet, doc.BlockID, doc.Page = "", "", 0
		}
		doc.Matches, doc.Similarity, doc.Passages = nil, nil, withoutChunks(doc.Passages)
		docs[i] = doc
	}
	return searchDocumentsOutput{Documents: docs, TotalFound: o.TotalFound, Notes: o.Notes}
}

// searchDocuments is the search tool of the default toolset. It groups passages by document and shows as many whole as
// the request's top_k says; documents behind those come with a snippet. It asks for twice as many passages as
// documents, since several may be of one. Numbers are given to whole passages only, so what a model has seen of a
// snippet it can't cite: it reads the document for that. A search of which a part did not answer is transient.
func searchDocuments() (*Tool, error) {
	return definition[searchDocumentsInput]{
		name: "search_documents", action: chat.ActionSearching, capability: chat.CapabilitySearch, retrieval: true,
		cached:    true,
		modelView: viewOf[searchDocumentsOutput],
		doc:       searchDocumentsDoc, schema: searchDocumentsSchema,
		label:    searchLabel(),
		describe: func(_ *Context, in searchDocumentsInput) string { return searchingFor(in.Query) },
		run: func(ctx context.Context, d *Context, in searchDocumentsInput) (Result, error) {
			found, err := d.searchInReach(ctx, corpus.Query{
				// Fifty is the most that a search gives.
				Text: in.Query, Limit: min(50, max(d.TopK, 2*in.MaxResults)),
			})
			if err != nil {
				return Result{}, err
			}
			groups := groupByDocument(found.Results, in.MaxResults)
			passages := 0
			for _, g := range groups {
				passages += len(g)
			}
			summary := "nothing found"
			if passages > 0 {
				summary = english.Count(passages, "passage") + " in " + english.Count(len(groups), "document")
			}
			return Result{
				Message:   "Found " + english.Count(len(groups), "document"),
				Summary:   summary,
				Transient: found.Partial,
				Output: func(number Numberer) (any, chat.StepResult) {
					out := searchDocumentsOutput{Documents: []foundDocument{}, TotalFound: len(groups), Notes: append(
						[]string{}, found.Notes...,
					)}
					result := chat.StepResult{Query: in.Query, Found: len(groups), Notes: found.Notes}
					left := d.TopK
					for _, g := range groups {
						shown := foundIn(number, g, &left)
						out.Documents = append(out.Documents, shown)
						result.Hits = append(result.Hits, shown.stepHits(g[0].Document)...)
					}
					return out, result
				},
				SourceChanges: SourceChanges{Hits: slices.Concat(groups...)},
			}, nil
		},
	}.buildTool()
}

// foundIn describes one document's hits, whole passages while some are left to show. left is shared by all documents of
// one output and counts down.
//
// The documents come best first, so the best passages of all are those that are shown whole.
func foundIn(number Numberer, hits []corpus.Result, left *int) foundDocument {
	doc := hits[0].Document
	out := foundDocument{
		DocID: doc.ID, Filename: doc.DisplayName(), Title: doc.DisplayTitle(), Score: hits[0].Score,
		Similarity: hits[0].Similarity, Snippet: hits[0].Snippet.Text,
		BlockID: hits[0].Block, Page: hits[0].Page, Matches: hits[0].Snippet.Matches, Passages: []ShownPassage{},
	}
	for _, hit := range hits {
		if *left > 0 {
			*left--
			out.Passages = append(out.Passages, showPassage(number, hit.Passage, doc))
		}
	}
	return out
}

// stepHits are the document and its passages, for the step's result.
func (f foundDocument) stepHits(doc corpus.Document) []chat.Hit {
	hit := documentHit(doc)
	hit.Score, hit.Similarity, hit.Snippet, hit.Matches = &f.Score, f.Similarity, f.Snippet, f.Matches
	hit.BlockID, hit.Page = f.BlockID, f.Page
	return withPassages(hit, doc, f.Passages)
}

// groupByDocument puts hits of one document together, documents by their best hit, at most limit documents. Hits of
// documents beyond the limit are dropped; those of the others stay in the order of the search.
func groupByDocument(hits []corpus.Result, limit int) [][]corpus.Result {
	var groups [][]corpus.Result
	at := map[string]int{}
	for _, hit := range hits {
		i, ok := at[hit.Document.ID]
		if !ok {
			if len(groups) == limit {
				continue
			}
			i = len(groups)
			at[hit.Document.ID] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], hit)
	}
	return groups
}
