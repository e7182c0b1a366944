package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"footnote/chat"
)

const selectStanding = `SELECT id, user, version, due_at, body FROM standing `

// scanStanding reads all rows of selectStanding and closes them.
func scanStanding(rows *sql.Rows) ([]chat.Standing, error) {
	defer rows.Close()
	var list []chat.Standing
	for rows.Next() {
		var id, user string
		var version, due int64
		var body []byte
		if err := rows.Scan(&id, &user, &version, &due, &body); err != nil {
			return nil, failure(err)
		}
		var kept chat.Standing
		if err := json.Unmarshal(body, &kept); err != nil {
			return nil, fmt.Errorf("decode the kept question %s: %w: %w", id, chat.ErrDamaged, err)
		}
		kept.ID, kept.User, kept.Version, kept.DueAt = id, user, version, timeOf(due)
		list = append(list, kept)
	}
	return list, failure(rows.Err())
}

// KeepStanding implements chat.Store.
func (c *Chats) KeepStanding(ctx context.Context, s chat.Scope, kept chat.Standing) (chat.Standing, error) {
	kept.ID, kept.User, kept.CreatedAt = chat.NewID(), s.User, time.Now().UTC().Truncate(time.Microsecond)
	body, err := json.Marshal(kept)
	if err != nil {
		return kept, fmt.Errorf("keep a question: %w", err)
	}
	limits := c.db.limits.For(s.User)
	err = c.db.writeTx(ctx, true, func(tx *tx) error {
		var there int64
		if err := tx.queryRow(`SELECT count(*) FROM standing WHERE user = ?`, []any{s.User}, &there); err != nil {
			return err
		}
		if err := limits.RoomToKeep(there); err != nil {
			return err
		}
		_, err := tx.exec(`INSERT INTO standing VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, kept.ID, kept.User,
			toMicros(kept.CreatedAt), kept.Paused, kept.Unseen(), kept.Version, toMicros(kept.DueAt), string(body))
		return err
	})
	return kept, err
}

// Standing implements chat.Store.
func (c *Chats) Standing(ctx context.Context, s chat.Scope, id string) (kept chat.Standing, err error) {
	rows, err := c.db.queryRows(ctx, selectStanding+`WHERE id = ? AND user = ?`, id, s.User)
	if err != nil {
		return kept, fmt.Errorf("read a kept question: %w", err)
	}
	list, err := scanStanding(rows)
	switch {
	case err != nil:
		return kept, err
	case len(list) == 0:
		return kept, chat.NoSuch("question")
	}
	return list[0], nil
}

// AllStanding implements chat.Store.
func (c *Chats) AllStanding(ctx context.Context, s chat.Scope) ([]chat.Standing, error) {
	rows, err := c.db.queryRows(ctx, selectStanding+`WHERE user = ? ORDER BY created_at DESC, id`, s.User)
	if err != nil {
		return nil, fmt.Errorf("list kept questions: %w", err)
	}
	return scanStanding(rows)
}

// UnseenStanding implements chat.Store.
func (c *Chats) UnseenStanding(ctx context.Context, s chat.Scope) (n int, err error) {
	err = c.db.queryRow(ctx, `SELECT count(*) FROM standing WHERE user = ? AND unseen = 1`, []any{s.User}, &n)
	return n, err
}

// ChangeStanding implements chat.Store.
func (c *Chats) ChangeStanding(
	ctx context.Context, s chat.Scope, id string, change func(*chat.Standing) error,
) (kept chat.Standing, err error) {
	err = c.db.writeTx(ctx, true, func(tx *tx) error {
		rows, err := tx.query(selectStanding+`WHERE id = ? AND user = ?`, id, s.User)
		if err != nil {
			return err
		}
		list, err := scanStanding(rows)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return chat.NoSuch("question")
		}
		kept = list[0]
		newest := kept.NewestChange()
		if err := change(&kept); err != nil {
			return err
		}
		body, err := json.Marshal(kept)
		if err != nil {
			return fmt.Errorf("change a kept question: %w", err)
		}
		_, err = tx.exec(
			`UPDATE standing SET paused = ?, unseen = ?, version = ?, due_at = ?, body = ? WHERE id = ?`,
			kept.Paused, kept.Unseen(), kept.Version, toMicros(kept.DueAt), string(body), id,
		)
		if err == nil && kept.NewestChange() != newest && kept.NewestChange() != "" {
			err = oweNotice(tx, kept)
		}
		return err
	})
	return kept, err
}

// DropStanding implements chat.Store.
func (c *Chats) DropStanding(ctx context.Context, s chat.Scope, id string) error {
	return c.db.writeTx(ctx, true, func(tx *tx) error {
		n, err := tx.exec(`DELETE FROM standing WHERE id = ? AND user = ?`, id, s.User)
		return changedOne(n, err, "forget a kept question", "question")
	})
}

// dueStanding are the kept questions for which there is something to do at ?1, the longest due first; ?2 is how many.
const dueStanding = ` k.paused = 0 AND (k.due_at BETWEEN 1 AND ?1 OR k.due_at = 0 AND k.version <>
	coalesce((SELECT v.version FROM corpus_versions v WHERE v.user = k.user), 0)) `

// ClaimStanding implements chat.Store.
func (c *Chats) ClaimStanding(ctx context.Context, now, until time.Time, limit int) (list []chat.Standing, err error) {
	var due bool
	if err := c.db.queryRow(
		ctx, `SELECT EXISTS (SELECT 1 FROM standing k WHERE`+dueStanding+`)`, []any{toMicros(now)}, &due,
	); err != nil || !due {
		return nil, err
	}
	err = c.db.writeTx(ctx, true, func(tx *tx) error {
		rows, err := tx.query(`SELECT k.id, k.user, k.version, k.due_at, k.body FROM standing k WHERE`+dueStanding+
			`ORDER BY k.due_at, k.id LIMIT ?2`, toMicros(now), limit)
		if err != nil {
			return err
		}
		if list, err = scanStanding(rows); err != nil {
			return err
		}
		for i := range list {
			list[i].DueAt = until
			if _, err := tx.exec(
				`UPDATE standing SET due_at = ? WHERE id = ?`, toMicros(until), list[i].ID,
			); err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}

// SetStandingFeed implements chat.Store.
func (c *Chats) SetStandingFeed(ctx context.Context, s chat.Scope, hash *chat.TokenHash) error {
	return c.db.writeTx(ctx, true, func(tx *tx) error {
		if _, err := tx.exec(`DELETE FROM standing_feeds WHERE user = ?`, s.User); err != nil || hash == nil {
			return err
		}
		_, err := tx.exec(`INSERT INTO standing_feeds VALUES (?, ?)`, s.User, hash[:])
		return err
	})
}

// StandingFeed implements chat.Store.
func (c *Chats) StandingFeed(ctx context.Context, hash chat.TokenHash) (s chat.Scope, err error) {
	err = c.db.queryRow(ctx, `SELECT user FROM standing_feeds WHERE hash = ?`, []any{hash[:]}, &s.User)
	return s, notFound(err, "find a feed", "feed")
}
