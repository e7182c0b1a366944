package sqlite

import (
	"context"
	"fmt"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/store"
)

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
