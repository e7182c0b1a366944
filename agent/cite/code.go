package cite

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/corpus/support"
	"github.com/footnote/footnote/text"
)

// The two are choices that the tests in code_test.go hold; nothing was measured.
const (
	plainShare  = 0.8 // of the words of a line of prose that have nothing but letters or digits
	minUnspaced = 6   // letters of a script without spaces that are prose
)

// proseIn returns the words of a line of code that are prose, as in a comment; none if there are none. Prose is plain
// words behind the last sign that stands alone, begins with a capital where there are any, and has a function word or
// ends as a sentence does. A line like “x = a + b # the sum of both” has prose behind its last sign; a line of code
// alone has none.
func proseIn(line string) string {
	fields := strings.Fields(line)
	from := 0
	for i, f := range fields {
		if !strings.ContainsFunc(f, isWordRune) {
			from = i + 1
		}
	}
	said := strings.TrimLeftFunc(strings.Join(fields[from:], " "), func(r rune) bool { return !isWordRune(r) })
	plain, unspaced, letters, function := 0, 0, 0, false
	for _, f := range fields[from:] {
		word := strings.TrimFunc(f, func(r rune) bool {
			return !isWordRune(r) && !strings.ContainsRune("$={}[]<>\\/", r)
		})
		if word != "" && !strings.ContainsFunc(word, func(r rune) bool {
			return !isWordRune(r) && !unicode.IsMark(r) && !strings.ContainsRune("-'’,.", r)
		}) {
			plain++
		}
		function = function || plainStop(word) && strings.ToUpper(word) != word
		for _, r := range word {
			if unicode.IsLetter(r) {
				letters++
			}
			if text.Unspaced(r) {
				unspaced++
			}
		}
	}
	first, _ := utf8.DecodeRuneInString(said)
	switch {
	case unspaced >= minUnspaced && 2*unspaced >= letters:
	case float64(plain) < plainShare*float64(len(fields)-from), unicode.IsLower(first),
		CountContentWords(said) < minPart,
		!function && !endsSentence(said):
		return ""
	}
	return said
}

// endsSentence reports whether a text ends as a sentence does, with a full stop behind a word.
func endsSentence(s string) bool {
	s = strings.TrimRight(s, "\"'”’»)*/-> ")
	last, size := utf8.DecodeLastRuneInString(s)
	before, _ := utf8.DecodeLastRuneInString(s[:len(s)-size])
	return strings.ContainsRune(".!。！", last) && isWordRune(before)
}

// readCode returns the claim that a line of code makes, if it is prose; a line that stands in a passage or another text
// that the answer may rest on makes none. unchecked means that its words can't be judged. Code is not checked word for
// word against passages: what it says in prose is, and the rest is only counted.
func (e *Evidence) readCode(c Claim) (claim Claim, isClaim, unchecked bool) {
	if !strings.ContainsFunc(c.Text, isWordRune) || e.standsInTexts(c.Text) {
		return c, false, false
	}
	said := proseIn(c.Text)
	if said == "" {
		return c, false, true
	}
	if !endsSentence(said) { // a comment may name what follows, as a heading does
		around := e.question + "\n\n" + MetaWords
		for _, src := range e.sources.All() {
			around += "\n\n" + src.Passage.Text
		}
		if e.citer.Judge.HeadingAdds(said, around) == support.AddsNothing {
			return c, false, true
		}
	}
	c.Text = said
	return c, true, false
}

// standsInTexts reports whether a text stands word for word in a passage that was shown, in the text that came with the
// question or in what a tool returned. White space is collapsed on both sides, and the spaces around keep a word from
// matching inside another.
func (e *Evidence) standsInTexts(said string) bool {
	plain := func(s string) string { return " " + strings.Join(strings.Fields(s), " ") + " " }
	said = strings.TrimSpace(plain(said))
	texts := append(slices.Clone(e.Added), e.given, e.Results.allText())
	for _, src := range e.sources.All() {
		texts = append(texts, src.Passage.Text)
	}
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(plain(t), said) })
}
