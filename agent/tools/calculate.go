package tools

import (
	"context"
	_ "embed"
	"encoding/json"

	"github.com/footnote/footnote/agent/tools/calc"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

//go:embed calculate.md
var calculateDoc string

// calculateSchema takes one expression. Its length is that of calc.Evaluate, which refuses longer ones by itself.
const calculateSchema = `{
	"type": "object", "additionalProperties": false, "required": ["expression"],
	"properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 1000,
		"description": "Like (1250 * 1.19 - 300) / 12"}}
}`

// calculateInput are the arguments of calculate, as a model writes them.
type calculateInput struct {
	Expression string `json:"expression"`
}

// calculate is the tool for sums. A sum that can't be computed is refused with the reason, which is a sentence for the
// model and for people; whyImpossible finds it before a call is stored. It needs no documents and shows no passages.
// The result has all its digits when it is exact, and says so; else it has 15. Its result counts as computed, so an
// answer may say it without a footnote; SpokenOperators gives the words with which sentences say so (“12 times 4”).
// What is not exact is shown with ≈. It is not cached, as it reads nothing.
func calculate() (*Tool, error) {
	return definition[calculateInput]{
		name: "calculate", action: chat.ActionCalculating, capability: chat.CapabilityCalculate,
		withoutPassages: true, doc: calculateDoc, schema: calculateSchema,
		whyImpossible: func(in calculateInput) error {
			_, err := calc.Evaluate(in.Expression)
			return err
		},
		label: chat.Label{
			Doing: "Calculating", Done: "Calculated", Noun: "calculation", Argument: "expression", Form: chat.LabelCode,
		},
		computed:   func(output json.RawMessage) json.RawMessage { return output },
		vocabulary: func(in calculateInput) string { return calc.SpokenOperators(in.Expression) },
		describe: func(_ *Context, in calculateInput) string {
			// What people read while it runs; the page draws the same from the label and the arguments.
			return "Calculating " + text.Shorten(in.Expression, 120)
		},
		run: func(_ context.Context, _ *Context, in calculateInput) (Result, error) {
			v, err := calc.Evaluate(in.Expression)
			if err != nil {
				return refusedResult("%s", err.Error())
			}
			res, exact := v.Decimal()
			sign := " = "
			// Both signs are read by people, and by programs that look at the message; exact says the same for
			// certain.
			if !exact {
				sign = " ≈ "
			}
			// The output is for the model and programs, the result for pages and recovery: both are made here once, as
			// nothing in them depends on numbers of passages.
			out := map[string]any{"expression": in.Expression, "result": res, "exact": exact}
			result := chat.StepResult{Formula: in.Expression, Value: res}
			if exact {
				result.Facts = []chat.Fact{{Name: "exact", Value: "true"}}
			}
			return Result{
				Message: text.Shorten(in.Expression, 120) + sign + res, Summary: res,
				Output: func(Numberer) (any, chat.StepResult) { return out, result },
			}, nil
		},
	}.buildTool()
}
