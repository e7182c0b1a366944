package postgres

import (
	"context"
	"fmt"
	"time"

	"footnote/corpus"
)

func scanRemoval(row scanner) (r corpus.Removal, err error) {
	err = row.Scan(&r.DocumentID, &r.SHA256)
	return r, err
}

// Removals takes what is due to be removed; see corpus.Documents. Replicas that ask at the same time get others.
func (ds *Documents) Removals(ctx context.Context, now time.Time) (due []corpus.Removal, err error) {
	err = ds.db.inTx(ctx, longTime, func(t *tx) (err error) {
		due, err = rowsOf(t.ctx, t.pgx, scanRemoval, `UPDATE removals r SET attempts = r.attempts + 1,
			due_at = $1::bigint + least(20 << least(r.attempts, 4), 300) * 1000000::bigint
			FROM (SELECT document, sha256 FROM removals WHERE due_at <= $1 ORDER BY due_at, document, sha256 LIMIT 100
				FOR UPDATE SKIP LOCKED) d
			WHERE r.document = d.document AND r.sha256 = d.sha256 RETURNING r.document, r.sha256`,
			[]any{now.UnixMicro()})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("what is to be removed: %w", err)
	}
	return due, nil
}

// Removed deletes a removal; see corpus.Documents.
func (ds *Documents) Removed(ctx context.Context, r corpus.Removal) error {
	_, err := ds.db.execStatement(ctx, longTime, `DELETE FROM removals WHERE document = $1 AND sha256 = $2`,
		r.DocumentID,
		r.SHA256)
	return err
}

// Abandon adds a removal; see corpus.Documents.
func (ds *Documents) Abandon(ctx context.Context, r corpus.Removal) error {
	_, err := ds.db.execStatement(ctx, longTime, `INSERT INTO removals (document, sha256) VALUES ($1, $2)
		ON CONFLICT DO NOTHING`,
		r.DocumentID, r.SHA256)
	return err
}
