package postings

import (
	"bytes"
	"encoding/binary"

	"github.com/footnote/footnote/sql/bm25"
)

// A pageWriter encodes the pages of a segment from ordered terms. It passes each full page to yield, which may keep
// it.
type pageWriter struct {
	base  uint32 // the segment's first row
	yield func(Page) error
	page  Page
	last  []byte // the previous term
	list  []byte // reused buffer
}

// writeRows writes the page of the segment's rows.
func (w *pageWriter) writeRows(runs []RowRange) error {
	if len(runs) > 0 {
		w.base = runs[0].First
	}
	return w.yield(appendRows(runs))
}

// addTerm encodes a term with its passages in ascending order. A list of more than maxList bytes gets separate
// pages, so that searches for neighbouring terms don't read it. 16 bytes are reserved for the numbers around a term
// and its list.
func (w *pageWriter) addTerm(term []byte, inBody bool, found []bm25.Scored) error {
	w.list = w.list[:0]
	before := w.base
	for _, p := range found {
		w.list = appendPosting(w.list, before, p)
		before = p.Row
	}
	long := len(found) > 1 && len(w.list) > maxList
	if w.page.Key != nil && len(w.page.Body)+len(term)+min(len(w.list), maxList)+16 > maxPage {
		if err := w.cutPage(); err != nil {
			return err
		}
	}
	if w.page.Key == nil {
		w.page = Page{Key: bytes.Clone(term), Body: binary.AppendUvarint(make([]byte, 0, maxPage), uint64(w.base))}
	} else {
		w.page.Body = appendTerm(w.page.Body, w.last, term)
	}
	w.last = append(w.last[:0], term...)
	w.page.Body = appendFound(w.page.Body, w.base, inBody, len(found), found[0], w.list, long)
	if !long {
		return nil
	}
	if err := w.cutPage(); err != nil {
		return err
	}
	return w.addBlocks(term, found)
}

// appendFound encodes a term's postings: n passages as a list, or a single one. entries.nextEntry decodes them.
func appendFound(page []byte, base uint32, inBody bool, n int, only bm25.Scored, list []byte, long bool) []byte {
	body := uint64(0)
	if inBody {
		body = 1
	}
	if long {
		return binary.AppendUvarint(page, uint64(n)<<3|body<<2|blocks)
	}
	if n > 1 {
		page = binary.AppendUvarint(page, uint64(n)<<3|body<<2|several)
		return append(binary.AppendUvarint(page, uint64(len(list))), list...)
	}
	row := uint64(only.Row - base)
	if inBody && only.Score == 1 {
		return binary.AppendUvarint(page, row<<2|once)
	}
	return binary.AppendUvarint(binary.AppendUvarint(page, row<<2|single), uint64(only.Score)<<1|body)
}

// addBlocks writes a long list. Rows in each block are relative to the segment's first, so it can be decoded
// separately.
func (w *pageWriter) addBlocks(term []byte, found []bm25.Scored) error {
	const largest = 2 * binary.MaxVarintLen32 // bytes of one passage
	for number := uint32(0); len(found) > 0; number++ {
		body := binary.AppendUvarint(make([]byte, 0, maxPage), uint64(w.base))
		for before := w.base; len(found) > 0 && len(body)+largest <= maxPage; found = found[1:] {
			body = appendPosting(body, before, found[0])
			before = found[0].Row
		}
		if err := w.yield(
			Page{Key: binary.BigEndian.AppendUint32(append(bytes.Clone(term), 0), number), Body: body},
		); err != nil {
			return err
		}
	}
	return nil
}

// cutPage finishes the page.
func (w *pageWriter) cutPage() error {
	p := w.page
	w.page = Page{}
	if p.Key == nil {
		return nil
	}
	return w.yield(p)
}
