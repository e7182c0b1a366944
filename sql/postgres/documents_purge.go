package postgres

import (
	"context"
	"fmt"
	"time"
)

// Purge removes hidden documents for good; see corpus.Documents. Replicas may purge at the same time: each document
// goes once. A few documents to a transaction, so that locks are short; it ends when fewer than that were left.
func (ds *Documents) Purge(ctx context.Context, before time.Time) error {
	const some = 20 // documents in one transaction
	for {
		var n int
		err := ds.db.inTx(ctx, contentTime, func(t *tx) (err error) {
			n, err = purgeDocuments(t, before.UnixMicro(), some)
			return err
		})
		if err != nil {
			return fmt.Errorf("purge: %w", err)
		}
		if n < some {
			break
		}
	}
	if err := ds.SweepIndex(ctx, ds.db.newPostingStore()); err != nil { // the next purge does
		ds.db.log.WarnContext(ctx, "the index of words is not swept", "error", err)
	}
	return nil
}

// purgeDocuments removes up to limit documents and returns how many there were. SKIP LOCKED lets replicas share the
// work. What lies outside the database is noted before the rows go, in the same transaction, so that none is forgotten.
func purgeDocuments(t *tx, before int64, limit int) (int, error) {
	type doomed struct {
		id      string
		content int64
	}
	read := func(row scanner) (d doomed, err error) {
		err = row.Scan(&d.id, &d.content)
		return d, err
	}
	// The rows stay locked until the transaction ends.
	rows, err := rowsOf(t.ctx, t.pgx, read, `SELECT id, content FROM documents WHERE deleted_at > 0 AND deleted_at < $1
		ORDER BY n LIMIT $2 FOR UPDATE SKIP LOCKED`, []any{before, limit})
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	var ids []string
	var contents []int64
	for _, d := range rows {
		ids, contents = append(ids, d.id), append(contents, d.content)
	}
	if _, err := t.Exec(`INSERT INTO removals (document, sha256) SELECT '', c.sha256 FROM contents c
		JOIN documents d ON d.n = c.document WHERE d.id = ANY ($1) AND c.sha256 <> d.sha256
		ON CONFLICT DO NOTHING`, ids); err != nil { // of an older version, which served to the end
		return 0, err
	}
	if err := removeContents(t, contents); err != nil {
		return 0, err
	}
	if err := removeJobs(t, ids); err != nil {
		return 0, err
	}
	for _, statement := range []string{
		`INSERT INTO removals (document, sha256) SELECT id, sha256 FROM documents WHERE id = ANY ($1)
			ON CONFLICT DO NOTHING`,
		`DELETE FROM documents WHERE id = ANY ($1)`,
	} {
		if _, err := t.Exec(statement, ids); err != nil {
			return 0, err
		}
	}
	_, err = t.Exec(`UPDATE corpus_state SET removals = removals + 1`)
	return len(rows), err
}
