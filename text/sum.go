package text

import "github.com/footnote/footnote/text/lazy"

var (
	// words that ask for a calculation, and signs that no identifier has between its digits
	asksSum = lazy.Regexp(
		`(?i)^\W*(?:please |can you |could you )*(?:calculate|compute|evaluate|work out|how much (?:is|are))\b|` +
			`[*^%=×÷]|//|[\d)]\s*\+\s*[\d(.]`,
	)
	spacedSign   = lazy.Regexp(`[\d)]\s+[-−/]\s+[\d(]`)
	identifierOf = lazy.Regexp(`\d\s+\d|\d[-/]\d|(?:^|[^\d.,])0\d`)
)

// AsksSum reports whether a text of numbers and signs is to be calculated. Numbers that are only joined by hyphens,
// slashes or spaces are an identifier or a date: an ISBN, an order or phone number, 9/11. A difference and a quotient
// have spaces around their sign, or a word that asks for them.
func AsksSum(s string) bool {
	return asksSum().MatchString(s) || spacedSign().MatchString(s) && !identifierOf().MatchString(s)
}
