package tools

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"footnote/corpus"
	"footnote/corpus/text"
)

// sentence is one sentence of a passage, by the passage's place.
type sentence struct {
	passage int
	text    string
	terms   []string // that may say something; a number is figure
}

// The runes of a sentence that may be a key sentence.
const (
	shortestKey = 30
	longestKey  = 400
)

// figure stands for every number: what a document has many of, such as days and sums, is what it is about.
const figure = "0"

// keySentences picks sentences that say what passages are about, in the order of the text: those with the words that
// are most frequent there, each word counting less once it was said (SumBasic: Nenkova and Vanderwende, “The impact of
// frequency on summarization”, 2005), and a section's next sentence half as much as its last. Those that bear on a
// focus come before others. What only frames a text and lines of a table of contents don't count, nor, where there are
// enough whole sentences, what does not end as one.
func keySentences(passages []corpus.Passage, language string, limit int, focus string) []sentence {
	analyser := text.NewAnalyser(language)
	about := map[string]bool{}
	for _, t := range analyser.Terms(focus) {
		about[t] = !text.IsStop(t, language)
	}
	var whole, parts []sentence
	for i, p := range passages {
		runes := []rune(p.Text)
		for _, span := range text.Sentences(p.Text) {
			s := string(runes[span[0]:span[1]])
			if n := span[1] - span[0]; n < shortestKey || n > longestKey || text.Leader(s) || text.Frames(s) {
				continue
			}
			key := sentence{passage: i, text: s}
			for _, t := range analyser.Terms(s) {
				if strings.ContainsFunc(t, unicode.IsDigit) {
					key.terms = append(key.terms, figure)
				} else if utf8.RuneCountInString(t) > 1 && !text.IsStop(t, language) {
					key.terms = append(key.terms, t)
				}
			}
			if parts = append(parts, key); text.EndsSentence(s) {
				whole = append(whole, key)
			}
		}
	}
	if len(whole) < limit {
		whole = parts
	}
	return pickSentences(whole, passages, limit, about)
}

// pickSentences picks up to limit of all sentences, and returns them in their order.
func pickSentences(all []sentence, passages []corpus.Passage, limit int, about map[string]bool) []sentence {
	share, count := map[string]float64{}, 0.0
	for _, s := range all {
		for _, t := range s.terms {
			share[t]++
			count++
		}
	}
	for t := range share {
		share[t] /= count
	}
	worth := func(s sentence) (sum float64) {
		for _, t := range s.terms {
			sum += share[t]
		}
		// as if it had five more words that nothing else has: a short one says little
		if sum /= float64(5 + len(s.terms)); slices.ContainsFunc(s.terms, func(t string) bool { return about[t] }) {
			sum++
		}
		return sum
	}
	taken, picked := map[string]int{}, make([]bool, len(all))
	for range min(limit, len(all)) {
		best, most := -1, -1.0
		for i, s := range all {
			if picked[i] {
				continue
			}
			if w := worth(s) / float64(int(1)<<min(30, taken[passages[s.passage].Section])); w > most {
				best, most = i, w
			}
		}
		picked[best] = true
		taken[passages[all[best].passage].Section]++
		for _, t := range all[best].terms {
			share[t] *= share[t]
		}
	}
	var out []sentence
	for i, s := range all {
		if picked[i] {
			out = append(out, s)
		}
	}
	return out
}
