package store

import (
	"context"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/cursor"
)

// selectFeedback uses LEFT JOIN to keep feedback about a damaged run without texts.
const selectFeedback = `
	SELECT f.n, r.id, s.name, t.request, f.rating, f.reason, f.comment, f.created_at, f.updated_at
	FROM feedback f JOIN runs r ON r.n = f.run JOIN sessions s ON s.n = r.session LEFT JOIN run_texts t ON t.run = r.n `

// scanFeedback decodes a row of selectFeedback. An invalid request leaves the question empty.
func scanFeedback(row Row) (found numbered[chat.Feedback], err error) {
	var request []byte
	var created, updated int64
	f := &found.entry
	err = row.Scan(
		&found.n, &f.RunID, &f.SessionID, &request, (*string)(&f.Rating), &f.Reason, &f.Comment, &created, &updated,
	)
	f.CreatedAt, f.UpdatedAt, f.Question = TimeOf(created), TimeOf(updated), questionOf(request)
	return found, err
}

// SetFeedback implements chat.Store. MATERIALIZED reads the clock once, so that both times of new feedback are
// equal. The insert selects the run by its owner, so it changes no row for another user's run.
func (c *Chats) SetFeedback(ctx context.Context, s chat.Scope, f chat.Feedback) (chat.Feedback, error) {
	if err := f.Check(); err != nil {
		return f, err
	}
	by := c.db.Autocommit(ctx, Durable)
	n, err := by.Exec(`WITH clock AS MATERIALIZED (SELECT now_micros() AS now)
		INSERT INTO feedback (run, user_id, rating, reason, comment, created_at, updated_at)
		SELECT r.n, s.user_id, $1, $2, $3, now, now FROM clock, runs r JOIN sessions s ON s.n = r.session
		WHERE r.id = $4 AND s.user_id = $5 AND s.deleted_at = 0
		ON CONFLICT (run, user_id) DO UPDATE SET rating = excluded.rating, reason = excluded.reason,
		comment = excluded.comment, updated_at = excluded.updated_at`,
		string(f.Rating), f.Reason, f.Comment, f.RunID, s.User)
	if err := ChangedOne(n, err, "store feedback", "run"); err != nil {
		return f, err
	}
	found, err := readList(by, scanFeedback, selectFeedback+`WHERE r.id = $1 AND f.user_id = $2`, f.RunID, s.User)
	if len(found) == 1 { // else it was withdrawn meanwhile
		f = found[0].entry
	}
	return f, wrap(err, "store feedback")
}

// DropFeedback implements chat.Store.
func (c *Chats) DropFeedback(ctx context.Context, s chat.Scope, runID string) error {
	run, err := c.RunNumber(ctx, s, runID)
	if err != nil {
		return err
	}
	_, err = c.db.Autocommit(ctx, Durable).Exec(`DELETE FROM feedback WHERE run = $1 AND user_id = $2`, run, s.User)
	return wrap(err, "withdraw feedback")
}

// Feedback implements chat.Store. The index feedback_by_age has this order, so a page reads its own rows only.
func (c *Chats) Feedback(ctx context.Context, s chat.Scope, q chat.FeedbackQuery) ([]chat.Feedback, string, error) {
	from, err := cursor.Parse(q.Cursor)
	if err != nil {
		return nil, "", err
	}
	limit := cursor.Limit(q.Limit, chat.DefaultPage, chat.MaxPage)
	found, err := readList(c.db.Autocommit(ctx, 0), scanFeedback, selectFeedback+`
		WHERE f.user_id = $1 AND s.user_id = $1 AND s.deleted_at = 0 AND (f.updated_at, f.n) < ($2, $3)
		AND ($4 = '' OR f.rating = $4) AND ($5 = '' OR s.name = $5)
		ORDER BY f.updated_at DESC, f.n DESC LIMIT CAST($6 AS bigint)`,
		s.User, from.At, from.N, string(q.Rating), q.SessionID, limit+1)
	if err != nil {
		return nil, "", wrap(err, "list feedback")
	}
	page, next := pageOf(found, limit, func(f chat.Feedback) time.Time { return f.UpdatedAt })
	return page, next, nil
}
