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
