package tools

import (
	"context"
	"fmt"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/locale"
)

// grepDocuments finds exact text: names, numbers and codes that full-text and semantic search miss. RE2 runs in time
// linear in the text, so no pattern can block the server. Documents that the model names narrow the search further;
// those that are not found become notes.
func grepDocuments(ctx context.Context, d *Context, in args) (Result, error) {
	only, notes := d.DocumentIDs, []string(nil)
	if len(in.DocIDs) > 0 {
		docs, missing, err := d.findAll(ctx, in.DocIDs)
		if err != nil {
			return Result{}, err
		}
		only, notes = documentIDs(docs), missing
	}
	found, err := d.Library.Grep(
		ctx, d.Scope, corpus.GrepRequest{Pattern: in.Pattern, Documents: only, Max: in.MaxResults},
	)
	if err != nil {
		return Result{}, fmt.Errorf("grep: %w", err)
	}
	if found.Literal {
		notes = append(notes, "The pattern is not a valid RE2 expression and was taken literally.")
	}
	var documents, ids []string
	for _, m := range found.Matches {
		documents = text.AppendNew(documents, m.Document.ID)
		if m.PassageID != "" {
			ids = text.AppendNew(ids, m.PassageID)
		}
	}
	passages := map[string]corpus.Passage{} // that contain the matches
	if len(ids) > 0 {
		list, err := d.Library.Passages(ctx, d.Scope, ids)
		if err != nil {
			return Result{}, fmt.Errorf("fetch passages: %w", err)
		}
		for _, p := range list {
			passages[p.ID] = p
		}
	}
	count := locale.Count(len(found.Matches), "match")
	return Result{
		Message: locale.Say("Found {1}", count),
		Summary: locale.Say(
			"{1} in {2}, {3} searched", count, locale.Count(len(documents), "document"), found.Documents,
		),
		Output: func(number Numberer) (any, chat.StepResult) {
			matches := []object{}
			result := chat.StepResult{
				Query: in.Pattern, Found: len(found.Matches), Notes: append([]string{}, notes...),
			}
			for _, m := range found.Matches {
				hit := chat.Hit{
					DocumentID: m.Document.ID, ChunkID: m.PassageID, BlockID: m.BlockID,
					Title: m.Document.DisplayName(), Page: m.Page, Section: m.Section, Snippet: m.Line,
				}
				if p, ok := passages[m.PassageID]; ok { // else its passage was deleted
					hit.N = number(p, m.Document)
				}
				result.Hits = append(result.Hits, hit)
				matches = append(matches, pick("n doc_id filename block_id page section line chunk_id", map[string]any{
					"n": hit.N, "doc_id": hit.DocumentID, "filename": hit.Title, "block_id": m.BlockID,
					"page": given(m.Page), "section": given(m.Section), "line": m.Line, "chunk_id": given(m.PassageID),
				}))
			}
			if len(matches) == 0 && found.Literal {
				result.Facts = []chat.Fact{{Name: "literal", Value: "true"}}
			}
			return object{ // more: there are more matches than the limit; literal: the pattern is no RE2 expression
				{"matches", matches}, {"total_found", len(matches)}, {"more", found.More}, {"literal", found.Literal},
				{"notes", result.Notes},
			}, result
		},
	}, nil
}
