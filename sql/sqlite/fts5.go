package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync/atomic"

	"footnote/sql/bm25"
)

// An index reads the places of terms straight from the tables in which FTS5 keeps them: that costs much less than to ask the
// fts5vocab table. SQLite keeps this format readable in all its releases; the head of https://sqlite.org/src/file/ext/fts5/fts5_index.c
// describes it. Which rows were deleted is not minded here: the directory knows, and no row's number is used twice.
type index struct {
	db   *DB
	last atomic.Pointer[structure] // tells whether the index has changed
}

var errBadIndex = errors.New("the index of words holds something that can't be read")

// Segments are runs of pages with terms in order; each has other rows. A page has its number in the low bits of its id. A term is
// behind the last key of lexical_idx that does not come after it, and its places go on to the page, at most, on which the next
// key says that another term begins. Each statement sees one state of the index, and says which.
const (
	stateOfIndex = `SELECT -1, 0, block FROM lexical_data WHERE id = 10 UNION ALL `
	firstPages   = stateOfIndex + `SELECT s.key, d.id, d.block FROM json_each(?1) s CROSS JOIN lexical_data d ON d.id = max(s.value,
		s.value >> 37 << 37 | coalesce((SELECT pgno >> 1 FROM lexical_idx WHERE segid = s.value >> 37 AND term <= ?2 ORDER BY term DESC LIMIT 1), 0))`
	nextPages = stateOfIndex + `SELECT s.key, d.id, d.block FROM json_each(?1) s CROSS JOIN lexical_data d ON d.id BETWEEN s.value + 1 AND
		s.value >> 37 << 37 | coalesce((SELECT pgno >> 1 FROM lexical_idx WHERE segid = s.value >> 37 AND term > ?2 ORDER BY term LIMIT 1), 0x7fffffff)`
)

// places returns the rows that hold a term, ascending, each with the term's weight in it: how often it occurs, and
// corpus.TitleWeight for each time in the title.
func (x *index) places(ctx context.Context, term string) ([]bm25.Scored, error) {
	in := x.last.Load()
	if in == nil {
		in = &structure{pages: []int64{}}
	}
	for {
		list, now, err := x.read(ctx, in, leafKey(term))
		if err != nil || now == nil {
			return list, err
		}
		x.last.Store(now)
		in = now
	}
}

// read reads a term's places in the segments. If there are other segments by now it returns those instead.
func (x *index) read(ctx context.Context, in *structure, key []byte) (_ []bm25.Scored, now *structure, err error) {
	lists := make([]*doclist, len(in.pages))
	for i := range lists {
		lists[i] = &doclist{page: in.pages[i]}
	}
	if now, err := x.readPages(ctx, firstPages, in, key, lists); now != nil || err != nil {
		return nil, now, err
	}
	more := slices.DeleteFunc(slices.Clone(lists), func(d *doclist) bool { return d.ended })
	if len(more) > 0 {
		if now, err := x.readPages(ctx, nextPages, in, key, more); now != nil || err != nil {
			return nil, now, err
		}
	}
	return inOrder(lists), nil, nil
}

func (x *index) readPages(ctx context.Context, query string, in *structure, key []byte, lists []*doclist) (now *structure, err error) {
	pages := make([]int64, len(lists))
	for i, d := range lists {
		pages[i] = d.page
	}
	from, err := toJSON(pages)
	if err != nil {
		return nil, err
	}
	rows, err := x.db.query(ctx, query, from, key)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var n int
		var id int64
		var block sql.RawBytes
		if err := rows.Scan(&n, &id, &block); err != nil {
			return nil, failure(err)
		}
		if n < 0 {
			if bytes.Equal(block, in.block) {
				continue
			}
			return parseStructure(bytes.Clone(block))
		}
		if err := lists[n].add(id, block, key); err != nil {
			return nil, err
		}
	}
	return nil, failure(rows.Err())
}

// inOrder joins the lists by row. Mostly all rows of one segment come before all of the next one's.
func inOrder(lists []*doclist) (all []bm25.Scored) {
	lists = slices.DeleteFunc(lists, func(d *doclist) bool { return len(d.list) == 0 })
	if len(lists) == 1 {
		return lists[0].list
	}
	slices.SortFunc(lists, func(a, b *doclist) int { return cmp.Compare(a.list[0].Row, b.list[0].Row) })
	ordered := true
	for _, d := range lists {
		ordered = ordered && (len(all) == 0 || all[len(all)-1].Row < d.list[0].Row)
		all = append(all, d.list...)
	}
	if !ordered {
		slices.SortFunc(all, func(a, b bm25.Scored) int { return cmp.Compare(a.Row, b.Row) })
	}
	return all
}

// structure is the list of segments: a cookie, how many levels, segments and writes there are, then each level with its segments.
type structure struct {
	block []byte
	pages []int64 // the id of each segment's first
}

func parseStructure(block []byte) (*structure, error) {
	const withOrigins = "\xff\x00\x00\x01" // since contentless_delete: five more numbers for each segment
	if len(block) < 4 {
		return nil, errBadIndex
	}
	r := varints{data: block[4:]}
	more := 0
	if bytes.HasPrefix(r.data, []byte(withOrigins)) {
		r.data, more = r.data[len(withOrigins):], 5
	}
	levels := r.next()
	r.skip(2)
	s := structure{block: block, pages: []int64{}}
	for ; levels > 0 && !r.bad; levels-- {
		r.skip(1) // how many are being merged
		for n := r.next(); n > 0 && !r.bad; n-- {
			id, first := r.next(), r.next()
			if r.skip(1 + more); first > 0 { // 0: all that it had is in another one by now
				s.pages = append(s.pages, int64(id<<37|first))
			}
		}
	}
	if r.bad {
		return nil, errBadIndex
	}
	return &s, nil
}
