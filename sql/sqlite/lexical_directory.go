package sqlite

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"

	"footnote/chat"
)

// A span is the run of rows that a document's content has in the index.
type span struct {
	first    uint32
	lengths  []byte // two bytes for each passage, little-endian
	content  int64
	document *indexedDocument
}

func (s span) end() uint32 { return s.first + uint32(len(s.lengths)/2) }

func (s span) length(row uint32) int {
	return int(binary.LittleEndian.Uint16(s.lengths[2*(row-s.first):]))
}

// position says whether the span lies before a row (negative), holds it (0) or lies after it.
func (s span) position(row uint32) int {
	switch {
	case s.end() <= row:
		return -1
	case s.first > row:
		return 1
	}
	return 0
}

type indexedDocument struct{ id, user, namespace string }

// directory knows which rows of the index can be seen, and by whom. It is read at the first search and brought up to date
// at each, with what changed since; reading costs two small numbers when nothing did. Another process may write as well.
type directory struct {
	mu      sync.Mutex // held while reading
	present *directorySnapshot
}

// A directorySnapshot never changes.
type directorySnapshot struct {
	changes, removals int64
	spans             []span // visible ones, by first
	passages          int
	averageLength     float64
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
	var fresh []span
	rows, err := db.query(ctx, `SELECT c.n, c.first_row, c.lengths, c.live AND d.deleted_at = 0, d.id, d.user, d.namespace
		FROM contents c JOIN documents d ON d.n = c.document WHERE c.changed > ?`, d.changes)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		s := span{document: &indexedDocument{}}
		var visible bool
		if err := rows.Scan(&s.content, &s.first, &s.lengths, &visible, &s.document.id, &s.document.user, &s.document.namespace); err != nil {
			return nil, failure(err)
		}
		gone[s.content] = true
		if visible && len(s.lengths) > 0 {
			fresh = append(fresh, s)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, failure(err)
	}
	if removals != d.removals && len(d.spans) > 0 {
		if err := d.addRemoved(ctx, db, gone); err != nil {
			return nil, err
		}
	}
	next := &directorySnapshot{changes: changes, removals: removals, spans: make([]span, 0, len(d.spans)+len(fresh))}
	for _, s := range d.spans {
		if !gone[s.content] {
			next.spans = append(next.spans, s)
		}
	}
	next.spans = append(next.spans, fresh...)
	slices.SortFunc(next.spans, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	total := 0
	for _, s := range next.spans {
		next.passages += len(s.lengths) / 2
		for row := s.first; row < s.end(); row++ {
			total += s.length(row)
		}
	}
	next.averageLength = max(1, float64(total)/float64(max(1, next.passages)))
	return next, nil
}

// addRemoved adds to gone the contents that are no longer in the database.
func (d *directorySnapshot) addRemoved(ctx context.Context, db *DB, gone map[int64]bool) error {
	rows, err := db.query(ctx, `SELECT n FROM contents`)
	if err != nil {
		return err
	}
	defer rows.Close()
	there := make(map[int64]bool, len(d.spans))
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return failure(err)
		}
		there[n] = true
	}
	for _, s := range d.spans {
		if !there[s.content] {
			gone[s.content] = true
		}
	}
	return failure(rows.Err())
}

// inScope returns the spans that a scope may see, only those of the given documents if there are any.
func (d *directorySnapshot) inScope(s chat.Scope, documents []string) []span {
	wanted := make(map[string]bool, len(documents))
	for _, id := range documents {
		wanted[id] = true
	}
	spans := make([]span, 0, len(d.spans))
	for _, sp := range d.spans {
		if sp.document.user == s.User && inNamespaces(s, sp.document.namespace) && (len(documents) == 0 || wanted[sp.document.id]) {
			spans = append(spans, sp)
		}
	}
	return spans
}
