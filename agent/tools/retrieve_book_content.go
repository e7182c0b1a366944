package tools

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/footnote/footnote/chat"
)

//go:embed retrieve_book_content.md
var retrieveBookContentDoc string

// retrieveBookContentSchema lacks the threshold of retrieve_documentation, so it always searches every way there is.
const retrieveBookContentSchema = `{
	"type": "object", "additionalProperties": false, "required": ["query"],
	"properties": {
		"query": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "The user's question"},
		"top_k": {"type": "integer", "minimum": 1, "maximum": 20, "default": 5,
			"description": "Number of passages to retrieve"}
	}
}`

// bookContent is what retrieve_documentation finds, and the same as the text that models get.
//
// Text is made of the chunks and stored with them, so that programs can use either.
type bookContent struct {
	retrieveDocumentationOutput
	Text string `json:"text"`
}

// ForModel is the text alone: this tool's agreed form is text.
func (o bookContent) ForModel() any { return o.Text }

// clipTo clips the chunks and writes the text of them again, so that both say the same. Half of the room is for the
// chunks, as the text says them once more.
func (o bookContent) clipTo(limit int) any {
	o.retrieveDocumentationOutput, _ = o.retrieveDocumentationOutput.clipTo(limit / 2).(retrieveDocumentationOutput)
	o.Text = bookText(o.retrieveDocumentationOutput)
	return o
}

// retrieveBookContent is retrieve_documentation with its results as one text. The output of the other tool is made
// first and then written as text, so numbers are given once and in the same order.
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

// bookText writes chunks as text.
//
// The form is agreed with clients of this toolset: number, title and section, address, relevance with two digits, and
// the passage. An empty result is a sentence.
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
