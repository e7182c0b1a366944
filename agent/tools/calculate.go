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

// calculateSchema accepts one expression. calc.Evaluate also enforces the length limit.
const calculateSchema = `{
	"type": "object", "additionalProperties": false, "required": ["expression"],
	"properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 1000,
		"description": "Like (1250 * 1.19 - 300) / 12"}}
}`

// calculateInput holds the arguments of calculate, as decoded from the model's call.
type calculateInput struct {
	Expression string `json:"expression"`
}

// calculate returns the arithmetic tool. An expression that can't be evaluated is refused with the reason, a
// sentence for the model and the user; whyImpossible validates it before the call is stored. It reads no documents
// and shows no passages. An exact result has all its digits and is marked as exact; other results have 15 digits and
// are shown with ≈. The result counts as computed, so an answer may state it without a footnote; SpokenOperators
// returns the words for its operators (“12 times 4”). Results are not cached, since nothing is read.
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
			// The progress message. The page renders the same from the label and the arguments.
			return "Calculating " + text.Shorten(in.Expression, 120)
		},
		run: func(_ context.Context, _ *Context, in calculateInput) (Result, error) {
			v, err := calc.Evaluate(in.Expression)
			if err != nil {
				return refusedResult("%s", err.Error())
			}
			res, exact := v.Decimal()
			sign := " = "
			// Clients that parse the message also read the sign; the field exact is authoritative.
			if !exact {
				sign = " ≈ "
			}
			// Output is for the model and API clients, result for pages and resumed runs. Neither depends on passage
			// numbers, so both are built once.
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
