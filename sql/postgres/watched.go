package postgres

import (
	"context"
	"encoding/json"
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
	if _, err := ds.db.execStatement(ctx, shortTime, `INSERT INTO watched AS w VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (user_id, namespace, folder) DO UPDATE SET looked_at = excluded.looked_at, body = excluded.body`,
		user, w.Namespace, w.Folder, w.LookedAt.UnixMicro(), string(body)); err != nil {
		return fmt.Errorf("store a watched folder: %w", err)
	}
	if _, err := ds.db.execStatement(ctx, shortTime, `DELETE FROM watched WHERE user_id = $1 AND (looked_at < $2 OR
		(namespace, folder) NOT IN (SELECT namespace, folder FROM watched WHERE user_id = $1
			ORDER BY looked_at DESC, folder, namespace LIMIT $3))`,
		user, forget.UnixMicro(), corpus.MaxWatched); err != nil {
		return fmt.Errorf("forget watched folders: %w", err)
	}
	return nil
}

// DropWatched forgets a folder; see corpus.Documents.
func (ds *Documents) DropWatched(ctx context.Context, user, namespace, folder string) error {
	if _, err := ds.db.execStatement(ctx, shortTime, `DELETE FROM watched
		WHERE user_id = $1 AND namespace = $2 AND folder = $3`, user, namespace, folder); err != nil {
		return fmt.Errorf("forget a watched folder: %w", err)
	}
	return nil
}

// Watched returns the folders that programs follow; see corpus.Documents.
func (ds *Documents) Watched(ctx context.Context, s chat.Scope, since time.Time) ([]corpus.Watched, error) {
	read := func(row scanner) (w corpus.Watched, err error) {
		var body []byte
		if err := row.Scan(&body); err != nil {
			return w, err
		}
		return w, json.Unmarshal(body, &w)
	}
	list, err := queryList(ctx, ds.db, shortTime, read, `SELECT d.body FROM watched d WHERE d.user_id = $1
		AND (cardinality($2::text[]) = 0 OR d.namespace = ANY ($2)) AND d.looked_at >= $3`+notHidden(s)+`
		ORDER BY d.folder COLLATE "C", d.namespace COLLATE "C"`, scopeArgs(s, since.UnixMicro())...)
	if err != nil {
		return nil, fmt.Errorf("read watched folders: %w", err)
	}
	return list, nil
}
