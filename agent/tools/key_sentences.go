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

// sentence is one sentence of a passage, by the passage's place.
type sentence struct {
	passage int
	part    string // the section it stands in, or the paragraph where a text has no sections
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
// focus, or without one those that a section begins with, come before others. What only frames a text and lines of a
// table of contents don't count, nor, where there are enough whole sentences, what does not end as one. Without a focus
// about is empty, and the first sentence of each section is preferred instead. It is a pure function of its arguments:
// the same passages give the same sentences.
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

// asks reports whether a sentence is a question: it states nothing, and is a heading in many texts.
func asks(s string) bool {
	return strings.ContainsAny(s[len(strings.TrimRightFunc(s, unicode.IsPunct)):], "?？")
}

// pickSentences picks up to limit of all sentences, and returns them in their order. SumBasic in short: a word's weight
// is its share of all words; a sentence is worth the average of its words' weights; the best one is taken, and the
// weights of its words are squared, so what was said weighs less; and again. The average is taken over five words more
// than there are. A section's next sentence counts half for each one taken from it before. Equal worth is decided by
// the order of the text. A sentence that is preferred gets 1 more, which is more than any average of shares can be.
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
		// as if it had five more words that nothing else has: a short one says little
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

// partsOf returns what tells which part of a text a rune of a passage stands in: its section or, in a text of one
// section, its paragraph.
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
