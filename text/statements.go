package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	tabWidth    = 4  // columns that a tab at the beginning of a line is counted as
	wrappedLine = 40 // runes that a line of a wrapped paragraph has at least
)

// Statements returns the rune ranges of what can be read by itself in s, in order: sentences and, of indented lines
// such as settings, data or program code, a line with those that are indented below it, down to the bracket that closes
// it. One of more than longest runes is taken apart; its first line stays with the first part of what is below it.
// Cutting program code or settings into sentences would part a name from its value.
func Statements(s string, longest int) [][2]int {
	o := outline{text: s, longest: longest}
	lines := indentedLines(s)
	prose := 0 // the first line that is not in o.parts
	for from := 0; from < len(lines); {
		to := from
		for to < len(lines) && !lines[to].blank() {
			to++
		}
		if paragraph := lines[from:to]; isIndented(paragraph) {
			o.addSentences(lines[prose:from])
			o.addOutline(paragraph)
			prose = to
		}
		from = to + 1
	}
	o.addSentences(lines[prose:])
	return o.parts
}

// indentedLine is a line of a text. Offsets in runes are those of the whole text.
type indentedLine struct {
	from, to   int // bytes, with its line break
	begin      int // runes before it
	start, end int // runes of its text, without the white space around it
	indent     int // columns before its text
	first      byte
}

func (l indentedLine) blank() bool { return l.start == l.end }

// closes reports whether a line belongs to what began above it.
func (l indentedLine) closes() bool { return l.first == '}' || l.first == ']' || l.first == ')' }

// indentedLines measures the lines of a text once.
func indentedLines(s string) []indentedLine {
	var lines []indentedLine
	at, runes := 0, 0
	for line := range strings.Lines(s) {
		l := indentedLine{from: at, to: at + len(line), begin: runes}
		body := strings.TrimLeftFunc(line, unicode.IsSpace)
		for _, r := range line[:len(line)-len(body)] {
			if l.indent++; r == '\t' {
				l.indent += tabWidth - 1
			}
		}
		l.start = runes + utf8.RuneCountInString(line[:len(line)-len(body)])
		body = strings.TrimSpace(body)
		if body != "" {
			l.first = body[0]
		}
		l.end = l.start + utf8.RuneCountInString(body)
		runes += utf8.RuneCountInString(line)
		at = l.to
		lines = append(lines, l)
	}
	return lines
}

// isIndented reports whether lines have others below them. Rows of a table, of which the first cell can be empty, have
// none.
func isIndented(lines []indentedLine) bool {
	deeper := false
	for _, l := range lines {
		deeper = deeper || l.indent != lines[0].indent
		if l.first == '|' {
			return false
		}
	}
	return deeper
}

// outline collects the parts of a text. Parts are rune ranges in the order of the text.
type outline struct {
	text    string
	longest int
	parts   [][2]int
}

// addSentences adds the sentences of lines that stand together.
func (o *outline) addSentences(lines []indentedLine) {
	if len(lines) == 0 {
		return
	}
	first, last := lines[0], lines[len(lines)-1]
	for _, r := range Sentences(o.text[first.from:last.to]) {
		o.parts = append(o.parts, [2]int{first.begin + r[0], first.begin + r[1]})
	}
}

// addOutline adds the parts of lines without blank ones. A line that is indented the least begins a tree if deeper
// lines or closing ones follow.
func (o *outline) addOutline(lines []indentedLine) {
	least := lines[0].indent
	for _, l := range lines {
		least = min(least, l.indent)
	}
	alone := 0 // the first of the lines before this one that have none below them
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && (lines[to].indent > least || lines[to].closes()) {
			to++
		}
		if to > from+1 || lines[from].indent > least {
			o.addAlone(lines[alone:from])
			o.addTree(lines[from:to], least)
			alone = to
		}
		from = to
	}
	o.addAlone(lines[alone:])
}

// addAlone adds the sentences of lines with none below them. A short line is not wrapped: the next says something else.
func (o *outline) addAlone(lines []indentedLine) {
	from := 0
	for i, l := range lines {
		if l.end-l.start < wrappedLine || i == len(lines)-1 {
			o.addSentences(lines[from : i+1])
			from = i + 1
		}
	}
}

// addTree adds a line with those below it and those that close it. Where a text begins inside a tree, the line itself
// is missing. A tree that is too long is taken apart below its first line; what closes it goes with its last part if
// there is room.
func (o *outline) addTree(lines []indentedLine, least int) {
	head, last := lines[0], lines[len(lines)-1]
	if last.end-head.start <= o.longest {
		o.parts = append(o.parts, [2]int{head.start, last.end})
		return
	}
	inner := 0
	if head.indent == least {
		inner = 1
	}
	closed := inner
	for closed < len(lines) && lines[closed].indent > least {
		closed++
	}
	n := len(o.parts)
	if closed > inner {
		o.addOutline(lines[inner:closed])
	}
	if inner == 1 {
		o.addHead(head, n)
	}
	if closed == len(lines) {
		return
	}
	if n := len(o.parts); n > 0 && last.end-o.parts[n-1][0] <= o.longest {
		o.parts[n-1][1] = last.end
		return
	}
	o.addTree(lines[closed:], least)
}

// addHead adds a line to the part of a number, or before it.
func (o *outline) addHead(head indentedLine, n int) {
	if n < len(o.parts) && o.parts[n][1]-head.start <= o.longest {
		o.parts[n][0] = head.start
		return
	}
	o.parts = slices.Insert(o.parts, n, [2]int{head.start, head.end})
}
