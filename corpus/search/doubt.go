package search

import (
	"strings"
	"unicode"
)

// Nonsense replaces each letter of a text by its neighbour in Unicode of the same case. The result keeps script, length
// and punctuation, and has no meaning. Letters without such a neighbour stay.
func Nonsense(text string) string {
	return strings.Map(func(r rune) rune {
		for _, neighbour := range []rune{r + 1, r - 1} {
			if unicode.IsLetter(r) && unicode.IsLetter(neighbour) && unicode.IsUpper(r) == unicode.IsUpper(neighbour) {
				return neighbour
			}
		}
		return r
	}, text)
}

// Doubt estimates how poorly an embedder represents a query, 0–1, from the cosine of the query and its Nonsense. It is
// the probability that nonsense is taken for an answer. An embedder that knows the language puts the two far apart. One
// that does not know the script sees the same unknown tokens twice. docs/quality.md has the effect in eleven languages.
func (s Scale) Doubt(cosine float64) float64 {
	if s.slope == 0 {
		return min(1, max(0, cosine))
	}
	return s.chance(cosine)
}
