package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"
)

// signMemory caches a model's part of the table of signs. It is loaded at the first search and updated at each with
// new and deleted blocks; the check reads four small numbers. Other processes may write as well. For 384 dimensions
// a vector takes 48 bytes of signs and 8 of its number, instead of 1,536 in the table.
//
// present grows by the writes since the last search, so a search reads only new blocks. mu is held meanwhile.
type signMemory struct {
	model   string
	mu      sync.Mutex // held while reading
	present *signSnapshot
	numbers map[vectorPlace]int32 // index into present.places
}

// A signSnapshot is immutable. A newer one may share its memory and have more elements behind the end. A search uses
// one snapshot.
type signSnapshot struct {
	changes, removals int64
	model             int64 // vector_models.n; 0 while there is none
	last              int64 // vector_signs.n of the newest block
	dimension         int
	blocks            []signBlock // ascending by n
	places            []vectorPlace
}

// signBlock holds some vectors of a document.
//
// All vectors of a block are of one document, so its visibility is checked once.
type signBlock struct {
	n     int64    // vector_signs.n
	place int32    // index into places
	rows  []int64  // vectors.n
	signs []uint64 // of each row, in whole words
}

// vectorPlace is a document with its user and namespace.
//
// Blocks refer to it by index, so its texts are stored once.
type vectorPlace struct{ document, user, namespace string }

// current returns an up-to-date snapshot. Concurrent searches wait for it, as they need the same.
func (m *signMemory) current(ctx context.Context, db *DB) (*signSnapshot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next, err := m.next(ctx, db)
	if err != nil {
		m.present, m.numbers = nil, nil // incomplete: the next search starts over
		return nil, err
	}
	m.present = next
	return next, nil
}

const vectorState = `SELECT vector_changes, vector_removals, coalesce(m.n, 0), coalesce(m.dimension, 0)
	FROM corpus_state LEFT JOIN vector_models m ON m.name = ?`

// next returns the present snapshot if it is up to date, else a newer one. The counters are first read without a
// transaction, as usually nothing changed. Each write and removal of vectors increments them. The caller holds m.mu.
func (m *signMemory) next(ctx context.Context, db *DB) (*signSnapshot, error) {
	next := &signSnapshot{}
	if m.present != nil {
		*next = *m.present
	}
	var changes, removals, model int64
	var dimension int
	if err := db.queryRow(ctx, vectorState, []any{m.model}, &changes, &removals, &model, &dimension); err != nil {
		return nil, err
	}
	if m.present != nil && changes == next.changes {
		return m.present, nil
	}
	// A transaction makes the state and the blocks consistent.
	moment, err := db.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, failure(err)
	}
	defer func() { _ = moment.Rollback() }() // read-only
	if err := moment.QueryRowContext(
		ctx, vectorState, m.model,
	).Scan(&changes, &removals, &model, &dimension); err != nil {
		return nil, failure(err)
	}
	if next.model != model || m.numbers == nil {
		m.numbers = make(map[vectorPlace]int32)
		*next = signSnapshot{model: model, dimension: dimension, removals: removals}
	}
	if next.removals != removals {
		if err := next.dropRemoved(ctx, moment); err != nil {
			return nil, err
		}
	}
	next.changes, next.removals = changes, removals
	return next, m.readNew(ctx, moment, next)
}

// readNew appends blocks that are newer than the snapshot's. Appending to the slices of an older snapshot is safe:
// searches with it stop at its own length.
func (m *signMemory) readNew(ctx context.Context, moment *sql.Tx, s *signSnapshot) error {
	rows, err := moment.QueryContext(
		ctx, `SELECT n, document, user_id, namespace, body FROM vector_signs WHERE model = ? AND n > ? ORDER BY n`,
		s.model, s.last,
	)
	if err != nil {
		return failure(err)
	}
	defer rows.Close()
	var body sql.RawBytes
	for rows.Next() {
		var block signBlock
		var place vectorPlace
		if err := rows.Scan(&block.n, &place.document, &place.user, &place.namespace, &body); err != nil {
			return failure(err)
		}
		if block.rows, block.signs, err = readSigns(body, s.dimension); err != nil {
			return fmt.Errorf("document %s: %w", place.document, err)
		}
		number, ok := m.numbers[place]
		if !ok {
			number = int32(len(s.places))
			s.places = append(s.places, place)
			m.numbers[place] = number
		}
		block.place, s.last = number, block.n
		s.blocks = append(s.blocks, block)
	}
	return failure(rows.Err())
}

// dropRemoved removes deleted blocks from a copy of the list, as searches may still read the old one.
func (s *signSnapshot) dropRemoved(ctx context.Context, moment *sql.Tx) error {
	rows, err := moment.QueryContext(ctx, `SELECT n FROM vector_signs WHERE model = ? AND n <= ?`, s.model, s.last)
	if err != nil {
		return failure(err)
	}
	defer rows.Close()
	left := make(map[int64]bool, len(s.blocks))
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return failure(err)
		}
		left[n] = true
	}
	if err := rows.Err(); err != nil {
		return failure(err)
	}
	s.blocks = slices.DeleteFunc(slices.Clone(s.blocks), func(b signBlock) bool { return !left[b.n] })
	return nil
}
