package agent

import (
	"context"
	_ "embed"

	"footnote/chat"
	"footnote/english"
)

//go:embed generate_answer.md
var generateAnswerDoc string

const generateAnswerSchema = `{"type": "object", "additionalProperties": false, "properties": {}}`

type generateAnswerInput struct{}

// generateAnswer lets a model say that it has seen enough: its next turn is the answer.
func generateAnswer() (*tool, error) {
	return toolKind[generateAnswerInput]{
		name: "generate_answer", action: chat.ActionSummarising, enough: true, doc: generateAnswerDoc, schema: generateAnswerSchema,
		doing: func(*desk, generateAnswerInput) string { return "Preparing the answer" },
		do: func(_ context.Context, d *desk, _ generateAnswerInput) (result, error) {
			if d.sources.IsEmpty() {
				return refuse("Nothing was found or read yet that an answer could rest on. Search first.")
			}
			passages := len(d.sources.All())
			return result{
				message: "Ready to answer", summary: "from " + english.Count(passages, "passage"),
				output: func(numberer) any { return map[string]any{"ready": true, "passages": passages} },
			}, nil
		},
	}.build()
}
