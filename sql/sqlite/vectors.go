package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/store"
)

// Vectors is the corpus.Vectors of an open database and one embedding model. A search compares the signs of all vectors
// in memory, and then those vectors that look nearest themselves. Nothing is in memory until the first search. It is
// safe for concurrent use and lives as long as its DB. Vectors come in with length 1, so a dot product is the cosine.
type Vectors struct {
	db     *DB
	model  string
	memory signMemory
	cache  vectorCache
}

var _ corpus.Vectors = (*Vectors)(nil)

// Vectors returns the database's vectors of an embedding model, which has a name. Ask once and share the result: it
// keeps what it has read.
//
// Vectors of different models stand beside each other and never meet: a search is over those of its own.
func (db *DB) Vectors(model string) *Vectors {
	return &Vectors{db: db, model: model, memory: signMemory{model: model}}
}

// vectorsPerWrite bounds a transaction: 128 vectors of 384 dimensions are 200 KB.
const vectorsPerWrite = 128

// errDimension says that vectors of two lengths would stand in one index, which no cosine is defined for. It is told
// to whoever indexes, since only they can do something about it.
var errDimension = &chat.Error{Code: chat.CodeInvalid,
	Message: "The vectors have another number of dimensions than those in the index. Index the documents again after " +
		"changing the embedding model."}

// Upsert stores vectors; see corpus.Vectors. It fails with nothing stored if one has another number of dimensions. Many
// vectors are stored in several transactions, so after other failures some may be there.
func (v *Vectors) Upsert(ctx context.Context, vs []corpus.Vector) error {
	for _, vector := range vs {
		if len(vector.Values) == 0 || len(vector.Values) != len(vs[0].Values) {
			return errDimension
		}
	}
	// Only the last write waits for the disk; it takes those before it along.
	for len(vs) > 0 {
		n := min(vectorsPerWrite, len(vs))
		if err := v.db.writeBulk(ctx, n == len(vs), func(t *tx) error { return v.put(t, vs[:n]) }); err != nil {
			return fmt.Errorf("upsert vectors: %w", err)
		}
		vs = vs[n:]
	}
	return nil
}

// put stores some vectors in one transaction, in the place of those of the same passages. A vector that is stored again
// gets another number, so the cache by number can't hold an old one. Signs of documents that lost vectors are written
// anew at the end, once for each.
func (v *Vectors) put(t *tx, vs []corpus.Vector) error {
	if _, err := t.Exec(`INSERT INTO vector_models (name, dimension, signed) VALUES (?, ?, 1) ON CONFLICT DO NOTHING`,
		v.model, len(vs[0].Values)); err != nil {
		return err
	}
	var model int64
	var dimension int
	if err := t.One(
		`SELECT n, dimension FROM vector_models WHERE name = ?`, []any{v.model}, &model, &dimension,
	); err != nil {
		return err
	}
	if dimension != len(vs[0].Values) {
		return errDimension
	}
	var replaced int64
	torn := map[string]bool{} // documents with a block that holds what is gone
	signs := signWriter{tx: t, model: model}
	for _, vector := range vs {
		var n int64
		var document string
		err := t.One(`DELETE FROM vectors WHERE passage_id = ? AND model = ? RETURNING document`,
			[]any{vector.PassageID, model}, &document)
		switch {
		case err == nil:
			replaced++
			torn[document] = true
		case !errors.Is(err, sql.ErrNoRows):
			return err
		}
		body := make([]byte, 0, 4*len(vector.Values))
		for _, value := range vector.Values {
			body = binary.LittleEndian.AppendUint32(body, math.Float32bits(value))
		}
		var hash []byte // NULL
		if vector.TextHash != "" {
			hash = []byte(vector.TextHash)
		}
		if err := t.One(`INSERT INTO vectors (model, passage_id, document, user_id, namespace, body, text_hash)
			VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING n`,
			[]any{model, vector.PassageID, vector.DocumentID, vector.User, vector.Namespace, body, hash}, &n,
		); err != nil {
			return err
		}
		if err := signs.add(vectorPlace{vector.DocumentID, vector.User, vector.Namespace}, n, body); err != nil {
			return err
		}
	}
	if err := signs.flush(); err != nil {
		return err
	}
	for document := range torn {
		if err := rewriteSigns(t, document); err != nil {
			return err
		}
	}
	return vectorsChanged(t, replaced)
}

// VectorsOf returns vectors that were made of texts with these hashes; see corpus.Vectors. The index vectors_by_text
// serves it; text with a vector need not be embedded a second time.
func (v *Vectors) VectorsOf(ctx context.Context, hashes []string) (map[string][]float32, error) {
	list := make([]string, len(hashes))
	for i, hash := range hashes {
		list[i] = hex.EncodeToString([]byte(hash))
	}
	wanted, err := store.ToJSON(list)
	if err != nil {
		return nil, err
	}
	rows, err := v.db.readers.QueryContext(ctx, `SELECT unhex(h.value), v.body FROM json_each(?) h JOIN vectors v
		ON v.n = (SELECT n FROM vectors WHERE text_hash = unhex(h.value)
			AND model = (SELECT n FROM vector_models WHERE name = ?) LIMIT 1)`, wanted, v.model)
	if err != nil {
		return nil, fmt.Errorf("find vectors of texts: %w", failure(err))
	}
	defer rows.Close()
	found := map[string][]float32{}
	for rows.Next() {
		var hash, body []byte
		if err := rows.Scan(&hash, &body); err != nil {
			return nil, failure(err)
		}
		found[string(hash)] = appendFloats(make([]float32, 0, len(body)/4), body)
	}
	return found, failure(rows.Err())
}

// vectorsChanged tells readers that there are other vectors, of which some are gone. Searches compare these numbers
// with those they know before each answer.
func vectorsChanged(t *tx, removed int64) error {
	_, err := t.Exec(
		`UPDATE corpus_state SET vector_changes = vector_changes + 1, vector_removals = vector_removals + ?`, removed,
	)
	return err
}

// dropEmptyModels forgets models without vectors, so that another dimension can be stored under their name.
const dropEmptyModels = `DELETE FROM vector_models WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE model =
	vector_models.n)`

// DeleteVectors removes a document's vectors, of other models too; see corpus.Vectors. keep are passages whose vectors
// stay; nil keeps none.
func (v *Vectors) DeleteVectors(ctx context.Context, documentID string, keep []string) error {
	if keep == nil {
		keep = []string{}
	}
	list, err := store.ToJSON(keep)
	if err != nil {
		return err
	}
	err = v.db.writeBulk(ctx, false, func(t *tx) error {
		n, err := t.Exec(
			`DELETE FROM vectors WHERE document = ? AND passage_id NOT IN (SELECT value FROM json_each(?))`, documentID,
			list,
		)
		// Nothing was removed, so searches need not look again.
		if err != nil || n == 0 {
			return err
		}
		if err := rewriteSigns(t, documentID); err != nil {
			return err
		}
		if _, err := t.Exec(dropEmptyModels); err != nil {
			return err
		}
		return vectorsChanged(t, n)
	})
	if err != nil {
		return fmt.Errorf("delete vectors of document %s: %w", documentID, err)
	}
	return nil
}

// SearchVectors finds passages by meaning; see corpus.Vectors. Which vectors are compared is a guess by their signs;
// how those compare is exact.
func (v *Vectors) SearchVectors(
	ctx context.Context, s chat.Scope, query []float32, documents []string, k int,
) ([]corpus.Hit, error) {
	signs, err := v.memory.current(ctx, v.db)
	if err != nil {
		return nil, fmt.Errorf("search vectors: %w", err)
	}
	if k <= 0 || len(signs.blocks) == 0 {
		return nil, nil
	}
	if len(query) != signs.dimension {
		return nil, errDimension
	}
	near := signs.nearest(query, signs.allowed(s, documents), max(leastCompared, comparedPerHit*k))
	hits, err := v.compare(ctx, query, near, signs.places, k)
	if err != nil {
		return nil, fmt.Errorf("search vectors: %w", err)
	}
	return hits, nil
}

// CountVectors counts the model's vectors of documents; see corpus.Vectors.
func (v *Vectors) CountVectors(ctx context.Context, documents []string) (map[string]int, error) {
	list, err := store.ToJSON(documents)
	if err != nil {
		return nil, err
	}
	rows, err := v.db.readers.QueryContext(ctx, `SELECT document, count(*) FROM vectors
		WHERE document IN (SELECT value FROM json_each(?)) AND model = (SELECT n FROM vector_models WHERE name = ?)
		GROUP BY document`, list, v.model)
	if err != nil {
		return nil, fmt.Errorf("count vectors: %w", failure(err))
	}
	defer rows.Close()
	counts := map[string]int{}
	for rows.Next() {
		var id string
		var n int
		if err := rows.Scan(&id, &n); err != nil {
			return nil, failure(err)
		}
		counts[id] = n
	}
	return counts, failure(rows.Err())
}

// Complete removes the vectors of other models, some at a time; see corpus.Vectors. It is called when all passages have
// vectors of the model, so until then the old ones can go on serving.
func (v *Vectors) Complete(ctx context.Context) error {
	var others int
	if err := v.db.queryRow(ctx, `SELECT count(*) FROM vector_models WHERE name <> ?`, []any{v.model},
		&others); err != nil || others == 0 {
		return err
	}
	// The signs and the models go with the last of the vectors.
	for n := int64(1); n > 0; {
		err := v.db.writeBulk(ctx, false, func(t *tx) (err error) {
			n, err = t.Exec(`DELETE FROM vectors WHERE n IN (SELECT v.n FROM vector_models m
				JOIN vectors v ON v.model = m.n WHERE m.name <> ? LIMIT ?)`, v.model, 8*vectorsPerWrite)
			if err != nil || n > 0 {
				return err
			}
			if _, err := t.Exec(`DELETE FROM vector_signs WHERE model NOT IN (SELECT n FROM vector_models
				WHERE name = ?)`,
				v.model); err != nil {
				return err
			}
			_, err = t.Exec(dropEmptyModels)
			return err
		})
		if err != nil {
			return fmt.Errorf("remove the vectors of earlier models: %w", err)
		}
	}
	return nil
}

// Unnamed returns some vectors of an earlier version, which did not note their model; see corpus.Vectors. There are
// none once a model of this name has vectors: then the unnamed ones are of another.
func (v *Vectors) Unnamed(ctx context.Context, k int) (some []corpus.Embedded, err error) {
	var of int
	if err := v.db.queryRow(
		ctx, `SELECT coalesce(sum(name = ''), 0) * (1 - coalesce(sum(name = ?), 0)) FROM vector_models`,
		[]any{v.model}, &of,
	); err != nil || of == 0 {
		return nil, err
	}
	err = readEmbedded(ctx, v.db.readers, "", k, func(e corpus.Embedded) error {
		some = append(some, e)
		return nil
	})
	return some, err
}

// Name gives the vectors of an earlier version to the model; see corpus.Vectors. OR IGNORE: a model of that name that
// is there keeps its own row. vectorsChanged has searches in memory read anew.
func (v *Vectors) Name(ctx context.Context) error {
	err := v.db.writeTx(ctx, true, func(t *tx) error {
		if _, err := t.Exec(`UPDATE OR IGNORE vector_models SET name = ? WHERE name = ''`, v.model); err != nil {
			return err
		}
		return vectorsChanged(t, 0)
	})
	if err != nil {
		return fmt.Errorf("name the model of vectors: %w", err)
	}
	return nil
}

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
