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

//go:embed semantic_search.md
var semanticSearchDoc string

// semanticSearchSchema has a lowest score of 0.7 by default; byMeaning says how near the best came when
// that leaves nothing.
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

// semanticSearchInput are the arguments of semantic_search; min_score is 0–1.
//
// 0.7 is the default that clients of this toolset know; what a score means depends on the embedding model.
type semanticSearchInput struct {
	Query    string  `json:"query"`
	TopK     int     `json:"top_k"`
	MinScore float64 `json:"min_score"`
}

// semanticSearch is the tool that searches by meaning alone. It stands in after hybrid_search and retrieve (preference
// 3).
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

// byMeaning searches by meaning, or by words when that does not answer. When a threshold leaves nothing, a note says
// how near the best passage came. An embedder that does not answer is replaced by words, with a note; the result is
// marked partial, so it is not cached.
//
// The best score is cut to three digits and never rounded up: a search with the number in the note has to find that
// passage.
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

// byWords stands in for a search by meaning that does not answer.
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

// hybridSearchSchema is that of the other searches for passages: a query and how many are wanted, 5 by default.
const hybridSearchSchema = `{
	"type": "object", "additionalProperties": false, "required": ["query"],
	"properties": {
		"query": {"type": "string", "minLength": 1, "maxLength": 1000,
			"description": "What to search for: keywords or a short question"},
		"top_k": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5,
			"description": "Number of results to return"}
	}
}`

// hybridSearch is the tool that searches by words and meaning at once and returns passages; without an embedder by
// words alone. The results of both searches are fused in corpus/search. Of the tools that search it stands in first for
// others (preference 1).
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

// metadataSearchSchema asks for filters, unlike list_documents: a search without any would be a list.
var metadataSearchSchema = `{
	"type": "object", "additionalProperties": false, "required": ["filters"],
	"properties": {"filters": ` + filtersSchema + `}
}`

// metadataSearchInput are the arguments of metadata_search.
type metadataSearchInput struct {
	Filters map[string]any `json:"filters"`
}

// metadataSearch is the tool that finds documents by what is known about them: author, date, type, tags. It looks into
// no text. An empty result is noted as a search that found nothing, for the coverage of the answer. It shows listPage
// documents at most and says when there are more. It stands in for list_documents (preference 1).
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

// rerankDocumentsSchema takes up to 50 documents, as many as one search returns passages.
const rerankDocumentsSchema = `{
	"type": "object", "additionalProperties": false, "required": ["doc_ids", "query"],
	"properties": {
		"doc_ids": {"type": "array", "minItems": 1, "maxItems": 50, "items": {"type": "string", "minLength": 1,
			"maxLength": 500}, "description": "Ids, titles or file names"},
		"query": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "What they should be about"}
	}
}`

// rerankDocumentsInput are the arguments of rerank_documents.
type rerankDocumentsInput struct {
	DocIDs []string `json:"doc_ids"`
	Query  string   `json:"query"`
}

// rankedDocument is a document in the order asked for; one in which nothing was found has the score 0.
//
// Score is the search's own and only says something beside the others of the same call.
type rankedDocument struct {
	DocID    string  `json:"doc_id"`
	Filename string  `json:"filename"`
	Title    string  `json:"title"`
	Score    float64 `json:"score"`
	Snippet  string  `json:"snippet,omitempty"`
}

// rerankDocuments is the tool that puts known documents in order by a query. It returns snippets without numbers: they
// can't be cited. Documents without a hit come last, in the order in which they were named. It is one search over these
// documents alone, grouped by document, so the score of a document is that of its best passage. It has no capability:
// nothing stands in for it.
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
			// A copy, so that the notes of a kept search are not written to.
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
			// They keep the order in which the model named them.
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
