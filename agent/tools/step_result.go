package tools

import (
	"encoding/json"
	"path"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// documentHit is a document that a call found or read, for its chat.StepResult. The file's name stands there only if it
// is not the title, and the type only where the name does not tell it.
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

// documentHits are documents of a list.
func documentHits(docs []corpus.Document) []chat.Hit {
	out := make([]chat.Hit, len(docs))
	for i, doc := range docs {
		out[i] = documentHit(doc)
	}
	return out
}

// passageHits are passages of one document, without its name.
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

// withPassages are a document and passages of it: the hit of the document tells of the first one too. The further
// passages are marked as belonging to the first hit (Sub), so that pages draw one document with several places.
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

// filtersAsked are the filters of a call, as JSON; nothing without any.
func filtersAsked(filters map[string]any) string {
	if len(filters) == 0 {
		return ""
	}
	b, err := json.Marshal(filters)
	if err != nil { // they came from JSON
		return ""
	}
	return string(b)
}
