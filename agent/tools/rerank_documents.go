package tools

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
)

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
