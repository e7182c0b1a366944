package postgres

import (
	"context"
	"fmt"
	"time"

	"footnote/corpus"
	"footnote/sql/postings"
)

// Purge removes hidden documents for good; see corpus.Documents. Replicas may purge at the same time: each document is
// returned to one of them.
func (ds *Documents) Purge(ctx context.Context, before time.Time) (gone []corpus.Document, err error) {
	const some = 20 // documents in one transaction
	for {
		var list []corpus.Document
		err := ds.db.inTx(ctx, contentTime, func(t *tx) (err error) {
			list, err = purgeDocuments(t, before.UnixMicro(), some)
			return err
		})
		if err != nil {
			return gone, fmt.Errorf("purge: %w", err)
		}
		if gone = append(gone, list...); len(list) < some {
			break
		}
	}
	if err := ds.sweepIndex(ctx); err != nil { // the next purge does
		ds.db.log.WarnContext(ctx, "the index of words is not swept", "error", err)
	}
	return gone, nil
}

// sweepIndex lets the index go of what was removed since it last did.
func (ds *Documents) sweepIndex(ctx context.Context) error {
	_, removals, err := ds.db.postings().State(ctx)
	if err != nil || ds.swept.Load() == removals+1 {
		return err
	}
	if err := postings.Sweep(ctx, ds.db.postings()); err != nil {
		return err
	}
	ds.swept.Store(removals + 1)
	return nil
}

func purgeDocuments(t *tx, before int64, limit int) ([]corpus.Document, error) {
	type doomed struct {
		corpus.Document
		content int64
	}
	read := func(row scanner) (d doomed, err error) {
		d.Document, err = scanDocument(row, &d.content)
		return d, err
	}
	rows, err := rowsOf(t.ctx, t.pgx, read, `SELECT`+documentColumns+`, d.content FROM documents d WHERE deleted_at > 0
		AND deleted_at < $1
		ORDER BY n LIMIT $2 FOR UPDATE SKIP LOCKED`, []any{before, limit})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	var gone []corpus.Document
	var ids []string
	var contents []int64
	for _, d := range rows {
		gone, ids, contents = append(gone, d.Document), append(ids, d.ID), append(contents, d.content)
	}
	if err := removeContents(t, contents); err != nil {
		return nil, err
	}
	if err := removeJobs(t, ids); err != nil {
		return nil, err
	}
	if _, err := t.exec(`DELETE FROM documents WHERE id = ANY ($1)`, ids); err != nil {
		return nil, err
	}
	_, err = t.exec(`UPDATE corpus_state SET removals = removals + 1`)
	return gone, err
}
