package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/footnote/footnote/chat"
)

const selectStanding = `SELECT d.id, d.user_id, d.version, d.due_at, d.body FROM standing d `

// scanStanding decodes a row of selectStanding. As with grids, columns take precedence over the body.
func scanStanding(row Row) (kept chat.Standing, err error) {
	var id, user string
	var version, due int64
	var body []byte
	if err := row.Scan(&id, &user, &version, &due, &body); err != nil {
		return kept, err
	}
	if err := json.Unmarshal(body, &kept); err != nil {
		return kept, fmt.Errorf("decode the monitored question %s: %w: %w", id, chat.ErrDamaged, err)
	}
	kept.ID, kept.User, kept.Version, kept.DueAt = id, user, version, TimeOf(due)
	return kept, nil
}

// AddStanding implements chat.Store.
func (c *Chats) AddStanding(ctx context.Context, s chat.Scope, kept chat.Standing) (chat.Standing, error) {
	kept.ID, kept.User, kept.CreatedAt = chat.NewID(), s.User, time.Now().UTC().Truncate(time.Microsecond)
	body, err := json.Marshal(kept)
	if err != nil {
		return kept, fmt.Errorf("store a monitored question: %w", err)
	}
	limits := c.db.LimitsOf(s.User)
	return kept, c.db.Write(ctx, Durable, func(t Tx) error {
		there, err := countOf(t, "standing", s.User)
		if err != nil {
			return err
		}
		if err := limits.CheckStandingQuota(there); err != nil {
			return err
		}
		_, err = t.Exec(`INSERT INTO standing (id, user_id, created_at, paused, unseen, version, due_at, body)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, kept.ID, kept.User, ToMicros(kept.CreatedAt),
			asInteger(kept.Paused), asInteger(kept.Unseen()), kept.Version, ToMicros(kept.DueAt), string(body))
		return err
	})
}

// Standing implements chat.Store.
func (c *Chats) Standing(ctx context.Context, s chat.Scope, id string) (chat.Standing, error) {
	kept, err := readOne(c.db.Autocommit(ctx, 0), scanStanding, selectStanding+`WHERE d.id = $1 AND d.user_id = $2`, id,
		s.User)
	return kept, NotFound(err, "read a monitored question", "question")
}

// AllStanding implements chat.Store.
func (c *Chats) AllStanding(ctx context.Context, s chat.Scope) ([]chat.Standing, error) {
	list, err := readList(c.db.Autocommit(ctx, 0), scanStanding, selectStanding+`WHERE d.user_id = $1
		ORDER BY d.created_at DESC, d.id`, s.User)
	return list, wrap(err, "list monitored questions")
}

// UnseenStanding implements chat.Store.
func (c *Chats) UnseenStanding(ctx context.Context, s chat.Scope) (n int, err error) {
	err = c.db.Autocommit(ctx, 0).One(
		`SELECT count(*) FROM standing WHERE user_id = $1 AND unseen = 1`, []any{s.User}, &n)
	return n, err
}

// ChangeStanding implements chat.Store. A new newest change queues a notice in the same transaction, so that they
// are consistent.
func (c *Chats) ChangeStanding(
	ctx context.Context, s chat.Scope, id string, change func(*chat.Standing) error,
) (kept chat.Standing, err error) {
	err = c.db.Write(ctx, Durable, func(t Tx) error {
		kept, err = readOne(t, scanStanding, selectStanding+`WHERE d.id = $1 AND d.user_id = $2`+c.sql.Locked("d"),
			id, s.User)
		if err != nil {
			return NotFound(err, "update a monitored question", "question")
		}
		newest := kept.NewestChange()
		if err := change(&kept); err != nil {
			return err
		}
		body, err := json.Marshal(kept)
		if err != nil {
			return fmt.Errorf("update a monitored question: %w", err)
		}
		_, err = t.Exec(`UPDATE standing SET paused = $1, unseen = $2, version = $3, due_at = $4, body = $5
			WHERE id = $6`, asInteger(kept.Paused), asInteger(kept.Unseen()), kept.Version, ToMicros(kept.DueAt),
			string(body), id)
		if err == nil && kept.NewestChange() != newest && kept.NewestChange() != "" {
			err = c.queueNotice(t, kept)
		}
		return err
	})
	return kept, err
}

// DropStanding implements chat.Store.
func (c *Chats) DropStanding(ctx context.Context, s chat.Scope, id string) error {
	n, err := c.db.Autocommit(ctx, Durable).Exec(`DELETE FROM standing WHERE id = $1 AND user_id = $2`, id, s.User)
	return ChangedOne(n, err, "delete a monitored question", "question")
}

// dueStanding selects the due questions. Without a scheduled time a question is due when its user's library has
// another version than at its last run. So an unchanged library costs one read and no write.
var dueStanding = claimable[chat.Standing]{
	table: "standing", rows: selectStanding,
	due: `d.paused = 0 AND (d.due_at BETWEEN 1 AND $1 OR d.due_at = 0 AND d.version <>
		coalesce((SELECT v.version FROM corpus_versions v WHERE v.user_id = d.user_id), 0))`,
	read: scanStanding, nameOf: func(kept chat.Standing) string { return kept.ID },
}

// DueStanding implements chat.Store.
func (c *Chats) DueStanding(ctx context.Context, now time.Time) ([]string, error) {
	return dueStanding.dueUsers(ctx, c, now)
}

// ClaimStanding implements chat.Store.
func (c *Chats) ClaimStanding(ctx context.Context, user string, now, until time.Time) (chat.Standing, bool, error) {
	kept, ok, err := dueStanding.claim(ctx, c, user, now, until)
	kept.DueAt = until
	return kept, ok, err
}

// SetStandingFeed implements chat.Store.
func (c *Chats) SetStandingFeed(ctx context.Context, s chat.Scope, hash *chat.TokenHash) (err error) {
	by := c.db.Autocommit(ctx, Durable)
	if hash == nil {
		_, err = by.Exec(`DELETE FROM standing_feeds WHERE user_id = $1`, s.User)
		return err
	}
	_, err = by.Exec(`INSERT INTO standing_feeds (user_id, hash) VALUES ($1, $2)
		ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash`, s.User, hash[:])
	return err
}

// StandingFeed implements chat.Store.
func (c *Chats) StandingFeed(ctx context.Context, hash chat.TokenHash) (s chat.Scope, err error) {
	err = c.db.Autocommit(ctx, 0).One(`SELECT user_id FROM standing_feeds WHERE hash = $1`, []any{hash[:]}, &s.User)
	return s, NotFound(err, "find a feed", "feed")
}

// Chats implements the part of chat.Store that both databases share. It is stateless, so several may share a
// database.
type Chats struct {
	db  Database
	sql *Dialect
}

// NewChats returns the store of sessions, runs and logs.
func NewChats(db Database, sql *Dialect) *Chats { return &Chats{db, sql} }

// asInteger converts a boolean for a column of 0 and 1.
func asInteger(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// claimable is a table, with the alias d, whose rows have scheduled work. It schedules kept questions, tables and
// webhook notices.
type claimable[T any] struct {
	table  string
	rows   string // a SELECT of them for read
	due    string // the condition for due work; $1 is the current time
	read   func(Row) (T, error)
	nameOf func(T) string
}

// dueUsers returns the users of due rows. It is read-only.
func (r claimable[T]) dueUsers(ctx context.Context, c *Chats, now time.Time) ([]string, error) {
	users, err := readList(c.db.Autocommit(ctx, 0), func(row Row) (user string, err error) {
		err = row.Scan(&user)
		return user, err
	}, `SELECT DISTINCT d.user_id FROM `+r.table+` d WHERE `+r.due, ToMicros(now))
	return users, wrap(err, "look for due "+r.table)
}

// claim claims the user's row that has been due for longest, until a time; ok is false without one. Free skips rows
// that another process is claiming, without waiting. The new due time is the claim: no caller finds the row due
// before then, and all do after it has passed without a result.
func (r claimable[T]) claim(
	ctx context.Context, c *Chats, user string, now, until time.Time,
) (v T, ok bool, err error) {
	err = c.db.Write(ctx, Durable, func(t Tx) error {
		v, err = readOne(t, r.read, r.rows+` WHERE `+r.due+` AND d.user_id = $2 ORDER BY d.due_at, d.id LIMIT 1`+
			c.sql.Free("d"), ToMicros(now), user)
		if err != nil {
			return err
		}
		_, err = t.Exec(`UPDATE `+r.table+` SET due_at = $1 WHERE id = $2`, ToMicros(until), r.nameOf(v))
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return v, false, nil
	}
	return v, err == nil, wrap(err, "claim "+r.table)
}
