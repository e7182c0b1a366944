package tools

import (
	"context"
	_ "embed"
	"encoding/json"

	"github.com/footnote/footnote/chat"
)

//go:embed finish.md
var finishDoc string

// finishSchema accepts the answer as one text. Its limit of 100,000 characters is far beyond a model's reply.
const finishSchema = `{
	"type": "object", "additionalProperties": false, "required": ["answer"],
	"properties": {"answer": {"type": "string", "minLength": 1, "maxLength": 100000,
		"description": "The final answer to the question"}}
}`

// finishInput holds the arguments of finish.
type finishInput struct {
	Answer string `json:"answer"`
}

// finish returns the tool that ends a run with an answer. endsRun makes the loop take the answer from the call's
// arguments (AnswerOf). The tool's run function is reached only if the arguments can't be decoded. The call does not
// count against the retrieval budget.
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

// AnswerOf decodes the answer from the arguments of a call that ends a run.
func AnswerOf(args json.RawMessage) (answer string, ok bool) {
	var in finishInput
	err := json.Unmarshal(args, &in)
	return in.Answer, err == nil
}
