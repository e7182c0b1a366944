package offline

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"footnote/corpus/text"
	"footnote/llm"
)

// sentence is one sentence, list item or table row of a passage.
type sentence struct {
	text    string
	words   string // the same as it stands in the passage, without the mark of an item
	source  int    // of the sources that were shown
	place   int    // in its passage
	heading bool
	item    bool // a list item or a table row
	terms   map[string]bool
}

const (
	shortest = 8    // runes of a sentence that may be said
	tooLong  = 1200 // runes of one that may not
)

var (
	itemLine = lazily(`^(?:[-*•–‣]|\d{1,3}[.)]|[a-z][.)])\s`)
	rowLine  = lazily(`\t|\S \| \S|^\|`)
	ruleLine = lazily(`^[\s|:+=_-]+$`)
	// meant for models, not for readers
	commands = lazily(
		`(?i)\b(ignore|disregard|forget|override)\b.{0,30}\b(previous|prior|above|earlier|preceding|all|` +
			`your)\b.{0,20}\b(instructions?|prompts?|rules|messages?|context)\b|\bsystem prompt\b|\byou are now\b`,
	)
)

// sentencesOf cuts a passage.
func sentencesOf(passage string) []sentence {
	runes := []rune(passage)
	var out []sentence
	for i, span := range text.Sentences(passage) {
		raw := string(runes[span[0]:span[1]])
		s := sentence{text: strings.Join(strings.Fields(raw), " "), words: raw, place: i}
		before := lineBefore(runes, span[0])
		s.item = itemLine().MatchString(s.text) || itemLine().MatchString(before) || rowLine().MatchString(raw)
		if s.item {
			s.words = strings.TrimLeft(itemLine().ReplaceAllString(raw, ""), "| ")
		}
		s.heading = !s.item && isHeading(s.text)
		out = append(out, s)
	}
	return out
}

// lineBefore returns what stands before a sentence in its line, and a little of the sentence.
func lineBefore(runes []rune, start int) string {
	from := start
	for from > 0 && runes[from-1] != '\n' && start-from < 8 {
		from--
	}
	return string(runes[from:min(start+2, len(runes))])
}

// isHeading reports whether a line only names what follows.
func isHeading(s string) bool {
	if strings.HasPrefix(s, "#") {
		return true
	}
	last, _ := utf8.DecodeLastRuneInString(s)
	if strings.ContainsRune(".!?。！？:;…\"”»)", last) || strings.Contains(s, ": ") || hasDigit().MatchString(s) {
		return false
	}
	return len(strings.Fields(s)) <= 9 && utf8.RuneCountInString(s) < 90 && !cjk(s)
}

func cjk(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) &&
			utf8.RuneCountInString(s) > 12
	})
}

// sayable reports whether a sentence can stand in an answer: not too short or long, and no markup that would load or
// hide something.
func sayable(s string) bool {
	n := utf8.RuneCountInString(s)
	return n >= shortest && n <= tooLong && !ruleLine().MatchString(s) && !commands().MatchString(s) &&
		!strings.Contains(s, "![") && !strings.ContainsAny(s, "<>")
}

// quoteMark stands around each footnote in an answer that is being put together. No text of a document has it: it is
// stored without NUL.
const quoteMark = "\x00"

// cited writes words of a passage, exactly as they stand there, with the footnote that quotes them. A passage without
// a number, which is text that came with the question, gets none.
func cited(words string, n int) string {
	if n == 0 {
		return shownAs(words)
	}
	return shownAs(words) + " " + quoteMark + strconv.Itoa(n) + ":" + words + quoteMark
}

// shownAs is how words of a document stand in an answer: escaped, so that they are shown as they are, and numbers in
// brackets that the document itself has are not taken for footnotes of ours.
func shownAs(words string) string { return text.EscapeMarkdown(words) }

// quotedBy reads what cited wrote between two marks.
func quotedBy(s string) llm.Quoted {
	number, words, _ := strings.Cut(s, ":")
	n, _ := strconv.Atoi(number) // cited wrote it
	return llm.Quoted{Passage: n, Words: words}
}
