package cite

import (
	"slices"
	"strings"

	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/lazy"
)

// inParentheses matches a possible reference in a sentence: "(from Chapter 2: Installation)".
var inParentheses = lazy.Regexp(`\s*\(([^()]{3,200})\)`)

// withoutReferences removes references in parentheses to a document of the run or to a section of it. Such a
// reference names a location and makes no claim.
func (e *Evidence) withoutReferences(said string) string {
	if !strings.Contains(said, "(") {
		return said
	}
	var names []string
	for _, src := range e.sources.All() {
		for _, document := range []string{src.Document.DisplayTitle(), src.Document.Filename} {
			names = append(names, document)
			for section := range strings.SplitSeq(src.Passage.Section, "›") {
				names = append(names, section, document+" "+section)
			}
		}
	}
	return inParentheses().ReplaceAllStringFunc(said, func(found string) string {
		named := inParentheses().FindStringSubmatch(found)[1]
		if slices.ContainsFunc(names, func(name string) bool { return e.refersTo(named, name, said) }) {
			return ""
		}
		return found
	})
}

// refersTo reports whether a reference has all content words of a name and no others, except words for documents. If
// both have numbers, as in "Chapter 2", these must be equal. Stop words are those of the answer's language.
func (e *Evidence) refersTo(reference, name, answer string) bool {
	if !Numeral().MatchString(name) || !Numeral().MatchString(reference) {
		name, reference = Numeral().ReplaceAllString(name, " "), Numeral().ReplaceAllString(reference, " ")
	}
	if CountContentWords(Numeral().ReplaceAllString(name, "")) == 0 ||
		e.citer.Judge.HasOwnWords(name, MetaWords+" "+reference, answer) {
		return false
	}
	return !e.citer.Judge.HasOwnWords(reference, MetaWords+"see "+name, answer)
}

// sentenceSpans parses a text into sentences and returns their rune ranges, in order. A full stop in parentheses
// ends no sentence: "(from 3. Rent)".
func sentenceSpans(s string) (spans [][2]int) {
	runes, open := []rune(s), false
	for _, span := range text.Sentences(s) {
		if open {
			spans[len(spans)-1][1] = span[1]
		} else {
			spans = append(spans, span)
		}
		last := spans[len(spans)-1]
		said := string(runes[last[0]:last[1]])
		open = strings.Count(said, "(") > strings.Count(said, ")") && strings.ContainsRune(string(runes[last[1]:]), ')')
	}
	return spans
}
