package cite

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/corpus/quote"
)

// minCopied is the least number of content words of a sentence that gets a footnote because a passage has its words.
// Fewer words coincide: many documents say "The rent is due on Monday", each of its own rent. No measurement is behind
// the number.
const minCopied = 5

// copied is a passage that has a sentence of the answer word for word.
type copied struct {
	passage int
	words   string // as the passage has them
}

// passageIndex finds the words of sentences in the passages that were shown so far.
type passageIndex struct {
	index   quote.Index
	sources []Source // by the index's numbers
}

// update adds the passages that were shown since the last update.
func (x *passageIndex) update(s *Sources) {
	if s.count() == len(x.sources) {
		return
	}
	for _, src := range s.All() {
		if !slices.ContainsFunc(x.sources, func(known Source) bool { return known.N == src.N }) {
			x.index.Add(src.Passage.Text)
			x.sources = append(x.sources, src)
		}
	}
}

// findCopied returns the passages that have a sentence word for word, in the order in which they were shown. The words
// alone prove nothing: "It is not true that …" and "…, unless it rains" turn them around. So the passage must also
// support the sentence as it supports one that the model cites. A question does not state what it asks.
func (e *Evidence) findCopied(sentence string) []copied {
	said := e.withoutReferences(claimText(listItem.ReplaceAllString(strings.TrimSpace(sentence), "")))
	e.passages.update(e.sources)
	runs := e.passages.index.Find(said) // most sentences end here: what follows is slow
	if len(runs) == 0 || CountContentWords(said) < minCopied || strings.Contains(said, "|") || !IsFactualClaim(said) ||
		e.quotesQuestion(sentence) {
		return nil
	}
	var out []copied
	for _, run := range runs {
		src := e.passages.sources[run.Text]
		runes := []rune(src.Passage.Text)
		if slices.ContainsFunc(out, func(c copied) bool { return c.passage == src.N }) ||
			isAsked(string(runes[run.End:])) ||
			!e.citer.Judge.Backed(said, e.aboutTools()+aboutSource(src), src.Passage.Text) {
			continue
		}
		end := run.End
		for end < len(runes) && isStop(runes[end]) {
			end++
		}
		out = append(out, copied{src.N, string(runes[run.Start:end])})
	}
	return out
}

// isAsked reports whether the sentence before rest ends as a question.
func isAsked(rest string) bool {
	rest = strings.TrimLeftFunc(rest, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(`"'”’»)`, r)
	})
	return strings.HasPrefix(rest, "?") || strings.HasPrefix(rest, "？")
}

// quotesQuestion reports whether a sentence is set as a quotation and has words of the question.
func (e *Evidence) quotesQuestion(sentence string) bool {
	if first, _ := utf8.DecodeRuneInString(strings.TrimSpace(sentence)); !strings.ContainsRune(">\"“„«'‘‹", first) {
		return false
	}
	var question quote.Index
	question.Add(e.question)
	return len(question.Find(claimText(sentence))) > 0
}
