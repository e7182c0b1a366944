// Package doctext writes canonical text: normalised blocks separated by a blank line, with marks, cells, pages and
// word boxes as offsets. Every reader writes through its Writer, so that the guarantees of corpus.Block hold for
// every format; Check validates a result. It bounds the number of blocks, marks and cells of a document.
//
// A reader walks its file and calls Begin, Text and End, or Row and Cell; it never builds text by itself. Offsets in
// blocks are runes, not bytes, because browsers and quotes count in characters. writer.go fills, splits and joins
// blocks, sections.go keeps the path of headings, item.go parses the markers of lists, line.go normalises single
// lines.
package doctext

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
)

// Writer builds the blocks of a document. Begin and End enclose a block; Text, Break, Mark and Cell fill it. The
// zero value is ready to use. It is not safe for concurrent use. body buffers the runes of the open block. The
// offsets of its words, cells and marks are relative to body; End converts them to offsets of the whole text.
type Writer struct {
	text     strings.Builder // unbounded here: see worker.MaxText
	runes    int
	blocks   []corpus.Block
	path     []heading
	open     bool
	quoting  bool // the next blocks are part of a quotation
	page     int  // the default page of new blocks
	block    corpus.Block
	words    []corpus.WordBox // of the open block
	body     []rune
	verbose  bool // preserve white space
	space    bool // a collapsed space is pending
	serial   int  // number of the open block, so that a mark can detect that its block has ended
	cells    [][][2]int
	rows     []int // sheet row numbers of cells, if the table has a grid
	inCell   bool
	sieve    text.Sieve
	above    []string // titles of path
	outlined bool     // the path is set by Section, not by headings
	used     used
}

// heading is a title on the path. Levels start at 1.
type heading struct {
	level int
	title string
}

// Grow allocates space for a text of this many bytes. Repeated growth would take several times as much memory.
func (w *Writer) Grow(bytes int) { w.text.Grow(bytes) }

// Begin opens a block, after ending an open one. It takes Kind, Level, Ordinal, Page, Box, Language, Line, Quote and
// the columns of a grid from b. Code preserves white space; in other blocks it is collapsed.
func (w *Writer) Begin(b corpus.Block) {
	w.End()
	w.open = true
	w.block = corpus.Block{
		Kind: b.Kind, Level: b.Level, Ordinal: b.Ordinal, Page: cmp.Or(b.Page, w.page), Box: b.Box,
		Language: b.Language, Quote: b.Quote || w.quoting, Line: b.Line,
	}
	if b.Grid != nil && b.Kind == corpus.BlockTable {
		w.block.Grid = &corpus.Grid{Columns: b.Grid.Columns}
	}
	w.body, w.words, w.cells, w.rows = w.body[:0], w.words[:0], nil, nil
	w.serial++
	w.verbose, w.space, w.inCell, w.sieve = b.Kind == corpus.BlockCode, false, false, text.Sieve{}
}

// Quoting sets whether the following blocks are part of a quotation, regardless of their own Quote.
func (w *Writer) Quoting(on bool) { w.quoting = on }

// Paging sets the page of the following blocks without a page.
func (w *Writer) Paging(page int) { w.page = page }

// Number writes the number of an ordered list item, such as "3.", at the start of its text.
func (w *Writer) Number(mark string) {
	w.Numbered()
	w.Text(mark + " ")
}

// Numbered marks that the text of the open list item begins with its number.
func (w *Writer) Numbered() { w.block.Numbered = true }

// Open reports whether a block is open.
func (w *Writer) Open() bool { return w.open }

// Text appends text to the open block. Without one it does nothing.
func (w *Writer) Text(s string) {
	if !w.open {
		return
	}
	for _, r := range s {
		w.addRune(r)
	}
}

// addRune appends one rune. White space is pending until a further rune follows, so that lines and blocks never end
// with it. Code preserves line feeds, tabs and spaces, and a long code block is split at a line's end.
func (w *Writer) addRune(r rune) {
	switch {
	case w.verbose && r == '\n' && len(w.body) >= maxBlock:
		w.cutBlock()
		if w.block.Line > 0 {
			w.block.Line++
		}
	case w.verbose && (r == '\n' || r == '\t'):
		w.body = append(w.body, r)
	case unicode.IsSpace(r):
		if w.verbose {
			if r != '\r' && r != '\v' && r != '\f' {
				w.body = append(w.body, ' ')
			}
			return
		}
		w.space = true
	case Dropped(r):
	case !w.sieve.Keep(r):
	default:
		if len(w.body) >= maxBlock && w.isLong() {
			w.cutBlock()
		}
		w.flushSpace()
		w.body = append(w.body, r)
	}
}

// flushSpace writes pending white space as one space, except at the start of a line or a cell.
func (w *Writer) flushSpace() {
	if w.space && !w.atLineStart() {
		w.body = append(w.body, ' ')
	}
	w.space = false
}

func (w *Writer) atLineStart() bool {
	n := len(w.body)
	if w.inCell && n == w.cellStart() {
		return true
	}
	return n == 0 || w.body[n-1] == '\n'
}

// cellStart returns the offset of the open cell in the body.
func (w *Writer) cellStart() int {
	row := w.cells[len(w.cells)-1]
	return row[len(row)-1][0]
}

// Dropped reports whether canonical text never contains r. These are control characters, byte order marks, soft
// hyphens, surrogates, and text.Hidden.
func Dropped(r rune) bool {
	return text.Hidden(r) || r != '\n' && r != '\t' && unicode.IsControl(r) || r == 0xFEFF || r == 0xAD ||
		r >= 0xFFFE && r <= 0xFFFF ||
		r >= 0xD800 && r <= 0xDFFF
}

// Break adds a line break to the open block. In a table cell it is a space.
func (w *Writer) Break() {
	if !w.open {
		return
	}
	if w.inCell {
		w.space = true
		return
	}
	if w.space = false; len(w.body) > 0 && (w.verbose || !w.atLineStart()) {
		w.body = append(w.body, '\n')
	}
}

// Mark opens inline formatting and returns the function that closes it, which is called once. Links other than http,
// https and mailto are ignored. A mark is dropped if it is empty, or if its block ended before it was closed, since
// a mark belongs to one block.
func (w *Writer) Mark(kind, href string) (closeMark func()) {
	if !w.open || kind == "link" && !safeLink(href) {
		return func() {}
	}
	w.flushSpace()
	start, serial := len(w.body), w.serial
	return func() {
		if w.open && w.serial == serial && len(w.body) > start && w.used.takeMark(len(href), w.runes+len(w.body)) {
			w.block.Marks = append(w.block.Marks, corpus.Mark{Kind: kind, URL: href, Start: start, End: len(w.body)})
		}
	}
}

// safeLink validates a link target. It rejects schemes that execute code, such as "javascript:", and targets of more
// than 2000 bytes.
func safeLink(href string) bool {
	u, err := url.Parse(href)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "mailto") && len(href) <= 2000
}

// SheetRow is Row for a table with a grid. n is the row's number in its sheet. Row numbers start at 1 and must
// ascend.
func (w *Writer) SheetRow(n int) {
	w.Row()
	if w.open && w.block.Grid != nil && len(w.cells) > 0 {
		w.rows = append(w.rows[:len(w.cells)-1], n)
	}
}

// Row begins the next row of a table. Rows are separated by a line break, and cells by " | ". In a block other than
// a table, as after a split, Row and Cell write lines and bars without cells.
func (w *Writer) Row() {
	w.endCell()
	if w.open && len(w.body) >= maxBlock {
		w.cutBlock()
	}
	if w.open && w.block.Kind != corpus.BlockTable {
		w.Break()
		return
	}
	if w.open && (len(w.cells) == 0 || len(w.cells[len(w.cells)-1]) > 0) {
		w.cells = append(w.cells, nil)
	}
}

// Cell begins the next cell of the current row.
func (w *Writer) Cell() {
	if w.open && w.block.Kind != corpus.BlockTable && !w.atLineStart() {
		w.body = append(w.body, ' ', '|', ' ')
	}
	if !w.open || len(w.cells) == 0 {
		return
	}
	w.endCell()
	if w.used.cells++; w.used.cells > MaxCells {
		w.cutBlock()
		return
	}
	last := len(w.cells) - 1
	if len(w.cells[last]) > 0 {
		w.body = append(w.body, ' ', '|', ' ')
	} else if last > 0 {
		w.body = append(w.body, '\n')
	}
	w.cells[last] = append(w.cells[last], [2]int{len(w.body), len(w.body)})
	w.inCell = true
}

// Table writes a table with the page and the box of at. A single column is written as paragraphs.
func (w *Writer) Table(rows [][]string, at corpus.Block) {
	at.Kind = corpus.BlockTable
	if !slices.ContainsFunc(rows, func(row []string) bool { return len(row) > 1 }) {
		at.Kind = corpus.BlockParagraph
		for _, cell := range slices.Concat(rows...) {
			w.Begin(at)
			w.Text(cell)
		}
		w.End()
		return
	}
	w.Begin(at)
	for _, row := range rows {
		w.Row()
		for _, cell := range row {
			w.Cell()
			w.Text(cell)
		}
	}
	w.End()
}

// endCell sets the end of the open cell. Pending white space belongs to no cell.
func (w *Writer) endCell() {
	w.space = false
	if !w.inCell {
		return
	}
	row := w.cells[len(w.cells)-1]
	row[len(row)-1][1] = len(w.body)
	w.inCell = false
}

// End closes the open block and appends it, unless it is blank. shift converts an offset of the body to one of the
// whole text. An offset in trimmed white space moves to the block's edge, and empty ranges are dropped.
func (w *Writer) End() {
	if !w.open {
		return
	}
	w.endCell()
	w.open = false
	from, to := w.trimBody()
	if from >= to || !w.hasContent() {
		return
	}
	if w.joinShort(string(w.body[from:to])) {
		return
	}
	if w.runes > 0 {
		w.text.WriteString("\n\n")
		w.runes += 2
	}
	b := w.block
	b.ID = "b" + strconv.Itoa(len(w.blocks)+1)
	b.Start, b.End = w.runes, w.runes+to-from
	if b.Line > 0 {
		b.Line += countLines(w.body[:from])
	}
	shift := func(i int) int { return w.runes + min(max(i, from), to) - from }
	b.Marks = nil
	for _, m := range w.block.Marks {
		m.Start, m.End = shift(m.Start), shift(m.End)
		if m.Start < m.End {
			b.Marks = append(b.Marks, m)
		}
	}
	for r, row := range w.cells {
		if len(row) == 0 {
			continue
		}
		for i := range row {
			row[i] = [2]int{shift(row[i][0]), shift(row[i][1])}
		}
		b.Cells = append(b.Cells, row)
		if b.Grid != nil {
			b.Grid.Rows = append(b.Grid.Rows, w.rows[r])
		}
	}
	kept := w.words[:0]
	for _, word := range w.words {
		word.Start, word.End = shift(word.Start), shift(word.End)
		if word.Start < word.End {
			kept = append(kept, word)
		}
	}
	b.Words = corpus.PackWords(kept)
	body := string(w.body[from:to])
	w.text.WriteString(body)
	w.runes = b.End
	b.Headings = w.headingsAbove(b, body)
	w.blocks = append(w.blocks, b)
}

// trimBody returns the range of the body without surrounding white space. A table is not trimmed, since empty cells
// are cells. Code keeps the indentation of its first line.
func (w *Writer) trimBody() (from, to int) {
	to = len(w.body)
	blank := func(r rune) bool { return unicode.IsSpace(r) }
	if w.verbose { // the first line's indentation is part of the code
		blank = func(r rune) bool { return r == '\n' }
		for to > 0 && unicode.IsSpace(w.body[to-1]) {
			to--
		}
	}
	if len(w.cells) > 0 { // empty cells at the ends still belong to the table
		return 0, to
	}
	for to > 0 && blank(w.body[to-1]) {
		to--
	}
	for from < to && blank(w.body[from]) {
		from++
	}
	return from, to
}

// hasContent reports whether the block has text. A table of empty cells has none.
func (w *Writer) hasContent() bool {
	if len(w.cells) == 0 {
		return strings.TrimSpace(string(w.body)) != ""
	}
	for _, row := range w.cells {
		for _, c := range row {
			if c[1] > c[0] {
				return true
			}
		}
	}
	return false
}

// Word appends a word of a page with its boxes. The boxes have offsets inside s: a word that is hyphenated over two
// lines has two. Normalising may have shortened the word, so the ends are cut to the written text.
func (w *Writer) Word(s string, boxes ...corpus.WordBox) {
	if !w.open {
		return
	}
	w.flushSpace()
	start := len(w.body)
	w.Text(s)
	for _, b := range boxes {
		b.Start, b.End = min(start+b.Start, len(w.body)), min(start+b.End, len(w.body))
		w.words = append(w.words, b)
	}
}

// Result ends the last block and returns the text and its blocks. The Writer must not be used afterwards, as the
// result shares its blocks.
func (w *Writer) Result() corpus.Extracted {
	w.End()
	return corpus.Extracted{Text: w.text.String(), Blocks: w.blocks, Meta: map[string]any{}}
}

// Bounds of the structure of a document. Beyond them text keeps its words and loses structure. A long block is split
// and many short ones are joined. The rest of a large table becomes lines of text, and inline marks are dropped.
const (
	MaxCells  = 200_000 // of all tables
	MaxBlocks = 200_000

	maxBlock    = 32 << 10 // runes of a block, after which it is split
	maxWord     = 1000     // runes after maxBlock within which a split waits for the end of a word
	maxColumns  = 80       // runes of a table's header that split blocks repeat
	maxTitle    = 200      // runes of a heading that the blocks below it repeat
	fewBlocks   = 8000     // blocks of any size; beyond them a document needs runesPer runes for each further block
	runesPer    = 128
	joinedBlock = 2000      // runes of a block of joined short ones
	fewMarks    = 10_000    // marks of any density; beyond them one for every 32 runes
	fewLinks    = 256 << 10 // bytes of all link targets; beyond them 4 for every rune
)

// used counts the bounded resources of a Writer.
type used struct {
	cells  int
	marks  int
	links  int
	joined bool // the last block is one of joined short blocks
}

// takeMark reports whether one more mark is allowed in a text of this many runes, and counts it. The limit grows
// with the text, so that only documents made to be dense in marks lose some.
func (u *used) takeMark(href, runes int) bool {
	if u.marks >= fewMarks+runes/32 || u.links+href > fewLinks+4*runes {
		return false
	}
	u.marks, u.links = u.marks+1, u.links+href
	return true
}

// isLong reports whether the open block of maxBlock runes may be split here. It prefers to split between words and
// between rows. The limits are four times maxBlock within a cell, and maxWord more runes within a word.
func (w *Writer) isLong() bool {
	if w.inCell {
		return len(w.body) >= 4*maxBlock
	}
	return w.space || len(w.body) >= maxBlock+maxWord
}

// cutBlock ends the open block and continues in another one of its kind. A table with too many cells continues as
// text. A heading or a list item continues as a paragraph: two halves of a heading would be two headings. A part of
// a table repeats its header in Columns, as context for its passages.
func (w *Writer) cutBlock() {
	b := w.block
	if b.Kind == corpus.BlockHeading || b.Kind == corpus.BlockList ||
		b.Kind == corpus.BlockTable && (w.inCell || w.used.cells > MaxCells) {
		b.Kind, b.Level, b.Ordinal = corpus.BlockParagraph, 0, 0
	}
	if b.Line > 0 {
		b.Line += countLines(w.body)
	}
	columns := ""
	if b.Kind == corpus.BlockTable {
		header, _, _ := strings.Cut(string(w.body), "\n")
		columns = cmp.Or(b.Columns, text.Shorten(header, maxColumns))
	}
	w.Begin(b)
	w.block.Columns = columns
}

// countLines returns the number of line feeds.
func countLines(body []rune) (n int) {
	for _, r := range body {
		if r == '\n' {
			n++
		}
	}
	return n
}

// joinShort appends a block's text to the previous block in a document with implausibly many short blocks. It
// reports whether it did. Otherwise a log of a million lines would be a million blocks. Blocks of pages have boxes,
// and are joined only near MaxBlocks. Joined blocks lose their kind, marks and cells, and become a paragraph of
// lines.
func (w *Writer) joinShort(body string) bool {
	n, last := utf8.RuneCountInString(body), len(w.blocks)-1
	if w.block.Page > 0 && last < MaxBlocks*3/4 || w.block.Grid != nil || n >= joinedBlock {
		w.used.joined = false
		return false
	}
	if w.used.joined && w.blocks[last].End-w.blocks[last].Start < joinedBlock {
		w.text.WriteByte('\n')
		w.text.WriteString(body)
		w.runes += 1 + n
		w.blocks[last].End = w.runes
		return true
	}
	// The last bound keeps a text of any length below MaxBlocks.
	w.used.joined = len(w.blocks) >= fewBlocks+w.runes/runesPer || len(w.blocks) >= MaxBlocks*3/4
	if w.used.joined {
		w.block.Kind, w.block.Level, w.block.Ordinal = corpus.BlockParagraph, 0, 0
		w.block.Numbered, w.block.Marks, w.cells = false, nil, nil
	}
	return false
}
