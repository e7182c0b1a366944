package sqlite

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// signsPerBlock bounds a block: 128 vectors of 384 dimensions are 7 KB of signs.
const signsPerBlock = 128

// signWords is how many words of 64 bits the signs of a vector take.
func signWords(dimension int) int { return (dimension + 63) / 64 }

// appendSigns appends the signs of a stored vector: a bit is set where a number is above zero. A number that is exactly
// 0 counts as negative, here and in signsOf, which must agree.
func appendSigns(to, body []byte) []byte {
	for from := 0; from < len(body); from += 4 * 64 {
		var word uint64
		for i, at := 0, from; i < 64 && at < len(body); i, at = i+1, at+4 {
			if math.Float32frombits(binary.LittleEndian.Uint32(body[at:])) > 0 {
				word |= 1 << i
			}
		}
		to = binary.LittleEndian.AppendUint64(to, word)
	}
	return to
}

// readSigns reads a block: vectors.n of each vector, and the signs of all after one another.
//
// rows and signs are in the order in which they were written. A block whose length does not fit is an error, as with
// another number of dimensions.
func readSigns(body []byte, dimension int) (rows []int64, signs []uint64, err error) {
	words := signWords(dimension)
	size := 8 + 8*words
	if len(body)%size > 0 {
		return nil, nil, fmt.Errorf("signs of vectors have %d bytes instead of a multiple of %d", len(body), size)
	}
	rows, signs = make([]int64, 0, len(body)/size), make([]uint64, 0, len(body)/size*words)
	for ; len(body) > 0; body = body[size:] {
		rows = append(rows, int64(binary.LittleEndian.Uint64(body)))
		for at := 8; at < size; at += 8 {
			signs = append(signs, binary.LittleEndian.Uint64(body[at:]))
		}
	}
	return rows, signs, nil
}

// signWriter collects the signs of vectors and writes a block when the next vector is of another document, or the block
// is full. A block never holds vectors of two documents, so that whole blocks are seen or not.
//
// It belongs to one transaction. What is left over is written by flush, which the owner calls at the end.
type signWriter struct {
	tx    *tx
	model int64
	place vectorPlace
	body  []byte
	count int
}

// add takes a stored vector.
func (w *signWriter) add(place vectorPlace, n int64, body []byte) error {
	if w.count == signsPerBlock || w.count > 0 && w.place != place {
		if err := w.flush(); err != nil {
			return err
		}
	}
	w.place, w.count = place, w.count+1
	w.body = appendSigns(binary.LittleEndian.AppendUint64(w.body, uint64(n)), body)
	return nil
}

// flush writes what was collected.
func (w *signWriter) flush() error {
	if w.count == 0 {
		return nil
	}
	_, err := w.tx.Exec(
		`INSERT INTO vector_signs (model, document, user_id, namespace, body) VALUES (?, ?, ?, ?, ?)`,
		w.model, w.place.document, w.place.user, w.place.namespace, w.body,
	)
	w.body, w.count = w.body[:0], 0
	return err
}

// rewriteSigns makes the blocks of a document anew from the vectors that it has, of every model. It is for a document
// that lost vectors: blocks are never changed, and those that hold what is gone are made anew.
func rewriteSigns(t *tx, document string) error {
	if _, err := t.Exec(`DELETE FROM vector_signs WHERE document = ?`, document); err != nil {
		return err
	}
	return writeSigns(t, document)
}

// writeSigns writes the blocks of a document that has none.
func writeSigns(t *tx, document string) (err error) {
	rows, err := t.query(
		`SELECT model, n, user_id, namespace, body FROM vectors WHERE document = ? ORDER BY model, n`, document,
	)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, failure(rows.Close())) }()
	w := signWriter{tx: t}
	place := vectorPlace{document: document}
	for rows.Next() {
		var model, n int64
		var body []byte
		if err := rows.Scan(&model, &n, &place.user, &place.namespace, &body); err != nil {
			return failure(err)
		}
		if model != w.model {
			if err := w.flush(); err != nil {
				return err
			}
			w.model = model
		}
		if err := w.add(place, n, body); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return failure(err)
	}
	return w.flush()
}

// documentsPerSigning bounds a transaction of signVectors.
const documentsPerSigning = 100

// signVectors makes the signs of the vectors of an earlier version, which had none. What was done before a crash is not
// done again. It goes through documents by their ids and asks for those without blocks, so what was done is left out.
func (db *DB) signVectors(ctx context.Context) error {
	var unsigned int
	if err := db.queryRow(ctx, `SELECT count(*) FROM vector_models WHERE signed = 0`, nil, &unsigned); err != nil ||
		unsigned == 0 {
		return err
	}
	db.log.InfoContext(ctx, "preparing the search by meaning, once")
	for last := ""; ; {
		var some []string
		err := db.eachRow(ctx, `SELECT DISTINCT v.document FROM vectors v WHERE v.document > ?
			AND NOT EXISTS (SELECT 1 FROM vector_signs s WHERE s.document = v.document) ORDER BY v.document LIMIT ?`,
			[]any{last, documentsPerSigning}, func(row scanner) error {
				var id string
				err := row.Scan(&id)
				some = append(some, id)
				return err
			})
		if err != nil {
			return fmt.Errorf("sign vectors: %w", err)
		}
		err = db.writeBulk(ctx, len(some) == 0, func(t *tx) error {
			for _, id := range some {
				if err := rewriteSigns(t, id); err != nil {
					return err
				}
			}
			if len(some) > 0 {
				return nil
			}
			_, err := t.Exec(`UPDATE vector_models SET signed = 1`)
			return err
		})
		if err != nil || len(some) == 0 {
			return err
		}
		last = some[len(some)-1]
	}
}
