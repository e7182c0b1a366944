package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"footnote/chat"
	"footnote/corpus"
)

// SetWatched stores what a program saw of a folder; see corpus.Documents.
func (ds *Documents) SetWatched(ctx context.Context, user string, w corpus.Watched, forget time.Time) error {
	body, err := json.Marshal(w)
	if err != nil {
		return fmt.Errorf("store a watched folder: %w", err)
	}
	return ds.db.writeTx(ctx, true, func(t *tx) error {
		if _, err := t.exec(`INSERT INTO watched (user, namespace, folder, looked_at, body) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET looked_at = excluded.looked_at, body = excluded.body`,
			user, w.Namespace, w.Folder, w.LookedAt.UnixMicro(), string(body)); err != nil {
			return err
		}
		_, err := t.exec(`DELETE FROM watched WHERE user = ?1 AND (looked_at < ?2 OR rowid NOT IN
			(SELECT rowid FROM watched WHERE user = ?1 ORDER BY looked_at DESC, rowid DESC LIMIT ?3))`,
			user, forget.UnixMicro(), corpus.MaxWatched)
		return err
	})
}

// DropWatched forgets a folder; see corpus.Documents.
func (ds *Documents) DropWatched(ctx context.Context, user, namespace, folder string) error {
	return ds.db.writeTx(ctx, true, func(t *tx) error {
		_, err := t.exec(`DELETE FROM watched WHERE user = ? AND namespace = ? AND folder = ?`, user, namespace, folder)
		return err
	})
}

// Watched returns the folders that programs follow; see corpus.Documents.
func (ds *Documents) Watched(ctx context.Context, s chat.Scope, since time.Time) (list []corpus.Watched, err error) {
	args, err := scopeArgs(s)
	if err != nil {
		return nil, err
	}
	rows, err := ds.db.queryRows(ctx, `SELECT d.body FROM watched d WHERE d.user = ?
		AND (? = '[]' OR d.namespace IN (SELECT value FROM json_each(?))) AND d.looked_at >= ?`+notHidden(s)+`
		ORDER BY d.folder, d.namespace`, append(args, since.UnixMicro())...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var body []byte
		if err := rows.Scan(&body); err != nil {
			return nil, err
		}
		var w corpus.Watched
		if err := json.Unmarshal(body, &w); err != nil {
			return nil, fmt.Errorf("read a watched folder: %w", err)
		}
		list = append(list, w)
	}
	return list, rows.Err()
}
