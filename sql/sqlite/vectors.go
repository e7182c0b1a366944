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

// Vectors is the corpus.Vectors of a database and one embedding model. A search compares the signs of all vectors in
// memory, and then the best candidates exactly. It loads nothing before the first search. It is safe for concurrent
// use and valid as long as its DB. Vectors have length 1, so a dot product is the cosine.
type Vectors struct {
	db     *DB
	model  string
	memory signMemory
	cache  vectorCache
}

var _ corpus.Vectors = (*Vectors)(nil)

// Vectors returns the vectors of an embedding model, which must have a name. Share the result, as it has a cache.
//
// Vectors of different models are separate: a search only uses those of its own model.
func (db *DB) Vectors(model string) *Vectors {
	return &Vectors{db: db, model: model, memory: signMemory{model: model}}
}

// vectorsPerWrite limits a transaction: 128 vectors of 384 dimensions are 200 KB.
const vectorsPerWrite = 128

// errDimension is returned for vectors with another number of dimensions than those of the index, for which the
// cosine is undefined.
var errDimension = &chat.Error{Code: chat.CodeInvalid,
	Message: "The vectors and the semantic index have different dimensions. Index the documents again after changing " +
		"the embedding model."}

// Upsert stores vectors; see corpus.Vectors. If the numbers of dimensions differ, it fails without changes. Large
// batches take several transactions, so after other failures some may be stored.
func (v *Vectors) Upsert(ctx context.Context, vs []corpus.Vector) error {
	for _, vector := range vs {
		if len(vector.Values) == 0 || len(vector.Values) != len(vs[0].Values) {
			return errDimension
		}
	}
	// Only the last write is durable, which includes the earlier ones.
	for len(vs) > 0 {
		n := min(vectorsPerWrite, len(vs))
		if err := v.db.writeBulk(ctx, n == len(vs), func(t *tx) error { return v.put(t, vs[:n]) }); err != nil {
			return fmt.Errorf("upsert vectors: %w", err)
		}
		vs = vs[n:]
	}
	return nil
}

// put stores a batch of vectors in one transaction and replaces those of the same passages. A replaced vector gets a
// new number, so the cache by number is never outdated. Signs of documents with replaced vectors are rewritten once
// at the end.
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
	torn := map[string]bool{} // documents with a block that has deleted vectors
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

// VectorsOf returns vectors by the hash of their text; see corpus.Vectors. It avoids embedding equal text twice. The
// index vectors_by_text serves it.
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

// vectorsChanged increments the counters of changed and removed vectors, which searches compare with their snapshot.
func vectorsChanged(t *tx, removed int64) error {
	_, err := t.Exec(
		`UPDATE corpus_state SET vector_changes = vector_changes + 1, vector_removals = vector_removals + ?`, removed,
	)
	return err
}

// dropEmptyModels deletes models without vectors, so that another dimension can be stored under their name.
const dropEmptyModels = `DELETE FROM vector_models WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE model =
	vector_models.n)`

// DeleteVectors deletes a document's vectors of all models; see corpus.Vectors. keep are passages whose vectors
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
		// Nothing was deleted, so cached signs are up to date.
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

// SearchVectors finds passages by semantic similarity; see corpus.Vectors. Candidates are selected approximately by
// their signs, and ranked by the exact cosine.
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

// CountVectors counts the model's vectors by document; see corpus.Vectors.
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

// Complete deletes the vectors of other models in batches; see corpus.Vectors. It is called when all passages have
// vectors of the model; until then the old ones may still be used.
func (v *Vectors) Complete(ctx context.Context) error {
	var others int
	if err := v.db.queryRow(ctx, `SELECT count(*) FROM vector_models WHERE name <> ?`, []any{v.model},
		&others); err != nil || others == 0 {
		return err
	}
	// The signs and the models are deleted with the last vectors.
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

// Unnamed returns some vectors of an earlier version, which did not record their model; see corpus.Vectors. It
// returns none once a model of this name has vectors: the unnamed ones are then of another.
func (v *Vectors) Unnamed(ctx context.Context, k int) (some []corpus.Embedded, err error) {
	var of int
	if err := v.db.queryRow(
		ctx, `SELECT coalesce(sum(name = ''), 0) * (1 - coalesce(sum(name = ?), 0)) FROM vector_models`,
		[]any{v.model}, &of,
	); err != nil || of == 0 {
		return nil, err
	}
	rows, err := v.db.queryRows(ctx, `SELECT p.section, `+passageText+`, d.title, v.body FROM passages p
		JOIN documents d ON d.content = p.content AND d.purging = 0
		JOIN vectors v ON v.passage_id = p.id AND v.document = d.id
			AND v.model = (SELECT n FROM vector_models WHERE name = '')
		ORDER BY p.row LIMIT ?`, k)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var e corpus.Embedded
		var body []byte
		if err := rows.Scan(&e.Passage.Section, &e.Passage.Text, &e.Title, &body); err != nil {
			return nil, failure(err)
		}
		e.Values = appendFloats(nil, body)
		some = append(some, e)
	}
	return some, failure(rows.Err())
}

// Name assigns the vectors of an earlier version to the model; see corpus.Vectors. OR IGNORE keeps an existing model
// of that name. vectorsChanged invalidates the cached signs.
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

// signsPerBlock limits a block: 128 vectors of 384 dimensions are 7 KB of signs.
const signsPerBlock = 128

// signWords returns the number of 64-bit words for the signs of a vector.
func signWords(dimension int) int { return (dimension + 63) / 64 }

// appendSigns encodes the signs of a stored vector: a bit is set where a value is above zero. 0 counts as negative,
// here and in signsOf, which must agree.
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

// readSigns decodes a block: vectors.n of each vector, and all signs.
//
// rows and signs are in the order in which they were written. An invalid length is an error, as with another number
// of dimensions.
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

// signWriter buffers the signs of vectors and writes a block when the next vector is of another document, or the
// block is full. A block has vectors of one document only, so that its visibility is uniform.
//
// It belongs to one transaction. The owner calls flush at the end.
type signWriter struct {
	tx    *tx
	model int64
	place vectorPlace
	body  []byte
	count int
}

// add adds a stored vector.
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

// flush writes the buffered signs.
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

// rewriteSigns replaces the blocks of a document by those of its current vectors, of every model, after vectors were
// deleted. Blocks are immutable.
func rewriteSigns(t *tx, document string) error {
	if _, err := t.Exec(`DELETE FROM vector_signs WHERE document = ?`, document); err != nil {
		return err
	}
	return writeSigns(t, document)
}

// writeSigns writes the blocks of a document without blocks.
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

// documentsPerSigning limits a transaction of signVectors.
const documentsPerSigning = 100

// signVectors writes the signs of vectors of an earlier version, which had none. It processes documents without
// blocks in the order of their IDs, so it resumes after a crash.
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
