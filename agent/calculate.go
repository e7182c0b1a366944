package agent

import (
	"context"
	_ "embed"

	"footnote/agent/ground"
	"footnote/agent/tools/calc"
	"footnote/chat"
	"footnote/corpus/text"
)

//go:embed calculate.md
var calculateDoc string

const calculateSchema = `{
	"type": "object", "additionalProperties": false, "required": ["expression"],
	"properties": {"expression": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "Like (1250 * 1.19 - 300) / 12"}}
}`

type calculateInput struct {
	Expression string `json:"expression"`
}

func calculate() (*tool, error) {
	return toolKind[calculateInput]{
		name: ground.Calculator, action: chat.ActionCalculating, bare: true, doc: calculateDoc, schema: calculateSchema,
		fails: func(in calculateInput) error {
			_, err := calc.Evaluate(in.Expression)
			return err
		},
		doing: func(_ *desk, in calculateInput) string { return "Calculating " + text.Shorten(in.Expression, 120) },
		do: func(_ context.Context, _ *desk, in calculateInput) (result, error) {
			v, err := calc.Evaluate(in.Expression)
			if err != nil {
				return refuse("%s", err.Error())
			}
			res, exact := v.Decimal()
			sign := " = "
			if !exact {
				sign = " ≈ "
			}
			out := map[string]any{"expression": in.Expression, "result": res, "exact": exact}
			return result{
				message: text.Shorten(in.Expression, 120) + sign + res, summary: res,
				output: func(numberer) any { return out },
			}, nil
		},
	}.build()
}
