package ground

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"footnote/corpus/text"
)

// Claim is a sentence of an answer.
type Claim struct {
	Text    string // without its footnotes
	Numbers []int  // its footnotes
	parts   []part // as its footnotes divide it, each long enough to be judged by itself
	Nearby  []int  // the footnotes that follow in its paragraph or list, and those of the line that leads to it
	group   int    // of the paragraph or list
	heading int    // its level if it is a heading, else 0
	section string // of a heading: what stands under it
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

// claims splits an answer into its sentences. A footnote belongs to the sentence that it stands in or behind.
func claims(markdown string) []Claim {
	var out []Claim
	for _, p := range paragraphs(markdown) {
		plain, marks := liftFootnotes(p.text)
		runes := []rune(plain)
		spans := text.Sentences(plain)
		if len(spans) == 0 && len(out) > 0 { // footnotes alone are those of the sentence before
			out[len(out)-1].add(marks)
		}
		for i, span := range spans {
			var own []mark
			for len(marks) > 0 && (i == len(spans)-1 || marks[0].at <= spans[i+1][0]) {
				own, marks = append(own, marks[0]), marks[1:]
			}
			said := strings.TrimLeft(
				strings.Join(strings.Fields(WithoutMarkers(string(runes[span[0]:span[1]]))), " "), "#-*>|+ ",
			)
			if said == "" {
				if len(out) > 0 {
					out[len(out)-1].add(own)
				}
				continue
			}
			c := Claim{Text: said, group: p.group, heading: p.heading}
			from := span[0]
			for k, m := range own {
				if at := min(max(m.at, from), span[1]); at > from || k == 0 {
					c.parts = append(c.parts, part{text: string(runes[from:at])})
					from = at
				}
				last := &c.parts[len(c.parts)-1]
				last.numbers = append(last.numbers, m.number)
			}
			c.Numbers = numbersOf(own)
			if rest := string(runes[from:span[1]]); strings.ContainsFunc(rest, isWordRune) {
				c.parts = append(c.parts, part{text: rest})
			}
			out = append(out, c)
		}
	}
	surround(out)
	fillSections(out)
	for i := range out {
		out[i].parts = out[i].judged()
	}
	return out
}

// WithoutSentences is an answer without its footnotes, its headings and some of its sentences, as Claim.Text has them.
// Its code comes last.
func WithoutSentences(markdown string, left []string) string {
	var kept []string
	for _, c := range append(claims(markdown), linesOf(markdown, codeLine)...) {
		if c.heading == 0 && !slices.Contains(left, c.Text) {
			kept = append(kept, c.Text)
		}
	}
	return strings.Join(kept, "\n\n")
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

func numbersOf(marks []mark) []int {
	var out []int
	for _, m := range marks {
		if !slices.Contains(out, m.number) {
			out = append(out, m.number)
		}
	}
	return out
}

// add gives a sentence footnotes that stand behind it.
func (c *Claim) add(marks []mark) {
	for _, n := range numbersOf(marks) {
		if !slices.Contains(c.Numbers, n) {
			c.Numbers = append(c.Numbers, n)
		}
	}
	if len(c.Numbers) > 0 {
		c.parts = []part{{c.Text, c.Numbers}}
	}
}

// surround notes which footnotes may cover sentences that have none.
func surround(all []Claim) {
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

// paragraphs leaves out what makes no claims: code, the heads of tables.
func paragraphs(markdown string) []paragraph {
	var out []paragraph
	group, apart := 0, true // apart: the next line does not belong to the one before
	for _, b := range blocks(markdown) {
		last := len(out) - 1
		switch b.kind {
		case codeLine:
			continue
		case blankLine:
			apart = true
			continue
		case ruleLine:
			isRow := strings.Contains(b.text, "|")
			if last >= 0 && !apart && out[last].kind == textLine && underlines(b.text) {
				out[last].kind, out[last].heading = headingLine, 1
				group++
			}
			if last >= 0 && out[last].kind == rowLine && isRow {
				out = out[:last]
			}
			apart = !isRow
			continue
		case headingLine:
			group, apart = group+1, true
			_, _, line := unquote(b.text, len(b.text))
			out = append(out, paragraph{strings.Trim(line, "#*_ \n"), group, b.kind, headingLevel(line)})
			group++
			continue
		case textLine, itemLine, rowLine:
		}
		var lines []string
		for line := range strings.Lines(b.text) {
			_, _, line = unquote(line, len(line))
			lines = append(lines, strings.TrimSpace(line))
		}
		belongs := last >= 0 && out[last].group == group && b.kind != textLine &&
			(!apart || out[last].kind == b.kind || leadsOn(out[last].text))
		if !belongs {
			group++
		}
		out = append(out, paragraph{strings.Join(lines, "\n"), group, b.kind, 0})
		apart = false
	}
	return out
}

// underlines reports whether a line makes a heading of the paragraph above it.
func underlines(line string) bool {
	line = strings.TrimSpace(line)
	return line != "" && (strings.Trim(line, "=") == "" || strings.Trim(line, "-") == "")
}

// leadsOn reports whether a text ends with the colon before a list.
func leadsOn(s string) bool {
	plain, _ := liftFootnotes(s)
	return strings.HasSuffix(strings.TrimRight(plain, "*_ "), ":")
}
