package cite

import (
	"strings"

	"github.com/footnote/footnote/text"
)

// lineKind is the role of a Markdown line in its block.
type lineKind int

const (
	noLine      lineKind = iota // before the first one
	textLine                    // continues a paragraph or a list item, or starts a paragraph
	itemLine                    // starts a list item
	rowLine                     // a row of a table
	headingLine                 // a heading, or a line that is entirely bold
	ruleLine                    // a rule, or the line below a table's header
	blankLine
	fenceLine // opens or closes a code block
	codeLine  // inside a code block
)

// maxOpenItems is the maximum depth of nested list items; pages render no more levels either. Further markers are
// text, so that a line of markers alone is parsed in linear time.
const maxOpenItems = 100

// openFence is the parser's state in a fenced code block. The zero value means that no block is open.
type openFence struct {
	char   byte // '`' or '~'
	length int  // length of the opening run; a shorter run does not close the block
	quotes int  // number of enclosing block quotes
	column int  // column where the content of the enclosing list item starts
}

// lineReader parses lines one after another and classifies them, by the rules of CommonMark for code. A copy parses
// on independently, for look-ahead. The zero value starts at the beginning of a text. The writer needs it line by
// line while an answer streams; pages render Markdown with a full parser. It follows CommonMark 0.31
// (spec.commonmark.org) where that decides whether text is code: fences (§4.5), indented code (§4.4), quotes (§5.1)
// and list items (§5.2).
type lineReader struct {
	fence   openFence
	formula string // closing delimiter of an open formula on lines of its own; empty: none
	items   []int  // content columns of the open list items, outer ones first; immutable
	quotes  int    // block quotes of the previous line
	last    lineKind
}

// readLine returns the kind of the next line, which may end with a line break.
func (r *lineReader) readLine(line string) lineKind {
	r.last = r.kindOf(line)
	return r.last
}

// kindOf classifies a line: an open code block first, then quote marks, indented code, list markers and a new code
// block. This is the order of precedence: inside a fence nothing else counts, and a block ends with its enclosing
// quote or item.
func (r *lineReader) kindOf(line string) lineKind {
	if r.fence.length > 0 {
		quotes, column, rest := cutQuoteMarks(line, r.fence.quotes)
		// the enclosing quote or item has ended
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

// opensFormula returns the closing delimiter of a formula that starts on a line and continues on the next. The
// reader must track it, since lines of a formula may look like list items.
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

// isIndented reports whether a line with text at a column is indented code: four columns beyond its enclosing item,
// and not the continuation of a paragraph.
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

// enclosingItems returns the list items that enclose a block at a column.
func (r *lineReader) enclosingItems(column int) []int {
	n := len(r.items)
	for n > 0 && r.items[n-1] > column {
		n--
	}
	return r.items[:n:n]
}

// kindOfText classifies a line outside of code, without its indentation and quote marks.
func kindOfText(line string) lineKind {
	line = strings.TrimSpace(line)
	switch {
	case strings.Trim(line, "|-: *_=") == "":
		return ruleLine
	case line[0] == '#', boldLine().MatchString(line) && !strings.ContainsAny(line, ".!?"):
		return headingLine
	case listItem().MatchString(line):
		return itemLine
	case line[0] == '|':
		return rowLine
	}
	return textLine
}

// cutQuoteMarks removes the indentation and up to most quote marks from a line. column is where rest starts after
// the last quote mark; a tab extends to the next multiple of four. rest is empty for a blank line.
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
				column = -1 // the space after the mark belongs to it
			}
		default:
			return quotes, column, line[i:]
		}
	}
	return quotes, max(column, 0), ""
}

// cutListMarker removes the list marker from a line with text at a column, and returns the column of the item's
// text. rest is empty if there is no marker or no text after it. A number has at most nine digits (CommonMark §5.2).
// More than four spaces after a marker are indented code inside the item.
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

// fenceOf parses the opening fence in a line without its indentation. Backticks later on the same line make it a
// code span (CommonMark §4.5).
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

// runLength returns how often a character is repeated at the start of a text.
func runLength(s string, char byte) int {
	n := 0
	for n < len(s) && s[n] == char {
		n++
	}
	return n
}

// block is a piece of Markdown that is parsed separately. Concatenated blocks are the whole text, line breaks
// included.
type block struct {
	kind lineKind
	text string
}

// splitBlocks splits a text into blocks: list items and paragraphs with all of their lines, and single lines of
// other kinds.
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

// isCode reports whether a line is part of a code block, including fences. It contains no footnotes or claims.
func (k lineKind) isCode() bool { return k == codeLine || k == fenceLine }

// continuesBlock reports whether a line continues the block of the previous line.
func (k lineKind) continuesBlock(before lineKind) bool {
	return k == textLine && (before == textLine || before == itemLine)
}

// WithoutEscapes returns an answer for views that don't render Markdown: without the backslashes of escaped
// characters, except in code.
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

// readEscapes is WithoutEscapes for one block outside of code blocks.
func readEscapes(block string) string { return text.UnescapeMarkdown(block, codeSpans(block)) }

// codeSpans parses a block for code spans, and returns their byte ranges including backticks. A run of backticks
// opens a span only if a run of the same length follows; otherwise it is text, as after a backslash. It follows
// CommonMark §6.1, except that a backslash escapes a backtick, as answers intend.
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

// escapeLength returns the number of bytes, including the backslash at the start of a text, that can't open a code
// span.
func escapeLength(text string) int {
	if len(text) > 1 && (text[1] == '`' || text[1] == '\\') {
		return 2
	}
	return 1
}

// spanEnd returns the end of the first run of exactly n backticks at or after an offset; -1 without one.
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
