package doctext

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
)

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
