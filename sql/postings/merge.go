package postings

import (
	"bytes"
	"cmp"
	"iter"
	"slices"

	"github.com/footnote/footnote/sql/bm25"
)

// A cursor iterates over the terms of a segment in order. It buffers one page at a time.
type cursor struct {
	next func() (Page, error, bool)
	stop func()
	page entries
	entry
	over bool
}

// newCursor returns a cursor before the first term of the pages, which exclude the page of rows. The caller must
// call stop to end the iterator's goroutine.
func newCursor(pages iter.Seq2[Page, error]) *cursor {
	c := &cursor{}
	c.next, c.stop = iter.Pull2(pages)
	return c
}

// nextTerm advances to the next term. At the end it sets over and keeps the last term.
func (c *cursor) nextTerm() error {
	for {
		ok, err := c.page.nextEntry(&c.entry)
		if ok || err != nil {
			return err
		}
		p, err, more := c.next()
		if !more {
			c.over = true
		}
		if !more || err != nil {
			return err
		}
		if c.page, err = readEntries(p); err != nil {
			return err
		}
	}
}

// appendPostings appends the passages of the current term, including those in blocks. Blocks follow their term's
// page in key order, so they are the next pages of the same iterator. Therefore it must be called before nextTerm.
func (c *cursor) appendPostings(out []bm25.Scored) ([]bm25.Scored, error) {
	if c.kind != blocks {
		return c.entry.appendPostings(out, c.page.base)
	}
	n := len(out)
	for len(out)-n < c.count {
		p, err, more := c.next()
		if err != nil {
			return out, err
		}
		if !more || !bytes.HasPrefix(p.Key, append(bytes.Clone(c.term), 0)) {
			return out, errBadPage
		}
		block, err := readEntries(p)
		if err == nil {
			out, err = readList(out, block.base, block.rest)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// mergeTerms merges the terms of all cursors and filters their passages with keep; nil keeps all. It closes each
// cursor. The k-way merge compares all cursors, as there are too few for a heap. Terms without remaining passages
// are dropped.
func mergeTerms(cursors []*cursor, keep func(row uint32) bool, w *pageWriter) error {
	for _, c := range cursors {
		defer c.stop()
	}
	for _, c := range cursors {
		if err := c.nextTerm(); err != nil {
			return err
		}
	}
	var term []byte
	var found []bm25.Scored
	for {
		cursors = slices.DeleteFunc(cursors, func(c *cursor) bool { return c.over })
		if len(cursors) == 0 {
			return w.cutPage()
		}
		least := cursors[0]
		for _, c := range cursors[1:] {
			if bytes.Compare(c.term, least.term) < 0 {
				least = c
			}
		}
		term = append(term[:0], least.term...)
		found = found[:0]
		inBody := false
		for _, c := range cursors {
			if !bytes.Equal(c.term, term) {
				continue
			}
			inBody = inBody || c.inBody
			var err error
			if found, err = c.appendPostings(found); err != nil {
				return err
			}
			if err := c.nextTerm(); err != nil {
				return err
			}
		}
		if found = inOrder(found); keep != nil {
			found = slices.DeleteFunc(found, func(p bm25.Scored) bool { return !keep(p.Row) })
		}
		if len(found) > 0 {
			if err := w.addTerm(term, inBody, found); err != nil {
				return err
			}
		}
	}
}

// inOrder sorts passages by row. Usually they are sorted already, as segments cover separate ranges of rows.
func inOrder(found []bm25.Scored) []bm25.Scored {
	byRow := func(a, b bm25.Scored) int { return cmp.Compare(a.Row, b.Row) }
	if !slices.IsSortedFunc(found, byRow) {
		slices.SortFunc(found, byRow)
	}
	return found
}
