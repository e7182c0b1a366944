package offline

import (
	"strings"
	"unicode"

	"github.com/footnote/footnote/text"
)

// longestRun is the maximum length of a segmented run in runes; questions are much shorter.
const longestRun = 200

// stretches segments the parts of a question in scripts without spaces. It uses the documents instead of a
// dictionary: from the left, a word is the longest substring that a result contains, and is not split again. The
// rest between such words, without grammar, is words that no result has. The reasons are in
// docs/decisions/offline.md.
func (p pool) stretches(question string) []word {
	var out []word
	for _, run := range text.Runs(question) {
		if len(run.Runes) > longestRun {
			run.Runes, run.Terms = run.Runes[:longestRun], run.Terms[:longestRun-1]
		}
		covered := make([]bool, len(run.Runes))
		for i := 0; i < len(run.Terms); i++ {
			from, to := trimGrammar(run, i, p.heldFrom(run, i))
			if !isWord(run, from, to) {
				continue
			}
			out = append(out, stretch(run, from, to))
			for k := from; k < to; k++ {
				covered[k] = true
			}
			i = to - 1
		}
		out = append(out, p.single(run, covered)...)
		out = append(out, lacking(run, covered)...)
	}
	return out
}

// single returns words of one character, between grammar and other words: each of its bigrams matches it. A
// character that no result has is a missing word.
func (p pool) single(run text.Run, covered []bool) []word {
	var out []word
	apart := func(k int) bool { return k < 0 || k >= len(covered) || covered[k] || run.Grammar[k] }
	for k, r := range run.Runes {
		if apart(k) || !apart(k-1) || !apart(k+1) || !unicode.Is(unicode.Han, r) {
			continue
		}
		w := word{typed: string(r), terms: map[string]float64{}}
		for i := max(0, k-1); i <= k && i < len(run.Terms); i++ {
			if strings.Contains(p.said, " "+run.Terms[i]+" ") {
				w.terms[run.Terms[i]] = 1
			}
		}
		if len(w.terms) > 0 || !strings.ContainsRune(p.said, r) {
			out = append(out, w)
		}
	}
	return out
}

// heldFrom returns the end of the longest substring from an offset that a result contains.
func (p pool) heldFrom(run text.Run, from int) (to int) {
	to = from
	for n := from + 1; n <= len(run.Terms); n++ {
		if !strings.Contains(p.said, " "+strings.Join(run.Terms[from:n], " ")+" ") {
			break
		}
		to = min(n+1, len(run.Runes))
	}
	return to
}

// trimGrammar trims grammar from the ends of a substring, as long as a word is left.
func trimGrammar(run text.Run, from, to int) (int, int) {
	for from < to && run.Grammar[from] && isWord(run, from+1, to) {
		from++
	}
	for from < to && run.Grammar[to-1] && isWord(run, from, to-1) {
		to--
	}
	return from, to
}

// isWord reports whether a substring is long enough for a word, and not only grammar.
func isWord(run text.Run, from, to int) bool {
	letters, content := 0, false
	for k := from; k < to; k++ {
		if run.Letters[k] {
			letters++
		}
		content = content || !run.Grammar[k]
	}
	return content && (len(run.Runes) == 1 || letters >= text.WordLetters(run.Runes[from]))
}

// stretch converts a substring of a run to a word.
func stretch(run text.Run, from, to int) word {
	w := word{typed: string(run.Runes[from:to]), terms: map[string]float64{}}
	for k := from; k < max(to-1, from+1); k++ {
		w.terms[run.Terms[k]] = 1
	}
	w.grams = len(w.terms)
	return w
}

// lacking returns the substrings of a run that no result has. The ending of a Korean word after a matched substring
// is excluded.
func lacking(run text.Run, covered []bool) []word {
	var out []word
	from := 0
	end := func(to int) {
		if isWord(run, from, to) && !(from > 0 && covered[from-1] && unicode.Is(unicode.Hangul, run.Runes[from])) {
			out = append(out, word{typed: string(run.Runes[from:to])})
		}
	}
	for k := range run.Runes {
		if covered[k] || run.Grammar[k] {
			end(k)
			from = k + 1
		}
	}
	end(len(run.Runes))
	return out
}
