package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"footnote/chat"
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

// scanShare reads a row of selectShares.
func scanShare(row scanner) (h shared, err error) {
	var request []byte
	var created, expires, opened int64
	if err := row.Scan(
		&h.user, &h.ID, &h.RunID, &h.SessionID, &request, &created, &expires, &h.Opens, &opened,
	); err != nil {
		return h, err
	}
	h.CreatedAt, h.ExpiresAt, h.OpenedAt = timeOf(created), timeOf(expires), timeOf(opened)
	var asked chat.RunRequest
	if json.Unmarshal(request, &asked) == nil { // else the run's row is damaged
		h.Question = asked.Message
	}
	return h, nil
}

// AddShare implements chat.Store. Parallel calls may make some more than the limit.
func (c *Chats) AddShare(
	ctx context.Context, s chat.Scope, runID string, hash chat.TokenHash, until time.Time,
) (h chat.Share, err error) {
	if _, err := c.db.execStatement(
		ctx, shortTime, `DELETE FROM shares WHERE user_id = $1 AND expires_at <= now_micros()`, s.User,
	); err != nil {
		return h, fmt.Errorf("store a link: %w", err)
	}
	var held int
	if err := c.db.queryRow(
		ctx, shortTime, `SELECT count(*) FROM shares WHERE user_id = $1`, []any{s.User}, &held,
	); err != nil {
		return h, fmt.Errorf("store a link: %w", err)
	}
	if held >= chat.MaxShares {
		return h, chat.TooManyShares()
	}
	id := chat.NewID()
	n, err := c.db.execStatement(ctx, shortTime, `INSERT INTO shares (id, run, user_id, hash, created_at, expires_at)
		SELECT $1, r.n, s.user_id, $2, now_micros(), $3 FROM runs r JOIN sessions s ON s.n = r.session
		WHERE r.id = $4 AND s.user_id = $5 AND s.deleted_at = 0`, id, hash[:], until.UnixMicro(), runID, s.User)
	if err := changedOne(n, err, "store a link", "run"); err != nil {
		return h, err
	}
	list, err := queryList(ctx, c.db, shortTime, scanShare, selectShares+`AND h.id = $1`, id)
	if err == nil && len(list) == 0 {
		err = chat.NoSuch("run") // it was deleted just now
	}
	if err != nil {
		return h, fmt.Errorf("store a link: %w", err)
	}
	return list[0].Share, nil
}

// Shares implements chat.Store.
func (c *Chats) Shares(ctx context.Context, s chat.Scope, now time.Time) ([]chat.Share, error) {
	list, err := queryList(ctx, c.db, shortTime, scanShare, selectShares+`AND h.user_id = $1 AND h.expires_at > $2
		ORDER BY h.n DESC LIMIT $3`, s.User, now.UnixMicro(), chat.MaxShares)
	if err != nil {
		return nil, fmt.Errorf("list links: %w", err)
	}
	shares := make([]chat.Share, len(list))
	for i, h := range list {
		shares[i] = h.Share
	}
	return shares, nil
}

// DropShare implements chat.Store.
func (c *Chats) DropShare(ctx context.Context, s chat.Scope, id string) error {
	n, err := c.db.execStatement(ctx, shortTime, `DELETE FROM shares WHERE id = $1 AND user_id = $2`, id, s.User)
	return changedOne(n, err, "end a link", "link")
}

// OpenShare implements chat.Store.
func (c *Chats) OpenShare(
	ctx context.Context, hash chat.TokenHash, now time.Time,
) (user string, h chat.Share, err error) {
	list, err := queryList(ctx, c.db, shortTime, scanShare,
		selectShares+`AND h.hash = $1 AND h.expires_at > $2`, hash[:], now.UnixMicro())
	if err != nil {
		return "", h, fmt.Errorf("open a link: %w", err)
	}
	if len(list) == 0 {
		return "", h, chat.NoSuch("link")
	}
	if _, err := c.db.execStatement(ctx, shortTime,
		`UPDATE shares SET opens = opens + 1, opened_at = greatest(opened_at, $1) WHERE hash = $2`,
		now.UnixMicro(), hash[:]); err != nil {
		return "", h, fmt.Errorf("open a link: %w", err)
	}
	h = list[0].Share
	h.Opens, h.OpenedAt = h.Opens+1, timeOf(now.UnixMicro())
	return list[0].user, h, nil
}
