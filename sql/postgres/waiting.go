package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"footnote/chat"
)

const selectQueued = `SELECT q.id, s.name, s.user_id, q.key, q.request, q.problem, q.created_at FROM queued q
	JOIN sessions s ON s.n = q.session `

// ready are the conditions under which the first question of session s can be sent.
const ready = ` s.deleted_at = 0 AND q.problem = '' AND NOT EXISTS (SELECT FROM runs r WHERE r.session = s.n
	AND r.status = 'running')
	AND q.n = (SELECT first.n FROM queued first WHERE first.session = s.n ORDER BY first.place LIMIT 1) `

func scanQueued(row scanner) (q chat.Queued, err error) {
	var key, request []byte
	var created int64
	if err := row.Scan(&q.ID, &q.SessionID, &q.User, &key, &request, &q.Problem, &created); err != nil {
		return q, err
	}
	if err := json.Unmarshal(request, &q.Request); err != nil {
		return q, fmt.Errorf("decode the waiting question %s: %w", q.ID, err)
	}
	q.Request.IdempotencyKey, q.CreatedAt = string(key), timeOf(created)
	return q, nil
}

// Enqueue implements chat.Store. The session's row is locked, so that two don't take the same place.
func (c *Chats) Enqueue(ctx context.Context, s chat.Scope, req chat.RunRequest) (q chat.Queued, err error) {
	fresh, request, err := req.AsQueued(s.User)
	if err != nil {
		return q, fmt.Errorf("enqueue: %w", err)
	}
	key := []byte(fresh.Request.IdempotencyKey)
	err = c.db.inTx(ctx, shortTime, func(t *tx) error {
		q = fresh
		var session int64
		if err := t.queryRow(
			`SELECT n FROM sessions WHERE name = $1 AND user_id = $2 AND deleted_at = 0 FOR UPDATE`,
			[]any{req.SessionID, s.User}, &session,
		); err != nil {
			return notFound(err, "enqueue", "session")
		}
		list, err := rowsOf(t.ctx, t.pgx, scanQueued, selectQueued+`WHERE q.session = $1`, []any{session})
		if err != nil {
			return err
		}
		for _, known := range list {
			if !bytes.Equal([]byte(known.Request.IdempotencyKey), key) {
				continue
			}
			if !known.Request.SameAs(req) {
				return chat.ErrKeyReused
			}
			q = known
			return nil
		}
		if len(list) >= chat.MaxQueued {
			return chat.ErrQueueFull
		}
		var now int64
		err = t.queryRow(`INSERT INTO queued (id, session, place, key, request, created_at)
			SELECT $1, $2, coalesce((SELECT max(place) FROM queued WHERE session = $2), 0) + 1, $3, $4, now_micros()
			RETURNING created_at`,
			[]any{q.ID, session, key, request}, &now)
		q.CreatedAt = timeOf(now)
		return err
	})
	return q, err
}

// Queue implements chat.Store.
func (c *Chats) Queue(ctx context.Context, s chat.Scope, sessionID string) ([]chat.Queued, error) {
	list, err := queryList(
		ctx, c.db, shortTime, scanQueued,
		selectQueued+`WHERE s.name = $1 AND s.user_id = $2 AND s.deleted_at = 0 ORDER BY q.place`, sessionID, s.User,
	)
	if err == nil && len(list) == 0 {
		_, err = c.Session(ctx, s, sessionID) // not there, or nothing waits
	}
	return list, err
}

// own is a question that its user may still change.
const own = ` id = $1 AND NOT taken AND session = (SELECT n FROM sessions WHERE name = $2 AND user_id = $3
	AND deleted_at = 0)`

// EditQueued implements chat.Store.
func (c *Chats) EditQueued(ctx context.Context, s chat.Scope, sessionID, id, message string) error {
	list, err := queryList(
		ctx, c.db, shortTime, scanQueued,
		selectQueued+`WHERE q.id = $1 AND NOT q.taken AND s.name = $2 AND s.user_id = $3 AND s.deleted_at = 0`, id,
		sessionID, s.User,
	)
	if err != nil {
		return fmt.Errorf("change queue: %w", err)
	}
	if len(list) == 0 {
		return changedOne(0, nil, "change queue", "waiting question")
	}
	list[0].Request.Message = message
	request, err := json.Marshal(list[0].Request)
	if err != nil {
		return fmt.Errorf("change queue: %w", err)
	}
	return c.changeQueued(
		ctx, `UPDATE queued SET request = $4, key = $5, problem = '' WHERE`+own, id, sessionID, s.User, request,
		[]byte("queued:"+chat.NewID()),
	)
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

func (c *Chats) changeQueued(ctx context.Context, statement string, args ...any) error {
	n, err := c.db.execStatement(ctx, shortTime, statement, args...)
	return changedOne(n, err, "change queue", "waiting question")
}

// TakeQueued implements chat.Store. Two replicas may take the same one: its key makes it one run.
func (c *Chats) TakeQueued(ctx context.Context, session chat.SessionKey) (q chat.Queued, ok bool, err error) {
	list, err := queryList(ctx, c.db, shortTime, scanQueued, `WITH q AS (
			UPDATE queued SET taken = true WHERE n = (SELECT q.n FROM queued q JOIN sessions s ON s.n = q.session
				WHERE s.name = $1 AND s.user_id = $2 AND`+ready+`) RETURNING *)
		SELECT q.id, s.name, s.user_id, q.key, q.request, q.problem, q.created_at FROM q JOIN sessions s
		ON s.n = q.session`, session.ID, session.User)
	if err != nil || len(list) == 0 {
		return q, false, err
	}
	return list[0], true, nil
}

// SettleQueued implements chat.Store.
func (c *Chats) SettleQueued(ctx context.Context, id, problem string) (err error) {
	if problem == "" {
		_, err = c.db.execStatement(ctx, shortTime, `DELETE FROM queued WHERE id = $1`, id)
	} else {
		_, err = c.db.execStatement(ctx, shortTime, `UPDATE queued SET taken = false, problem = $2 WHERE id = $1`,
			id, problem)
	}
	return err
}

// PutBackQueued implements chat.Store.
func (c *Chats) PutBackQueued(ctx context.Context, id string) error {
	_, err := c.db.execStatement(ctx, shortTime, `UPDATE queued SET taken = false WHERE id = $1`, id)
	return err
}

// Waiting implements chat.Store.
func (c *Chats) Waiting(ctx context.Context) ([]chat.SessionKey, error) {
	return queryList(
		ctx, c.db, shortTime, scanSessionKey,
		`SELECT s.user_id, s.name FROM queued q JOIN sessions s ON s.n = q.session WHERE`+ready+`ORDER BY q.n LIMIT $1`,
		chat.MaxPage,
	)
}

func scanSessionKey(row scanner) (key chat.SessionKey, err error) {
	err = row.Scan(&key.User, &key.ID)
	return key, err
}
