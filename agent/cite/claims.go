package cite

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

// Claim is a sentence of an answer. It lives as long as the answer it was made from.
type Claim struct {
	Text    string // as it reads, without its footnotes
	Numbers []int  // its footnotes
	parts   []part // as its footnotes divide it, each long enough to be judged by itself
	Nearby  []int  // the footnotes that follow in its paragraph or list, and those of the line that leads to it
	group   int    // of the paragraph or list
	heading int    // its level if it is a heading, else 0
	section string // of a heading: what stands under it
	isCode  bool   // a line of code
	isQuote bool   // nothing but the words that its footnote quotes
	wordy   bool   // a heading of which words can't tell whether it states something
}

// part is a piece of a sentence up to its footnotes. What stands behind the last ones has none.
type part struct {
	text    string
	numbers []int
}

// mark is a footnote at a place of a text without footnotes, in runes.
type mark struct{ at, number int }

var (
	listItem = regexp.MustCompile(`^(?:[-*+•]|\d{1,3}[.)])\s`)
	boldLine = regexp.MustCompile(`^(?:\*\*[^*]+\*\*|__[^_]+__):?$`)
)

// splitClaims splits an answer into its sentences. A footnote belongs to the sentence that it stands in or behind. It
// works block by block, so that no sentence reaches over a heading, a list item or a row of a table. What an answer
// quotes word for word is one claim, wherever else sentences would begin and end in it, and so is an item of a list
// that is nothing but a name: citations are those of the answer, by their numbers from 1. Formulas and footnotes alone
// belong to the sentence before. The order of the claims is that of the answer.
func splitClaims(markdown string, citations []chat.Citation, names []string) []Claim {
	paragraphs := splitParagraphs(markdown)
	quotes := quotedIn(paragraphs, citations)
	var out []Claim
	for i, p := range paragraphs {
		switch quoted, isQuote := quotes[i]; {
		case p.kind == codeLine:
			out = append(out, Claim{Text: p.text, group: p.group, isCode: true})
		case isQuote:
			for _, c := range quoted {
				c.group = p.group
				out = append(out, c)
			}
		case p.isName(names):
			out = append(out, Claim{Text: p.itemText(), group: p.group})
		default:
			out = p.appendSentences(out)
		}
	}
	noteNearby(out)
	fillSections(out)
	for i := range out {
		out[i].parts = out[i].mergeShortParts()
	}
	return out
}

// isFormula reports whether a sentence has no words but those of its formulas.
func isFormula(said string) bool {
	rest := text.WithoutFormulas(said)
	return len(rest) < len(said) && !strings.ContainsFunc(rest, isWordRune)
}

// appendSentences adds the sentences of a paragraph to those before it, which get the footnotes that it begins with.
// Marks and spans are both in order, so each mark is given out once, to the sentence that it stands in or right behind.
func (p paragraph) appendSentences(out []Claim) []Claim {
	plain, marks := liftFootnotes(p.text)
	runes := []rune(plain)
	spans := text.Sentences(plain)
	if len(spans) == 0 && len(out) > 0 { // footnotes alone are those of the sentence before
		out[len(out)-1].addFootnotes(marks)
	}
	for i, span := range spans {
		var own []mark
		for len(marks) > 0 && (i == len(spans)-1 || marks[0].at <= spans[i+1][0]) {
			own, marks = append(own, marks[0]), marks[1:]
		}
		said := claimText(string(runes[span[0]:span[1]]))
		if said == "" || isFormula(said) { // it belongs to the sentence before
			if len(out) > 0 {
				out[len(out)-1].addFootnotes(own)
			}
			continue
		}
		c := Claim{Text: said, group: p.group, heading: p.heading}
		from := span[0]
		for k, m := range own {
			if at := min(max(m.at, from), span[1]); at > from || k == 0 {
				c.parts = append(c.parts, part{text: readEscapes(string(runes[from:at]))})
				from = at
			}
			last := &c.parts[len(c.parts)-1]
			last.numbers = append(last.numbers, m.number)
		}
		c.Numbers = numbersOf(own)
		if rest := string(runes[from:span[1]]); strings.ContainsFunc(rest, isWordRune) {
			c.parts = append(c.parts, part{text: readEscapes(rest)})
		}
		out = append(out, c)
	}
	return out
}

// itemText is an item of a list as it reads, without its mark.
func (p paragraph) itemText() string {
	return readEscapes(strings.Join(strings.Fields(listItem.ReplaceAllString(p.text, "")), " "))
}

// isName reports whether an item of a list is one of some names.
func (p paragraph) isName(names []string) bool {
	if p.kind != itemLine || len(names) == 0 {
		return false
	}
	said := p.itemText()
	return slices.ContainsFunc(names, func(name string) bool { return strings.Join(strings.Fields(name), " ") == said })
}

// claimText is a sentence as Claim.Text has it: as it reads, in one line, without markers and what begins a block.
func claimText(sentence string) string {
	said := strings.TrimLeft(strings.Join(strings.Fields(WithoutMarkers(sentence)), " "), "#-*>|+ ")
	return readEscapes(said)
}

// WithoutSentences is an answer without its footnotes, its headings and some of its sentences, as Claim.Text has them.
// It is for whoever needs the answer's words alone: no Markdown is left but that inside sentences.
func WithoutSentences(markdown string, left []string) string {
	var kept []string
	for _, c := range splitClaims(markdown, nil, nil) {
		if c.heading == 0 && !slices.Contains(left, c.Text) && !(c.isCode && slices.Contains(left, proseIn(c.Text))) {
			kept = append(kept, c.Text)
		}
	}
	return strings.Join(kept, "\n\n")
}

// isWordRune reports whether r is part of a word or a number.
func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// numbersOf are the numbers of some marks, each once, in order.
func numbersOf(marks []mark) []int {
	var out []int
	for _, m := range marks {
		if !slices.Contains(out, m.number) {
			out = append(out, m.number)
		}
	}
	return out
}

// addFootnotes gives a sentence footnotes that stand behind it.
func (c *Claim) addFootnotes(marks []mark) {
	for _, n := range numbersOf(marks) {
		if !slices.Contains(c.Numbers, n) {
			c.Numbers = append(c.Numbers, n)
		}
	}
	if len(c.Numbers) > 0 {
		c.parts = []part{{c.Text, c.Numbers}}
	}
}

// noteNearby notes which footnotes may cover sentences that have none. A sentence without a footnote may lean on those
// behind it in its paragraph or list, and a list on those of the line that leads to it. Two passes: forward for the
// line that leads to a list, backward for the footnotes that follow.
func noteNearby(all []Claim) {
	group, lead := 0, []int(nil)
	for i := range all {
		if all[i].group != group {
			group, lead = all[i].group, nil
		}
		all[i].Nearby = slices.Clone(lead)
		if strings.HasSuffix(all[i].Text, ":") {
			lead = append(lead, all[i].Numbers...)
		}
	}
	var later []int
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].group != group {
			group, later = all[i].group, nil
		}
		all[i].Nearby = append(all[i].Nearby, later...)
		later = append(later, all[i].Numbers...)
	}
}

// paragraph is a piece of an answer that stands by itself: a paragraph, an item of a list, a row of a table. A list
// is one group with the line that leads to it.
type paragraph struct {
	text    string
	group   int
	kind    lineKind
	heading int // its level, 0 if it is none
}

// splitParagraphs are those of an answer, and its headings, the names of its tables' columns and its lines of code.
// Groups are numbers: paragraphs with the same one may lean on each other's footnotes.
func splitParagraphs(markdown string) []paragraph {
	var out []paragraph
	group, apart, inTable := 0, true, false // apart: the next line does not belong to the one before
	before := -1                            // the last paragraph that a list or a table may belong to
	put := func(text string, kind lineKind) {
		if belongs := before >= 0 && out[before].group == group && kind != textLine &&
			(!apart || out[before].kind == kind || leadsOn(out[before].text)); !belongs {
			group++
		}
		before = len(out)
		out = append(out, paragraph{text, group, kind, 0})
		apart = false
	}
	for _, b := range splitBlocks(markdown) {
		var lines []string
		for line := range strings.Lines(b.text) {
			_, _, line = cutQuoteMarks(line, len(line))
			lines = append(lines, strings.TrimSpace(line))
		}
		said := strings.Join(lines, "\n")
		switch b.kind {
		case noLine, fenceLine:
		case codeLine:
			out = append(out, paragraph{said, group, b.kind, 0})
		case blankLine:
			apart, inTable = true, false
		case ruleLine:
			inTable = strings.Contains(b.text, "|")
			if !apart && before == len(out)-1 {
				out = markHeadings(out, inTable, isUnderline(said))
			}
			apart = !inTable
		case headingLine:
			group, apart = group+1, true
			out = append(out, paragraph{strings.Trim(said, "#*_ \n"), group, b.kind, headingLevel(said)})
			group++
		case textLine, itemLine, rowLine:
			if !inTable {
				put(said, b.kind)
				continue
			}
			for _, row := range lines {
				put(row, rowLine)
			}
		}
	}
	return out
}

// markHeadings makes headings of what stands above a rule: of the cells of its last line above the rule of a table, or
// of all of it if the rule underlines it. The line that is a rule comes after what it makes a heading of, so the
// paragraphs so far are changed.
func markHeadings(all []paragraph, isTable, isUnderlined bool) []paragraph {
	last := len(all) - 1
	if last < 0 {
		return all
	}
	p := all[last]
	switch cut := strings.LastIndexByte(p.text, '\n') + 1; {
	case isTable && strings.Contains(p.text[cut:], "|"):
		if all = all[:last]; cut > 0 {
			all = append(all, paragraph{p.text[:cut], p.group, p.kind, 0})
		}
		for cell := range strings.SplitSeq(p.text[cut:], "|") {
			if cell = strings.Trim(cell, "*_ "); cell != "" {
				all = append(all, paragraph{cell, p.group, headingLine, lowestHeading + 1})
			}
		}
	case isUnderlined && p.kind == textLine:
		all[last].kind, all[last].heading = headingLine, 1
	}
	return all
}

// isUnderline reports whether a line makes a heading of the paragraph above it.
func isUnderline(line string) bool {
	line = strings.TrimSpace(line)
	return line != "" && (strings.Trim(line, "=") == "" || strings.Trim(line, "-") == "")
}

// leadsOn reports whether a text ends with the colon before a list.
func leadsOn(s string) bool {
	plain, _ := liftFootnotes(s)
	return strings.HasSuffix(strings.TrimRight(plain, "*_ "), ":")
}
