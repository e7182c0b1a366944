package tools

import (
	"context"
	_ "embed"
	"encoding/json"

	"github.com/footnote/footnote/chat"
)

//go:embed finish.md
var finishDoc string

// finishSchema takes the answer as one text; 100,000 characters are far beyond what a model writes in one reply.
const finishSchema = `{
	"type": "object", "additionalProperties": false, "required": ["answer"],
	"properties": {"answer": {"type": "string", "minLength": 1, "maxLength": 100000,
		"description": "The final answer to the question"}}
}`

// finishInput are the arguments of finish.
type finishInput struct {
	Answer string `json:"answer"`
}

// finish ends a run. The loop takes the answer out of the call; the call itself does nothing. Its run is reached only
// if the answer can't be read from the call. endsRun tells the loop to take the argument (AnswerOf) as the answer. It
// is no retrieval and counts against no budget of those.
func finish() (*Tool, error) {
	return definition[finishInput]{
		name: "finish", action: chat.ActionThinking, capability: chat.CapabilityAnswer, endsRun: true, doc: finishDoc,
		schema:   finishSchema,
		label:    chat.Label{Doing: "Finishing", Done: "Finished"},
		describe: func(*Context, finishInput) string { return "Finishing with an answer" },
		run: func(context.Context, *Context, finishInput) (Result, error) {
			return refusedResult("The answer could not be taken from this call. Write it as text.")
		},
	}.buildTool()
}

// AnswerOf is the answer that the arguments of a call hold which ends a run.
func AnswerOf(args json.RawMessage) (answer string, ok bool) {
	var in finishInput
	err := json.Unmarshal(args, &in)
	return in.Answer, err == nil
}
