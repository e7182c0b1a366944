package sqlite

import (
	"context"

	"github.com/footnote/footnote/sql/postings"
	"github.com/footnote/footnote/sql/store"
)

// Lexical returns the lexical index. Share the result, as it has a cache.
func (db *DB) Lexical() *postings.Index { return postings.NewIndex(db.newPostingStore()) }

// postingStore is the postings.Store of a database. It adds to store.Index the statements that need one range or one
// transaction here.
type postingStore struct {
	*store.Index
	db *DB
}

var _ postings.Store = postingStore{}

// newPostingStore returns a stateless postingStore.
func (db *DB) newPostingStore() postingStore {
	return postingStore{store.NewIndex(engine{db}, dialect), db}
}

// eachRow calls fn with every row of a query with fixed text.
func (db *DB) eachRow(ctx context.Context, query string, args []any, fn func(scanner) error) error {
	rows, err := db.queryRows(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return failure(err)
		}
	}
	return failure(rows.Err())
}

// Find implements postings.Store. All places are one JSON list; json_each numbers the pairs, and its key is the
// place's index. CROSS JOIN keeps the order, so each place costs one descending lookup in the index
// segment_pages_by_key.
func (s postingStore) Find(ctx context.Context, places []postings.Place, each func(int, postings.Page) error) error {
	pairs := make([][2]any, len(places))
	for i, at := range places {
		pairs[i] = [2]any{at.Segment, at.Term}
	}
	wanted, err := store.ToJSON(pairs)
	if err != nil {
		return err
	}
	return s.db.eachRow(ctx, `SELECT w.key, p.key, p.body FROM json_each(?) w CROSS JOIN segments s
		ON s.n = w.value ->> 0
		AND s.live = 1 CROSS JOIN segment_pages p ON p.n = (SELECT n FROM segment_pages
		WHERE segment = s.n AND key <= CAST(w.value ->> 1 AS BLOB) ORDER BY key DESC LIMIT 1)`, []any{wanted},
		func(row scanner) error {
			var place int
			var p postings.Page
			if err := row.Scan(&place, &p.Key, &p.Body); err != nil {
				return err
			}
			return each(place, p)
		})
}

// Put implements postings.Store as a bulk write.
func (s postingStore) Put(ctx context.Context, segment int64, pages []postings.Page) error {
	return s.db.writeBulk(ctx, false, func(t *tx) error { return putPages(t, segment, pages) })
}

// putPages inserts pages in an open transaction, so that a document's last pages are committed with its publication.
func putPages(t *tx, segment int64, pages []postings.Page) error {
	for _, p := range pages {
		if _, err := t.Exec(
			`INSERT INTO segment_pages (segment, key, body) VALUES (?, ?, ?)`, segment, p.Key, p.Body,
		); err != nil {
			return err
		}
	}
	return nil
}

// Drop implements postings.Store in small transactions. The segment's row is deleted with its last pages, so an
// interrupted Drop can be repeated. A live segment keeps its row.
func (s postingStore) Drop(ctx context.Context, segment int64) error {
	const some = 256 // pages
	for n := int64(some); n == some; {
		err := s.db.writeBulk(ctx, false, func(t *tx) (err error) {
			n, err = t.Exec(
				`DELETE FROM segment_pages WHERE n IN (SELECT n FROM segment_pages WHERE segment = ? LIMIT +?)`,
				segment, some,
			)
			if err == nil && n < some {
				_, err = t.Exec(`DELETE FROM segments WHERE n = ? AND live = 0`, segment)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
