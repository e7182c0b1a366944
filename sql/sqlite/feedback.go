package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"footnote/chat"
	"footnote/sql/cursor"
)

const selectFeedback = `
	SELECT f.n, r.id, s.name, t.request, f.rating, f.reason, f.comment, f.created_at, f.updated_at
	FROM feedback f JOIN runs r ON r.n = f.run JOIN sessions s ON s.n = r.session LEFT JOIN run_texts t ON t.run = r.n `

// scanFeedback reads a row of selectFeedback and returns the feedback's number with it.
func scanFeedback(scan func(...any) error) (n int64, f chat.Feedback, err error) {
	var request []byte
	var rating string
	var created, updated int64
	if err := scan(
		&n, &f.RunID, &f.SessionID, &request, &rating, &f.Reason, &f.Comment, &created, &updated,
	); err != nil {
		return 0, f, failure(err)
	}
	f.Rating, f.CreatedAt, f.UpdatedAt = chat.Rating(rating), timeOf(created), timeOf(updated)
	var asked chat.RunRequest
	if json.Unmarshal(request, &asked) == nil { // else the run's row is damaged: what was said of it still counts
		f.Question = asked.Message
	}
	return n, f, nil
}

// SetFeedback implements chat.Store.
func (c *Chats) SetFeedback(ctx context.Context, s chat.Scope, f chat.Feedback) (chat.Feedback, error) {
	if err := f.Check(); err != nil {
		return f, err
	}
	err := c.db.writeTx(ctx, true, func(tx *tx) error {
		now := time.Now().UnixMicro()
		n, err := tx.exec(`INSERT INTO feedback (run, user, rating, reason, comment, created_at, updated_at)
			SELECT r.n, s.user, ?, ?, ?, ?4, ?4 FROM runs r JOIN sessions s ON s.n = r.session WHERE r.id = ?
			AND s.user = ? AND s.deleted_at = 0
			ON CONFLICT (run, user) DO UPDATE SET rating = excluded.rating, reason = excluded.reason,
			comment = excluded.comment, updated_at = excluded.updated_at`,
			string(f.Rating), f.Reason, f.Comment, now, f.RunID, s.User)
		if err := changedOne(n, err, "store feedback", "run"); err != nil {
			return err
		}
		rows, err := tx.query(selectFeedback+`WHERE r.id = ? AND f.user = ?`, f.RunID, s.User)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if _, f, err = scanFeedback(rows.Scan); err != nil {
				return err
			}
		}
		return failure(rows.Err())
	})
	return f, err
}

// DropFeedback implements chat.Store.
func (c *Chats) DropFeedback(ctx context.Context, s chat.Scope, runID string) error {
	return c.db.writeTx(ctx, true, func(tx *tx) error {
		var run int64
		err := tx.queryRow(
			`SELECT r.n FROM runs r JOIN sessions s ON s.n = r.session WHERE r.id = ? AND s.user = ?
				AND s.deleted_at = 0`,
			[]any{runID, s.User}, &run,
		)
		if err != nil {
			return notFound(err, "withdraw feedback", "run")
		}
		_, err = tx.exec(`DELETE FROM feedback WHERE run = ? AND user = ?`, run, s.User)
		return err
	})
}

// Feedback implements chat.Store.
func (c *Chats) Feedback(ctx context.Context, s chat.Scope, q chat.FeedbackQuery) ([]chat.Feedback, string, error) {
	from, err := cursor.Parse(q.Cursor)
	if err != nil {
		return nil, "", err
	}
	limit := cursor.Limit(q.Limit, chat.DefaultPage, chat.MaxPage)
	rows, err := c.db.queryRows(ctx, selectFeedback+`
		WHERE f.user = ? AND s.user = ? AND s.deleted_at = 0 AND (f.updated_at, f.n) < (?, ?)
		AND (? = '' OR f.rating = ?) AND (? = '' OR s.name = ?)
		ORDER BY f.updated_at DESC, f.n DESC LIMIT +?`, s.User, s.User, from.At, from.N, string(q.Rating),
		string(q.Rating), q.SessionID, q.SessionID, limit+1)
	if err != nil {
		return nil, "", fmt.Errorf("list feedback: %w", err)
	}
	defer rows.Close()
	var found []chat.Feedback
	var n int64
	next := ""
	for rows.Next() {
		if len(found) == limit { // there is one more
			next = cursor.After(found[limit-1].UpdatedAt, n)
			break
		}
		var f chat.Feedback
		if n, f, err = scanFeedback(rows.Scan); err != nil {
			return nil, "", fmt.Errorf("list feedback: %w", err)
		}
		found = append(found, f)
	}
	if err := rows.Err(); err != nil {
		return nil, "", fmt.Errorf("list feedback: %w", failure(err))
	}
	return found, next, nil
}
