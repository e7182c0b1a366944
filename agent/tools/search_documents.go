package tools

import (
	"context"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
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

// DefaultTopK is the default number of passages that a search shows whole; further documents have a snippet. The
// value was not measured.
const DefaultTopK = 10

// searchDocumentsInput holds the arguments of search_documents.
type searchDocumentsInput struct {
	Query      string `json:"query"`
	MaxResults int    `json:"max_results"`
}

// foundDocument is a document with its passages that are shown whole, or else a snippet.
//
// Score is the best passage's. Matches are start and end offsets in the snippet, in runes.
type foundDocument struct {
	DocID    string  `json:"doc_id"`
	Filename string  `json:"filename"`
	Title    string  `json:"title"`
	Score    float64 `json:"score"`
	// Similarity is that of the best passage, if known. It is for API clients; models use Score.
	Similarity *float64       `json:"similarity_score,omitempty"`
	Snippet    string         `json:"snippet"`
	BlockID    string         `json:"block_id,omitempty"` // block of the snippet
	Page       int            `json:"page,omitempty"`     // page of the snippet
	Matches    [][2]int       `json:"matches,omitempty"`  // offsets in the snippet in runes, for the page
	Passages   []ShownPassage `json:"passages"`
}

// searchDocumentsOutput holds the results, best document first.
//
// TotalFound is the number of documents in the list. Notes report parts of the library that were not searched, and
// fallbacks to another search mode.
type searchDocumentsOutput struct {
	Documents  []foundDocument `json:"documents"`
	TotalFound int             `json:"total_found"`
	Notes      []string        `json:"notes"`
}

// ForModel omits fields that repeat the passages or are for the page only.
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

// searchDocuments returns the search tool of the default toolset. It groups passages by document and shows as many
// whole passages as the request's top_k; further documents have a snippet. It requests twice as many passages as
// documents, since a document may have several. Only whole passages get numbers, so a model has to read a document
// to cite a snippet. A partial search is transient and not cached.
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
				// 50 is the maximum of one search.
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

// foundIn converts the hits of one document, with whole passages while left is above 0. left is shared by all
// documents of one output and counts down. Since documents are ordered by score, the best passages are shown whole.
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

// stepHits returns the document and its passages as hits of the step's result.
func (f foundDocument) stepHits(doc corpus.Document) []chat.Hit {
	hit := documentHit(doc)
	hit.Score, hit.Similarity, hit.Snippet, hit.Matches = &f.Score, f.Similarity, f.Snippet, f.Matches
	hit.BlockID, hit.Page = f.BlockID, f.Page
	return withPassages(hit, doc, f.Passages)
}

// groupByDocument groups hits by document, ordered by the best hit, at most limit documents. Hits of further
// documents are dropped. Hits of one document keep the order of the search.
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

//go:embed semantic_search.md
var semanticSearchDoc string

// semanticSearchSchema has a minimum score of 0.7 by default. If no passage reaches it, byMeaning reports the best
// score.
const semanticSearchSchema = `{
	"type": "object", "additionalProperties": false, "required": ["query"],
	"properties": {
		"query": {"type": "string", "minLength": 1, "maxLength": 1000,
			"description": "The search query to find relevant passages"},
		"top_k": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5,
			"description": "Number of results to return"},
		"min_score": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.7,
			"description": "Minimum similarity score, 0 to 1"}
	}
}`

// semanticSearchInput holds the arguments of semantic_search; min_score is 0–1.
//
// The default of 0.7 is kept for compatibility with clients of this toolset. The scale of scores depends on the
// embedding model.
type semanticSearchInput struct {
	Query    string  `json:"query"`
	TopK     int     `json:"top_k"`
	MinScore float64 `json:"min_score"`
}

// semanticSearch returns the tool for semantic search alone. It is the fallback after hybrid_search and retrieve
// (preference 3).
func semanticSearch() (*Tool, error) {
	return definition[semanticSearchInput]{
		name: "semantic_search", action: chat.ActionSearching, capability: chat.CapabilitySearch, preference: 3,
		resumable: true, modelView: viewOf[FoundPassages],
		retrieval: true, cached: true, maxTopK: 50,
		doc: semanticSearchDoc, schema: semanticSearchSchema,
		label:    searchLabel(),
		describe: func(_ *Context, in semanticSearchInput) string { return searchingFor(in.Query) },
		run: func(ctx context.Context, d *Context, in semanticSearchInput) (Result, error) {
			found, err := d.byMeaning(ctx, in.Query, in.TopK, in.MinScore)
			if err != nil {
				return Result{}, err
			}
			return passagesFound(in.Query, found), nil
		},
	}.buildTool()
}

// byMeaning runs a semantic search. If the embedder is unavailable, it falls back to a lexical search, with a note
// and a partial result, which is not cached. If no passage reaches the threshold, a note reports the best score.
//
// The best score is rounded down to three digits, so that a search with the score of the note finds that passage.
func (d *Context) byMeaning(ctx context.Context, query string, limit int, least float64) (corpus.Results, error) {
	found, err := d.searchInReach(ctx, corpus.Query{
		Text: query, Limit: limit, Mode: corpus.ModeSemantic, MinScore: least,
	})
	if err != nil && ctx.Err() == nil && chat.CodeOf(err) == chat.CodeUnavailable {
		return d.byWords(ctx, query, limit)
	}
	if err != nil || len(found.Results) > 0 || least == 0 {
		return found, err
	}
	best, err := d.searchInReach(ctx, corpus.Query{Text: query, Limit: 1, Mode: corpus.ModeSemantic})
	if err != nil {
		return found, err
	}
	if len(best.Results) > 0 {
		found.Notes = append(append([]string{}, found.Notes...),
			fmt.Sprintf(
				"No passage reaches a score of %.3g; the best has %.3g. Search with a lower one to see it.", least,
				math.Floor(best.Results[0].Score*1000)/1000,
			))
	}
	return found, nil
}

// byWords is the lexical fallback for an unavailable semantic search.
func (d *Context) byWords(ctx context.Context, query string, limit int) (corpus.Results, error) {
	found, err := d.searchInReach(ctx, corpus.Query{Text: query, Limit: limit, Mode: corpus.ModeLexical})
	found.Partial = true
	found.Notes = append(
		slices.Clip(found.Notes),
		"Semantic search did not answer: these passages are found by words, and no minimum score was applied.",
	)
	return found, err
}

//go:embed hybrid_search.md
var hybridSearchDoc string

// hybridSearchSchema accepts a query and the number of passages, 5 by default.
const hybridSearchSchema = `{
	"type": "object", "additionalProperties": false, "required": ["query"],
	"properties": {
		"query": {"type": "string", "minLength": 1, "maxLength": 1000,
			"description": "What to search for: keywords or a short question"},
		"top_k": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5,
			"description": "Number of results to return"}
	}
}`

// hybridSearch returns the tool that combines lexical and semantic search and returns passages; without an embedder
// it is lexical. corpus/search fuses the two result lists. It is the first fallback for other search tools
// (preference 1).
func hybridSearch() (*Tool, error) {
	return definition[retrieveInput]{
		name: "hybrid_search", action: chat.ActionSearching, capability: chat.CapabilitySearch, preference: 1,
		resumable: true, modelView: viewOf[FoundPassages],
		retrieval: true, cached: true, maxTopK: 50,
		doc: hybridSearchDoc, schema: hybridSearchSchema,
		label:    searchLabel(),
		describe: func(_ *Context, in retrieveInput) string { return searchingFor(in.Query) },
		run: func(ctx context.Context, d *Context, in retrieveInput) (Result, error) {
			found, err := d.searchInReach(ctx, corpus.Query{Text: in.Query, Limit: in.TopK, Mode: corpus.ModeHybrid})
			if err != nil {
				return Result{}, err
			}
			return passagesFound(in.Query, found), nil
		},
	}.buildTool()
}

//go:embed metadata_search.md
var metadataSearchDoc string

// metadataSearchSchema requires filters, unlike list_documents.
var metadataSearchSchema = `{
	"type": "object", "additionalProperties": false, "required": ["filters"],
	"properties": {"filters": ` + filtersSchema + `}
}`

// metadataSearchInput holds the arguments of metadata_search.
type metadataSearchInput struct {
	Filters map[string]any `json:"filters"`
}

// metadataSearch returns the tool that filters documents by metadata: author, date, type, tags. It searches no text.
// An empty result counts as an empty search in the answer's coverage. It returns at most listPage documents and a
// note if there are more. It is the first fallback for list_documents (preference 1).
func metadataSearch() (*Tool, error) {
	return definition[metadataSearchInput]{
		name: "metadata_search", action: chat.ActionSearching, capability: chat.CapabilityList, preference: 1,
		retrieval: true, cached: true, withoutPassages: true,
		doc: metadataSearchDoc, schema: metadataSearchSchema,
		label:      chat.Label{Doing: "Filtering documents", Done: "Filtered documents", Noun: "search"},
		vocabulary: func(metadataSearchInput) string { return libraryWords },
		describe: func(_ *Context, in metadataSearchInput) string {
			if len(in.Filters) == 0 {
				return "Looking for documents"
			}
			return "Looking for documents with " + describeFilters(in.Filters)
		},
		run: func(ctx context.Context, d *Context, in metadataSearchInput) (Result, error) {
			f, why, err := d.readFilter(ctx, in.Filters)
			if err != nil {
				return Result{}, err
			}
			if why != "" {
				return refusedResult("%s", why)
			}
			docs, next, err := d.Library.List(ctx, d.Scope, f)
			if err != nil {
				return Result{}, fmt.Errorf("list documents: %w", err)
			}
			notes, err := d.noteUnknownProperties(ctx, f, docs)
			if err != nil {
				return Result{}, err
			}
			if next != "" {
				notes = append(notes, fmt.Sprintf("These are the first %d; there are more.", listPage))
			}
			var effects SourceChanges
			if effects.Documents = docs; len(docs) == 0 && len(in.Filters) > 0 {
				effects.EmptySearch = describeFilters(in.Filters)
			}
			return Result{
				Message: "Found " + english.Count(len(docs), "document"), Summary: describeFilters(in.Filters),
				Output: func(Numberer) (any, chat.StepResult) {
					result := chat.StepResult{
						Query: filtersAsked(in.Filters), Found: len(docs), Hits: documentHits(docs), Notes: notes,
					}
					return map[string]any{
						"documents": listedDocuments(docs), "total_found": len(docs), "notes": notes,
					}, result
				},
				SourceChanges: effects,
			}, nil
		},
	}.buildTool()
}

//go:embed rerank_documents.md
var rerankDocumentsDoc string

// rerankDocumentsSchema accepts up to 50 documents, the maximum number of passages of one search.
const rerankDocumentsSchema = `{
	"type": "object", "additionalProperties": false, "required": ["doc_ids", "query"],
	"properties": {
		"doc_ids": {"type": "array", "minItems": 1, "maxItems": 50, "items": {"type": "string", "minLength": 1,
			"maxLength": 500}, "description": "Ids, titles or file names"},
		"query": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "What they should be about"}
	}
}`

// rerankDocumentsInput holds the arguments of rerank_documents.
type rerankDocumentsInput struct {
	DocIDs []string `json:"doc_ids"`
	Query  string   `json:"query"`
}

// rankedDocument is a document with its rank score, 0 if the search had no hit in it.
//
// Scores are comparable only within one call.
type rankedDocument struct {
	DocID    string  `json:"doc_id"`
	Filename string  `json:"filename"`
	Title    string  `json:"title"`
	Score    float64 `json:"score"`
	Snippet  string  `json:"snippet,omitempty"`
}

// rerankDocuments returns the tool that ranks given documents by a query. It returns snippets without numbers, which
// can't be cited. Documents without a hit come last, in the order of the call. It runs one search over these
// documents and groups the hits by document, so a document's score is that of its best passage. It has no
// capability, so it has no fallback.
func rerankDocuments() (*Tool, error) {
	return definition[rerankDocumentsInput]{
		name: "rerank_documents", action: chat.ActionAnalysing, retrieval: true, cached: true,
		doc: rerankDocumentsDoc, schema: rerankDocumentsSchema, aliases: map[string]string{"document_ids": "doc_ids"},
		label: chat.Label{
			Doing: "Ranking by", Done: "Ranked by", Noun: "ranking", Argument: "query", Form: chat.LabelQuote,
		},
		describe: func(_ *Context, in rerankDocumentsInput) string {
			return "Ranking " + english.Count(len(in.DocIDs), "document") + " for: " + text.Shorten(in.Query, 100)
		},
		run: func(ctx context.Context, d *Context, in rerankDocumentsInput) (Result, error) {
			docs, notes, err := d.resolveAll(ctx, in.DocIDs)
			if err != nil {
				return Result{}, fmt.Errorf("find documents: %w", err)
			}
			if len(docs) == 0 {
				return refusedResult("%s", strings.Join(notes, " "))
			}
			found, err := d.Library.Search(ctx, d.Scope, corpus.Query{
				Text: in.Query, Limit: 50, Documents: documentIDs(docs),
			})
			if err != nil {
				return Result{}, fmt.Errorf("search: %w", err)
			}
			ranked := make([]rankedDocument, 0, len(docs))
			// A copy, so that the notes of a cached search are not modified.
			result := chat.StepResult{Query: in.Query, Notes: append(append([]string{}, notes...), found.Notes...)}
			rank := func(doc corpus.Document, score float64, snippet string) {
				ranked = append(ranked, rankedDocument{
					DocID: doc.ID, Filename: doc.DisplayName(), Title: doc.DisplayTitle(), Score: score,
					Snippet: snippet,
				})
				hit := documentHit(doc)
				hit.Score, hit.Snippet = &score, snippet
				result.Hits = append(result.Hits, hit)
			}
			hit := map[string]bool{}
			for _, g := range groupByDocument(found.Results, len(docs)) {
				doc := g[0].Document
				hit[doc.ID] = true
				rank(doc, g[0].Score, g[0].Snippet.Text)
			}
			// Documents without a hit keep the order of the call.
			for _, doc := range docs {
				if !hit[doc.ID] {
					rank(doc, 0, "")
				}
			}
			result.Found = len(ranked)
			summary := "none of them fits"
			if len(hit) > 0 {
				summary = ranked[0].Filename + " first"
			}
			return Result{
				Message: "Ranked " + english.Count(len(ranked), "document"), Summary: summary,
				Output: func(Numberer) (any, chat.StepResult) {
					return map[string]any{"query": in.Query, "documents": ranked, "notes": result.Notes}, result
				},
				SourceChanges: SourceChanges{Documents: docs},
			}, nil
		},
	}.buildTool()
}
