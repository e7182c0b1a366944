package postgres

import (
	"context"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/footnote/footnote/sql/pack"
	"github.com/footnote/footnote/sql/postings"
	"github.com/footnote/footnote/sql/store"
)

// Lexical returns the lexical index. Share the result, as it has a cache.
func (db *DB) Lexical() *postings.Index { return postings.NewIndex(db.newPostingStore()) }

// postingStore is the postings.Store of a database. It adds to store.Index the statements that need one round trip
// here.
type postingStore struct {
	*store.Index
	db *DB
}

var _ postings.Store = postingStore{}

// newPostingStore returns a stateless postingStore.
func (db *DB) newPostingStore() postingStore {
	return postingStore{store.NewIndex(engine{db}, dialect), db}
}

// unpackText returns a stored text, plain or compressed.
func unpackText(body string, packed []byte) (string, error) {
	if len(packed) == 0 {
		return body, nil
	}
	plain, err := pack.Unpacked(nil, packed)
	return string(plain), err
}

// Find implements postings.Store. Places are passed as two arrays. The lateral join does one descending lookup in
// the primary key of segment_pages for each.
func (s postingStore) Find(ctx context.Context, places []postings.Place, each func(int, postings.Page) error) error {
	segments, terms := make([]int64, len(places)), make([][]byte, len(places))
	for i, at := range places {
		segments[i], terms[i] = at.Segment, []byte(at.Term)
	}
	type found struct {
		place int
		postings.Page
	}
	read := func(row scanner) (f found, err error) {
		err = row.Scan(&f.place, &f.Key, &f.Body)
		return f, err
	}
	list, err := queryList(ctx, s.db, longTime, read,
		`SELECT w.place, p.key, p.body FROM unnest($1::bigint[], $2::bytea[]) WITH ORDINALITY AS w (segment,
			term, place)
		JOIN segments s ON s.n = w.segment AND s.live
		CROSS JOIN LATERAL (SELECT key, body FROM segment_pages WHERE segment = w.segment AND key <= w.term
			ORDER BY key DESC LIMIT 1) p`, segments, terms)
	for _, f := range list {
		if err == nil {
			err = each(f.place-1, f.Page)
		}
	}
	return err
}

// Put implements postings.Store. The pages of one call are in one transaction, so a segment after a crash has
// complete batches.
func (s postingStore) Put(ctx context.Context, segment int64, pages []postings.Page) error {
	return s.db.inTx(ctx, contentTime, func(t *tx) error {
		return putPages(t, segment, func(yield func(postings.Page, error) bool) {
			for _, p := range pages {
				if !yield(p, nil) {
					return
				}
			}
		})
	})
}

// putPages streams the pages of a segment with COPY, so memory holds one page, whatever the size of the segment.
func putPages(t *tx, segment int64, pages iter.Seq2[postings.Page, error]) error {
	next, stop := iter.Pull2(pages)
	defer stop()
	_, err := t.pgx.CopyFrom(t.ctx, pgx.Identifier{
		"segment_pages",
	}, []string{"segment", "key", "body"}, pgx.CopyFromFunc(func() ([]any, error) {
		p, err, more := next()
		if err != nil || !more {
			return nil, err
		}
		return []any{segment, p.Key, p.Body}, nil
	}))
	return err
}

// vacuumFrom is the number of dropped pages, of 4 KB, from which they are vacuumed at once: autovacuum runs once a
// minute, and merges write faster.
const vacuumFrom = 500

// Drop implements postings.Store. A live segment is not deleted. VACUUM can't run in a transaction, so it follows;
// SKIP_LOCKED skips it when another replica is vacuuming.
func (s postingStore) Drop(ctx context.Context, segment int64) error {
	var pages int64
	err := s.db.inTx(ctx, contentTime, func(t *tx) error {
		pages = 0
		gone, err := t.Exec(`DELETE FROM segments WHERE n = $1 AND NOT live`, segment)
		if err == nil && gone > 0 {
			pages, err = t.Exec(`DELETE FROM segment_pages WHERE segment = $1`, segment)
		}
		return err
	})
	if err != nil || pages < vacuumFrom {
		return err
	}
	_, err = s.db.execStatement(ctx, contentTime, `VACUUM (SKIP_LOCKED) segment_pages`)
	if err == nil {
		s.db.log.InfoContext(ctx, "database vacuumed", "table", "segment_pages", "pages", pages)
	}
	return err
}
