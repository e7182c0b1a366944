package tools

import (
	"context"
	_ "embed"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/english"
)

//go:embed generate_answer.md
var generateAnswerDoc string

// generateAnswerSchema accepts no arguments; validation refuses any.
const generateAnswerSchema = `{"type": "object", "additionalProperties": false, "properties": {}}`

// generateAnswerInput is empty, since the tool takes no arguments.
type generateAnswerInput struct{}

// generateAnswer returns the tool with which a model ends its research: its next turn is the answer. Only the
// toolset cursor has it, for models that were trained for its tools (docs/decisions/agent.md). It is refused before
// the first passage was seen, since such an answer would come from the model's own knowledge.
func generateAnswer() (*Tool, error) {
	return definition[generateAnswerInput]{
		name: "generate_answer", action: chat.ActionSummarising, answersNext: true, doc: generateAnswerDoc,
		schema:   generateAnswerSchema,
		describe: func(*Context, generateAnswerInput) string { return "Preparing the answer" },
		run: func(_ context.Context, d *Context, _ generateAnswerInput) (Result, error) {
			if d.Sources.IsEmpty() {
				return refusedResult("Nothing was found or read yet that an answer could rest on. Search first.")
			}
			passages := len(d.Sources.All())
			return Result{
				Message: "Ready to answer", Summary: "from " + english.Count(passages, "passage"),
				Output: func(Numberer) (any, chat.StepResult) {
					return map[string]any{"ready": true, "passages": passages}, chat.StepResult{
						Facts: []chat.Fact{{Name: "ready", Value: "true"}},
					}
				},
			}, nil
		},
	}.buildTool()
}
