package cite

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/corpus/support"
	"github.com/footnote/footnote/text"
)

// Limits that the tests in code_test.go fix; neither is measured.
const (
	plainShare  = 0.8 // minimum share of words with only letters or digits in a line of prose
	minUnspaced = 6   // minimum letters for prose in a script without spaces
)

// proseIn returns the prose in a line of code, as in a comment, or an empty string. Prose is plain words after the
// last stand-alone symbol. It starts with a capital, in scripts that have them, and contains a function word or ends
// like a sentence. “x = a + b # the sum of both” has prose after its last symbol; code alone has none.
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

// endsSentence reports whether a text ends like a sentence, with a full stop after a word.
func endsSentence(s string) bool {
	s = strings.TrimRight(s, "\"'”’»)*/-> ")
	last, size := utf8.DecodeLastRuneInString(s)
	before, _ := utf8.DecodeLastRuneInString(s[:len(s)-size])
	return strings.ContainsRune(".!。！", last) && isWordRune(before)
}

// readCode returns the claim in a line of code, if it contains prose. A line that occurs in a passage or another
// text of the evidence makes no claim. unchecked means that its words can't be checked. Only the prose in code is
// compared with passages; other lines are counted.
func (e *Evidence) readCode(c Claim) (claim Claim, isClaim, unchecked bool) {
	if !strings.ContainsFunc(c.Text, isWordRune) || e.isVerbatim(c.Text) {
		return c, false, false
	}
	said := proseIn(c.Text)
	if said == "" {
		return c, false, true
	}
	if !endsSentence(said) { // a comment may be a label for the next lines, like a heading
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

// isVerbatim reports whether a text occurs verbatim in a retrieved passage, the text that came with the question
// or a tool result. White space is normalised, and surrounding spaces prevent matches within a word.
func (e *Evidence) isVerbatim(said string) bool {
	plain := func(s string) string { return " " + strings.Join(strings.Fields(s), " ") + " " }
	said = strings.TrimSpace(plain(said))
	texts := append(slices.Clone(e.Added), e.given, e.Results.allText())
	for _, src := range e.sources.All() {
		texts = append(texts, src.Passage.Text)
	}
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(plain(t), said) })
}
