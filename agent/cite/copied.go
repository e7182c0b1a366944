package cite

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/corpus/quote"
)

// minCopied is the minimum number of content words for an added footnote. Shorter sentences match by coincidence:
// many documents contain "The rent is due on Monday", each about its own rent. The number is not based on a
// measurement.
const minCopied = 5

// copied is a passage that contains a sentence of the answer verbatim.
type copied struct {
	passage int
	words   string // in the passage's spelling
}

// passageIndex is a full-text index of the passages retrieved so far.
type passageIndex struct {
	index   quote.Index
	sources []Source // by the index's numbers
}

// update indexes the passages retrieved since the last update.
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

// findCopied returns the passages that contain a sentence verbatim, in the order of retrieval. A verbatim match is
// not enough: "It is not true that …" and "…, unless it rains" reverse the meaning. So the passage must also support
// the sentence as if the model had cited it. A sentence that is a question in the passage is not evidence.
func (e *Evidence) findCopied(sentence string) []copied {
	said := e.withoutReferences(claimText(listItem().ReplaceAllString(strings.TrimSpace(sentence), "")))
	e.passages.update(e.sources)
	runs := e.passages.index.Find(said) // most sentences end here, before the slow checks
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

// quotesQuestion reports whether a sentence is formatted as a quotation and repeats words of the question.
func (e *Evidence) quotesQuestion(sentence string) bool {
	if first, _ := utf8.DecodeRuneInString(strings.TrimSpace(sentence)); !strings.ContainsRune(">\"“„«'‘‹", first) {
		return false
	}
	var question quote.Index
	question.Add(e.question)
	return len(question.Find(claimText(sentence))) > 0
}
