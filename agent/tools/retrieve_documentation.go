package tools

import (
	"cmp"
	"context"
	_ "embed"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

//go:embed retrieve_documentation.md
var retrieveDocumentationDoc string

// retrieveDocumentationSchema is agreed with clients, like the output's fields.
const retrieveDocumentationSchema = `{
	"type": "object", "additionalProperties": false, "required": ["query"],
	"properties": {
		"query": {"type": "string", "minLength": 1, "maxLength": 1000,
			"description": "The question or topic to search for in the documentation"},
		"top_k": {"type": "integer", "minimum": 1, "maximum": 20, "default": 5,
			"description": "Number of most relevant chunks to retrieve (default: 5)"},
		"similarity_threshold": {"type": "number", "minimum": 0, "maximum": 1, "default": 0,
			"description": "Minimum similarity score for results (0.0-1.0, default: 0.0)"}
	}
}`

// retrieveDocumentationInput are the arguments of retrieve_documentation. A threshold above 0 asks for a search by
// meaning.
type retrieveDocumentationInput struct {
	Query     string  `json:"query"`
	TopK      int     `json:"top_k"`
	Threshold float64 `json:"similarity_threshold"`
}

// DocumentationChunk is one result of retrieve_documentation. What stands behind Rank is ours, beside the agreed
// fields.
type DocumentationChunk struct {
	ChunkText  string  `json:"chunk_text"`
	PageTitle  string  `json:"page_title"`
	Section    *string `json:"section_heading"` // below the page's title; null without one
	SourceURL  string  `json:"source_url"`
	Similarity float64 `json:"similarity_score"` // 0–1; the score of the search where there are no vectors
	Rank       int     `json:"rank"`
	N          int     `json:"n"`
	ChunkID    string  `json:"chunk_id,omitempty"`
	DocID      string  `json:"doc_id,omitempty"`
}

// retrieveDocumentationOutput is what was found, best first. Its fields are agreed with clients: names don't change.
type retrieveDocumentationOutput struct {
	Results []DocumentationChunk `json:"results"`
	Total   int                  `json:"total_results"`
	Query   string               `json:"query"`
	Notes   []string             `json:"notes,omitempty"`
}

// ForModel leaves out the ids, which are for programs.
func (o retrieveDocumentationOutput) ForModel() any {
	results := make([]DocumentationChunk, len(o.Results))
	for i, r := range o.Results {
		r.ChunkID, r.DocID = "", ""
		results[i] = r
	}
	o.Results = results
	return o
}

// clipTo shortens every chunk alike.
func (o retrieveDocumentationOutput) clipTo(limit int) any {
	results := make([]DocumentationChunk, len(o.Results))
	for i, r := range o.Results {
		r.ChunkText = CutText(r.ChunkText, max(60, limit*8/10/len(o.Results)-2*overhead))
		results[i] = r
	}
	o.Results = results
	return o
}

// retrieveDocumentation is the search tool of the toolset documentation. A failure gives the query back (echoedArg).
func retrieveDocumentation() (*Tool, error) {
	return definition[retrieveDocumentationInput]{
		name: "retrieve_documentation", action: chat.ActionSearching, capability: chat.CapabilitySearch, preference: 4,
		resumable: true,
		modelView: viewOf[retrieveDocumentationOutput], retrieval: true, cached: true, maxTopK: 20, echoedArg: "query",
		doc: retrieveDocumentationDoc, schema: retrieveDocumentationSchema,
		label:    searchLabel(),
		describe: func(_ *Context, in retrieveDocumentationInput) string { return searchingFor(in.Query) },
		run: func(ctx context.Context, d *Context, in retrieveDocumentationInput) (Result, error) {
			return d.documentationResult(ctx, in)
		},
	}.buildTool()
}

// documentationResult is the result of retrieve_documentation, and of retrieve_book_content before it is made text. The
// score is between 0 and 1 whatever the search gave.
func (d *Context) documentationResult(ctx context.Context, in retrieveDocumentationInput) (Result, error) {
	// The output is made later and may be made again for another run; what is found is not looked for again.
	found, err := d.searchDocumentation(ctx, in)
	if err != nil {
		return Result{}, err
	}
	res := passagesFound(in.Query, found)
	res.Output = func(number Numberer) (any, chat.StepResult) {
		out := retrieveDocumentationOutput{
			Results: []DocumentationChunk{}, Total: len(found.Results), Query: in.Query, Notes: found.Notes,
		}
		result := chat.StepResult{Query: in.Query, Found: len(found.Results), Notes: found.Notes}
		for i, hit := range found.Results {
			chunk := chunkOf(number, hit, i+1)
			out.Results = append(out.Results, chunk)
			found := chat.Hit{
				N: chunk.N, DocumentID: chunk.DocID, ChunkID: chunk.ChunkID, Title: chunk.PageTitle,
				SourceURL:  hit.Document.SourceURL(),
				Similarity: &chunk.Similarity, Snippet: chunk.ChunkText,
			}
			if chunk.Section != nil {
				found.Section = *chunk.Section
			}
			result.Hits = append(result.Hits, found)
		}
		return out, result
	}
	return res, nil
}

// searchDocumentation searches by meaning when a threshold is asked for; else every way there is.
func (d *Context) searchDocumentation(ctx context.Context, in retrieveDocumentationInput) (corpus.Results, error) {
	if in.Threshold > 0 {
		return d.byMeaning(ctx, in.Query, in.TopK, in.Threshold)
	}
	return d.searchInReach(ctx, corpus.Query{Text: in.Query, Limit: in.TopK, Cosines: true})
}

// chunkOf is a hit as a chunk; rank counts from 1. The similarity is the search's score where there are no vectors.
//
// SourceURL is where the document came from, such as a page of the web, and where that is not known a link to the
// passage in the viewer.
func chunkOf(number Numberer, hit corpus.Result, rank int) DocumentationChunk {
	similarity := hit.Score
	if hit.Similarity != nil {
		similarity = *hit.Similarity
	}
	out := DocumentationChunk{
		ChunkText: hit.Passage.Text, PageTitle: hit.Document.DisplayTitle(), Similarity: min(1, max(0, similarity)),
		Rank: rank,
		SourceURL: cmp.Or(
			hit.Document.SourceURL(), chat.Link{Document: hit.Document.ID, Passage: hit.Passage.ID}.String(),
		),
		N: number(hit.Passage, hit.Document), ChunkID: hit.Passage.ID, DocID: hit.Document.ID,
	}
	if section := chat.SectionIn(out.PageTitle, hit.Passage.Section); section != "" {
		out.Section = &section
	}
	return out
}
