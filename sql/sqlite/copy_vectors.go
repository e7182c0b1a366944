package sqlite

import (
	"context"
	"fmt"

	"footnote/corpus"
)

// Embedded is a passage with the vector that the file has of it.
type Embedded struct {
	Vector  corpus.Vector  // without words
	Passage corpus.Passage // section and text only
	// Of the passage's document, as it is now.
	Title, Language string
}

const embedded = ` FROM passages p JOIN documents d ON d.content = p.content AND d.purging = 0 JOIN vectors v
	ON v.passage_id = p.id AND v.document = d.id`

// Embedded yields the passages that have vectors, those of a document after one another. Vectors of passages that are
// gone are left out.
func (s *Source) Embedded(ctx context.Context, each func(Embedded) error) error {
	rows, err := s.pool.QueryContext(
		ctx,
		`SELECT p.id, d.id, d.user, d.namespace, p.section, unpacked(p.text, p.packed), d.title, d.language,
			v.body`+embedded+` ORDER BY p.row`,
	)
	if err != nil {
		return failure(err)
	}
	defer rows.Close()
	for rows.Next() {
		var e Embedded
		var body []byte
		if err := rows.Scan(&e.Vector.PassageID, &e.Vector.DocumentID, &e.Vector.User, &e.Vector.Namespace,
			&e.Passage.Section, &e.Passage.Text,
			&e.Title, &e.Language, &body); err != nil {
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
func (s *Source) CountEmbedded(ctx context.Context) (n int64, err error) {
	err = s.pool.QueryRowContext(ctx, `SELECT count(*)`+embedded).Scan(&n)
	return n, failure(err)
}

// Semantic returns how many passages each document has whose vectors are all made, wherever they are kept.
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
