package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/store"
)

// removeContent removes content that no document points to, in small transactions. The row of contents goes last, so
// that a later call can finish a removal that stopped half-way. The count of removals tells directories of searches to
// compare their rows with what is there. It is called without a deadline of a caller where nobody would come back for
// what is left.
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

// removeSomePassages removes some passages of a content; more says that there may be others. Passages of a content have
// neighbouring numbers, so deleting a range deletes these and no others. The limit is written +? so that SQLite does
// not plan the statement anew for its value (see prepareStatement).
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

// Purge removes hidden documents for good; see corpus.Documents. It also clears away content that an interrupted write
// or removal left behind. It first makes hidden documents unrestorable, then removes their content piece by piece, and
// their rows last, together with the note of what lies outside the database. A purge that breaks off is finished by the
// next.
func (ds *Documents) Purge(ctx context.Context, before time.Time) error {
	hidden, err := ds.beginPurge(ctx, before)
	if err != nil {
		return err
	}
	// What an earlier purge did not finish is among them.
	left, err := ds.leftContents(ctx)
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
	if err := ds.SweepIndex(ctx, ds.db.newPostingStore()); err != nil { // the next purge does
		ds.db.log.WarnContext(ctx, "the index of words is not swept", "error", err)
	}
	return nil
}

// beginPurge marks what is to go, so that it can't be restored any more, and takes its content off it.
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
			ON CONFLICT DO NOTHING`); err != nil { // of an older version, which served to the end
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

// leftContents returns the contents that no document will show any more. These are contents that were replaced (changed
// > 0), that a crash left before they were shown, and those of documents that go. One that is being written now has
// started_at less than store.LeftAfter ago, and is left alone.
func (ds *Documents) leftContents(ctx context.Context) (contents []int64, err error) {
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
