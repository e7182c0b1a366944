package tools

import (
	"context"
	_ "embed"
	"fmt"

	"footnote/chat"
)

//go:embed toy.md
var toyDoc string

// toyInput are the arguments of toy.
type toyInput struct {
	Boxes int `json:"boxes"`
}

// toy is the tool that counts toys, seven in each box.
func toy() (*Tool, error) {
	return definition[toyInput]{
		name: "toy", action: chat.ActionCalculating, withoutPassages: true, doc: toyDoc,
		schema: `{"type": "object", "additionalProperties": false, "required": ["boxes"],
			"properties": {"boxes": {"type": "integer", "minimum": 0}}}`,
		describe: func(_ *Context, in toyInput) string { return fmt.Sprintf("Counting toys in %d boxes", in.Boxes) },
		run: func(_ context.Context, _ *Context, in toyInput) (Result, error) {
			return Result{Message: "Counted toys", Output: func(Numberer) (any, chat.StepResult) {
				return map[string]int{"toys": 7 * in.Boxes}, chat.StepResult{}
			}}, nil
		},
	}.buildTool()
}
