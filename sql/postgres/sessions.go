package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"footnote/chat"
)

const selectSession = `
	SELECT s.n, s.id, s.user_id, s.title, s.head, s.turns, s.created_at, s.updated_at,
	       EXISTS (SELECT FROM runs r WHERE r.session = s.n AND r.status = 'running')
	FROM sessions s `

// listed is a session with its number.
type listed struct {
	n int64
	chat.Session
}

func scanSession(row scanner) (s listed, err error) {
	var created, updated int64
	err = row.Scan(&s.n, &s.ID, &s.User, &s.Title, &s.HeadID, &s.TurnCount, &created, &updated, &s.Running)
	s.CreatedAt, s.UpdatedAt = timeOf(created), timeOf(updated)
	return s, err
}

// Session implements chat.Store.
func (c *Chats) Session(ctx context.Context, s chat.Scope, id string) (chat.Session, error) {
	found, err := query(ctx, c.db, shortTime, scanSession, selectSession+`WHERE s.id = $1 AND s.user_id = $2 AND s.deleted_at = 0`, id, s.User)
	if err == nil && len(found) == 0 {
		err = pgx.ErrNoRows
	}
	if err != nil {
		return chat.Session{}, notFound(err, "read session", "session")
	}
	return found[0].Session, nil
}

// Sessions implements chat.Store.
func (c *Chats) Sessions(ctx context.Context, s chat.Scope, q chat.SessionQuery) ([]chat.Session, string, error) {
	at, n, err := parseCursor(q.Cursor)
	if err != nil {
		return nil, "", err
	}
	limit := pageSize(q.Limit)
	found, err := query(ctx, c.db, shortTime, scanSession, selectSession+`
		WHERE s.user_id = $1 AND s.deleted_at = 0 AND (s.updated_at, s.n) < ($2, $3) AND ($4 = '' OR strpos(s.title_fold, $4) > 0 OR EXISTS (
			SELECT FROM runs r JOIN run_texts t ON t.run = r.n WHERE r.session = s.n AND strpos(t.question_fold, $4) > 0))
		ORDER BY s.updated_at DESC, s.n DESC LIMIT $5`, s.User, at, n, strings.ToLower(q.Text), limit+1)
	if err != nil {
		return nil, "", fmt.Errorf("list sessions: %w", err)
	}
	next := ""
	if len(found) > limit {
		found = found[:limit]
		next = cursor(found[limit-1])
	}
	sessions := make([]chat.Session, len(found))
	for i, s := range found {
		sessions[i] = s.Session
	}
	return sessions, next, nil
}

// cursor names the place behind a session: when it was last active, and its number, which sorts those of one instant.
func cursor(s listed) string {
	return strconv.FormatInt(micros(s.UpdatedAt), 36) + "-" + strconv.FormatInt(s.n, 36)
}

func parseCursor(s string) (at, n int64, err error) {
	if s == "" {
		return 1<<63 - 1, 0, nil
	}
	first, second, _ := strings.Cut(s, "-")
	at, errAt := strconv.ParseInt(first, 36, 64)
	n, errN := strconv.ParseInt(second, 36, 64)
	if errAt != nil || errN != nil {
		return 0, 0, &chat.Error{Code: chat.CodeInvalid, Message: "This page's cursor is not valid. Start again from the first page."}
	}
	return at, n, nil
}

// RenameSession implements chat.Store.
func (c *Chats) RenameSession(ctx context.Context, s chat.Scope, id, title string) error {
	if n := utf8.RuneCountInString(title); n < 1 || n > chat.MaxTitleRunes {
		return &chat.Error{Code: chat.CodeInvalid, Message: fmt.Sprintf("A title has 1 to %d characters.", chat.MaxTitleRunes)}
	}
	return c.changeSession(ctx, "rename session", `UPDATE sessions SET title = $1, title_fold = $2 WHERE id = $3 AND user_id = $4 AND deleted_at = 0`,
		title, strings.ToLower(title), id, s.User)
}

// SetHead implements chat.Store.
func (c *Chats) SetHead(ctx context.Context, s chat.Scope, sessionID, runID string) error {
	n, err := c.db.exec(ctx, shortTime, `UPDATE sessions SET head = r.id, turns = r.depth FROM runs r
		WHERE r.id = $1 AND r.session = sessions.n AND sessions.id = $2 AND user_id = $3 AND deleted_at = 0`, runID, sessionID, s.User)
	return changedOne(n, err, "set head", "session or run")
}

// DeleteSession implements chat.Store.
func (c *Chats) DeleteSession(ctx context.Context, s chat.Scope, id string) error {
	return c.changeSession(ctx, "delete session", `UPDATE sessions SET deleted_at = $1 WHERE id = $2 AND user_id = $3 AND deleted_at = 0`,
		time.Now().UnixMicro(), id, s.User)
}

// RestoreSession implements chat.Store.
func (c *Chats) RestoreSession(ctx context.Context, s chat.Scope, id string) error {
	return c.changeSession(ctx, "restore session", `UPDATE sessions SET deleted_at = 0 WHERE id = $1 AND user_id = $2 AND deleted_at <> 0`, id, s.User)
}

// changeSession runs an update that must find its session.
func (c *Chats) changeSession(ctx context.Context, op, statement string, args ...any) error {
	n, err := c.db.exec(ctx, shortTime, statement, args...)
	return changedOne(n, err, op, "session")
}
