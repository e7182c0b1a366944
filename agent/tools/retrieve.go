package tools

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
)

//go:embed retrieve.md
var retrieveDoc string

// retrieveSchema accepts a query and the number of passages, 5 by default.
const retrieveSchema = `{
	"type": "object", "additionalProperties": false, "required": ["query"],
	"properties": {
		"query": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "The search query"},
		"top_k": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5,
			"description": "Number of results to return"}
	}
}`

// retrieveInput holds the arguments of tools that take a query and a number of passages.
//
// TopK is between 1 and the tool's maximum. A request's top_k replaces the default.
type retrieveInput struct {
	Query string `json:"query"`
	TopK  int    `json:"top_k"`
}

// retrieve returns the search tool of the toolset react, which returns passages instead of documents. It is
// resumable: retrieve_more continues its query.
func retrieve() (*Tool, error) {
	return definition[retrieveInput]{
		name: "retrieve", action: chat.ActionSearching, capability: chat.CapabilitySearch, preference: 2,
		resumable: true, modelView: viewOf[FoundPassages],
		retrieval: true, cached: true, maxTopK: 50,
		doc: retrieveDoc, schema: retrieveSchema,
		label:    searchLabel(),
		describe: func(_ *Context, in retrieveInput) string { return searchingFor(in.Query) },
		run: func(ctx context.Context, d *Context, in retrieveInput) (Result, error) {
			found, err := d.searchInReach(ctx, corpus.Query{Text: in.Query, Limit: in.TopK})
			if err != nil {
				return Result{}, err
			}
			return passagesFound(in.Query, found), nil
		},
	}.buildTool()
}

// searchLabel returns the label that all search tools share.
func searchLabel() chat.Label {
	return chat.Label{
		Doing: "Searching for", Done: "Searched for", Noun: "search", Argument: "query", Form: chat.LabelQuote,
	}
}

// searchingFor returns the progress message of a search.
func searchingFor(query string) string { return "Searching for: " + text.Shorten(query, 120) }

//go:embed retrieve_book_content.md
var retrieveBookContentDoc string

// retrieveBookContentSchema has no threshold, unlike retrieve_documentation, so it always searches in every
// available mode.
const retrieveBookContentSchema = `{
	"type": "object", "additionalProperties": false, "required": ["query"],
	"properties": {
		"query": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "The user's question"},
		"top_k": {"type": "integer", "minimum": 1, "maximum": 20, "default": 5,
			"description": "Number of passages to retrieve"}
	}
}`

// bookContent is the output of retrieve_documentation with its formatted text.
//
// Text is rendered from the chunks and stored with them, so that API clients can use either.
type bookContent struct {
	retrieveDocumentationOutput
	Text string `json:"text"`
}

// ForModel returns the text alone, as models of this toolset expect.
func (o bookContent) ForModel() any { return o.Text }

// clipTo truncates the chunks and renders the text from them again, so that both match. The chunks get half of the
// limit, as the text repeats them.
func (o bookContent) clipTo(limit int) any {
	o.retrieveDocumentationOutput, _ = o.retrieveDocumentationOutput.clipTo(limit / 2).(retrieveDocumentationOutput)
	o.Text = bookText(o.retrieveDocumentationOutput)
	return o
}

// retrieveBookContent returns the tool retrieve_documentation with its results as one text. It wraps that tool's
// output, so passage numbers are assigned once and in the same order.
func retrieveBookContent() (*Tool, error) {
	return definition[retrieveInput]{
		name: "retrieve_book_content", action: chat.ActionSearching, capability: chat.CapabilitySearch, preference: 5,
		resumable: true,
		modelView: viewOf[bookContent], retrieval: true, cached: true, maxTopK: 20,
		doc: retrieveBookContentDoc, schema: retrieveBookContentSchema,
		label:    searchLabel(),
		describe: func(_ *Context, in retrieveInput) string { return searchingFor(in.Query) },
		run: func(ctx context.Context, d *Context, in retrieveInput) (Result, error) {
			res, err := d.documentationResult(ctx, retrieveDocumentationInput{Query: in.Query, TopK: in.TopK})
			if err != nil {
				return Result{}, err
			}
			chunks := res.Output
			res.Output = func(number Numberer) (any, chat.StepResult) {
				output, result := chunks(number)
				out, _ := output.(retrieveDocumentationOutput)
				if len(result.Hits) == 0 {
					result.Text = bookText(out)
				}
				return bookContent{out, bookText(out)}, result
			}
			return res, nil
		},
	}.buildTool()
}

// bookText formats chunks as text.
//
// Clients of this toolset rely on the format: number, title and section, URL, relevance with two digits, and the
// passage. An empty result is a sentence.
func bookText(out retrieveDocumentationOutput) string {
	if len(out.Results) == 0 {
		return "No relevant content was found for: " + out.Query
	}
	var b strings.Builder
	for i, c := range out.Results {
		if i > 0 {
			b.WriteString("\n\n")
		}
		name := c.PageTitle
		if c.Section != nil {
			name += ", " + *c.Section
		}
		fmt.Fprintf(
			&b, "[%d] %s\nURL: %s\nRelevance: %.2f\nContent: %s", c.N, name, c.SourceURL, c.Similarity, c.ChunkText,
		)
	}
	return b.String()
}

//go:embed retrieve_documentation.md
var retrieveDocumentationDoc string

// retrieveDocumentationSchema is fixed for compatibility with clients, like the output's fields.
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

// retrieveDocumentationInput holds the arguments of retrieve_documentation. A threshold above 0 requests a semantic
// search.
type retrieveDocumentationInput struct {
	Query     string  `json:"query"`
	TopK      int     `json:"top_k"`
	Threshold float64 `json:"similarity_threshold"`
}

// DocumentationChunk is one result of retrieve_documentation. The fields after Rank are Footnote's additions to the
// clients' format.
type DocumentationChunk struct {
	ChunkText  string  `json:"chunk_text"`
	PageTitle  string  `json:"page_title"`
	Section    *string `json:"section_heading"` // without the page's title; null if the passage has no section
	SourceURL  string  `json:"source_url"`
	Similarity float64 `json:"similarity_score"` // 0–1; the score of the search if there are no embeddings
	Rank       int     `json:"rank"`
	N          int     `json:"n"`
	ChunkID    string  `json:"chunk_id,omitempty"`
	DocID      string  `json:"doc_id,omitempty"`
}

// retrieveDocumentationOutput holds the results, best first. Clients rely on the names of its fields.
type retrieveDocumentationOutput struct {
	Results []DocumentationChunk `json:"results"`
	Total   int                  `json:"total_results"`
	Query   string               `json:"query"`
	Notes   []string             `json:"notes,omitempty"`
}

// ForModel omits the ids, which are for API clients.
func (o retrieveDocumentationOutput) ForModel() any {
	results := make([]DocumentationChunk, len(o.Results))
	for i, r := range o.Results {
		r.ChunkID, r.DocID = "", ""
		results[i] = r
	}
	o.Results = results
	return o
}

// clipTo truncates all chunks to the same length.
func (o retrieveDocumentationOutput) clipTo(limit int) any {
	results := make([]DocumentationChunk, len(o.Results))
	for i, r := range o.Results {
		r.ChunkText = CutText(r.ChunkText, max(60, limit*8/10/len(o.Results)-2*overhead))
		results[i] = r
	}
	o.Results = results
	return o
}

// retrieveDocumentation returns the search tool of the toolset documentation. An error echoes the query (echoedArg).
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

// documentationResult runs the search for retrieve_documentation and retrieve_book_content. Similarity is clamped to
// 0–1.
func (d *Context) documentationResult(ctx context.Context, in retrieveDocumentationInput) (Result, error) {
	// The output is made later, and again for another run of a cached result; the search is not repeated.
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

// searchDocumentation runs a semantic search if a threshold is given, else a search in every available mode.
func (d *Context) searchDocumentation(ctx context.Context, in retrieveDocumentationInput) (corpus.Results, error) {
	if in.Threshold > 0 {
		return d.byMeaning(ctx, in.Query, in.TopK, in.Threshold)
	}
	return d.searchInReach(ctx, corpus.Query{Text: in.Query, Limit: in.TopK, Cosines: true})
}

// chunkOf converts a hit to a chunk; rank counts from 1. The similarity is the search's score if there are no
// embeddings.
//
// SourceURL is the document's origin, such as a web page, or a link to the passage in the viewer.
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

//go:embed retrieve_more.md
var retrieveMoreDoc string

// retrieveMoreSchema makes the query optional: the default is the run's latest query.
const retrieveMoreSchema = `{
	"type": "object", "additionalProperties": false,
	"properties": {
		"query": {"type": "string", "maxLength": 1000,
			"description": "The search to go on with; the last one if left out"},
		"top_k": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5,
			"description": "Number of further results"}
	}
}`

// retrieveMore returns the tool that continues a search: it returns passages that this run was not shown yet, out of
// the first 50 hits. The same call again returns the next ones, so it is neither cached nor counted as repeated. It
// searches again with the same query and skips shown passages, so it stores no offset and works after a restart.
//
// 50 is the maximum of one search. If fewer than TopK passages are left, a note suggests other words.
func retrieveMore() (*Tool, error) {
	return definition[retrieveInput]{
		name: "retrieve_more", action: chat.ActionSearching, capability: chat.CapabilitySearch, resumable: true,
		modelView: viewOf[FoundPassages],
		retrieval: true, continues: true, maxTopK: 50,
		doc: retrieveMoreDoc, schema: retrieveMoreSchema,
		label: chat.Label{
			Doing: "Searching on for", Done: "Searched on for", Noun: "search", Argument: "query",
			Form: chat.LabelQuote,
		},
		describe: func(d *Context, in retrieveInput) string {
			return "Searching on for: " + text.Shorten(d.Sources.QueryOrLatest(in.Query), 120)
		},
		run: func(ctx context.Context, d *Context, in retrieveInput) (Result, error) {
			query := d.Sources.QueryOrLatest(in.Query)
			if query == "" {
				return refusedResult("Nothing was searched yet: use retrieve first, or give a query.")
			}
			found, err := d.searchInReach(ctx, corpus.Query{Text: query, Limit: 50})
			if err != nil {
				return Result{}, err
			}
			var further []corpus.Result
			// Shown passages are identified by id, whichever tool showed them.
			for _, hit := range found.Results {
				if len(further) < in.TopK && !d.Sources.Contains(hit.Passage.ID) {
					further = append(further, hit)
				}
			}
			if len(further) < in.TopK {
				found.Notes = append(
					slices.Clip(found.Notes),
					"There are no further passages for this query. Other words may find more.",
				)
			}
			found.Results = further
			return passagesFound(query, found), nil
		},
	}.buildTool()
}
