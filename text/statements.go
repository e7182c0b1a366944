package text

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	tabWidth    = 4  // columns of a leading tab
	wrappedLine = 40 // minimum runes of a line in a wrapped paragraph
)

// Statements returns the rune ranges of self-contained units in s, in order. In prose a unit is a sentence. In
// indented text, such as settings, data or program code, it is a line with the lines indented below it, up to the
// closing bracket. A unit longer than longest runes is split; its first line stays with the first part below it.
// Splitting code or settings into sentences would separate a name from its value.
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

// indentedLine is a line of a text. Rune offsets are those of the whole text.
type indentedLine struct {
	from, to   int // bytes, with its line break
	begin      int // runes before it
	start, end int // runes of its text, without surrounding white space
	indent     int // columns before its text
	first      byte
}

func (l indentedLine) blank() bool { return l.start == l.end }

// closes reports whether a line closes the block above it.
func (l indentedLine) closes() bool { return l.first == '}' || l.first == ']' || l.first == ')' }

// indentedLines parses the indentation of the lines of a text.
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

// isIndented reports whether lines have different indentations. Table rows do not count, since their first cell may
// be empty.
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

// outline collects the parts of a text as rune ranges, in text order.
type outline struct {
	text    string
	longest int
	parts   [][2]int
}

// addSentences adds the sentences of consecutive lines.
func (o *outline) addSentences(lines []indentedLine) {
	if len(lines) == 0 {
		return
	}
	first, last := lines[0], lines[len(lines)-1]
	for _, r := range Sentences(o.text[first.from:last.to]) {
		o.parts = append(o.parts, [2]int{first.begin + r[0], first.begin + r[1]})
	}
}

// addOutline adds the parts of lines without blank ones. A line of the least indentation begins a tree if deeper or
// closing lines follow.
func (o *outline) addOutline(lines []indentedLine) {
	least := lines[0].indent
	for _, l := range lines {
		least = min(least, l.indent)
	}
	alone := 0 // the first of the preceding lines without lines below them
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

// addAlone adds the sentences of lines without lines below them. A short line is not wrapped, so the next begins a
// new statement.
func (o *outline) addAlone(lines []indentedLine) {
	from := 0
	for i, l := range lines {
		if l.end-l.start < wrappedLine || i == len(lines)-1 {
			o.addSentences(lines[from : i+1])
			from = i + 1
		}
	}
}

// addTree adds a line with the lines below it and those that close it. At the start of a text the first line may be
// missing. A tree that is too long is split below its first line; the closing lines join its last part if there is
// room.
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

// addHead adds a line to part n, or before it if that would be too long.
func (o *outline) addHead(head indentedLine, n int) {
	if n < len(o.parts) && o.parts[n][1]-head.start <= o.longest {
		o.parts[n][0] = head.start
		return
	}
	o.parts = slices.Insert(o.parts, n, [2]int{head.start, head.end})
}
