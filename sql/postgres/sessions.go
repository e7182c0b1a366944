package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"footnote/chat"
	"footnote/sql/cursor"
)

const selectSession = `
	SELECT s.n, s.name, s.user_id, s.title, s.head, s.turns, s.created_at, s.updated_at,
	       EXISTS (SELECT FROM runs r WHERE r.session = s.n AND r.status = 'running')
	FROM sessions s `

// inLists leaves out conversations that hold the work on cells of tables.
const inLists = ` AND NOT starts_with(s.name, '` + chat.GridSessions + `') `

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
	found, err := queryList(
		ctx, c.db, shortTime, scanSession, selectSession+`WHERE s.name = $1 AND s.user_id = $2 AND s.deleted_at = 0`,
		id, s.User,
	)
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
	from, err := cursor.Parse(q.Cursor)
	if err != nil {
		return nil, "", err
	}
	limit := cursor.Limit(q.Limit, chat.DefaultPage, chat.MaxPage)
	found, err := queryList(ctx, c.db, shortTime, scanSession, selectSession+`
		WHERE s.user_id = $1 AND s.deleted_at = 0`+inLists+`AND (s.updated_at, s.n) < ($2, $3)
		AND ($4 = '' OR strpos(s.title_fold, $4) > 0 OR EXISTS (
			SELECT FROM runs r JOIN run_texts t ON t.run = r.n WHERE r.session = s.n
			AND strpos(t.question_fold, $4) > 0))
		ORDER BY s.updated_at DESC, s.n DESC LIMIT $5`, s.User, from.At, from.N, strings.ToLower(q.Text), limit+1)
	if err != nil {
		return nil, "", fmt.Errorf("list sessions: %w", err)
	}
	next := ""
	if len(found) > limit {
		found = found[:limit]
		next = cursor.After(found[limit-1].UpdatedAt, found[limit-1].n)
	}
	sessions := make([]chat.Session, len(found))
	for i, s := range found {
		sessions[i] = s.Session
	}
	return sessions, next, nil
}

// CountSessions implements chat.Store.
func (c *Chats) CountSessions(ctx context.Context, s chat.Scope) (n int, err error) {
	err = c.db.queryRow(
		ctx, shortTime, `SELECT count(*) FROM sessions s WHERE s.user_id = $1 AND s.deleted_at = 0`+inLists,
		[]any{s.User}, &n,
	)
	if err != nil {
		return 0, fmt.Errorf("count sessions: %w", err)
	}
	return n, nil
}

// RenameSession implements chat.Store.
func (c *Chats) RenameSession(ctx context.Context, s chat.Scope, id, title string) error {
	if err := chat.CheckTitle(title); err != nil {
		return err
	}
	return c.changeSession(ctx, "rename session", `UPDATE sessions SET title = $1, title_fold = $2 WHERE name = $3
		AND user_id = $4 AND deleted_at = 0`,
		title, strings.ToLower(title), id, s.User)
}

// SetHead implements chat.Store.
func (c *Chats) SetHead(ctx context.Context, s chat.Scope, sessionID, runID string) error {
	n, err := c.db.execStatement(ctx, shortTime, `
		WITH moved AS (UPDATE sessions SET head = r.id, turns = r.depth FROM runs r
			WHERE r.id = $1 AND r.session = sessions.n AND sessions.name = $2 AND user_id = $3 AND deleted_at = 0
			RETURNING 1)
		SELECT pg_notify($4, $5) FROM moved`, runID, sessionID, s.User, c.db.channel, c.db.writeNotice(headMoved))
	return changedOne(n, err, "set head", "session or run")
}

// DeleteSession implements chat.Store.
func (c *Chats) DeleteSession(ctx context.Context, s chat.Scope, id string) error {
	return c.changeSession(ctx, "delete session", `UPDATE sessions SET deleted_at = $1 WHERE name = $2 AND user_id = $3
		AND deleted_at = 0`,
		time.Now().UnixMicro(), id, s.User)
}

// RestoreSession implements chat.Store.
func (c *Chats) RestoreSession(ctx context.Context, s chat.Scope, id string) error {
	return c.changeSession(
		ctx, "restore session",
		`UPDATE sessions SET deleted_at = 0 WHERE name = $1 AND user_id = $2 AND deleted_at <> 0`, id, s.User,
	)
}

// changeSession runs an update that must find its session.
func (c *Chats) changeSession(ctx context.Context, op, statement string, args ...any) error {
	n, err := c.db.execStatement(ctx, shortTime, statement, args...)
	return changedOne(n, err, op, "session")
}
