package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"
)

// signMemory is a model's part of the table of signs in memory. It is read at the first search and brought up to date
// at each with the blocks that are new or gone; asking costs four small numbers. Another process may write as well. For
// 384 dimensions a vector takes 48 bytes of signs and 8 of its number, instead of 1,536 in the table.
//
// present grows by what was written since the last search, so a search reads only what is new to it. mu is held while
// that is read.
type signMemory struct {
	model   string
	mu      sync.Mutex // held while reading
	present *signSnapshot
	numbers map[vectorPlace]int32 // in present.places
}

// A signSnapshot never changes. A newer one may share its memory and have more behind the end. A search keeps the
// snapshot that it began with.
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
// All of a block is of one document, so whether it may be seen is decided once for it.
type signBlock struct {
	n     int64    // vector_signs.n
	place int32    // in places
	rows  []int64  // vectors.n
	signs []uint64 // those of each row after one another, in whole words
}

// vectorPlace is a document and who sees it.
//
// Blocks refer to it by its number in places, so its texts are kept once.
type vectorPlace struct{ document, user, namespace string }

// current returns the signs as they are now. Searches that come while they are read wait, as they need the same.
func (m *signMemory) current(ctx context.Context, db *DB) (*signSnapshot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next, err := m.next(ctx, db)
	if err != nil {
		m.present, m.numbers = nil, nil // half-read: the next search starts over
		return nil, err
	}
	m.present = next
	return next, nil
}

const vectorState = `SELECT vector_changes, vector_removals, coalesce(m.n, 0), coalesce(m.dimension, 0)
	FROM corpus_state LEFT JOIN vector_models m ON m.name = ?`

// next returns the present snapshot if nothing changed, else a newer one. The counters are read without a transaction
// first: most of the time nothing changed. Counters go up with each write and removal of vectors; equal ones mean equal
// tables. The caller holds m.mu.
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
	// What changed is read at one moment: the state and the blocks of two moments need not fit each other.
	moment, err := db.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, failure(err)
	}
	defer func() { _ = moment.Rollback() }() // it changed nothing
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

// readNew appends the blocks that are newer than the snapshot's. Appending to the lists of an older snapshot is safe:
// searches that hold it look no further than its own length.
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

// dropRemoved leaves out the blocks that are no longer in the database, in a list of its own: searches may still read
// the old one.
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
