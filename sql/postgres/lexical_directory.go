package postgres

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"footnote/sql/bm25"
)

// directory knows which rows of the index can be seen, and by whom. It is read at the first search and brought up to date
// at each, with what changed since; reading costs two small numbers when nothing did.
type directory struct {
	mu      sync.Mutex // held while reading
	present *snapshot
}

// version is the state of the index: what a search reads is of one version.
type version struct{ changes, removals int64 }

// A snapshot is the directory of a version. It never changes.
type snapshot struct {
	version
	bm25.Directory
}

const selectVersion = `SELECT changes, removals FROM corpus_state`

func (d *directory) current(ctx context.Context, db *DB) (*snapshot, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var now version
	if err := db.queryRow(ctx, shortTime, selectVersion, nil, &now.changes, &now.removals); err != nil {
		return nil, err
	}
	if d.present != nil && d.present.version == now {
		return d.present, nil
	}
	last := d.present
	if last == nil {
		last = &snapshot{}
	}
	next, err := last.update(ctx, db, now)
	if err != nil {
		return nil, fmt.Errorf("directory of the index: %w", err)
	}
	d.present = next
	return next, nil
}

// listedSpan is a document's present span by the document's number. Without lengths there is nothing to see.
type listedSpan struct {
	document int64
	bm25.Span
}

func scanSpan(row scanner) (s listedSpan, err error) {
	s.Document = &bm25.Document{}
	var first int64
	var visible bool
	err = row.Scan(&s.document, &s.Document.ID, &s.Document.User, &s.Document.Namespace, &visible, &first, &s.Lengths)
	if s.First, s.Content = uint32(first), s.document; !visible {
		s.Lengths = nil
	}
	return s, err
}

// update returns a newer snapshot. What changed after the version was read may be in it: the next update repeats that.
func (s *snapshot) update(ctx context.Context, db *DB, now version) (*snapshot, error) {
	changed, err := query(ctx, db, longTime, scanSpan, `SELECT d.n, d.id, d.user_id, d.namespace, d.deleted_at = 0, coalesce(c.first_row, 0), coalesce(c.lengths, '')
		FROM documents d LEFT JOIN contents c ON c.n = d.content WHERE d.changed > $1`, s.changes)
	if err != nil {
		return nil, err
	}
	gone := make(map[int64]bool, len(changed)) // to be left out: hidden, or listed anew
	spans := make([]bm25.Span, 0, len(s.Spans)+len(changed))
	for _, c := range changed {
		gone[c.document] = true
		if len(c.Lengths) > 0 {
			spans = append(spans, c.Span)
		}
	}
	if now.removals != s.removals && len(s.Spans) > 0 {
		if err := s.addRemoved(ctx, db, gone); err != nil {
			return nil, err
		}
	}
	for _, span := range s.Spans {
		if !gone[span.Content] {
			spans = append(spans, span)
		}
	}
	return &snapshot{version: now, Directory: bm25.NewDirectory(slices.Clip(spans))}, nil
}

// addRemoved adds to gone the documents that are no longer in the database.
func (s *snapshot) addRemoved(ctx context.Context, db *DB, gone map[int64]bool) error {
	list, err := query(ctx, db, longTime, value[int64], `SELECT n FROM documents WHERE content > 0`)
	if err != nil {
		return err
	}
	there := make(map[int64]bool, len(list))
	for _, n := range list {
		there[n] = true
	}
	for _, span := range s.Spans {
		if !there[span.Content] {
			gone[span.Content] = true
		}
	}
	return nil
}
