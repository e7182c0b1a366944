package sqlite

import (
	"context"
	"errors"
	"time"

	"footnote/chat"
	"footnote/sql/bm25"
	"footnote/sql/postings"
	"footnote/sql/store"
)

// Lexical returns the database's index of words. Ask once and share the result: it keeps what it has read.
func (db *DB) Lexical() *postings.Index { return postings.NewIndex(db.newPostingStore()) }

// postingStore is the postings.Store of an open database.
type postingStore struct{ db *DB }

var _ postings.Store = postingStore{}

func (db *DB) newPostingStore() postingStore { return postingStore{db} }

// eachRow calls fn with every row of a query of fixed text.
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

func (postingStore) Scope(s chat.Scope) chat.Scope { return s }

func (s postingStore) State(ctx context.Context) (changes, removals int64, err error) {
	err = s.db.queryRow(ctx, `SELECT changes, removals FROM corpus_state`, nil, &changes, &removals)
	return changes, removals, err
}

func (s postingStore) Spans(ctx context.Context, after int64) (spans []bm25.Span, err error) {
	err = s.db.eachRow(ctx, `SELECT c.n, c.first_row, c.lengths, c.live AND d.deleted_at = 0, d.id, d.user_id,
		d.namespace FROM contents c JOIN documents d ON d.n = c.document WHERE c.changed > ?`, []any{after},
		func(row scanner) error {
			span := bm25.Span{Document: &bm25.Document{}}
			var visible bool
			err := row.Scan(
				&span.Content, &span.First, &span.Lengths, &visible, &span.Document.ID, &span.Document.User,
				&span.Document.Namespace,
			)
			if !visible {
				span.Lengths = nil
			}
			spans = append(spans, span)
			return err
		})
	return spans, err
}

func (s postingStore) Contents(ctx context.Context, first, last uint32) (runs []postings.RowRange, err error) {
	err = s.db.eachRow(ctx, `SELECT first_row, passages FROM contents WHERE first_row <= ?2
		AND first_row + passages > ?1
		ORDER BY first_row`, []any{
		first, last,
	},
		func(row scanner) error {
			var r postings.RowRange
			err := row.Scan(&r.First, &r.Count)
			runs = append(runs, r)
			return err
		})
	return runs, err
}

func (s postingStore) PassageIDs(ctx context.Context, rows []uint32) (map[uint32]string, error) {
	wanted, err := store.ToJSON(rows)
	if err != nil {
		return nil, err
	}
	ids := make(map[uint32]string, len(rows))
	err = s.db.eachRow(ctx, `SELECT row, id FROM passages WHERE row IN (SELECT value FROM json_each(?))`, []any{
		wanted,
	}, func(r scanner) error {
		var row uint32
		var id string
		err := r.Scan(&row, &id)
		ids[row] = id
		return err
	})
	return ids, err
}

func (s postingStore) Texts(ctx context.Context, rows []uint32) (texts []postings.Text, err error) {
	wanted, err := store.ToJSON(rows)
	if err != nil {
		return nil, err
	}
	err = s.db.eachRow(ctx, `SELECT p.row, d.title, d.language, p.section, `+passageText+`
		FROM json_each(?) wanted JOIN passages p ON p.row = wanted.value
		JOIN contents c ON c.n = p.content JOIN documents d ON d.n = c.document`, []any{wanted},
		func(row scanner) error {
			var t postings.Text
			err := row.Scan(&t.Row, &t.Title, &t.Language, &t.Section, &t.Text)
			texts = append(texts, t)
			return err
		})
	return texts, err
}

func (s postingStore) Owners(ctx context.Context) (owners []string, err error) {
	err = s.db.eachRow(ctx, `SELECT DISTINCT owner FROM segments WHERE live = 1`, nil, func(row scanner) error {
		var owner string
		err := row.Scan(&owner)
		owners = append(owners, owner)
		return err
	})
	return owners, err
}

func (s postingStore) Segments(ctx context.Context, owner string) (list []postings.Segment, err error) {
	err = s.db.eachRow(ctx, `SELECT n, changed, passages FROM segments WHERE owner = ? AND live = 1 ORDER BY n`, []any{
		owner,
	}, func(row scanner) error {
		segment := postings.Segment{Owner: owner}
		err := row.Scan(&segment.Number, &segment.Changed, &segment.Passages)
		list = append(list, segment)
		return err
	})
	return list, err
}

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

func (s postingStore) Pages(
	ctx context.Context, segment int64, from, before []byte, limit int,
) (pages []postings.Page, err error) {
	err = s.db.eachRow(ctx, `SELECT key, body FROM segment_pages WHERE segment = ?1 AND key >= ?2 AND key < ?3
		ORDER BY key
		LIMIT +?4`,
		[]any{segment, from, before, limit}, func(row scanner) error {
			var p postings.Page
			err := row.Scan(&p.Key, &p.Body)
			pages = append(pages, p)
			return err
		})
	return pages, err
}

func (s postingStore) Begin(ctx context.Context, owner string) (segment int64, err error) {
	err = s.db.writeTx(ctx, false, func(t *tx) error {
		segment, err = beginSegment(t, owner)
		return err
	})
	return segment, err
}

func beginSegment(t *tx, owner string) (segment int64, err error) {
	err = t.One(`INSERT INTO segments (owner, started_at) VALUES (?, ?) RETURNING n`, []any{
		owner, time.Now().UnixMicro(),
	}, &segment)
	return segment, err
}

func (s postingStore) Put(ctx context.Context, segment int64, pages []postings.Page) error {
	return s.db.writeBulk(ctx, false, func(t *tx) error { return putPages(t, segment, pages) })
}

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

// errReplaced says that another process has merged a segment.
var errReplaced = errors.New("a segment is no longer there")

func (s postingStore) Replace(ctx context.Context, segment postings.Segment, old []int64) (ok bool, err error) {
	err = s.db.writeBulk(ctx, false, func(t *tx) error {
		ok = false
		for _, n := range old {
			if hidden, err := t.Exec(
				`UPDATE segments SET live = 0, started_at = 0 WHERE n = ? AND live = 1`, n,
			); err != nil {
				return err
			} else if hidden == 0 {
				return errReplaced
			}
		}
		ok = true
		return showSegment(t, segment)
	})
	if errors.Is(err, errReplaced) {
		err = nil
	}
	return ok && err == nil, err
}

// showSegment lets searches see a segment.
func showSegment(t *tx, s postings.Segment) error {
	_, err := t.Exec(
		`UPDATE segments SET live = 1, changed = ?, passages = ? WHERE n = ?`, s.Changed, s.Passages, s.Number,
	)
	return err
}

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

func (s postingStore) Unfinished(ctx context.Context) (segments []int64, err error) {
	err = s.db.eachRow(ctx, `SELECT n FROM segments WHERE live = 0 AND started_at < ?`, []any{
		time.Now().Add(-abandonedAfter).UnixMicro(),
	}, func(row scanner) error {
		var n int64
		err := row.Scan(&n)
		segments = append(segments, n)
		return err
	})
	return segments, err
}

// sweepIndex lets the index go of what was removed since it last did.
func (ds *Documents) sweepIndex(ctx context.Context) error {
	_, removals, err := ds.db.newPostingStore().State(ctx)
	if err != nil || ds.swept.Load() == removals+1 {
		return err
	}
	if err := postings.Sweep(ctx, ds.db.newPostingStore()); err != nil {
		return err
	}
	ds.swept.Store(removals + 1)
	return nil
}

// Unindexed implements postings.Rebuilt.
func (s postingStore) Unindexed(ctx context.Context) (list []postings.Unindexed, err error) {
	err = s.db.eachRow(ctx, `SELECT c.n, d.user_id, c.changed, c.first_row, c.passages FROM unindexed u JOIN contents c
		ON c.n = u.content
		JOIN documents d ON d.n = c.document ORDER BY d.user_id, c.n`, nil, func(row scanner) error {
		var u postings.Unindexed
		err := row.Scan(&u.Content, &u.Owner, &u.Changed, &u.Rows.First, &u.Rows.Count)
		list = append(list, u)
		return err
	})
	return list, err
}

// Indexed implements postings.Rebuilt.
func (s postingStore) Indexed(ctx context.Context, content int64, segment postings.Segment) (ok bool, err error) {
	err = s.db.writeBulk(ctx, false, func(t *tx) error {
		n, err := t.Exec(`DELETE FROM unindexed WHERE content = ?`, content)
		if ok = n > 0; err != nil || !ok {
			return err
		}
		return showSegment(t, segment)
	})
	return ok && err == nil, err
}
