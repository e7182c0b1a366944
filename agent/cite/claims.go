package cite

import (
	"slices"
	"strings"
	"unicode"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/lazy"
)

// Claim is a sentence of an answer. It is valid as long as that answer.
type Claim struct {
	Text    string // plain text, without footnotes
	Numbers []int  // its footnotes
	parts   []part // split at its footnotes, each long enough for a separate check
	Nearby  []int  // later footnotes in its paragraph or list, and those of the list's lead
	group   int    // of the paragraph or list
	heading int    // level of a heading, else 0
	section string // text of a heading's section
	isCode  bool   // a line of code
	isQuote bool   // only the verbatim quote of its footnote
	wordy   bool   // a heading that words can't classify as a claim or a topic
}

// part is a piece of a sentence up to its footnotes. The text after the last ones has none.
type part struct {
	text    string
	numbers []int
}

// mark is a footnote at a rune offset of a text without footnotes.
type mark struct{ at, number int }

var (
	listItem = lazy.Regexp(`^(?:[-*+•]|\d{1,3}[.)])\s`)
	boldLine = lazy.Regexp(`^(?:\*\*[^*]+\*\*|__[^_]+__):?$`)
)

// splitClaims splits an answer into its sentences, in order. A footnote belongs to the sentence around or before it.
// It splits block by block, so that no sentence spans a heading, a list item or a table row. A verbatim quote is one
// claim, even with several sentences, and so is a list item that is only a name. citations are those of the answer,
// numbered from 1. Formulas and footnotes on their own belong to the sentence before them.
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

// isFormula reports whether a sentence has no words except those of its formulas.
func isFormula(said string) bool {
	rest := text.WithoutFormulas(said)
	return len(rest) < len(said) && !strings.ContainsFunc(rest, isWordRune)
}

// appendSentences appends the sentences of a paragraph. Footnotes at its start go to the sentence before it. Marks
// and spans are sorted, so each mark is assigned once, to the sentence around or before it.
func (p paragraph) appendSentences(out []Claim) []Claim {
	plain, marks := liftFootnotes(p.text)
	runes := []rune(plain)
	spans := text.Sentences(plain)
	if len(spans) == 0 && len(out) > 0 { // footnotes alone belong to the previous sentence
		out[len(out)-1].addFootnotes(marks)
	}
	for i, span := range spans {
		var own []mark
		for len(marks) > 0 && (i == len(spans)-1 || marks[0].at <= spans[i+1][0]) {
			own, marks = append(own, marks[0]), marks[1:]
		}
		said := claimText(string(runes[span[0]:span[1]]))
		if said == "" || isFormula(said) { // it belongs to the previous sentence
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

// itemText returns the normalised text of a list item, without its marker.
func (p paragraph) itemText() string {
	return readEscapes(strings.Join(strings.Fields(listItem().ReplaceAllString(p.text, "")), " "))
}

// isName reports whether a list item is one of the names.
func (p paragraph) isName(names []string) bool {
	if p.kind != itemLine || len(names) == 0 {
		return false
	}
	said := p.itemText()
	return slices.ContainsFunc(names, func(name string) bool { return strings.Join(strings.Fields(name), " ") == said })
}

// claimText normalises a sentence for Claim.Text: plain text on one line, without markers and block syntax.
func claimText(sentence string) string {
	said := strings.TrimLeft(strings.Join(strings.Fields(WithoutMarkers(sentence)), " "), "#-*>|+ ")
	return readEscapes(said)
}

// WithoutSentences returns an answer without its footnotes, its headings and the given sentences, as in Claim.Text.
// It is for uses of the answer's words alone: only Markdown inside sentences remains.
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

// numbersOf returns the numbers of marks, deduplicated, in order.
func numbersOf(marks []mark) []int {
	var out []int
	for _, m := range marks {
		if !slices.Contains(out, m.number) {
			out = append(out, m.number)
		}
	}
	return out
}

// addFootnotes adds footnotes after a sentence to it.
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

// noteNearby sets the footnotes that may cover each sentence without one: later footnotes in its paragraph or list,
// and those of the line that introduces a list. A forward pass handles such lines, a backward pass the later
// footnotes.
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

// paragraph is a separate piece of an answer: a paragraph, a list item, a table row. A list is one group with the
// line that introduces it.
type paragraph struct {
	text    string
	group   int
	kind    lineKind
	heading int // level of a heading, else 0
}

// splitParagraphs parses an answer into paragraphs, headings, table headers and lines of code. Paragraphs with the
// same group number may share footnotes.
func splitParagraphs(markdown string) []paragraph {
	var out []paragraph
	group, apart, inTable := 0, true, false // apart: the next line starts a new block
	before := -1                            // last paragraph that a list or table may belong to
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

// markHeadings converts the text above a rule to headings: the cells of its last line above a table's rule, or the
// whole paragraph above an underline. It modifies the paragraphs so far, since the rule follows them.
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

// isUnderline reports whether a line makes the paragraph above it a heading.
func isUnderline(line string) bool {
	line = strings.TrimSpace(line)
	return line != "" && (strings.Trim(line, "=") == "" || strings.Trim(line, "-") == "")
}

// leadsOn reports whether a text ends with the colon before a list.
func leadsOn(s string) bool {
	plain, _ := liftFootnotes(s)
	return strings.HasSuffix(strings.TrimRight(plain, "*_ "), ":")
}
