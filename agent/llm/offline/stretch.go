package offline

import (
	"strings"
	"unicode"

	"github.com/footnote/footnote/text"
)

// longestRun bounds the run of a question that is cut into words, in runes: questions are much shorter.
const longestRun = 200

// stretches returns the words of a question in scripts that are written without spaces. A dictionary would cut them;
// here the documents do: a word is the longest piece of the question that something found has. What is left between
// such words, without what is grammar, are words that nothing has. The search runs from the left and takes the longest
// piece each time; what it covers is not cut again. Why: docs/decisions/offline.md.
func (p pile) stretches(question string) []word {
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

// single returns the words of one sign, between grammar and other words: each of its pairs stands for it. One that
// stands nowhere is a word that nothing has.
func (p pile) single(run text.Run, covered []bool) []word {
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

// heldFrom returns where the longest piece of a run ends that begins at a rune and that something found has.
func (p pile) heldFrom(run text.Run, from int) (to int) {
	to = from
	for n := from + 1; n <= len(run.Terms); n++ {
		if !strings.Contains(p.said, " "+strings.Join(run.Terms[from:n], " ")+" ") {
			break
		}
		to = min(n+1, len(run.Runes))
	}
	return to
}

// trimGrammar takes grammar off the ends of a piece, as far as a word is left.
func trimGrammar(run text.Run, from, to int) (int, int) {
	for from < to && run.Grammar[from] && isWord(run, from+1, to) {
		from++
	}
	for from < to && run.Grammar[to-1] && isWord(run, from, to-1) {
		to--
	}
	return from, to
}

// isWord reports whether a piece of a run is long enough for a word, and no grammar alone.
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

// stretch is a piece of a run as a word.
func stretch(run text.Run, from, to int) word {
	w := word{typed: string(run.Runes[from:to]), terms: map[string]float64{}}
	for k := from; k < max(to-1, from+1); k++ {
		w.terms[run.Terms[k]] = 1
	}
	w.grams = len(w.terms)
	return w
}

// lacking returns the pieces of a run that nothing has. The ending of a Korean word is none: it stands behind a piece
// that something has.
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
