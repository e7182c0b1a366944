package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/footnote/footnote/chat"
)

const selectShares = `
	SELECT h.user_id, h.id, r.id, s.name, t.request, h.created_at, h.expires_at, h.opens, h.opened_at
	FROM shares h JOIN runs r ON r.n = h.run JOIN sessions s ON s.n = r.session LEFT JOIN run_texts t ON t.run = r.n
	WHERE s.user_id = h.user_id AND s.deleted_at = 0 `

// shared is a link with its user.
type shared struct {
	user string
	chat.Share
}

// scanShare decodes a row of selectShares. The columns exclude the hash, which is never shown again.
func scanShare(row Row) (h shared, err error) {
	var request []byte
	var created, expires, opened int64
	if err := row.Scan(
		&h.user, &h.ID, &h.RunID, &h.SessionID, &request, &created, &expires, &h.Opens, &opened,
	); err != nil {
		return h, err
	}
	h.CreatedAt, h.ExpiresAt, h.OpenedAt = TimeOf(created), TimeOf(expires), TimeOf(opened)
	h.Question = questionOf(request)
	return h, nil
}

// questionOf returns the question of a stored request; empty for a damaged one.
func questionOf(request []byte) string {
	var asked chat.RunRequest
	if json.Unmarshal(request, &asked) != nil {
		return ""
	}
	return asked.Message
}

// AddShare implements chat.Store. It deletes the user's expired links, so that they don't count; otherwise they stay
// until their session is purged. Concurrent calls may exceed the limit slightly. The limit only keeps the list
// readable, so it needs no lock.
func (c *Chats) AddShare(
	ctx context.Context, s chat.Scope, runID string, hash chat.TokenHash, until time.Time,
) (h chat.Share, err error) {
	var added shared
	err = c.db.Write(ctx, Durable, func(t Tx) error {
		if _, err := t.Exec(
			`DELETE FROM shares WHERE user_id = $1 AND expires_at <= now_micros()`, s.User,
		); err != nil {
			return wrap(err, "store a link")
		}
		var held int
		if err := t.One(`SELECT count(*) FROM shares WHERE user_id = $1`, []any{s.User}, &held); err != nil {
			return wrap(err, "store a link")
		}
		if held >= chat.MaxShares {
			return chat.TooManyShares()
		}
		id := chat.NewID()
		n, err := t.Exec(`INSERT INTO shares (id, run, user_id, hash, created_at, expires_at)
			SELECT $1, r.n, s.user_id, $2, now_micros(), $3 FROM runs r JOIN sessions s ON s.n = r.session
			WHERE r.id = $4 AND s.user_id = $5 AND s.deleted_at = 0`, id, hash[:], until.UnixMicro(), runID, s.User)
		if err := ChangedOne(n, err, "store a link", "run"); err != nil {
			return err
		}
		added, err = readOne(t, scanShare, selectShares+`AND h.id = $1`, id)
		return NotFound(err, "store a link", "run") // it was deleted meanwhile
	})
	return added.Share, err
}

// Shares implements chat.Store.
func (c *Chats) Shares(ctx context.Context, s chat.Scope, now time.Time) ([]chat.Share, error) {
	list, err := readList(c.db.Autocommit(ctx, 0), scanShare, selectShares+`AND h.user_id = $1 AND h.expires_at > $2
		ORDER BY h.n DESC LIMIT CAST($3 AS bigint)`, s.User, now.UnixMicro(), chat.MaxShares)
	shares := make([]chat.Share, len(list))
	for i, h := range list {
		shares[i] = h.Share
	}
	return shares, wrap(err, "list links")
}

// DropShare implements chat.Store.
func (c *Chats) DropShare(ctx context.Context, s chat.Scope, id string) error {
	n, err := c.db.Autocommit(ctx, Durable).Exec(`DELETE FROM shares WHERE id = $1 AND user_id = $2`, id, s.User)
	return ChangedOne(n, err, "end a link", "link")
}

// OpenShare implements chat.Store. Counting is a separate statement: a lost count is harmless. The later of two
// times is kept.
func (c *Chats) OpenShare(
	ctx context.Context, hash chat.TokenHash, now time.Time,
) (user string, h chat.Share, err error) {
	by := c.db.Autocommit(ctx, 0)
	opened, err := readOne(by, scanShare, selectShares+`AND h.hash = $1 AND h.expires_at > $2`, hash[:],
		now.UnixMicro())
	if err != nil {
		return "", h, NotFound(err, "open a link", "link")
	}
	if _, err := by.Exec(`UPDATE shares SET opens = opens + 1,
		opened_at = CASE WHEN opened_at < $1 THEN $1 ELSE opened_at END WHERE hash = $2`,
		now.UnixMicro(), hash[:]); err != nil {
		return "", h, wrap(err, "open a link")
	}
	h = opened.Share
	h.Opens, h.OpenedAt = h.Opens+1, TimeOf(now.UnixMicro())
	return opened.user, h, nil
}
