package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"footnote/chat"
)

const selectStanding = `SELECT k.id, k.user_id, k.version, k.due_at, k.body FROM standing k `

func scanStanding(row scanner) (kept chat.Standing, err error) {
	var id, user string
	var version, due int64
	var body []byte
	if err := row.Scan(&id, &user, &version, &due, &body); err != nil {
		return kept, err
	}
	if err := json.Unmarshal(body, &kept); err != nil {
		return kept, fmt.Errorf("decode the kept question %s: %w: %w", id, chat.ErrDamaged, err)
	}
	kept.ID, kept.User, kept.Version, kept.DueAt = id, user, version, timeOf(due)
	return kept, nil
}

// asInteger is a column that says yes or no.
func asInteger(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// KeepStanding implements chat.Store.
func (c *Chats) KeepStanding(ctx context.Context, s chat.Scope, kept chat.Standing) (chat.Standing, error) {
	kept.ID, kept.User, kept.CreatedAt = chat.NewID(), s.User, time.Now().UTC().Truncate(time.Microsecond)
	body, err := json.Marshal(kept)
	if err != nil {
		return kept, fmt.Errorf("keep a question: %w", err)
	}
	limits := c.db.limits.For(s.User)
	err = c.db.inTx(ctx, shortTime, func(t *tx) error {
		if err := t.lockName("standing", s.User); err != nil {
			return err
		}
		var there int64
		if err := t.queryRow(`SELECT count(*) FROM standing WHERE user_id = $1`, []any{s.User}, &there); err != nil {
			return err
		}
		if err := limits.RoomToKeep(there); err != nil {
			return err
		}
		_, err := t.exec(`INSERT INTO standing VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, kept.ID, kept.User,
			toMicros(kept.CreatedAt), asInteger(kept.Paused), asInteger(kept.Unseen()), kept.Version,
			toMicros(kept.DueAt), string(body))
		return err
	})
	return kept, err
}

// Standing implements chat.Store.
func (c *Chats) Standing(ctx context.Context, s chat.Scope, id string) (kept chat.Standing, err error) {
	list, err := queryList(
		ctx, c.db, shortTime, scanStanding, selectStanding+`WHERE k.id = $1 AND k.user_id = $2`, id, s.User,
	)
	switch {
	case err != nil:
		return kept, fmt.Errorf("read a kept question: %w", err)
	case len(list) == 0:
		return kept, chat.NoSuch("question")
	}
	return list[0], nil
}

// AllStanding implements chat.Store.
func (c *Chats) AllStanding(ctx context.Context, s chat.Scope) ([]chat.Standing, error) {
	list, err := queryList(
		ctx, c.db, shortTime, scanStanding,
		selectStanding+`WHERE k.user_id = $1 ORDER BY k.created_at DESC, k.id`, s.User,
	)
	if err != nil {
		return nil, fmt.Errorf("list kept questions: %w", err)
	}
	return list, nil
}

// UnseenStanding implements chat.Store.
func (c *Chats) UnseenStanding(ctx context.Context, s chat.Scope) (n int, err error) {
	err = c.db.queryRow(
		ctx, shortTime, `SELECT count(*) FROM standing WHERE user_id = $1 AND unseen = 1`, []any{s.User}, &n,
	)
	return n, err
}

// ChangeStanding implements chat.Store.
func (c *Chats) ChangeStanding(
	ctx context.Context, s chat.Scope, id string, change func(*chat.Standing) error,
) (kept chat.Standing, err error) {
	err = c.db.inTx(ctx, shortTime, func(t *tx) error {
		list, err := rowsOf(
			t.ctx, t.pgx, scanStanding, selectStanding+`WHERE k.id = $1 AND k.user_id = $2 FOR UPDATE`,
			storableArgs([]any{id, s.User}),
		)
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
		_, err = t.exec(
			`UPDATE standing SET paused = $1, unseen = $2, version = $3, due_at = $4, body = $5 WHERE id = $6`,
			asInteger(kept.Paused), asInteger(kept.Unseen()), kept.Version, toMicros(kept.DueAt), string(body), id,
		)
		if err == nil && kept.NewestChange() != newest && kept.NewestChange() != "" {
			err = oweNotice(t, kept)
		}
		return err
	})
	return kept, err
}

// DropStanding implements chat.Store.
func (c *Chats) DropStanding(ctx context.Context, s chat.Scope, id string) error {
	n, err := c.db.execStatement(
		ctx, shortTime, `DELETE FROM standing WHERE id = $1 AND user_id = $2`, id, s.User,
	)
	return changedOne(n, err, "forget a kept question", "question")
}

// ClaimStanding implements chat.Store.
func (c *Chats) ClaimStanding(ctx context.Context, now, until time.Time, limit int) ([]chat.Standing, error) {
	list, err := queryList(ctx, c.db, shortTime, scanStanding, `UPDATE standing k SET due_at = $2 WHERE k.id IN (
		SELECT d.id FROM standing d LEFT JOIN corpus_versions v ON v.user_id = d.user_id
		WHERE d.paused = 0 AND (d.due_at BETWEEN 1 AND $1 OR d.due_at = 0 AND d.version <> coalesce(v.version, 0))
		ORDER BY d.due_at, d.id LIMIT $3 FOR UPDATE OF d SKIP LOCKED)
		RETURNING k.id, k.user_id, k.version, k.due_at, k.body`, toMicros(now), toMicros(until), limit)
	if err != nil {
		return nil, fmt.Errorf("claim kept questions: %w", err)
	}
	return list, nil
}

// SetStandingFeed implements chat.Store.
func (c *Chats) SetStandingFeed(ctx context.Context, s chat.Scope, hash *chat.TokenHash) (err error) {
	if hash == nil {
		_, err = c.db.execStatement(ctx, shortTime, `DELETE FROM standing_feeds WHERE user_id = $1`, s.User)
		return err
	}
	_, err = c.db.execStatement(ctx, shortTime, `INSERT INTO standing_feeds VALUES ($1, $2)
		ON CONFLICT (user_id) DO UPDATE SET hash = excluded.hash`, s.User, hash[:])
	return err
}

// StandingFeed implements chat.Store.
func (c *Chats) StandingFeed(ctx context.Context, hash chat.TokenHash) (s chat.Scope, err error) {
	err = c.db.queryRow(
		ctx, shortTime, `SELECT user_id FROM standing_feeds WHERE hash = $1`, []any{hash[:]}, &s.User,
	)
	return s, notFound(err, "find a feed", "feed")
}
