package tools

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
)

// sentence is one sentence of a passage, with the passage's index.
type sentence struct {
	passage int
	part    string // its section, or its paragraph if the text has no sections
	text    string
	terms   []string // its content words; every number is figure
}

// The minimum and maximum length of a key sentence, in runes.
const (
	shortestKey = 30
	longestKey  = 400
)

// figure is the term for every number: frequent numbers, such as days and sums, are a document's topic.
const figure = "0"

// keySentences selects up to limit sentences that summarise passages, in the order of the text. It ranks by term
// frequency and lowers the weight of terms that were already used (SumBasic: Nenkova and Vanderwende, “The impact of
// frequency on summarization”, 2005). Each further sentence of a section has half the score of the previous one.
//
// Sentences with a term of the focus come first. If the focus is empty, the first sentence of each section comes
// first. Framing such as salutations, questions, and lines of a table of contents are excluded. Fragments without an
// end of sentence are used only if there are fewer than limit whole sentences. It is a pure function.
func keySentences(passages []corpus.Passage, language string, limit int, focus string) []sentence {
	analyser := text.NewAnalyser(language)
	about := map[string]bool{}
	for _, t := range analyser.Terms(focus) {
		about[t] = !text.IsStop(t, language)
	}
	var whole, parts []sentence
	partOf := partsOf(passages)
	for i, p := range passages {
		runes := []rune(p.Text)
		for _, span := range text.Sentences(p.Text) {
			s := string(runes[span[0]:span[1]])
			if n := span[1] - span[0]; n < shortestKey || n > longestKey ||
				text.Leader(s) || text.Frames(s) || asks(s) {
				continue
			}
			key := sentence{passage: i, part: partOf(i, span[0]), text: s}
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
	return pickSentences(whole, limit, about)
}

// asks reports whether a sentence is a question, which states nothing and is often a heading.
func asks(s string) bool {
	return strings.ContainsAny(s[len(strings.TrimRightFunc(s, unicode.IsPunct)):], "?？")
}

// pickSentences returns up to limit sentences, in their order, by SumBasic: a term's weight is its share of all
// terms; a sentence's score is the average weight of its terms. The best sentence is picked, the weights of its
// terms are squared, and this repeats. The average divides by five more than the number of terms. A section's score
// is halved for each sentence picked from it. Ties are resolved by the order of the text. A preferred sentence gets
// 1 more, which exceeds any average of shares.
func pickSentences(all []sentence, limit int, about map[string]bool) []sentence {
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
	begins := func(i int) bool { return i == 0 || all[i-1].part != all[i].part }
	worth := func(i int) (sum float64) {
		s := all[i]
		for _, t := range s.terms {
			sum += share[t]
		}
		// Smoothing: five extra terms of weight 0 lower the score of short sentences.
		if sum /= float64(5 + len(s.terms)); slices.ContainsFunc(s.terms, func(t string) bool { return about[t] }) ||
			len(about) == 0 && begins(i) {
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
			if w := worth(i) / float64(int(1)<<min(30, taken[s.part])); w > most {
				best, most = i, w
			}
		}
		picked[best] = true
		taken[all[best].part]++
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

// partsOf returns a function that identifies the part of a rune offset in a passage: its section or, in a text of
// one section, its paragraph.
func partsOf(passages []corpus.Passage) func(passage, at int) string {
	sections := map[string]bool{}
	for _, p := range passages {
		sections[p.Section] = true
	}
	return func(passage, at int) string {
		p := passages[passage]
		if len(sections) > 1 {
			return p.Section
		}
		return fmt.Sprint(passage, strings.Count(string([]rune(p.Text)[:at]), "\n\n"))
	}
}
