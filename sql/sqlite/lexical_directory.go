package sqlite

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"footnote/sql/bm25"
)

// directory knows which rows of the index can be seen, and by whom. It is read at the first search and brought up to date
// at each, with what changed since; reading costs two small numbers when nothing did. Another process may write as well.
type directory struct {
	mu      sync.Mutex // held while reading
	present *directorySnapshot
}

// A directorySnapshot never changes. A span's number is that of its content.
type directorySnapshot struct {
	changes, removals int64
	bm25.Directory
}

func (d *directory) current(ctx context.Context, db *DB) (*directorySnapshot, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	last := d.present
	if last == nil {
		last = &directorySnapshot{}
	}
	var changes, removals int64
	if err := db.queryRow(ctx, `SELECT changes, removals FROM corpus_state`, nil, &changes, &removals); err != nil {
		return nil, err
	}
	if d.present != nil && changes == last.changes && removals == last.removals {
		return last, nil
	}
	next, err := last.update(ctx, db, changes, removals)
	if err != nil {
		return nil, fmt.Errorf("directory of the index: %w", err)
	}
	d.present = next
	return next, nil
}

// update returns a newer snapshot. What changed after the counters were read may be in it: the next update repeats that.
func (d *directorySnapshot) update(ctx context.Context, db *DB, changes, removals int64) (*directorySnapshot, error) {
	gone := make(map[int64]bool) // to be left out: hidden, or listed anew
	var spans []bm25.Span
	rows, err := db.query(ctx, `SELECT c.n, c.first_row, c.lengths, c.live AND d.deleted_at = 0, d.id, d.user, d.namespace
		FROM contents c JOIN documents d ON d.n = c.document WHERE c.changed > ?`, d.changes)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		s := bm25.Span{Document: &bm25.Document{}}
		var visible bool
		if err := rows.Scan(&s.Content, &s.First, &s.Lengths, &visible, &s.Document.ID, &s.Document.User, &s.Document.Namespace); err != nil {
			return nil, failure(err)
		}
		gone[s.Content] = true
		if visible && len(s.Lengths) > 0 {
			spans = append(spans, s)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, failure(err)
	}
	if removals != d.removals && len(d.Spans) > 0 {
		if err := d.addRemoved(ctx, db, gone); err != nil {
			return nil, err
		}
	}
	for _, s := range d.Spans {
		if !gone[s.Content] {
			spans = append(spans, s)
		}
	}
	return &directorySnapshot{changes: changes, removals: removals, Directory: bm25.NewDirectory(slices.Clip(spans))}, nil
}

// addRemoved adds to gone the contents that are no longer in the database.
func (d *directorySnapshot) addRemoved(ctx context.Context, db *DB, gone map[int64]bool) error {
	rows, err := db.query(ctx, `SELECT n FROM contents`)
	if err != nil {
		return err
	}
	defer rows.Close()
	there := make(map[int64]bool, len(d.Spans))
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return failure(err)
		}
		there[n] = true
	}
	for _, s := range d.Spans {
		if !there[s.Content] {
			gone[s.Content] = true
		}
	}
	return failure(rows.Err())
}
