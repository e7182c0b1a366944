package run

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"footnote/agent/ground"
	"footnote/agent/question"
	"footnote/agent/tools/calc"
)

// equation is a sum with its result, as answers write it: 2 * 3 = 7.
var equation = regexp.MustCompile(`([\d(£$€¥][\d\s.,()+\-−*/^%×÷·£$€¥]*)=\s*([-−]?[£$€¥]?\d[\d,]*(?:\.\d+)?)`)

// sumNotes say of sentences that nothing bears out which of their sums are wrong, and whether the sum that was asked
// for was calculated at all.
func (w *Runner) sumNotes(unsupported []string) []string {
	var out []string
	for _, said := range unsupported {
		for _, m := range equation.FindAllStringSubmatch(said, -1) {
			if result, wrong := wrongSum(m[1], m[2]); wrong {
				out = append(out, fmt.Sprintf("“%s” is wrong: it is %s.", strings.TrimSpace(m[0]), result))
			}
		}
	}
	if len(out) > 0 || len(unsupported) == 0 || w.asked.Type != question.Calculation {
		return out
	}
	v, ok := w.sumAsked()
	if !ok {
		if w.evidence.Results.Facts == "" {
			out = append(out, "The sum was not calculated, so nothing bears out what the answer says of it.")
		}
		return out
	}
	if !slices.ContainsFunc(unsupported, func(said string) bool {
		return slices.ContainsFunc(
			ground.Numeral.FindAllString(said, -1), func(n string) bool { return !differs(v, n) },
		)
	}) {
		result, _ := v.Decimal()
		out = append(out, fmt.Sprintf("The sum comes to %s, which the answer does not say.", result))
	}
	return out
}

// sumAsked is the result of the sum that is the whole question.
func (w *Runner) sumAsked() (v calc.Amount, ok bool) {
	if w.asked.Type != question.Calculation {
		return calc.Amount{}, false
	}
	at := strings.IndexAny(w.run.Request.Message, "(0123456789.-+")
	if at < 0 {
		return calc.Amount{}, false
	}
	v, err := calc.Evaluate(strings.TrimRight(w.run.Request.Message[at:], " =?"))
	return v, err == nil
}

// wrongSum compares a sum with the result that is said. What can't be read is not wrong.
func wrongSum(expression, said string) (result string, wrong bool) {
	v, err := calc.Evaluate(expression)
	if err != nil {
		return "", false
	}
	result, _ = v.Decimal()
	return result, differs(v, said)
}

// differs reports whether a value is another number than the one that is said, with as many decimals as are said.
func differs(v calc.Amount, said string) bool {
	n, err := calc.Evaluate(said)
	if err != nil {
		return false
	}
	_, decimals, _ := strings.Cut(said, ".")
	least := new(big.Rat).SetFrac(
		big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(decimals))), nil),
	)
	diff := new(big.Rat).Sub(v.Rat, n.Rat)
	return diff.Abs(diff).Cmp(least) >= 0
}
