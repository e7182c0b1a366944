package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"footnote/chat"
)

const selectQueued = `SELECT q.id, s.name, s.user, q.key, q.request, q.problem, q.created_at FROM queued q
	JOIN sessions s ON s.n = q.session `

// ready are the conditions under which the first question of session s can be sent.
const ready = ` s.deleted_at = 0 AND q.problem = '' AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.session = s.n
	AND r.status = 'running')
	AND q.n = (SELECT first.n FROM queued first WHERE first.session = s.n ORDER BY first.place LIMIT 1) `

// scanQueued reads all rows of selectQueued and closes them.
func scanQueued(rows *sql.Rows) ([]chat.Queued, error) {
	defer rows.Close()
	var list []chat.Queued
	for rows.Next() {
		var q chat.Queued
		var key string
		var request []byte
		var created int64
		if err := rows.Scan(&q.ID, &q.SessionID, &q.User, &key, &request, &q.Problem, &created); err != nil {
			return nil, failure(err)
		}
		if err := json.Unmarshal(request, &q.Request); err != nil {
			return nil, fmt.Errorf("decode the waiting question %s: %w", q.ID, err)
		}
		q.Request.IdempotencyKey, q.CreatedAt = key, timeOf(created)
		list = append(list, q)
	}
	return list, failure(rows.Err())
}

// Enqueue implements chat.Store.
func (c *Chats) Enqueue(ctx context.Context, s chat.Scope, req chat.RunRequest) (q chat.Queued, err error) {
	q, request, err := req.AsQueued(s.User)
	if err != nil {
		return q, fmt.Errorf("enqueue: %w", err)
	}
	err = c.db.writeTx(ctx, true, func(tx *tx) error {
		var session int64
		if err := tx.queryRow(`SELECT n FROM sessions WHERE name = ? AND user = ? AND deleted_at = 0`, []any{
			req.SessionID, s.User,
		}, &session); err != nil {
			return notFound(err, "enqueue", "session")
		}
		rows, err := tx.query(selectQueued+`WHERE q.session = ? AND q.key = ?`, session, q.Request.IdempotencyKey)
		if err != nil {
			return err
		}
		known, err := scanQueued(rows)
		switch {
		case err != nil:
			return err
		case len(known) > 0 && !known[0].Request.SameAs(req):
			return chat.ErrKeyReused
		case len(known) > 0:
			q = known[0]
			return nil
		}
		var count, last int64
		if err := tx.queryRow(
			`SELECT count(*), coalesce(max(place), 0) FROM queued WHERE session = ?`, []any{session}, &count, &last,
		); err != nil {
			return err
		}
		if count >= chat.MaxQueued {
			return chat.ErrQueueFull
		}
		now := time.Now().UnixMicro()
		q.CreatedAt = timeOf(now)
		_, err = tx.exec(`INSERT INTO queued (id, session, place, key, request, created_at) VALUES (?, ?, ?, ?, ?, ?)`,
			q.ID, session, last+1, q.Request.IdempotencyKey, string(request), now)
		return err
	})
	return q, err
}

// Queue implements chat.Store.
func (c *Chats) Queue(ctx context.Context, s chat.Scope, sessionID string) ([]chat.Queued, error) {
	rows, err := c.db.queryRows(
		ctx, selectQueued+`WHERE s.name = ? AND s.user = ? AND s.deleted_at = 0 ORDER BY q.place`, sessionID, s.User,
	)
	if err != nil {
		return nil, fmt.Errorf("read queue: %w", err)
	}
	list, err := scanQueued(rows)
	if err == nil && len(list) == 0 {
		_, err = c.Session(ctx, s, sessionID) // not there, or nothing waits
	}
	return list, err
}

// own is a question that its user may still change.
const own = ` id = ? AND taken = 0 AND session = (SELECT n FROM sessions WHERE name = ? AND user = ?
	AND deleted_at = 0)`

// EditQueued implements chat.Store.
func (c *Chats) EditQueued(ctx context.Context, s chat.Scope, sessionID, id, message string) error {
	return c.changeQueued(ctx,
		`UPDATE queued SET request = json_set(request, '$.message', ?), key = 'queued:' || ?, problem = '' WHERE`+own,
		message, chat.NewID(), id, sessionID, s.User)
}

// MoveQueuedFirst implements chat.Store.
func (c *Chats) MoveQueuedFirst(ctx context.Context, s chat.Scope, sessionID, id string) error {
	return c.changeQueued(ctx, `UPDATE queued SET problem = '',
		place = (SELECT min(first.place) - 1 FROM queued first WHERE first.session = queued.session) WHERE`+own, id,
		sessionID, s.User)
}

// DropQueued implements chat.Store.
func (c *Chats) DropQueued(ctx context.Context, s chat.Scope, sessionID, id string) error {
	return c.changeQueued(ctx, `DELETE FROM queued WHERE`+own, id, sessionID, s.User)
}

func (c *Chats) changeQueued(ctx context.Context, query string, args ...any) error {
	return c.db.writeTx(ctx, true, func(tx *tx) error {
		n, err := tx.exec(query, args...)
		return changedOne(n, err, "change queue", "waiting question")
	})
}

// TakeQueued implements chat.Store.
func (c *Chats) TakeQueued(ctx context.Context, session chat.SessionKey) (q chat.Queued, ok bool, err error) {
	err = c.db.writeTx(ctx, false, func(tx *tx) error {
		rows, err := tx.query(selectQueued+`WHERE s.name = ? AND s.user = ? AND`+ready, session.ID, session.User)
		if err != nil {
			return err
		}
		list, err := scanQueued(rows)
		if err != nil || len(list) == 0 {
			return err
		}
		q, ok = list[0], true
		_, err = tx.exec(`UPDATE queued SET taken = 1 WHERE id = ?`, q.ID)
		return err
	})
	return q, ok && err == nil, err
}

// SettleQueued implements chat.Store.
func (c *Chats) SettleQueued(ctx context.Context, id, problem string) error {
	return c.db.writeTx(ctx, false, func(tx *tx) (err error) {
		if problem == "" {
			_, err = tx.exec(`DELETE FROM queued WHERE id = ?`, id)
		} else {
			_, err = tx.exec(`UPDATE queued SET taken = 0, problem = ? WHERE id = ?`, problem, id)
		}
		return err
	})
}

// PutBackQueued implements chat.Store.
func (c *Chats) PutBackQueued(ctx context.Context, id string) error {
	return c.db.writeTx(ctx, false, func(tx *tx) error {
		_, err := tx.exec(`UPDATE queued SET taken = 0 WHERE id = ?`, id)
		return err
	})
}

// Waiting implements chat.Store.
func (c *Chats) Waiting(ctx context.Context) ([]chat.SessionKey, error) {
	rows, err := c.db.queryRows(
		ctx,
		`SELECT s.user, s.name FROM queued q JOIN sessions s ON s.n = q.session WHERE`+ready+`ORDER BY q.n LIMIT +?`,
		chat.MaxPage,
	)
	if err != nil {
		return nil, fmt.Errorf("find waiting questions: %w", err)
	}
	defer rows.Close()
	var sessions []chat.SessionKey
	for rows.Next() {
		var session chat.SessionKey
		if err := rows.Scan(&session.User, &session.ID); err != nil {
			return nil, failure(err)
		}
		sessions = append(sessions, session)
	}
	return sessions, failure(rows.Err())
}
