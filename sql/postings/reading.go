package postings

import (
	"context"
	"slices"

	"github.com/footnote/footnote/sql/bm25"
)

// A reading is one search's view of a user's part of the index. It belongs to one goroutine.
type reading struct {
	*view
	index    *Index
	segments []Segment
}

// termPassages is a term with the visible passages that hold it. It never changes. Those of a frequent term are read
// only if they are needed, and its number counts passages that are hidden or gone as well. Counted.Passages is exact
// once rows are read; for a frequent term it is a bound from above, which is enough to leave the term out.
type termPassages struct {
	bm25.Counted
	parts []part        // until the passages are read
	rows  []bm25.Scored // scores but for the term's rarity, ascending by row
}

// part is what a segment has of a term. It never changes. Of a list in blocks only the number is kept; the blocks are
// read when they are needed.
type part struct {
	segment int64
	count   int
	blocks  bool
	rows    []bm25.Scored // with weights, unless in blocks
}

// Bounds of the caches, in passages of 8 bytes. What a segment has of a term is never out of date; a term's scores are,
// when anything of the user's changes.
const (
	maxParts = 1 << 20
	maxTerms = 3 << 20
)

// seen is a term as of a view. The view in the key makes an entry unreachable when the user's passages change; it goes
// when the cache is emptied.
type seen struct {
	*view
	term string
}

// findTerms reads what there is of each term, in the order of the terms, but for the passages of frequent ones. All
// pages that are missing are read by one statement, whatever the number of terms and segments.
func (r *reading) findTerms(ctx context.Context, terms []string) ([]*termPassages, error) {
	all := make([]*termPassages, len(terms))
	var places []Place
	var of []*termPassages
	for i, term := range terms {
		var ok bool
		if all[i], ok = r.index.terms.get(seen{r.view, term}); ok {
			continue
		}
		all[i] = &termPassages{Counted: bm25.Counted{Term: term}}
		for _, s := range r.segments {
			at := Place{s.Number, term}
			if p, ok := r.index.parts.get(at); ok {
				all[i].addPart(p)
			} else {
				places, of = append(places, at), append(of, all[i])
			}
		}
	}
	if err := r.readParts(ctx, places, of); err != nil {
		return nil, err
	}
	for i, f := range all {
		if f.parts == nil {
			continue
		}
		if f.Passages <= r.Frequent() {
			rows, err := r.scoredPassages(ctx, f)
			if err != nil {
				return nil, err
			}
			all[i] = &termPassages{Counted: bm25.Counted{Term: f.Term, Passages: len(rows)}, rows: rows}
		}
		r.index.terms.keep(seen{r.view, f.Term}, all[i], len(all[i].rows), maxTerms)
	}
	return all, nil
}

// addPart adds what a segment has of the term. The number of passages counts those that are hidden, too.
func (f *termPassages) addPart(p part) {
	if f.Passages += p.count; p.count > 0 {
		f.parts = append(f.parts, p)
	}
}

// readParts reads what is at each place, and adds it to what was found of its term. Every segment has a page before all
// terms, so a place without an answer means that its segment is gone.
func (r *reading) readParts(ctx context.Context, places []Place, of []*termPassages) error {
	if len(places) == 0 {
		return nil
	}
	read := 0
	err := r.index.store.Find(ctx, places, func(i int, page Page) error {
		p, err := readPart(places[i], page)
		if err != nil {
			return err
		}
		read++
		r.index.parts.keep(places[i], p, len(p.rows), maxParts)
		of[i].addPart(p)
		return nil
	})
	if err == nil && read < len(places) {
		err = errMoved
	}
	return err
}

// readPart looks a term up in the page that may have it. The page is the last that does not come after the term, so the
// term is on it or nowhere in the segment.
func readPart(at Place, in Page) (p part, err error) {
	if len(in.Key) == 0 || in.isBlock() {
		return p, nil // the term would stand before the first page of terms, or behind the last block of another one
	}
	page, err := readEntries(in)
	if err != nil {
		return p, err
	}
	var e entry
	if ok, err := page.findTerm(at.Term, &e); !ok || err != nil {
		return p, err
	}
	p = part{segment: at.Segment, count: e.count, blocks: e.kind == blocks}
	p.rows, err = e.appendPostings(nil, page.base)
	return p, err
}

// scoredPassages returns the visible passages that hold a term, with their scores but for the term's rarity, ascending
// by row. Lists of several segments are put together and sorted by row before they are scored.
func (r *reading) scoredPassages(ctx context.Context, f *termPassages) ([]bm25.Scored, error) {
	if f.parts == nil {
		return f.rows, nil
	}
	n := 0
	for _, p := range f.parts {
		n += p.count
	}
	rows := make([]bm25.Scored, 0, n)
	for _, p := range f.parts {
		if p.blocks {
			var err error
			if p.rows, err = r.readBlocks(ctx, p, f.Term); err != nil {
				return nil, err
			}
		}
		rows = append(rows, p.rows...)
	}
	return r.ScoreTerm(inOrder(rows)), nil
}

// readBlocks returns the passages of a list in blocks. It fails with errMoved if its segment was dropped meanwhile. The
// range of keys behind term and a zero byte holds its blocks and nothing else.
func (r *reading) readBlocks(ctx context.Context, p part, term string) ([]bm25.Scored, error) {
	pages, err := r.index.store.Pages(ctx, p.segment, append([]byte(term), 0), append([]byte(term), 1), p.count)
	if err != nil {
		return nil, err
	}
	rows := make([]bm25.Scored, 0, p.count)
	for _, page := range pages {
		block, err := readEntries(page)
		if err == nil {
			rows, err = readList(rows, block.base, block.rest)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(rows) != p.count {
		return nil, errMoved
	}
	return rows, nil
}

// rowsInBoth returns the rows that are in both lists, ascending as they are.
func rowsInBoth(rows []uint32, list []bm25.Scored) []uint32 {
	return slices.DeleteFunc(rows, func(row uint32) bool {
		for len(list) > 0 && list[0].Row < row {
			list = list[1:]
		}
		return len(list) == 0 || list[0].Row != row
	})
}
