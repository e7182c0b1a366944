package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/footnote/footnote/corpus"
)

// embedded are the passages with vectors of a model, or, if there are none of it, of earlier versions, which did not
// note the model.
const embedded = ` FROM passages p JOIN documents d ON d.content = p.content AND d.purging = 0 JOIN vectors v
	ON v.passage_id = p.id AND v.document = d.id
	AND v.model = (SELECT n FROM vector_models WHERE name IN (?, '') ORDER BY name DESC LIMIT 1)`

// Embedded yields the passages that have vectors of a model, or of one that the file does not name, those of a document
// after one another. Vectors of passages that are gone are left out.
func (s *Source) Embedded(ctx context.Context, model string, each func(corpus.Embedded) error) error {
	return readEmbedded(ctx, s.pool, model, -1, each)
}

// readEmbedded yields the first k of such passages; -1: all. The text goes along, as its hash is what another store
// recognises equal passages by.
func readEmbedded(
	ctx context.Context, pool *sql.DB, model string, k int, each func(corpus.Embedded) error,
) error {
	rows, err := pool.QueryContext(
		ctx,
		`SELECT p.id, d.id, d.user_id, d.namespace, p.section, `+passageText+`, d.title, v.body`+embedded+`
			ORDER BY p.row LIMIT ?`, model, k,
	)
	if err != nil {
		return failure(err)
	}
	defer rows.Close()
	for rows.Next() {
		var e corpus.Embedded
		var body []byte
		if err := rows.Scan(&e.Vector.PassageID, &e.Vector.DocumentID, &e.Vector.User, &e.Vector.Namespace,
			&e.Passage.Section, &e.Passage.Text,
			&e.Title, &body); err != nil {
			return failure(err)
		}
		e.Passage.ID, e.Passage.DocumentID = e.Vector.PassageID, e.Vector.DocumentID
		if len(body) == 0 || len(body)%4 > 0 {
			return fmt.Errorf("the vector of passage %s has %d bytes", e.Vector.PassageID, len(body))
		}
		e.Vector.Values = appendFloats(make([]float32, 0, len(body)/4), body)
		if err := each(e); err != nil {
			return err
		}
	}
	return failure(rows.Err())
}

// CountEmbedded returns how many passages Embedded yields.
func (s *Source) CountEmbedded(ctx context.Context, model string) (n int64, err error) {
	err = s.pool.QueryRowContext(ctx, `SELECT count(*)`+embedded, model).Scan(&n)
	return n, failure(err)
}

// OnlyOthers reports whether the file has vectors, and all of them are of other models than this one. Then the copied
// passages have to be embedded anew.
func (s *Source) OnlyOthers(ctx context.Context, model string) (only bool, err error) {
	err = s.pool.QueryRowContext(ctx,
		`SELECT count(*) > 0 AND coalesce(sum(name IN (?, '')), 0) = 0 FROM vector_models`, model).Scan(&only)
	return only, failure(err)
}

// Semantic returns how many passages each document has whose vectors are all made, wherever they are kept. The caller
// compares the numbers with what arrived, to know which documents are whole.
func (s *Source) Semantic(ctx context.Context) (map[string]int, error) {
	rows, err := s.pool.QueryContext(
		ctx, `SELECT id, passages FROM documents WHERE purging = 0 AND state = ? AND semantic = ?`,
		string(corpus.StateReady), string(corpus.SemanticReady),
	)
	if err != nil {
		return nil, failure(err)
	}
	defer rows.Close()
	found := map[string]int{}
	for rows.Next() {
		var id string
		var passages int
		if err := rows.Scan(&id, &passages); err != nil {
			return nil, failure(err)
		}
		found[id] = passages
	}
	return found, failure(rows.Err())
}
