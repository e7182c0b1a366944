package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// SetWatched stores the state of a folder that a program follows; see corpus.Documents. It deletes the user's
// folders not looked at since `forget`, and those beyond corpus.MaxWatched, as a program that is gone does not
// remove its own.
func (ds *Documents) SetWatched(ctx context.Context, user string, w corpus.Watched, forget time.Time) error {
	body, err := json.Marshal(w)
	if err != nil {
		return fmt.Errorf("store a watched folder: %w", err)
	}
	return wrap(ds.db.Write(ctx, Durable, func(t Tx) error {
		if _, err := t.Exec(`INSERT INTO watched (user_id, namespace, folder, looked_at, body)
			VALUES ($1, $2, $3, $4, $5) ON CONFLICT (user_id, namespace, folder)
			DO UPDATE SET looked_at = excluded.looked_at, body = excluded.body`,
			user, w.Namespace, w.Folder, w.LookedAt.UnixMicro(), string(body)); err != nil {
			return err
		}
		_, err := t.Exec(`DELETE FROM watched WHERE user_id = $1 AND (looked_at < $2 OR
			(namespace, folder) NOT IN (SELECT namespace, folder FROM watched WHERE user_id = $1
				ORDER BY looked_at DESC, folder, namespace LIMIT CAST($3 AS bigint)))`,
			user, forget.UnixMicro(), corpus.MaxWatched)
		return err
	}), "store a watched folder")
}

// DropWatched deletes a folder; see corpus.Documents.
func (ds *Documents) DropWatched(ctx context.Context, user, namespace, folder string) error {
	_, err := ds.db.Autocommit(ctx, Durable).Exec(`DELETE FROM watched WHERE user_id = $1 AND namespace = $2
		AND folder = $3`, user, namespace, folder)
	return wrap(err, "delete a watched folder")
}

// Watched returns the folders that programs follow; see corpus.Documents.
func (ds *Documents) Watched(ctx context.Context, s chat.Scope, since time.Time) ([]corpus.Watched, error) {
	list, err := readList(ds.db.Autocommit(ctx, 0), func(row Row) (w corpus.Watched, err error) {
		var body []byte
		if err := row.Scan(&body); err != nil {
			return w, err
		}
		return w, json.Unmarshal(body, &w)
	}, `SELECT d.body FROM watched d WHERE `+ds.sql.InScope+` AND d.looked_at >= $3`+NotHidden(s)+`
		ORDER BY d.folder`+ds.sql.Bytewise+`, d.namespace`+ds.sql.Bytewise, ds.sql.ScopeArgs(s, since.UnixMicro())...)
	return list, wrap(err, "read watched folders")
}
