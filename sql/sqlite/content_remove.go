package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/store"
)

// removeContent deletes unreferenced content in small transactions. The row of contents is deleted last, so that an
// interrupted removal can be completed. The removal counter invalidates search directories. Some callers pass a
// context without a deadline, as otherwise only the next purge would retry.
func (ds *Documents) removeContent(ctx context.Context, content int64) error {
	for more := true; more; {
		err := ds.db.writeBulk(ctx, false, func(t *tx) (err error) {
			more, err = removeSomePassages(t, content)
			return err
		})
		if err != nil {
			return fmt.Errorf("remove old content: %w", err)
		}
	}
	err := ds.db.writeBulk(ctx, false, func(t *tx) error {
		for _, statement := range []string{
			`DELETE FROM texts WHERE at BETWEEN ?1 << 32 AND ?1 << 32 | 0xffffffff`,
			`DELETE FROM content_blocks WHERE content = ?`,
			`DELETE FROM content_words WHERE content = ?`,
			`DELETE FROM unindexed WHERE content = ?`,
			`DELETE FROM contents WHERE n = ?`,
		} {
			if _, err := t.Exec(statement, content); err != nil {
				return err
			}
		}
		_, err := t.Exec(`UPDATE corpus_state SET removals = removals + 1`)
		return err
	})
	if err != nil {
		return fmt.Errorf("remove old content: %w", err)
	}
	return nil
}

// removeSomePassages deletes a batch of a content's passages; more is true if there may be others. A content's
// passages have consecutive numbers, so a range deletes only these. The limit is written +? so that SQLite does not
// plan the statement again for its value (see prepareStatement).
func removeSomePassages(t *tx, content int64) (more bool, err error) {
	const some = 256
	var first, n int64
	if err := t.One(`SELECT coalesce(min(row), 0), count(*) FROM (SELECT p.row FROM contents c JOIN passages p
		ON p.row >= c.first_row AND p.row < c.first_row + c.passages WHERE c.n = ? ORDER BY p.row LIMIT +?)`,
		[]any{content, some}, &first, &n); err != nil || n == 0 {
		return false, err
	}
	_, err = t.Exec(`DELETE FROM passages WHERE row >= ? AND row < ?`, first, first+n)
	return n == some, err
}

// Purge deletes hidden documents permanently; see corpus.Documents. It also deletes content of interrupted writes
// and removals. It first makes hidden documents unrestorable, then deletes their content in batches, and their rows
// last, together with queuing the removal of files outside the database. The next purge completes an interrupted
// one.
func (ds *Documents) Purge(ctx context.Context, before time.Time) error {
	hidden, err := ds.beginPurge(ctx, before)
	if err != nil {
		return err
	}
	// This includes the rest of an interrupted purge.
	left, err := ds.unreferencedContents(ctx)
	if err != nil {
		return err
	}
	for _, content := range left {
		if err := ds.removeContent(ctx, content); err != nil {
			return err
		}
	}
	err = ds.db.writeTx(ctx, true, func(t *tx) error {
		for _, d := range hidden {
			if _, err := t.Exec(`INSERT INTO removals (document, sha256) VALUES (?, ?) ON CONFLICT DO NOTHING`,
				d.DocumentID, d.SHA256); err != nil {
				return err
			}
			if _, err := t.Exec(`DELETE FROM jobs WHERE document = ?`, d.DocumentID); err != nil {
				return err
			}
			if _, err := t.Exec(`DELETE FROM documents WHERE id = ?`, d.DocumentID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("purge: %w", err)
	}
	if err := ds.SweepIndex(ctx, ds.db.newPostingStore()); err != nil { // retried by the next purge
		ds.db.log.WarnContext(ctx, "the index of words is not swept", "error", err)
	}
	return nil
}

// beginPurge marks documents as unrestorable and their content as invisible.
func (ds *Documents) beginPurge(ctx context.Context, before time.Time) (hidden []corpus.Removal, err error) {
	err = ds.db.writeTx(ctx, false, func(t *tx) error {
		hidden = nil
		for _, statement := range []string{
			`UPDATE documents SET purging = 1 WHERE deleted_at > 0 AND deleted_at < ? AND purging = 0`,
			`UPDATE contents SET live = 0 WHERE document IN (SELECT n FROM documents WHERE deleted_at > 0
				AND deleted_at < ? AND purging = 1)`,
		} {
			if _, err := t.Exec(statement, before.UnixMicro()); err != nil {
				return err
			}
		}
		if _, err := t.Exec(`INSERT INTO removals (document, sha256) SELECT '', c.sha256 FROM contents c
			JOIN documents d ON d.n = c.document WHERE d.deleted_at > 0 AND d.purging = 1 AND c.sha256 <> d.sha256
			ON CONFLICT DO NOTHING`); err != nil { // of an older version that was served until now
			return err
		}
		rows, err := t.query(`SELECT id, sha256 FROM documents WHERE deleted_at > 0 AND purging = 1 ORDER BY n`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var r corpus.Removal
			if err := rows.Scan(&r.DocumentID, &r.SHA256); err != nil {
				return failure(err)
			}
			hidden = append(hidden, r)
		}
		return failure(rows.Err())
	})
	if err != nil {
		return nil, fmt.Errorf("purge: %w", err)
	}
	return hidden, nil
}

// unreferencedContents returns the contents that no document refers to: those that were replaced (changed > 0), that a
// crash left unpublished, and those of purged documents. Content that is being written has started_at less than
// store.LeftAfter ago and is excluded.
func (ds *Documents) unreferencedContents(ctx context.Context) (contents []int64, err error) {
	rows, err := ds.db.queryRows(ctx, `SELECT n FROM contents WHERE live = 0 AND (changed > 0 OR started_at < ?
		OR document IN (SELECT n FROM documents WHERE purging = 1))`, time.Now().Add(-store.LeftAfter).UnixMicro())
	if err != nil {
		return nil, fmt.Errorf("purge: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			return nil, fmt.Errorf("purge: %w", failure(err))
		}
		contents = append(contents, n)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("purge: %w", failure(err))
	}
	return contents, nil
}
