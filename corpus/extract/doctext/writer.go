// Package doctext writes canonical text: blocks joined by a blank line, white space and characters normalised, with
// marks, cells, pages and the places of words kept beside it. Every reader of files writes through its Writer, so the
// promises of corpus.Block hold for every format; Check holds a result to them. It bounds how many blocks, marks and
// cells a document may have.
//
// A reader walks its file and calls Begin, Text and End, or Row and Cell; it never builds text by itself. Offsets in
// blocks are runes, not bytes, because a browser and a quote count in characters. writer.go fills, cuts and joins
// blocks, sections.go keeps the path of headings, item.go knows the marks of lists, line.go cleans single lines.
package doctext

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
)

// Writer collects blocks. Begin and End enclose a block; Text, Break, Mark and Cell fill it. The zero value is ready.
// It is not safe for concurrent use. The open block is collected in body, as runes, and offsets in words, cells and its
// marks count from the body's beginning; End moves them to where the block stands in the whole text.
type Writer struct {
	text     strings.Builder // it is not bounded here: see worker.MaxText
	runes    int
	blocks   []corpus.Block
	path     []heading
	open     bool
	quoting  bool // what comes is a quotation
	page     int  // that blocks begin on which name none
	block    corpus.Block
	words    []corpus.WordBox // of the open block
	body     []rune
	verbose  bool // keep white space as it is
	space    bool // a collapsed space waits for the next word
	serial   int  // of the open block, so that a mark can tell that its block has ended
	cells    [][][2]int
	rows     []int // numbers of the rows of cells in their sheet, if the table has a grid
	inCell   bool
	sieve    text.Sieve
	above    []string // titles of path
	outlined bool     // the path comes from Section, not from headings
	used     used
}

// heading is a title on the path, with its level from 1.
type heading struct {
	level int
	title string
}

// Grow makes room for a text of so many bytes: one that grows by itself takes several times as much on its way.
func (w *Writer) Grow(bytes int) { w.text.Grow(bytes) }

// Begin opens a block; one that is open ends first. Only Kind, Level, Ordinal, Page, Box, Language, Line, Quote and,
// of a grid, the columns are taken from b. The text of code keeps its white space, that of other blocks is collapsed.
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

// Quoting says whether the blocks that begin from now on are part of a quotation, whatever they say themselves.
func (w *Writer) Quoting(on bool) { w.quoting = on }

// Paging says on which page the blocks stand that begin from now on and name none.
func (w *Writer) Paging(page int) { w.page = page }

// Number begins the text of an ordered list's item with its number as the document writes it, such as "3.".
func (w *Writer) Number(mark string) {
	w.Numbered()
	w.Text(mark + " ")
}

// Numbered says that the text of the open block, a list's item, begins with the item's number.
func (w *Writer) Numbered() { w.block.Numbered = true }

// Open reports whether a block is open.
func (w *Writer) Open() bool { return w.open }

// Text adds text to the open block.
func (w *Writer) Text(s string) {
	if !w.open {
		return
	}
	for _, r := range s {
		w.addRune(r)
	}
}

// addRune adds one rune of text. White space is only remembered, and written when a further rune follows, so that none
// is left at ends of lines and blocks. In code, line feeds, tabs and spaces stay, and a long block is cut at a line's
// end.
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

// flushSpace writes the white space that waits, as one space, unless a line or a cell begins here.
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

// cellStart is where the open cell begins in the body.
func (w *Writer) cellStart() int {
	row := w.cells[len(w.cells)-1]
	return row[len(row)-1][0]
}

// Dropped reports whether canonical text never holds r: control characters, byte order marks, soft hyphens,
// surrogates, and what is text.Hidden.
func Dropped(r rune) bool {
	return text.Hidden(r) || r != '\n' && r != '\t' && unicode.IsControl(r) || r == 0xFEFF || r == 0xAD ||
		r >= 0xFFFE && r <= 0xFFFF ||
		r >= 0xD800 && r <= 0xDFFF
}

// Break adds a line break inside the open block; in a table's cell it is a space.
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

// Mark opens inline formatting and returns the function that closes it, which is called once. Links to anything but
// http, https and mailto are no marks. Marks that turn out empty are dropped, and so are those whose block ended before
// they were closed: a mark lies in one block.
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

// safeLink keeps addresses that would run something, such as "javascript:", off the page, and those of more than 2000
// bytes.
func safeLink(href string) bool {
	u, err := url.Parse(href)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "mailto") && len(href) <= 2000
}

// SheetRow is Row for a table with a grid. n is the row's number in its sheet. Numbers count from 1 and must grow from
// row to row.
func (w *Writer) SheetRow(n int) {
	w.Row()
	if w.open && w.block.Grid != nil && len(w.cells) > 0 {
		w.rows = append(w.rows[:len(w.cells)-1], n)
	}
}

// Row begins a table's next row, Cell its next cell. Cells are separated by " | " and rows by a line break. In a block
// that is no table, which happens after one was cut, they write lines and bars without cells.
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

// Cell begins the next cell of the row that Row began.
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

// endCell notes where the open cell ends. White space that waits there belongs to no cell.
func (w *Writer) endCell() {
	w.space = false
	if !w.inCell {
		return
	}
	row := w.cells[len(w.cells)-1]
	row[len(row)-1][1] = len(w.body)
	w.inCell = false
}

// End closes the open block and adds it, unless it holds nothing but white space. shift moves an offset of the body to
// the whole text: what lay in white space that was trimmed moves to the block's edge, and what is empty then is
// dropped.
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

// trimBody returns the range of the body without the white space around it. A table keeps its ends, since empty cells
// are cells; code keeps the indentation of its first line.
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

// hasContent reports whether the block says anything; a table of empty cells does not.
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

// Word adds a word of a page to the open block and where it stands. A word whose box is empty has no place. Boxes have
// offsets inside of s: a word that is hyphenated over two lines has two. Normalising may have shortened the word, so
// that the ends are cut to what was written.
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

// Result ends the last block and returns the text and its blocks. The Writer must not be used afterwards, as the result
// shares its blocks.
func (w *Writer) Result() corpus.Extracted {
	w.End()
	return corpus.Extracted{Text: w.text.String(), Blocks: w.blocks, Meta: map[string]any{}}
}

// Bounds of what a Writer makes of a text. What goes beyond keeps its words and loses its form: a long block is cut,
// many short ones become one, the rest of a large table becomes lines of text, and inline marks are left out.
const (
	MaxCells  = 200_000 // of all tables
	MaxBlocks = 200_000

	maxBlock    = 32 << 10 // runes of a block, after which it is cut
	maxWord     = 1000     // runes that are looked through for the end of a word
	maxColumns  = 80       // runes of a table's header as the blocks that go on from it repeat it
	maxTitle    = 200      // runes of a heading as the blocks below it repeat it
	fewBlocks   = 8000     // of any size; beyond them each block needs as many runes on average as the next line says
	runesPer    = 128
	joinedBlock = 2000      // runes of a block that short ones are joined in
	fewMarks    = 10_000    // anywhere; beyond them one for every 32 runes
	fewLinks    = 256 << 10 // bytes of all links' addresses; beyond them 4 for every rune
)

// used counts what is bounded. It belongs to one Writer, and only grows.
type used struct {
	cells  int
	marks  int
	links  int
	joined bool // the last block is one that short ones are joined in
}

// takeMark reports whether there may be one more mark in a text of so many runes. The more text a document has, the
// more marks it may have: only documents made to be dense in marks lose some.
func (u *used) takeMark(href, runes int) bool {
	if u.marks >= fewMarks+runes/32 || u.links+href > fewLinks+4*runes {
		return false
	}
	u.marks, u.links = u.marks+1, u.links+href
	return true
}

// isLong reports whether the open block, which has maxBlock runes, is to be cut here: rather between words than in one,
// and rather between rows than in a cell. A cell may be four times as long as a block, and a word maxWord runes longer,
// before they are cut anyway.
func (w *Writer) isLong() bool {
	if w.inCell {
		return len(w.body) >= 4*maxBlock
	}
	return w.space || len(w.body) >= maxBlock+maxWord
}

// cutBlock ends the open block and goes on in another one like it. A table that has too many cells goes on as text. A
// heading or a list item goes on as a paragraph: two halves of a heading would be two headings. A table's part repeats
// its header's columns in Columns, so that a passage of it can still be understood.
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

// countLines returns how many lines end in a text.
func countLines(body []rune) (n int) {
	for _, r := range body {
		if r == '\n' {
			n++
		}
	}
	return n
}

// joinShort adds the text of a block to the one before where a document has more short blocks than any person would
// write. It reports whether it did. Blocks of pages stay apart, as they have places, while there are not too many. What
// is joined loses its kind, its marks and its cells and becomes a paragraph of lines. Without this a log of a million
// lines would be a million blocks.
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
