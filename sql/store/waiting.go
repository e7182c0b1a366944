package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/footnote/footnote/chat"
)

const selectQueued = `SELECT q.id, s.name, s.user_id, q.key, q.request, q.problem, q.created_at FROM queued q
	JOIN sessions s ON s.n = q.session `

// ready are the conditions under which the first question of session s can be sent. The last one selects the first
// question only, so one with a Problem blocks those behind it.
const ready = ` s.deleted_at = 0 AND q.problem = '' AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.session = s.n
	AND r.status = 'running')
	AND q.n = (SELECT first.n FROM queued first WHERE first.session = s.n ORDER BY first.place LIMIT 1) `

// scanQueued decodes a row of selectQueued. The key is a separate column, not in the request's JSON.
func scanQueued(row Row) (q chat.Queued, err error) {
	var key, request []byte
	var created int64
	if err := row.Scan(&q.ID, &q.SessionID, &q.User, &key, &request, &q.Problem, &created); err != nil {
		return q, err
	}
	if err := json.Unmarshal(request, &q.Request); err != nil {
		return q, fmt.Errorf("decode the queued question %s: %w", q.ID, err)
	}
	q.Request.IdempotencyKey, q.CreatedAt = string(key), TimeOf(created)
	return q, nil
}

// Enqueue implements chat.Store. It locks the session's row, so that two questions don't get the same place.
func (c *Chats) Enqueue(ctx context.Context, s chat.Scope, req chat.RunRequest) (q chat.Queued, err error) {
	fresh, request, err := req.AsQueued(s.User)
	if err != nil {
		return q, fmt.Errorf("enqueue: %w", err)
	}
	err = c.db.Write(ctx, Durable, func(t Tx) error {
		q = fresh
		var session int64
		if err := t.One(`SELECT s.n FROM sessions s WHERE s.name = $1 AND s.user_id = $2 AND s.deleted_at = 0`+
			c.sql.Locked("s"), []any{req.SessionID, s.User}, &session); err != nil {
			return NotFound(err, "enqueue", "session")
		}
		list, err := readList(t, scanQueued, selectQueued+`WHERE q.session = $1`, session)
		if err != nil {
			return err
		}
		for _, known := range list {
			if known.Request.IdempotencyKey != fresh.Request.IdempotencyKey {
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
		err = t.One(`INSERT INTO queued (id, session, place, key, request, created_at)
			SELECT $1, $2, coalesce((SELECT max(place) FROM queued WHERE session = $2), 0) + 1, $3, $4, now_micros()
			RETURNING created_at`,
			[]any{q.ID, session, c.sql.Bytes([]byte(fresh.Request.IdempotencyKey)), c.sql.Bytes(request)}, &now)
		q.CreatedAt = TimeOf(now)
		return err
	})
	return q, err
}

// Queue implements chat.Store.
func (c *Chats) Queue(ctx context.Context, s chat.Scope, sessionID string) ([]chat.Queued, error) {
	list, err := readList(c.db.Autocommit(ctx, 0), scanQueued,
		selectQueued+`WHERE s.name = $1 AND s.user_id = $2 AND s.deleted_at = 0 ORDER BY q.place`, sessionID, s.User)
	if err == nil && len(list) == 0 {
		_, err = c.Session(ctx, s, sessionID) // not found, or an empty queue
	}
	return list, err
}

// own is the condition for a queued question that its user may still change.
const own = ` id = $1 AND NOT taken AND session = (SELECT n FROM sessions WHERE name = $2 AND user_id = $3
	AND deleted_at = 0)`

// EditQueued implements chat.Store. The question gets a new idempotency key, as its text changes. The update repeats
// the conditions, so a question that was taken meanwhile is not changed.
func (c *Chats) EditQueued(ctx context.Context, s chat.Scope, sessionID, id, message string) error {
	q, err := readOne(c.db.Autocommit(ctx, 0), scanQueued,
		selectQueued+`WHERE q.id = $1 AND NOT q.taken AND s.name = $2 AND s.user_id = $3 AND s.deleted_at = 0`, id,
		sessionID, s.User)
	if err != nil {
		return NotFound(err, "change queue", "waiting question")
	}
	q.Request.Message = message
	request, err := json.Marshal(q.Request)
	if err != nil {
		return fmt.Errorf("change queue: %w", err)
	}
	return c.changeQueued(
		ctx, `UPDATE queued SET request = $4, key = $5, problem = '' WHERE`+own, id, sessionID, s.User,
		c.sql.Bytes(request), c.sql.Bytes([]byte("queued:"+chat.NewID())),
	)
}

// MoveQueuedFirst implements chat.Store. Places only define the order and may be negative.
func (c *Chats) MoveQueuedFirst(ctx context.Context, s chat.Scope, sessionID, id string) error {
	return c.changeQueued(ctx, `UPDATE queued SET problem = '',
		place = (SELECT min(first.place) - 1 FROM queued first WHERE first.session = queued.session) WHERE`+own, id,
		sessionID, s.User)
}

// DropQueued implements chat.Store.
func (c *Chats) DropQueued(ctx context.Context, s chat.Scope, sessionID, id string) error {
	return c.changeQueued(ctx, `DELETE FROM queued WHERE`+own, id, sessionID, s.User)
}

// changeQueued runs a change of one queued question. A question that was taken meanwhile is not found.
func (c *Chats) changeQueued(ctx context.Context, statement string, args ...any) error {
	n, err := c.db.Autocommit(ctx, Durable).Exec(statement, args...)
	return ChangedOne(n, err, "change queue", "waiting question")
}

// TakeQueued implements chat.Store. If two processes take the same question, its idempotency key makes it one run.
// It is called after every run, and the queue is usually empty: a single query checks that before a transaction is
// opened.
func (c *Chats) TakeQueued(ctx context.Context, session chat.SessionKey) (q chat.Queued, ok bool, err error) {
	args := []any{session.ID, session.User}
	const next = selectQueued + `WHERE s.name = $1 AND s.user_id = $2 AND` + ready
	if _, err = readOne(c.db.Autocommit(ctx, 0), scanQueued, next, args...); err == nil {
		err = c.db.Write(ctx, 0, func(t Tx) error {
			if q, err = readOne(t, scanQueued, next+c.sql.Locked("q"), args...); err != nil {
				return err
			}
			_, err = t.Exec(`UPDATE queued SET taken = true WHERE id = $1`, q.ID)
			return err
		})
	}
	if errors.Is(err, sql.ErrNoRows) {
		return chat.Queued{}, false, nil
	}
	return q, err == nil, err
}

// SettleQueued implements chat.Store.
func (c *Chats) SettleQueued(ctx context.Context, id, problem string) (err error) {
	by := c.db.Autocommit(ctx, 0)
	if problem == "" {
		_, err = by.Exec(`DELETE FROM queued WHERE id = $1`, id)
	} else {
		_, err = by.Exec(`UPDATE queued SET taken = false, problem = $2 WHERE id = $1`, id, problem)
	}
	return err
}

// PutBackQueued implements chat.Store.
func (c *Chats) PutBackQueued(ctx context.Context, id string) error {
	_, err := c.db.Autocommit(ctx, 0).Exec(`UPDATE queued SET taken = false WHERE id = $1`, id)
	return err
}

// Waiting implements chat.Store.
func (c *Chats) Waiting(ctx context.Context) ([]chat.SessionKey, error) {
	list, err := readList(c.db.Autocommit(ctx, 0), func(row Row) (key chat.SessionKey, err error) {
		err = row.Scan(&key.User, &key.ID)
		return key, err
	}, `SELECT s.user_id, s.name FROM queued q JOIN sessions s ON s.n = q.session WHERE`+ready+`ORDER BY q.n
		LIMIT CAST($1 AS bigint)`, chat.MaxPage)
	return list, wrap(err, "find waiting questions")
}
