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

// termPassages is a term with its visible passages. It is immutable. Passages of a frequent term are read only when
// needed; Counted.Passages then includes hidden and removed ones. It is exact once rows are read. For a frequent
// term it is an upper bound, which is enough to skip the term.
type termPassages struct {
	bm25.Counted
	parts []part        // until the passages are read
	rows  []bm25.Scored // scores without IDF, ascending by row
}

// part is a term's postings in one segment. It is immutable. For a list in blocks it has only the count; the blocks
// are read when needed.
type part struct {
	segment int64
	count   int
	blocks  bool
	rows    []bm25.Scored // with weights, unless in blocks
}

// Capacities of the caches, in passages of 8 bytes. A segment's postings are never outdated. A term's scores are
// invalidated by any change of the user's passages.
const (
	maxParts = 1 << 20
	maxTerms = 3 << 20
)

// termKey is the cache key of a term in a view. A new view makes old entries unreachable, until the cache is cleared.
type termKey struct {
	*view
	term string
}

// findTerms reads the postings of the terms, in their order, without the passages of frequent ones. One query reads
// all pages that are not cached, for all terms and segments.
func (r *reading) findTerms(ctx context.Context, terms []string) ([]*termPassages, error) {
	all := make([]*termPassages, len(terms))
	var places []Place
	var of []*termPassages
	for i, term := range terms {
		var ok bool
		if all[i], ok = r.index.terms.get(termKey{r.view, term}); ok {
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
		r.index.terms.keep(termKey{r.view, f.Term}, all[i], len(all[i].rows), maxTerms)
	}
	return all, nil
}

// addPart adds a segment's postings of the term. The count includes hidden passages.
func (f *termPassages) addPart(p part) {
	if f.Passages += p.count; p.count > 0 {
		f.parts = append(f.parts, p)
	}
}

// readParts reads the pages of places and adds their postings to the terms. Every segment has a page before all
// terms, so a place without a result means that its segment was replaced.
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

// readPart looks a term up in a page, the segment's last one with a key up to the term. If it is not there, it is
// not in the segment.
func readPart(at Place, in Page) (p part, err error) {
	if len(in.Key) == 0 || in.isBlock() {
		return p, nil // the term is before the first page of terms, or after the last block of another one
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

// scoredPassages returns the visible passages of a term with scores without IDF, ascending by row. It concatenates
// the lists of all segments and sorts them by row.
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

// readBlocks reads the passages of a list in blocks, whose keys begin with the term and a zero byte. It returns
// errMoved if its segment was dropped meanwhile.
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

// rowsInBoth returns the intersection of two ascending lists.
func rowsInBoth(rows []uint32, list []bm25.Scored) []uint32 {
	return slices.DeleteFunc(rows, func(row uint32) bool {
		for len(list) > 0 && list[0].Row < row {
			list = list[1:]
		}
		return len(list) == 0 || list[0].Row != row
	})
}
