package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math"
	"sync"
)

// vectorMemory is a model's part of the table of vectors in memory. It is read at the first search and brought up to
// date at each with what is new; asking costs four small numbers. Another process may write as well.
type vectorMemory struct {
	model   string
	mu      sync.Mutex // held while reading
	present *vectorSnapshot
	places  map[vectorPlace]int32 // in present.documents
}

// A vectorSnapshot never changes. A newer one may share its memory and have more behind the end.
type vectorSnapshot struct {
	changes, removals int64
	model             int64 // vector_models.n; 0 while there is none
	last              int64 // vectors.n of the newest row
	dimension         int
	values            []float32 // dimension for each row
	rows              []vectorRow
	documents         []vectorPlace
}

type vectorRow struct {
	n       int64
	passage string
	place   int32 // in documents
}

type vectorPlace struct{ document, user, namespace string }

func (m *vectorMemory) current(ctx context.Context, db *DB) (*vectorSnapshot, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	next, err := m.next(ctx, db)
	if err != nil {
		m.present, m.places = nil, nil // half-read: the next search starts over
		return nil, err
	}
	m.present = next
	return next, nil
}

const vectorState = `SELECT vector_changes, vector_removals, coalesce(m.n, 0), coalesce(m.dimension, 0)
	FROM corpus_state LEFT JOIN vector_models m ON m.name = ?`

// next returns the present snapshot if nothing changed, else a newer one.
func (m *vectorMemory) next(ctx context.Context, db *DB) (*vectorSnapshot, error) {
	next := &vectorSnapshot{}
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
	// What changed is read at one moment: the state and the rows of two moments need not fit each other.
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
	if next.model != model || m.places == nil {
		m.places = make(map[vectorPlace]int32)
		*next = vectorSnapshot{model: model, dimension: dimension, removals: removals}
	}
	if next.removals != removals {
		if err := next.dropRemoved(ctx, moment); err != nil {
			return nil, err
		}
	}
	next.changes, next.removals = changes, removals
	return next, m.readNew(ctx, moment, next)
}

// readNew appends the rows that are newer than the snapshot's. It makes room first, so that the vectors aren't copied
// again and again at the first reading.
func (m *vectorMemory) readNew(ctx context.Context, moment *sql.Tx, s *vectorSnapshot) error {
	if len(s.rows) == 0 {
		var n int
		if err := moment.QueryRowContext(
			ctx, `SELECT count(*) FROM vectors WHERE model = ?`, s.model,
		).Scan(&n); err != nil {
			return failure(err)
		}
		s.values, s.rows = make([]float32, 0, n*s.dimension), make([]vectorRow, 0, n)
	}
	rows, err := moment.QueryContext(
		ctx, `SELECT n, passage_id, document, user, namespace, body FROM vectors WHERE +model = ? AND n > ? ORDER BY n`,
		s.model, s.last,
	)
	if err != nil {
		return failure(err)
	}
	defer rows.Close()
	for rows.Next() {
		var row vectorRow
		var place vectorPlace
		var body []byte
		if err := rows.Scan(&row.n, &row.passage, &place.document, &place.user, &place.namespace, &body); err != nil {
			return failure(err)
		}
		if len(body) != 4*s.dimension {
			return fmt.Errorf("vector of passage %s has %d bytes instead of %d", row.passage, len(body), 4*s.dimension)
		}
		number, ok := m.places[place]
		if !ok {
			number = int32(len(s.documents))
			s.documents = append(s.documents, place)
			m.places[place] = number
		}
		row.place, s.last = number, row.n
		s.rows = append(s.rows, row)
		s.values = appendFloats(s.values, body)
	}
	return failure(rows.Err())
}

// dropRemoved leaves out the rows that are no longer in the database, in fresh memory: searches may still read the old.
func (s *vectorSnapshot) dropRemoved(ctx context.Context, moment *sql.Tx) error {
	rows, err := moment.QueryContext(ctx, `SELECT n FROM vectors WHERE +model = ? AND n <= ? ORDER BY n`, s.model,
		s.last)
	if err != nil {
		return failure(err)
	}
	defer rows.Close()
	kept := make([]vectorRow, 0, len(s.rows))
	values := make([]float32, 0, len(s.values))
	old := 0
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return failure(err)
		}
		for old < len(s.rows) && s.rows[old].n < n {
			old++
		}
		if old < len(s.rows) && s.rows[old].n == n {
			kept = append(kept, s.rows[old])
			values = append(values, s.values[old*s.dimension:(old+1)*s.dimension]...)
		}
	}
	if err := rows.Err(); err != nil {
		return failure(err)
	}
	s.rows, s.values = kept, values
	return nil
}

// appendFloats appends the numbers of a stored vector, whose bytes are four for each.
func appendFloats(values []float32, body []byte) []float32 {
	for i := 0; i < len(body); i += 4 {
		values = append(values, math.Float32frombits(binary.LittleEndian.Uint32(body[i:])))
	}
	return values
}
