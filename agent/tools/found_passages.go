package tools

import (
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/english"
)

// foundPassage is a passage that a search returns by itself rather than under its document. ChunkID is for the page
// and for programs; models cite by N.
type foundPassage struct {
	N        int     `json:"n"`
	ChunkID  string  `json:"chunk_id,omitempty"`
	DocID    string  `json:"doc_id"`
	Filename string  `json:"filename"`
	Title    string  `json:"title"`
	Section  string  `json:"section,omitempty"`
	Page     int     `json:"page,omitempty"`
	BlockID  string  `json:"block_id"`
	Content  string  `json:"content"`
	Score    float64 `json:"score"`
	// Similarity is corpus.Result.Similarity, where it is known. It is for programs: models go by Score.
	Similarity *float64 `json:"similarity_score,omitempty"`
}

// FoundPassages is the output of retrieve, retrieve_more, semantic_search and hybrid_search.
type FoundPassages struct {
	Query   string         `json:"query"`
	Results []foundPassage `json:"results"`
	Total   int            `json:"total_results"`
	Notes   []string       `json:"notes"`
}

// ForModel leaves out what only programs need.
func (o FoundPassages) ForModel() any {
	results := make([]foundPassage, len(o.Results))
	for i, r := range o.Results {
		r.ChunkID, r.Similarity = "", nil
		results[i] = r
	}
	o.Results = results
	return o
}

// clipTo shortens every passage alike, to 60 characters at least.
func (o FoundPassages) clipTo(limit int) any {
	results := make([]foundPassage, len(o.Results))
	for i, r := range o.Results {
		r.Content = CutText(r.Content, max(60, limit*8/10/len(o.Results)-2*overhead))
		results[i] = r
	}
	o.Results = results
	return o
}

// passagesFound is the result of a search for passages. A result of which a part is missing, because an index did not
// answer, is transient: it is not cached. Numbers are given when Output is called, not when the search ends. Every hit
// is noted for the run's sources (SourceChanges).
func passagesFound(query string, found corpus.Results) Result {
	hits := found.Results
	return Result{
		Message: "Found " + english.Count(len(hits), "passage"), Summary: countHits(hits),
		Output: func(number Numberer) (any, chat.StepResult) {
			out := FoundPassages{
				Query: query, Results: []foundPassage{}, Total: len(hits), Notes: append([]string{}, found.Notes...),
			}
			result := chat.StepResult{Query: query, Found: len(hits), Notes: found.Notes}
			for _, hit := range hits {
				doc, p := hit.Document, hit.Passage
				out.Results = append(out.Results, foundPassage{
					N: number(p, doc), ChunkID: p.ID, DocID: doc.ID, Filename: doc.DisplayName(),
					Title: doc.DisplayTitle(), Section: p.Section,
					Page: hit.Page, BlockID: hit.Block, Content: p.Text, Score: hit.Score, Similarity: hit.Similarity,
				})
				result.Hits = append(result.Hits, passageHit(number, hit))
			}
			return out, result
		},
		SourceChanges: SourceChanges{Hits: hits},
		Transient:     found.Partial,
	}
}

// passageHit is a passage that a search found, with its document, for the step's result.
func passageHit(number Numberer, found corpus.Result) chat.Hit {
	hit := documentHit(found.Document)
	hit.N, hit.ChunkID, hit.BlockID = number(found.Passage, found.Document), found.Passage.ID, found.Block
	hit.Page, hit.Section, hit.Snippet = found.Page, found.Passage.Section, found.Passage.Text
	hit.Score, hit.Similarity = &found.Score, found.Similarity
	return hit
}

// countHits counts hits for people: "5 passages in 3 documents".
func countHits(hits []corpus.Result) string {
	if len(hits) == 0 {
		return "nothing found"
	}
	documents := map[string]bool{}
	for _, hit := range hits {
		documents[hit.Document.ID] = true
	}
	return english.Count(len(hits), "passage") + " in " + english.Count(len(documents), "document")
}
