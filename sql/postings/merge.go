package postings

import (
	"bytes"
	"cmp"
	"iter"
	"slices"

	"github.com/footnote/footnote/sql/bm25"
)

// A cursor goes through the terms of a segment in order. It holds one page at a time.
type cursor struct {
	next func() (Page, error, bool)
	stop func()
	page entries
	entry
	over bool
}

// newCursor begins before the first term. The pages are those behind the page of rows. stop must be called, or the
// iterator's goroutine stays.
func newCursor(pages iter.Seq2[Page, error]) *cursor {
	c := &cursor{}
	c.next, c.stop = iter.Pull2(pages)
	return c
}

// nextTerm goes to the next term. At the end it sets over and keeps the last term.
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

// appendPostings appends the passages of the present term, from its blocks too. Blocks follow their term's page in the
// order of keys, so they are the next pages of the same iterator; that is why this must be called before nextTerm.
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

// mergeTerms writes the terms of all cursors, each with the passages that are kept; nil keeps all. Each cursor is
// closed. It is a k-way merge by comparing all cursors, of which there are few, so a heap would not pay. Terms of which
// nothing is left are not written.
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

// inOrder sorts passages by row. Mostly all rows of one segment come before all of the next one's.
func inOrder(found []bm25.Scored) []bm25.Scored {
	byRow := func(a, b bm25.Scored) int { return cmp.Compare(a.Row, b.Row) }
	if !slices.IsSortedFunc(found, byRow) {
		slices.SortFunc(found, byRow)
	}
	return found
}
