package sqlite

import (
	"context"
	"fmt"
	"time"

	"footnote/corpus"
)

// Removals takes what is due to be removed; see corpus.Documents.
func (ds *Documents) Removals(ctx context.Context, now time.Time) (due []corpus.Removal, err error) {
	err = ds.db.writeTx(ctx, false, func(t *tx) error {
		due = nil
		rows, err := t.query(`SELECT document, sha256 FROM removals WHERE due_at <= ? ORDER BY due_at, document, sha256
			LIMIT 100`, now.UnixMicro())
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var r corpus.Removal
			if err := rows.Scan(&r.DocumentID, &r.SHA256); err != nil {
				return failure(err)
			}
			due = append(due, r)
		}
		if err := rows.Err(); err != nil {
			return failure(err)
		}
		for _, r := range due {
			if _, err := t.Exec(`UPDATE removals SET due_at = ? + min(20 << min(attempts, 4), 300) * 1000000,
				attempts = attempts + 1 WHERE document = ? AND sha256 = ?`, now.UnixMicro(), r.DocumentID, r.SHA256,
			); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("what is to be removed: %w", err)
	}
	return due, nil
}

// Removed deletes a removal; see corpus.Documents.
func (ds *Documents) Removed(ctx context.Context, r corpus.Removal) error {
	return ds.db.writeTx(ctx, false, func(t *tx) error {
		_, err := t.Exec(`DELETE FROM removals WHERE document = ? AND sha256 = ?`, r.DocumentID, r.SHA256)
		return err
	})
}

// Abandon adds a removal; see corpus.Documents.
func (ds *Documents) Abandon(ctx context.Context, r corpus.Removal) error {
	return ds.db.writeTx(ctx, true, func(t *tx) error { return addRemoval(t, r) })
}

func addRemoval(t *tx, r corpus.Removal) error {
	_, err := t.Exec(`INSERT INTO removals (document, sha256) VALUES (?, ?) ON CONFLICT DO NOTHING`, r.DocumentID,
		r.SHA256)
	return err
}
