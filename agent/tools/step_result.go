package tools

import (
	"encoding/json"
	"path"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// documentHit returns the hit of a document for a chat.StepResult. The file name is set if it differs from the
// title, the MIME type if the name has no extension.
func documentHit(doc corpus.Document) chat.Hit {
	hit := chat.Hit{DocumentID: doc.ID, Title: doc.DisplayTitle()}
	if name := doc.DisplayName(); name != hit.Title {
		hit.Filename = name
	}
	if path.Ext(doc.DisplayName()) == "" {
		hit.MIME = doc.MIME
	}
	return hit
}

// documentHits returns the hits of a list of documents.
func documentHits(docs []corpus.Document) []chat.Hit {
	out := make([]chat.Hit, len(docs))
	for i, doc := range docs {
		out[i] = documentHit(doc)
	}
	return out
}

// passageHits returns the hits of passages of one document, without its title.
func passageHits(doc corpus.Document, passages []ShownPassage) []chat.Hit {
	out := make([]chat.Hit, len(passages))
	for i, p := range passages {
		out[i] = chat.Hit{
			N: p.N, DocumentID: doc.ID, ChunkID: p.ChunkID, BlockID: p.BlockID, Page: p.Page, Section: p.Section,
			Snippet: p.Text,
		}
	}
	return out
}

// withPassages merges the hit of a document with its first passage and appends the other passages. The latter are
// marked as parts of the first hit (Sub), so that the page shows one document with several passages.
func withPassages(document chat.Hit, doc corpus.Document, passages []ShownPassage) []chat.Hit {
	hits := passageHits(doc, passages)
	if len(hits) == 0 {
		return []chat.Hit{document}
	}
	first := &document
	first.N, first.ChunkID, first.Page, first.Section = hits[0].N, hits[0].ChunkID, hits[0].Page, hits[0].Section
	if first.BlockID == "" {
		first.BlockID = hits[0].BlockID
	}
	if first.Snippet == "" {
		first.Snippet = hits[0].Snippet
	}
	hits[0] = document
	for i := range hits[1:] {
		hits[i+1].Sub = true
	}
	return hits
}

// filtersAsked encodes the filters of a call as JSON, empty without filters.
func filtersAsked(filters map[string]any) string {
	if len(filters) == 0 {
		return ""
	}
	b, err := json.Marshal(filters)
	if err != nil { // not reached: the filters were decoded from JSON
		return ""
	}
	return string(b)
}
