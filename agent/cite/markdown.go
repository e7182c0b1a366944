package cite

import (
	"strings"

	"github.com/footnote/footnote/text"
)

// lineKind says what a line of Markdown is to the block that it stands in.
type lineKind int

const (
	noLine      lineKind = iota // before the first one
	textLine                    // continues a paragraph or a list item, or begins a paragraph
	itemLine                    // begins a list item
	rowLine                     // a row of a table
	headingLine                 // a heading, or a line that is bold from end to end
	ruleLine                    // a rule, or the line below the head of a table
	blankLine
	fenceLine // begins or ends a code block
	codeLine  // inside one
)

// maxOpenItems is how many list items in one another are followed: views draw no more levels either. Each further
// marker is text, so that a line of markers alone takes time in proportion to its length.
const maxOpenItems = 100

// openFence is a fenced code block whose end has not come. The zero value means that there is none.
type openFence struct {
	char   byte // '`' or '~'
	length int  // of the run that opened it: a shorter run does not close it
	quotes int  // block quotes that it stands in
	column int  // at which the content of the list item that it stands in begins
}

// lineReader tells the kinds of lines that it reads one after another, by the rules of CommonMark for code. A copy
// reads on independently, so that lines can be looked at in advance. The zero value reads from the beginning of a text.
// It reads what the writer must know while an answer streams, line by line; views draw Markdown with a full parser. It
// follows CommonMark 0.31 (spec.commonmark.org) in what decides whether something is code: fences (§4.5), indented code
// (§4.4), quotes (§5.1) and list items (§5.2).
type lineReader struct {
	fence   openFence
	formula string // what closes the formula that has begun on a line of its own, empty if there is none
	items   []int  // columns at which the content of the open list items begins, outer ones first; never changed
	quotes  int    // block quotes of the line before
	last    lineKind
}

// readLine returns the kind of the next line, which may end with a line break.
func (r *lineReader) readLine(line string) lineKind {
	r.last = r.kindOf(line)
	return r.last
}

// kindOf reads a line: an open code block first, then quote marks, indented code, list markers and a new code block.
// The order is that of precedence: inside a fence nothing else counts, and a block that a quote or an item holds ends
// with them.
func (r *lineReader) kindOf(line string) lineKind {
	if r.fence.length > 0 {
		quotes, column, rest := cutQuoteMarks(line, r.fence.quotes)
		// the quote or the item that holds the block is over
		left := quotes < r.fence.quotes || rest != "" && column < r.fence.column
		if !left {
			if column < r.fence.column+4 && r.fence.closedBy(rest) {
				r.fence = openFence{}
				return fenceLine
			}
			return codeLine
		}
		r.fence = openFence{}
	}
	quotes, column, rest := cutQuoteMarks(line, len(line))
	if quotes != r.quotes {
		r.quotes, r.items = quotes, nil
	}
	if rest == "" {
		r.formula = ""
		return blankLine
	}
	if r.formula != "" { // its lines may look like items and rules
		if strings.Contains(rest, r.formula) {
			r.formula = ""
		}
		return textLine
	}
	if r.isIndented(column) {
		return codeLine
	}
	kind := kindOfText(rest)
	for len(r.items) < maxOpenItems {
		content, inner := cutListMarker(column, rest)
		if inner == "" {
			break
		}
		r.items = append(r.enclosingItems(column), content)
		column, rest = content, inner
	}
	if open, ok := fenceOf(rest); ok {
		items := r.enclosingItems(column)
		if n := len(items); n > 0 {
			open.column = items[n-1]
		}
		if column < open.column+4 {
			open.quotes = quotes
			r.fence, r.items = open, items
			return fenceLine
		}
	}
	r.formula = opensFormula(rest)
	if r.last == blankLine && kind == textLine {
		r.items = r.enclosingItems(column)
	}
	return kind
}

// opensFormula returns what closes the formula that a line begins with and that goes on behind it. It has to be known
// that a formula goes on, since its lines may begin with signs of lists.
func opensFormula(line string) (closing string) {
	switch line = strings.TrimSpace(line); {
	case line == `\[`, strings.HasPrefix(line, `\[ `):
		closing = `\]`
	case strings.HasPrefix(line, "$$"):
		closing = "$$"
	default:
		return ""
	}
	if strings.Contains(line[2:], closing) {
		return ""
	}
	return closing
}

// isIndented reports whether a line whose text begins at a column is indented code: four columns further than what it
// stands in, and no paragraph goes on there.
func (r *lineReader) isIndented(column int) bool {
	if r.last == textLine || r.last == itemLine || r.last == rowLine {
		return false
	}
	base := 0
	if items := r.enclosingItems(column); len(items) > 0 {
		base = items[len(items)-1]
	}
	return column >= base+4
}

// enclosingItems returns the list items that a block at a column stands in.
func (r *lineReader) enclosingItems(column int) []int {
	n := len(r.items)
	for n > 0 && r.items[n-1] > column {
		n--
	}
	return r.items[:n:n]
}

// kindOfText returns the kind of a line outside of code, without its indentation and quote marks.
func kindOfText(line string) lineKind {
	line = strings.TrimSpace(line)
	switch {
	case strings.Trim(line, "|-: *_=") == "":
		return ruleLine
	case line[0] == '#', boldLine.MatchString(line) && !strings.ContainsAny(line, ".!?"):
		return headingLine
	case listItem.MatchString(line):
		return itemLine
	case line[0] == '|':
		return rowLine
	}
	return textLine
}

// cutQuoteMarks cuts the indentation and up to most quote marks off a line. column is where rest begins behind the last
// quote mark; a tab reaches to the next multiple of four. rest is empty for a blank line.
func cutQuoteMarks(line string, most int) (quotes, column int, rest string) {
	for i, c := range line {
		switch {
		case c == ' ':
			column++
		case c == '\t':
			column += 4 - column%4
		case c == '\r', c == '\n':
		case c == '>' && quotes < most:
			quotes, column = quotes+1, 0
			if strings.HasPrefix(line[i+1:], " ") {
				column = -1 // the space behind the mark belongs to it
			}
		default:
			return quotes, column, line[i:]
		}
	}
	return quotes, max(column, 0), ""
}

// cutListMarker cuts the marker of a list item off a line whose text begins at a column, and returns where the item's
// text begins. rest is empty if there is no marker or nothing behind it. A number has at most nine digits (CommonMark
// §5.2), and more than four spaces behind a marker are indented code inside the item.
func cutListMarker(column int, line string) (content int, rest string) {
	n := 0
	for n < len(line) && n < 9 && '0' <= line[n] && line[n] <= '9' {
		n++
	}
	switch {
	case n == len(line), n > 0 && line[n] != '.' && line[n] != ')',
		n == 0 && !strings.ContainsRune("-*+", rune(line[0])):
		return 0, ""
	}
	n++
	_, spaces, rest := cutQuoteMarks(line[n:], 0)
	switch {
	case spaces == 0:
		return 0, ""
	case spaces > 4:
		spaces = 1
	}
	return column + n + spaces, rest
}

// fenceOf reads the fence that a line without its indentation opens. Backticks on the same line behind the fence make
// it a code span (CommonMark §4.5).
func fenceOf(line string) (openFence, bool) {
	if line == "" || line[0] != '`' && line[0] != '~' {
		return openFence{}, false
	}
	n := runLength(line, line[0])
	if n < 3 || line[0] == '`' && strings.Contains(line[n:], "`") {
		return openFence{}, false
	}
	return openFence{char: line[0], length: n}, true
}

// closedBy reports whether a line without its indentation closes the block.
func (f openFence) closedBy(line string) bool {
	n := runLength(line, f.char)
	return n >= f.length && strings.TrimSpace(line[n:]) == ""
}

// runLength returns how many times a character stands at the beginning of a text.
func runLength(s string, char byte) int {
	n := 0
	for n < len(s) && s[n] == char {
		n++
	}
	return n
}

// block is a piece of Markdown whose text is read by itself. Blocks put together are the whole text, line breaks
// included.
type block struct {
	kind lineKind
	text string
}

// splitBlocks splits a text into list items and paragraphs with all of their lines, and single lines of the other
// kinds.
func splitBlocks(markdown string) []block {
	var out []block
	var reader lineReader
	begin, end := 0, 0
	for line := range strings.Lines(markdown) {
		kind, last := reader.readLine(line), len(out)-1
		if last < 0 || !kind.continuesBlock(out[last].kind) {
			out, begin, last = append(out, block{kind: kind}), end, last+1
		}
		end += len(line)
		out[last].text = markdown[begin:end]
	}
	return out
}

// isCode reports whether a line is part of a code block, its fences included: nothing in it is a footnote or a claim.
func (k lineKind) isCode() bool { return k == codeLine || k == fenceLine }

// continuesBlock reports whether a line belongs to the block of the line before it.
func (k lineKind) continuesBlock(before lineKind) bool {
	return k == textLine && (before == textLine || before == itemLine)
}

// WithoutEscapes returns an answer as it reads where nothing draws its Markdown: without the backslashes that keep
// signs from meaning something, but for those in code.
func WithoutEscapes(markdown string) string {
	var b strings.Builder
	for _, piece := range splitBlocks(markdown) {
		if !piece.kind.isCode() {
			piece.text = readEscapes(piece.text)
		}
		b.WriteString(piece.text)
	}
	return b.String()
}

// readEscapes is WithoutEscapes for one block, which is no block of code.
func readEscapes(block string) string { return text.UnescapeMarkdown(block, codeSpans(block)) }

// codeSpans returns where the code spans of a block are, in bytes, their backticks included. A run of backticks opens
// one only if a run of the same length follows; else it is text, as is one behind a backslash. It follows CommonMark
// §6.1, but for backslashes, which answers use to keep a backtick from opening a span.
func codeSpans(s string) [][2]int {
	var out [][2]int
	for i := 0; i < len(s); {
		at := strings.IndexAny(s[i:], "`\\")
		if at < 0 {
			break
		}
		if i += at; s[i] == '\\' {
			i += escapeLength(s[i:])
			continue
		}
		n := runLength(s[i:], '`')
		end := spanEnd(s, i+n, n)
		if end < 0 {
			i += n
			continue
		}
		out = append(out, [2]int{i, end})
		i = end
	}
	return out
}

// escapeLength returns how many bytes a backslash at the beginning of a text keeps from opening a code span, its own
// included.
func escapeLength(text string) int {
	if len(text) > 1 && (text[1] == '`' || text[1] == '\\') {
		return 2
	}
	return 1
}

// spanEnd returns the end of the first run of exactly n backticks at or behind a place; -1 if there is none.
func spanEnd(text string, from, n int) int {
	for from < len(text) {
		at := strings.IndexByte(text[from:], '`')
		if at < 0 {
			break
		}
		from += at
		run := runLength(text[from:], '`')
		from += run
		if run == n {
			return from
		}
	}
	return -1
}
