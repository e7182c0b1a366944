package offline

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/text"
)

const (
	kinWorth      = 0.6 // weight of a word of the same stem
	borrowedWorth = 0.5 // maximum weight of all borrowed words, relative to the question's own
	absentWorth   = 0.5 // weight of a missing word, relative to that of the rarest word
)

// word is a word of the question.
type word struct {
	typed    string
	terms    map[string]float64 // matching terms in the results, with the quality of the match, 0–1
	grams    int                // of a script without spaces: number of terms of the word; 0: each matches it
	meant    string             // the word that a typing error was read as
	borrowed bool               // from an earlier question
	weight   float64            // inverse document frequency
}

// in returns how well a set of terms matches the word, 0–1.
func (w word) in(terms map[string]bool) float64 {
	best, held := 0.0, 0
	for term, worth := range w.terms {
		if terms[term] {
			held++
			best = max(best, worth)
		}
	}
	if w.grams > 0 && 2*held < w.grams {
		return 0
	} else if w.grams > 0 {
		return float64(held) / float64(w.grams)
	}
	return best
}

// languages returns the languages of the stemmers for a question's words.
func languages(s string) []string {
	langs := []string{"en"}
	if lang := text.Detect(s); lang != "" && lang != "en" {
		langs = append(langs, lang)
	}
	return langs
}

// weigh returns the words of a topic with their inverse document frequency in the results: ln(1 + n/(k+0.5)) for n
// units, k of them with the word; the half keeps it finite for a missing word. Borrowed words are scaled down
// together, so that their sum is at most borrowedWorth of the question's own.
func (q topic) weigh(p pool) []word {
	var out []word
	vocabulary := p.vocabulary()
	add := func(words []text.Word, question string, borrowed bool) {
		read := p.stretches(question)
		for _, w := range words {
			if !w.Gram {
				n := word{typed: w.Text, terms: matching(w, vocabulary, p.langs)}
				if meant := q.corrected[w.Text]; meant != "" && len(n.terms) == 0 {
					for _, m := range text.QueryWords(meant, p.langs) {
						n.meant, n.terms = meant, matching(m, vocabulary, p.langs)
					}
				}
				read = append(read, n)
			}
		}
		for _, n := range read {
			if borrowed && slices.ContainsFunc(out, func(o word) bool { return o.typed == n.typed }) {
				continue
			}
			n.borrowed = borrowed
			in := 0
			for _, u := range p.units {
				if n.in(u.terms) > 0 {
					in++
				}
			}
			n.weight = math.Log(1 + float64(len(p.units))/(float64(in)+0.5))
			if len(n.terms) == 0 {
				n.weight *= absentWorth
			}
			out = append(out, n)
		}
	}
	add(q.own, q.question, false)
	ours, own := len(out), total(out)
	add(q.borrowed, q.before, true)
	// All borrowed words together weigh at most half of the question's own.
	if all := total(out); own > 0 && all-own > borrowedWorth*own {
		for k := range out[ours:] {
			out[ours+k].weight *= borrowedWorth * own / (all - own)
		}
	}
	return out
}

// total returns the sum of weights.
func total(words []word) (sum float64) {
	for _, w := range words {
		sum += w.weight
	}
	return sum
}

// matching returns the terms of a vocabulary that match a word, with the quality of the match. A word with a digit
// has only exact matches, if there are any: § 12 is not § 120.
func matching(w text.Word, vocabulary map[string]bool, langs []string) map[string]float64 {
	terms := slices.Concat(w.Terms, text.QueryTerms(w.Text, langs))
	found := map[string]float64{}
	for _, term := range terms {
		if vocabulary[term] {
			found[term] = 1
		}
	}
	if len(found) > 0 && strings.ContainsAny(w.Text, "0123456789") {
		return found
	}
	for term := range vocabulary {
		if found[term] == 0 && slices.ContainsFunc(terms, func(own string) bool { return kin(own, term) }) {
			found[term] = kinWorth
		}
	}
	return found
}

// kin reports whether two terms are likely forms of one word, or one a part of the other. Either the longer one
// starts or ends with the other, or they share a prefix of seven tenths of the longer one, in bytes. Terms below
// four letters, or with digits, are excluded, as they are often similar by chance.
func kin(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	n := utf8.RuneCountInString(a)
	if n < 4 || strings.ContainsAny(b, "0123456789") {
		return false
	}
	if n >= 5 && (strings.HasPrefix(b, a) || strings.HasSuffix(b, a)) {
		return true
	}
	same := 0
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			break
		}
		same = i + 1
	}
	return 10*same >= 7*len(b)
}
