package offline

import (
	"math/big"
	"strings"
)

// sumShapes are the questions that ask for a sum, tried in order.
var sumShapes = []struct {
	shape pattern
	make  func(m []string, question string) (sum, bool)
}{
	{ // a total
		lazily(
			`(?i)^(?:what|how much) (?:do|does|are|is|would|will) (.+?),? and (.+?) (?:(?:come|add up|amount) ` +
				`to|cost|make|are|is)?,? ?(?:together|altogether|in total|in all|summed up|combined)$`,
		),
		func(m []string, _ string) (sum, bool) {
			return sum{
				operands: pair(m[1], m[2], figure.money), same: true, direct: totalSaid, work: joined2("+"),
				say: func(f []stated, r string) string {
					return f[0].shown() + " + " + f[1].shown() + " = " + f[0].in(r)
				},
			}, true
		}},
	{ // a difference
		lazily(`(?i)^(?:by )?how (?:much|many) (more|less|fewer|\p{L}{3,}er)(?: expensive)? (.+?) than (.+)$`),
		difference},
	{
		lazily(
			`(?i)^what(?:'s| is| was) the (price |cost |weight |height |length )?difference (in ` +
				`(?:price|cost|fee|rent|weight|height|length|size) )?between (.+?) and (.+)$`,
		),
		func(m []string, question string) (sum, bool) {
			if m[1]+m[2] == "" {
				return sum{}, false
			}
			return sum{
				operands: pair(m[3], m[4], asked(question)), same: true, work: joined2("-"),
				say: func(f []stated, r string) string {
					if strings.HasPrefix(r, "-") {
						f[0], f[1], r = f[1], f[0], r[1:]
					}
					return f[0].shown() + " − " + f[1].shown() + " = " + f[0].in(r)
				},
			}, true
		}},
	{ // what is left
		lazily(
			`(?i)^(?:how much|what)(?: is left| remains| would be left| was left)? of (.+?) (?:(?:is|was|would be) ` +
				`left |remains |remained |)(?:after|without) (.+)$`,
		),
		func(m []string, question string) (sum, bool) {
			if !leftOver().MatchString(question) {
				return sum{}, false
			}
			return sum{
				operands: pair(m[1], m[2], asked(question)), same: true,
				soft: strings.HasPrefix(strings.ToLower(question), "what"), work: joined2("-"),
				say: func(f []stated, r string) string {
					if strings.HasPrefix(r, "-") {
						return ""
					}
					return f[0].shown() + " − " + f[1].shown() + " = " + f[0].in(r)
				},
			}, true
		}},
	{ // a share
		lazily(
			`(?i)^(?:what|which) (?:percentage|per ?cent|share|fraction) of (.+?) ` +
				`(?:is|was|were|are|did|does|do|has|have|went|goes|go) (.+)$`,
		),
		func(m []string, question string) (sum, bool) {
			return sum{
				operands: pair(m[1], m[2], asked(question)), direct: percentSaid, same: true,
				work: func(f []stated) (string, bool) {
					return rounded(f[1].value + " / " + f[0].value + " * 100"), alike2(f)
				}, say: func(f []stated, r string) string {
					if v, ok := new(big.Rat).SetString(r); !ok || v.Cmp(big.NewRat(100, 1)) > 0 {
						return ""
					}
					sign := " = "
					if _, decimals, _ := strings.Cut(r, "."); len(decimals) > 1 {
						sign = " ≈ " // it may have been rounded
					}
					return f[1].shown() + " / " + f[0].shown() + sign + grouped(r) + "%"
				},
			}, true
		}},
	{ // so many percent
		lazily(`(?i)^(?:what|how much) (?:is|are|would be|was) (\d+(?:\.\d+)?) ?(?:%|per ?cent) of (.+)$`),
		func(m []string, question string) (sum, bool) {
			if usedFor().MatchString(m[2]) {
				return sum{}, false
			}
			return sum{
					operands: []operand{{said: m[2], units: asked(question)}}, work: func(f []stated) (string, bool) {
						expression := m[1] + "% of " + f[0].value
						if strings.Contains(m[1]+f[0].value, ".") {
							expression = rounded(expression)
						}
						return expression, true
					}, say: func(f []stated, r string) string {
						return m[1] + "% of " + f[0].shown() + " = " + f[0].in(r)
					},
				},
				true
		}},
	{ // the time between two days
		lazily(`(?i)^how many (days|years) (?:(.*?) ?)??,? ?\b(?:from|between) (.+?) (?:and|to|until|till) (.+)$`),
		between},
	{ // an age
		lazily(`(?i)^how old (?:is|was|were|are) (.+?) when (?:it|he|she|they) (.+)$`),
		func(m []string, _ string) (sum, bool) {
			return sum{
				operands: []operand{{said: m[1], units: onDay, also: begun}, {said: m[1] + " " + m[2], units: onDay}},
				direct:   ageSaid,
				work:     yearsBetween, say: sayYears,
			}, true
		}},
	{ // the year in which something ends
		lazily(
			`(?i)^(?:in |until |till )?(?:which|what) year (?:does|do|did|will) (.+?) (?:end|expire|run out|lapse)$`,
		),
		func(m []string, _ string) (sum, bool) {
			return sum{
					operands: []operand{
						{said: m[1], units: inYears}, {said: m[1], units: onDay, also: starts, lone: itStarts},
					}, direct: endSaid,
					work: func(f []stated) (string, bool) {
						// it may end on the last day of the year before
						return f[1].value[:4] + " + " + f[0].value, !strings.HasSuffix(f[1].value, "-01-01")
					}, say: func(f []stated, r string) string {
						return f[1].value[:4] + " + " + f[0].shown() + " = " + r
					},
				},
				true
		}},
	// so many of something
	{
		lazily(
			`(?i)^(?:what|how much) (?:do|does|would|will|did|are|is) ` + numberAskedFor +
				` (.+?) cost(?: at most| at least)?$`,
		),
		func(m []string, _ string) (sum, bool) {
			return product(m[1], lastWord(m[2]), ofOne(m[2]), figure.money)
		},
	},
	{
		lazily(
			`(?i)^(?:what|how much) (?:does|do|is|are|would|will) (.+?)(?: cost| come to)? (?:for|in|over|during) ` +
				numberAskedFor + ` ([\p{L}-]+)$`,
		),
		func(m []string, question string) (sum, bool) {
			s, ok := product(m[2], m[3], m[1], figure.money)
			s.soft = !moneyAsked().MatchString(question)
			return s, ok
		},
	},
	{
		lazily(
			`(?i)^how much (.+?) (?:is|are|must be|has to be) (?:paid|due|charged|owed|payable) ` +
				`(?:in|for|over|during|per) ?` + numberAskedFor + ` (months?|years?)(?: for (.+))?$`,
		),
		func(m []string, _ string) (sum, bool) { return product(m[2], m[3], m[1]+" for "+m[4], figure.money) },
	},
	{
		lazily(
			`(?i)^how many ([\p{L}-]+)(?: of)? (.*?)(?:can|could|does|do|did|will|would|are|fit) (.*?)\b` +
				numberAskedFor + ` ([\p{L}-]+)(.*)$`,
		),
		func(m []string, _ string) (sum, bool) {
			s, ok := product(m[4], m[5], strings.Join([]string{m[1], m[2], m[3], singular(m[5]), m[6]}, " "),
				func(f figure) bool { return f.unit == stemOf(m[1]) })
			s.soft = true
			return s, ok
		},
	},
}
