package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"footnote/chat"
)

const selectShares = `
	SELECT h.user, h.id, r.id, s.name, t.request, h.created_at, h.expires_at, h.opens, h.opened_at
	FROM shares h JOIN runs r ON r.n = h.run JOIN sessions s ON s.n = r.session LEFT JOIN run_texts t ON t.run = r.n
	WHERE s.user = h.user AND s.deleted_at = 0 `

// scanShare reads a row of selectShares.
func scanShare(scan func(...any) error) (user string, h chat.Share, err error) {
	var request []byte
	var created, expires, opened int64
	if err := scan(
		&user, &h.ID, &h.RunID, &h.SessionID, &request, &created, &expires, &h.Opens, &opened,
	); err != nil {
		return "", h, err
	}
	h.CreatedAt, h.ExpiresAt, h.OpenedAt = timeOf(created), timeOf(expires), timeOf(opened)
	var asked chat.RunRequest
	if json.Unmarshal(request, &asked) == nil { // else the run's row is damaged
		h.Question = asked.Message
	}
	return user, h, nil
}

// AddShare implements chat.Store.
func (c *Chats) AddShare(
	ctx context.Context, s chat.Scope, runID string, hash chat.TokenHash, until time.Time,
) (h chat.Share, err error) {
	err = c.db.writeTx(ctx, true, func(tx *tx) error {
		now, id := time.Now().UnixMicro(), chat.NewID()
		if _, err := tx.exec(`DELETE FROM shares WHERE user = ? AND expires_at <= ?`, s.User, now); err != nil {
			return err
		}
		var held int
		if err := tx.queryRow(`SELECT count(*) FROM shares WHERE user = ?`, []any{s.User}, &held); err != nil {
			return err
		}
		if held >= chat.MaxShares {
			return chat.TooManyShares()
		}
		n, err := tx.exec(`INSERT INTO shares (id, run, user, hash, created_at, expires_at)
			SELECT ?, r.n, s.user, ?, ?, ? FROM runs r JOIN sessions s ON s.n = r.session
			WHERE r.id = ? AND s.user = ? AND s.deleted_at = 0`, id, hash[:], now, toMicros(until), runID, s.User)
		if err := changedOne(n, err, "store a link", "run"); err != nil {
			return err
		}
		_, h, err = scanShare(func(into ...any) error {
			return tx.queryRow(selectShares+`AND h.id = ?`, []any{id}, into...)
		})
		return err
	})
	return h, err
}

// Shares implements chat.Store.
func (c *Chats) Shares(ctx context.Context, s chat.Scope, now time.Time) (list []chat.Share, err error) {
	rows, err := c.db.queryRows(ctx, selectShares+`AND h.user = ? AND h.expires_at > ? ORDER BY h.n DESC LIMIT ?`,
		s.User, now.UnixMicro(), chat.MaxShares)
	if err != nil {
		return nil, fmt.Errorf("list links: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		_, h, err := scanShare(rows.Scan)
		if err != nil {
			return nil, fmt.Errorf("list links: %w", failure(err))
		}
		list = append(list, h)
	}
	return list, failure(rows.Err())
}

// DropShare implements chat.Store.
func (c *Chats) DropShare(ctx context.Context, s chat.Scope, id string) error {
	return c.db.writeTx(ctx, true, func(tx *tx) error {
		n, err := tx.exec(`DELETE FROM shares WHERE id = ? AND user = ?`, id, s.User)
		return changedOne(n, err, "end a link", "link")
	})
}

// OpenShare implements chat.Store.
func (c *Chats) OpenShare(
	ctx context.Context, hash chat.TokenHash, now time.Time,
) (user string, h chat.Share, err error) {
	err = c.db.writeTx(ctx, false, func(tx *tx) error {
		user, h, err = scanShare(func(into ...any) error {
			return tx.queryRow(
				selectShares+`AND h.hash = ? AND h.expires_at > ?`,
				[]any{hash[:], now.UnixMicro()},
				into...)
		})
		if err != nil {
			return notFound(err, "open a link", "link")
		}
		h.Opens, h.OpenedAt = h.Opens+1, timeOf(now.UnixMicro())
		_, err := tx.exec(`UPDATE shares SET opens = opens + 1, opened_at = ? WHERE hash = ?`, now.UnixMicro(), hash[:])
		return err
	})
	return user, h, err
}
