package tools

import (
	"context"

	"github.com/footnote/footnote/agent/tools/calc"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/locale"
)

// finish is reached only if the answer can't be decoded: the loop takes it from the call's arguments (AnswerOf).
func finish(context.Context, *Context, args) (Result, error) {
	return Result{}, refused("The answer could not be read from this call. Write it as text.")
}

// generateAnswer ends a model's research: its next turn is the answer. It is refused before the first passage was
// seen, since such an answer would come from the model's own knowledge.
func generateAnswer(_ context.Context, d *Context, _ args) (Result, error) {
	if d.Sources.IsEmpty() {
		return Result{}, refused("No passages to base an answer on yet. Search first.")
	}
	passages := len(d.Sources.All())
	return Result{
		Message: "Ready to answer", Summary: locale.Say("from {1}", locale.Count(passages, "passage")),
		Output: func(Numberer) (any, chat.StepResult) {
			return map[string]any{"ready": true, "passages": passages}, chat.StepResult{
				Facts: []chat.Fact{{Name: "ready", Value: "true"}},
			}
		},
	}, nil
}

// calculate evaluates an expression, or refuses it with the reason, a sentence for the model and the user. An exact
// result has all its digits and is marked as exact; other results have 15 digits and are shown with ≈.
func calculate(_ context.Context, _ *Context, in args) (Result, error) {
	v, err := calc.Evaluate(in.Expression)
	if err != nil {
		return Result{}, refusal(err.Error())
	}
	res, exact := v.Decimal()
	sign := " ≈ "
	result := chat.StepResult{Formula: in.Expression, Value: res}
	if exact { // clients that parse the message also read the sign; the field exact is authoritative
		sign, result.Facts = " = ", []chat.Fact{{Name: "exact", Value: "true"}}
	}
	out := map[string]any{"expression": in.Expression, "result": res, "exact": exact}
	return Result{
		Message: locale.Message(text.Shorten(in.Expression, 120) + sign + res), Summary: locale.Message(res),
		Output: func(Numberer) (any, chat.StepResult) { return out, result },
	}, nil
}
