package corpus

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/footnote/footnote/chat"
)

// Place is a location in a document. It is computed from blocks and boxes on request and not stored with a passage.
type Place struct {
	Block   string     // first block
	Page    int        // first page, from 1; 0 in a document without pages
	Section string     // heading path joined by " › "
	Boxes   []chat.Box // on the pages of a PDF, one for each line
	// Label is the location for display: "p. 4", "slide 7", "Invoices, row 12", "Invoices, cell B7", "line 40".
	// Rows of a table outside a spreadsheet are counted from its header, which is row 1. It is empty in a document
	// without such locations.
	Label string
}

// Place returns the location of the rune offsets [start, end) of a document's text. blocks are all of the
// document's blocks. The zero Place is returned after the last block.
func (l *Library) Place(ctx context.Context, s chat.Scope, d Document, blocks []Block, start, end int) (Place, error) {
	i := blockAtOrAfter(blocks, start)
	if i < 0 {
		return Place{}, nil
	}
	b := blocks[i]
	p := Place{Block: b.ID, Page: b.Page, Section: strings.Join(b.Headings, sectionJoint)}
	if b.Page == 0 {
		label, err := locator{l}.labelIn(ctx, s, d, blocks, i, start, end)
		p.Label = label
		return p, err
	}
	boxes, err := l.Boxes(ctx, s, d.ID, start, end)
	if err != nil {
		return Place{}, fmt.Errorf("boxes of words: %w", err)
	}
	if p.Boxes = boxes; len(boxes) > 0 {
		p.Page = int(boxes[0][0])
	}
	p.Label = locator{l}.pageLabel(d, p.Page)
	return p, nil
}

// locator finds the pages and labels of ranges in a library's documents.
type locator struct{ *Library }

// labelIn returns the Label of [start, end) in a document without pages; i is the index of its first block.
func (l locator) labelIn(
	ctx context.Context, s chat.Scope, d Document, blocks []Block, i, start, end int,
) (string, error) {
	switch b := blocks[i]; {
	case b.Line > 0:
		text, err := l.cfg.Documents.Text(ctx, s, d.ID)
		if err != nil {
			return "", fmt.Errorf("lines of words: %w", err)
		}
		return b.lineLabel(text, start, end), nil
	case b.Grid != nil:
		return b.cellLabel(start, end), nil
	case b.Kind == BlockTable:
		return rowLabel(blocks, i, start, end), nil
	}
	return "", nil
}

// SectionAt returns the section of a place in a passage: the block's own, unless the passage's section is more
// specific.
func (p Passage) SectionAt(place Place) string {
	if strings.HasPrefix(p.Section, place.Section) {
		return p.Section
	}
	return place.Section
}

// BlockAt returns the ID of the passage's block at an offset of the document's text. It counts blank lines between
// numbered blocks, which saves loading the blocks for each hit. If a block itself contains blank lines, it falls
// back to the first block.
func (p Passage) BlockAt(at int) string {
	first, err1 := strconv.Atoi(strings.TrimPrefix(p.FirstBlock, "b"))
	last, err2 := strconv.Atoi(strings.TrimPrefix(p.LastBlock, "b"))
	runes := []rune(p.Text)
	at -= p.Start
	if err1 != nil || err2 != nil || at < 0 || at > len(runes) || strings.Count(p.Text, "\n\n") != last-first {
		return p.FirstBlock
	}
	return "b" + strconv.Itoa(first+strings.Count(string(runes[:at]), "\n\n"))
}

// blockAtOrAfter returns the index of the block at an offset, or of the next one; -1 after the last.
func blockAtOrAfter(blocks []Block, at int) int {
	i := sort.Search(len(blocks), func(i int) bool { return blocks[i].End > at })
	if i == len(blocks) {
		return -1
	}
	return i
}

// pageOf returns the page of words in block i. It queries the word boxes only if the block may continue on the next
// page.
func (l locator) pageOf(ctx context.Context, s chat.Scope, id string, blocks []Block, i, start, end int) (int, error) {
	page := blocks[i].Page
	if page == 0 || start <= blocks[i].Start || i+1 < len(blocks) && blocks[i+1].Page == page {
		return page, nil
	}
	return l.pageAt(ctx, s, id, page, start, end)
}

// pageAt returns the page of words by their boxes, with page as the fallback.
func (l locator) pageAt(ctx context.Context, s chat.Scope, id string, page, start, end int) (int, error) {
	boxes, err := l.Boxes(ctx, s, id, start, end)
	if err != nil {
		return 0, fmt.Errorf("page of words: %w", err)
	}
	if len(boxes) > 0 {
		page = int(boxes[0][0])
	}
	return page, nil
}

// endPages sets LastPage of each passage of a document.
func (l locator) endPages(ctx context.Context, s chat.Scope, id string, blocks []Block, passages []Passage) error {
	for k := range passages {
		p := &passages[k]
		i := blockAtOrAfter(blocks, p.End-1)
		if i < 0 || p.Page == 0 {
			continue
		}
		page, err := l.pageOf(ctx, s, id, blocks, i, p.End-1, p.End)
		if err != nil {
			return err
		}
		p.LastPage = max(page, p.Page)
	}
	return nil
}

// placeHit sets page, block and label of a hit's best words, and its passage's last page.
func (l locator) placeHit(ctx context.Context, s chat.Scope, r *Result) (err error) {
	p := &r.Passage
	start := p.Start + r.Snippet.Start
	r.Block, r.Page = p.BlockAt(start), p.Page
	defer func() { r.Place = l.pageLabel(r.Document, r.Page) }()
	if p.Page == 0 || p.Page == r.Document.Pages { // it has no pages, or begins on the last one
		p.LastPage = p.Page
		return nil
	}
	if p.LastPage, err = l.pageAt(ctx, s, p.DocumentID, p.Page, p.End-1, p.End); err != nil {
		return err
	}
	if p.LastPage > p.Page {
		r.Page, err = l.pageAt(ctx, s, p.DocumentID, p.Page, start, p.Start+r.Snippet.End)
	}
	return err
}

// labelHits sets the labels of hits in documents without page images. It loads the blocks of each document once.
func (l locator) labelHits(ctx context.Context, s chat.Scope, hits []Result) error {
	known, drawn := make(map[string][]Block), l.cfg.Formats.Paged()
	for k := range hits {
		r := &hits[k]
		if slices.Contains(drawn, r.Document.MIME) {
			continue
		}
		blocks, ok := known[r.Document.ID]
		if !ok {
			var err error
			blocks, err = l.cfg.Documents.Blocks(ctx, s, r.Document.ID)
			if err != nil && chat.CodeOf(err) != chat.CodeNotFound { // it was deleted meanwhile
				return fmt.Errorf("blocks of a hit: %w", err)
			}
			known[r.Document.ID] = blocks
		}
		start, end := r.Passage.Start+r.Snippet.Start, r.Passage.Start+r.Snippet.End
		i := blockAtOrAfter(blocks, start)
		if i < 0 {
			continue
		}
		if r.Page = blocks[i].Page; r.Page > 0 {
			r.Place = l.pageLabel(r.Document, r.Page)
			continue
		}
		label, err := l.labelIn(ctx, s, r.Document, blocks, i, start, end)
		if err != nil && chat.CodeOf(err) != chat.CodeNotFound {
			return err
		}
		r.Place = label
	}
	return nil
}

// pageLabel returns the label of a page: "p. 4", "slide 7"; empty for page 0.
func (l locator) pageLabel(d Document, page int) string {
	if page == 0 {
		return ""
	}
	return l.cfg.Formats.PageWord(d.MIME, d.Filename) + " " + strconv.Itoa(page)
}

// cellLabel returns the label of the cell or rows of a sheet at [start, end): "Invoices, cell B7", "Invoices, row
// 12", "Invoices, rows 12–14". The sheet's name is the last heading. Several cells are labelled as rows.
func (b Block) cellLabel(start, end int) string {
	first, last, cells, column := -1, -1, 0, 0
	for r, row := range b.Cells {
		for c, cell := range row {
			if cell[0] >= end || cell[1] <= start {
				continue
			}
			if first < 0 {
				first = r
			}
			last, column = r, c
			cells++
		}
	}
	if first < 0 {
		return ""
	}
	at := spanLabel("row", b.Grid.Rows[first], b.Grid.Rows[last])
	if cells == 1 {
		at = "cell " + ColumnName(b.Grid.Columns[column]) + strconv.Itoa(b.Grid.Rows[first])
	}
	if n := len(b.Headings); n > 0 {
		return b.Headings[n-1] + ", " + at
	}
	return at
}

// rowLabel returns the label of the rows at [start, end) of a table without a grid, block i of a document: "row
// 12", "Fees, rows 3–4". Rows are counted from the first block of the table. The header is row 1.
func rowLabel(blocks []Block, i, start, end int) string {
	first, last := 0, 0
	for r, row := range blocks[i].Cells {
		if len(row) > 0 && row[0][0] < end && row[len(row)-1][1] > start {
			if first == 0 {
				first = r + 1
			}
			last = r + 1
		}
	}
	if first == 0 {
		return ""
	}
	for k := i; k > 0 && blocks[k].Columns != "" && blocks[k-1].Kind == BlockTable; k-- {
		first, last = first+len(blocks[k-1].Cells), last+len(blocks[k-1].Cells)
	}
	at := spanLabel("row", first, last)
	if n := len(blocks[i].Headings); n > 0 {
		return blocks[i].Headings[n-1] + ", " + at
	}
	return at
}

// lineLabel returns the label of the lines at [start, end) of the document's text: "line 40", "lines 40–44". It
// counts line breaks in the block's text.
func (b Block) lineLabel(text string, start, end int) string {
	w := walker{text: text}
	before := strings.Count(w.sliceRunes(b.Start, max(start, b.Start)), "\n")
	within := strings.Count(strings.TrimRight(w.sliceRunes(max(start, b.Start), min(end, b.End)), "\n"), "\n")
	return spanLabel("line", b.Line+before, b.Line+before+within)
}

// spanLabel returns "row 3" or "rows 3–5".
func spanLabel(what string, first, last int) string {
	if first == last {
		return what + " " + strconv.Itoa(first)
	}
	return fmt.Sprintf("%ss %d–%d", what, first, last)
}

// ColumnName returns the spreadsheet name of a column, counted from 1: A, B … Z, AA.
func ColumnName(n int) (name string) {
	for ; n > 0; n = (n - 1) / 26 {
		name = string(rune('A'+(n-1)%26)) + name
	}
	return name
}
