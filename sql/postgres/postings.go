package postgres

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"

	"footnote/chat"
	"footnote/sql/bm25"
	"footnote/sql/pack"
	"footnote/sql/postings"
)

// leftAfter is the age at which a segment that was never shown counts as left behind by a crash.
const leftAfter = time.Hour

// Lexical returns the database's index of words. Ask once and share the result: it keeps what it has read.
func (db *DB) Lexical() *postings.Index { return postings.NewIndex(db.newPostingStore()) }

// postingStore is the postings.Store of an open database.
type postingStore struct{ db *DB }

var _ postings.Store = postingStore{}

func (db *DB) newPostingStore() postingStore { return postingStore{db} }

func (postingStore) Scope(s chat.Scope) chat.Scope { return legibleScope(s) }

func (s postingStore) State(ctx context.Context) (changes, removals int64, err error) {
	err = s.db.queryRow(ctx, shortTime, `SELECT changes, removals FROM corpus_state`, nil, &changes, &removals)
	return changes, removals, err
}

// Spans lists a document's present span under the document's number.
func (s postingStore) Spans(ctx context.Context, after int64) ([]bm25.Span, error) {
	read := func(row scanner) (span bm25.Span, err error) {
		span.Document = &bm25.Document{}
		var visible bool
		err = row.Scan(
			&span.Content, &span.Document.ID, &span.Document.User, &span.Document.Namespace, &visible, &span.First,
			&span.Lengths,
		)
		if !visible {
			span.Lengths = nil
		}
		return span, err
	}
	return queryList(ctx, s.db, longTime, read,
		`SELECT d.n, d.id, d.user_id, d.namespace, d.deleted_at = 0, coalesce(c.first_row, 0), coalesce(c.lengths, '')
		FROM documents d LEFT JOIN contents c ON c.n = d.content WHERE d.changed > $1`, after)
}

func (s postingStore) Contents(ctx context.Context, first, last uint32) ([]postings.RowRange, error) {
	read := func(row scanner) (r postings.RowRange, err error) {
		err = row.Scan(&r.First, &r.Count)
		return r, err
	}
	return queryList(ctx, s.db, longTime, read, `SELECT first_row, passages FROM contents WHERE first_row <= $2
		AND first_row + passages > $1 ORDER BY first_row`,
		int64(first), int64(last))
}

func toInt64s(rows []uint32) []int64 {
	list := make([]int64, len(rows))
	for i, row := range rows {
		list[i] = int64(row)
	}
	return list
}

func (s postingStore) PassageIDs(ctx context.Context, rows []uint32) (map[uint32]string, error) {
	ids := make(map[uint32]string, len(rows))
	read := func(r scanner) (row uint32, err error) {
		var id string
		err = r.Scan(&row, &id)
		ids[row] = id
		return row, err
	}
	_, err := queryList(ctx, s.db, longTime, read, `SELECT row, id FROM passages WHERE row = ANY ($1)`, toInt64s(rows))
	return ids, err
}

func (s postingStore) Texts(ctx context.Context, rows []uint32) ([]postings.Text, error) {
	read := func(row scanner) (t postings.Text, err error) {
		t.Text, err = scanText(row, &t.Row, &t.Title, &t.Language, &t.Section)
		return t, err
	}
	return queryList(ctx, s.db, longTime, read, `SELECT p.row, d.title, d.language, p.section, `+textColumns+`
		FROM passages p
		JOIN contents c ON c.n = p.content JOIN documents d ON d.n = c.document`+ofText+`WHERE p.row = ANY ($1)`,
		toInt64s(rows))
}

// unpackText returns a stored text, which is empty if it is packed.
func unpackText(body string, packed []byte) (string, error) {
	if len(packed) == 0 {
		return body, nil
	}
	plain, err := pack.Unpacked(nil, packed)
	return string(plain), err
}

func (s postingStore) Owners(ctx context.Context) ([]string, error) {
	return queryList(ctx, s.db, longTime, scanValue[string], `SELECT DISTINCT owner FROM segments WHERE live`)
}

func (s postingStore) Segments(ctx context.Context, owner string) ([]postings.Segment, error) {
	read := func(row scanner) (segment postings.Segment, err error) {
		segment.Owner = owner
		err = row.Scan(&segment.Number, &segment.Changed, &segment.Passages)
		return segment, err
	}
	return queryList(
		ctx, s.db, longTime, read, `SELECT n, changed, passages FROM segments WHERE owner = $1 AND live ORDER BY n`,
		owner,
	)
}

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

func (s postingStore) Pages(
	ctx context.Context, segment int64, from, before []byte, limit int,
) ([]postings.Page, error) {
	read := func(row scanner) (p postings.Page, err error) {
		err = row.Scan(&p.Key, &p.Body)
		return p, err
	}
	return queryList(ctx, s.db, longTime, read, `SELECT key, body FROM segment_pages WHERE segment = $1 AND key >= $2
		AND key < $3 ORDER BY key LIMIT $4`,
		segment, from, before, limit)
}

func (s postingStore) Begin(ctx context.Context, owner string) (segment int64, err error) {
	err = s.db.queryRow(ctx, longTime, `INSERT INTO segments (owner) VALUES ($1) RETURNING n`, []any{owner}, &segment)
	return segment, err
}

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

// putPages sends the pages of a segment as they are made.
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

// errReplaced says that another process has merged a segment.
var errReplaced = errors.New("a segment is no longer there")

func (s postingStore) Replace(ctx context.Context, segment postings.Segment, old []int64) (ok bool, err error) {
	err = s.db.inTx(ctx, longTime, func(t *tx) error {
		hidden, err := t.Exec(`UPDATE segments SET live = false, started_at = 0 WHERE live AND n = ANY ($1)`, old)
		if err == nil && hidden != int64(len(old)) {
			err = errReplaced
		}
		if err != nil {
			return err
		}
		return showSegment(t, segment)
	})
	if errors.Is(err, errReplaced) {
		return false, nil
	}
	return err == nil, err
}

// showSegment lets searches see a segment.
func showSegment(t *tx, s postings.Segment) error {
	_, err := t.Exec(
		`UPDATE segments SET live = true, changed = $2, passages = $3 WHERE n = $1`, s.Number, s.Changed, s.Passages,
	)
	return err
}

// vacuumFrom is after how many dropped pages, of 4 KB, their room is made free at once: autovacuum looks once a
// minute, and merges write faster.
const vacuumFrom = 500

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
	if err == nil && pages >= vacuumFrom {
		_, err = s.db.execStatement(ctx, contentTime, `VACUUM (SKIP_LOCKED) segment_pages`)
	}
	return err
}

func (s postingStore) Unfinished(ctx context.Context) ([]int64, error) {
	return queryList(
		ctx, s.db, longTime, scanValue[int64],
		`SELECT n FROM segments WHERE NOT live AND started_at < now_micros() - $1`,
		leftAfter.Microseconds(),
	)
}

// Unindexed implements postings.Rebuilt.
func (s postingStore) Unindexed(ctx context.Context) ([]postings.Unindexed, error) {
	read := func(row scanner) (u postings.Unindexed, err error) {
		err = row.Scan(&u.Content, &u.Owner, &u.Changed, &u.Rows.First, &u.Rows.Count)
		return u, err
	}
	return queryList(ctx, s.db, longTime, read, `SELECT c.n, d.user_id, d.changed, c.first_row, c.passages
		FROM unindexed u
		JOIN contents c ON c.n = u.content
		JOIN documents d ON d.n = c.document ORDER BY d.user_id, c.n`)
}

// Indexed implements postings.Rebuilt.
func (s postingStore) Indexed(ctx context.Context, content int64, segment postings.Segment) (ok bool, err error) {
	err = s.db.inTx(ctx, longTime, func(t *tx) error {
		n, err := t.Exec(`DELETE FROM unindexed WHERE content = $1`, content)
		if ok = n > 0; err != nil || !ok {
			return err
		}
		return showSegment(t, segment)
	})
	return ok && err == nil, err
}
