package store

import (
	"context"
	"errors"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/bm25"
	"github.com/footnote/footnote/sql/postings"
)

// LeftAfter is the age from which unpublished content counts as left behind by a crash. It must exceed the time of
// writing one document, or a sweep would delete content in progress.
const LeftAfter = time.Hour

// Index implements the part of postings.Store that both databases share. Pages are opaque bytes for it.
type Index struct {
	db  Database
	sql *Dialect
}

// NewIndex returns the lexical index of a database.
func NewIndex(db Database, sql *Dialect) *Index { return &Index{db, sql} }

// Scope implements postings.Store.
func (x *Index) Scope(s chat.Scope) chat.Scope { return x.sql.Scope(s) }

// State implements postings.Store.
func (x *Index) State(ctx context.Context) (changes, removals int64, err error) {
	err = x.db.Autocommit(ctx, 0).One(`SELECT changes, removals FROM corpus_state`, nil, &changes, &removals)
	return changes, removals, err
}

// Spans implements postings.Store. The index on `changed` serves it, so it reads no row without a change.
func (x *Index) Spans(ctx context.Context, after int64) ([]bm25.Span, error) {
	return readList(x.db.Autocommit(ctx, Patient), func(row Row) (span bm25.Span, err error) {
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
	}, x.sql.SelectSpans, after)
}

// Contents implements postings.Store. Rows are numbered over the whole database, and each content has a contiguous
// range, so two comparisons detect an overlap.
func (x *Index) Contents(ctx context.Context, first, last uint32) ([]postings.RowRange, error) {
	return readList(x.db.Autocommit(ctx, Patient), func(row Row) (r postings.RowRange, err error) {
		err = row.Scan(&r.First, &r.Count)
		return r, err
	}, `SELECT first_row, passages FROM contents WHERE first_row <= $2 AND first_row + passages > $1
		ORDER BY first_row`, int64(first), int64(last))
}

// PassageIDs implements postings.Store. Deleted rows are not in the map.
func (x *Index) PassageIDs(ctx context.Context, rows []uint32) (map[uint32]string, error) {
	ids := make(map[uint32]string, len(rows))
	err := x.db.Autocommit(ctx, Patient).Query(`SELECT row, id FROM passages WHERE `+x.sql.Among("row", "$1"),
		[]any{x.sql.Numbers(numbers(rows))}, func(rows Rows) error {
			for rows.Next() {
				var row uint32
				var id string
				if err := rows.Scan(&row, &id); err != nil {
					return err
				}
				ids[row] = id
			}
			return nil
		})
	return ids, err
}

// Owners implements postings.Store.
func (x *Index) Owners(ctx context.Context) ([]string, error) {
	return readList(x.db.Autocommit(ctx, Patient), scanText, `SELECT DISTINCT owner FROM segments WHERE`+x.sql.Live)
}

// Segments implements postings.Store.
func (x *Index) Segments(ctx context.Context, owner string) ([]postings.Segment, error) {
	return readList(x.db.Autocommit(ctx, Patient), func(row Row) (segment postings.Segment, err error) {
		segment.Owner = owner
		err = row.Scan(&segment.Number, &segment.Changed, &segment.Passages)
		return segment, err
	}, `SELECT n, changed, passages FROM segments WHERE owner = $1 AND`+x.sql.Live+`ORDER BY n`, owner)
}

// Pages implements postings.Store. Both databases compare keys bytewise, as the order of terms requires.
func (x *Index) Pages(
	ctx context.Context, segment int64, from, before []byte, limit int,
) ([]postings.Page, error) {
	return readList(x.db.Autocommit(ctx, Patient), func(row Row) (p postings.Page, err error) {
		err = row.Scan(&p.Key, &p.Body)
		return p, err
	}, `SELECT key, body FROM segment_pages WHERE segment = $1 AND key >= $2 AND key < $3 ORDER BY key
		LIMIT CAST($4 AS bigint)`, segment, from, before, limit)
}

// Begin implements postings.Store.
func (x *Index) Begin(ctx context.Context, owner string) (segment int64, err error) {
	err = x.db.Write(ctx, Patient, func(t Tx) error {
		segment, err = BeginSegment(t, owner)
		return err
	})
	return segment, err
}

// BeginSegment creates an invisible segment. Its start time distinguishes a segment in progress from one that a
// crash left.
func BeginSegment(t Tx, owner string) (segment int64, err error) {
	err = t.One(`INSERT INTO segments (owner, started_at) VALUES ($1, now_micros()) RETURNING n`, []any{owner},
		&segment)
	return segment, err
}

// PublishSegment makes a segment visible to searches.
func PublishSegment(t Tx, s postings.Segment) error {
	_, err := t.Exec(
		`UPDATE segments SET live = true, changed = $2, passages = $3 WHERE n = $1`, s.Number, s.Changed, s.Passages,
	)
	return err
}

// errReplaced is returned when another process has merged a segment.
var errReplaced = errors.New("a segment is no longer there")

// Replace implements postings.Store. The update hides the old segments and counts them. If some are missing, another
// process has merged them, and the transaction is rolled back. started_at = 0 lets the next sweep delete them.
func (x *Index) Replace(ctx context.Context, segment postings.Segment, old []int64) (ok bool, err error) {
	err = x.db.Write(ctx, Patient|Bulk, func(t Tx) error {
		hidden, err := t.Exec(`UPDATE segments SET live = false, started_at = 0 WHERE`+x.sql.Live+`AND `+
			x.sql.Among("n", "$1"), x.sql.Numbers(old))
		if err == nil && hidden != int64(len(old)) {
			err = errReplaced
		}
		if err != nil {
			return err
		}
		return PublishSegment(t, segment)
	})
	if errors.Is(err, errReplaced) {
		return false, nil
	}
	return err == nil, err
}

// Unfinished implements postings.Store.
func (x *Index) Unfinished(ctx context.Context) ([]int64, error) {
	return readList(x.db.Autocommit(ctx, Patient), scanNumber, `SELECT n FROM segments WHERE NOT live
		AND started_at < (SELECT now_micros()) - $1`, LeftAfter.Microseconds())
}

// Unindexed implements postings.Rebuilt.
func (x *Index) Unindexed(ctx context.Context) ([]postings.Unindexed, error) {
	return readList(x.db.Autocommit(ctx, Patient), func(row Row) (u postings.Unindexed, err error) {
		err = row.Scan(&u.Content, &u.Owner, &u.Changed, &u.Rows.First, &u.Rows.Count)
		return u, err
	}, x.sql.SelectUnindexed)
}

// Indexed implements postings.Rebuilt. Deleting the row of `unindexed` decides which of two concurrent processes
// publishes its segment.
func (x *Index) Indexed(ctx context.Context, content int64, segment postings.Segment) (ok bool, err error) {
	err = x.db.Write(ctx, Patient|Bulk, func(t Tx) error {
		n, err := t.Exec(`DELETE FROM unindexed WHERE content = $1`, content)
		if ok = n > 0; err != nil || !ok {
			return err
		}
		return PublishSegment(t, segment)
	})
	return ok && err == nil, err
}
