package sqlite

import (
	"context"
	"fmt"
	"strings"
	"time"

	"footnote/chat"
	"footnote/sql/cursor"
)

const selectSession = `
	SELECT s.n, s.name, s.user, s.title, coalesce(h.id, ''), coalesce(h.depth, 0), s.created_at, s.updated_at,
	       EXISTS (SELECT 1 FROM runs r WHERE r.session = s.n AND r.status = 'running')
	FROM sessions s LEFT JOIN runs h ON h.n = s.head `

// inLists leaves out conversations that hold the work on cells of tables.
const inLists = ` AND instr(s.name, '` + chat.GridSessions + `') <> 1 `

// scanSession reads a row of selectSession and returns the session's number with it.
func scanSession(scan func(...any) error) (n int64, s chat.Session, err error) {
	var created, updated int64
	if err := scan(&n, &s.ID, &s.User, &s.Title, &s.HeadID, &s.TurnCount, &created, &updated, &s.Running); err != nil {
		return 0, chat.Session{}, failure(err)
	}
	s.CreatedAt, s.UpdatedAt = timeOf(created), timeOf(updated)
	return n, s, nil
}

// Session implements chat.Store.
func (c *Chats) Session(ctx context.Context, s chat.Scope, id string) (chat.Session, error) {
	stmt, err := c.db.prepareStatement(ctx, selectSession+`WHERE s.name = ? AND s.user = ? AND s.deleted_at = 0`)
	if err != nil {
		return chat.Session{}, fmt.Errorf("read session: %w", err)
	}
	_, session, err := scanSession(stmt.QueryRowContext(ctx, id, s.User).Scan)
	return session, notFound(err, "read session", "session")
}

// Sessions implements chat.Store.
func (c *Chats) Sessions(ctx context.Context, s chat.Scope, q chat.SessionQuery) ([]chat.Session, string, error) {
	from, err := cursor.Parse(q.Cursor)
	if err != nil {
		return nil, "", err
	}
	limit, text := cursor.Limit(q.Limit, chat.DefaultPage, chat.MaxPage), strings.ToLower(q.Text)
	rows, err := c.db.queryRows(ctx, selectSession+`
		WHERE s.user = ? AND s.deleted_at = 0`+inLists+`AND (s.updated_at, s.n) < (?, ?)
			AND (? = '' OR instr(s.title_fold, ?)
			OR EXISTS (
			SELECT 1 FROM runs r JOIN run_texts t ON t.run = r.n WHERE r.session = s.n AND instr(t.question_fold, ?)))
		ORDER BY s.updated_at DESC, s.n DESC LIMIT +?`, s.User, from.At, from.N, text, text, text, limit+1)
	if err != nil {
		return nil, "", fmt.Errorf("list sessions: %w", err)
	}
	defer rows.Close()
	var sessions []chat.Session
	var n int64
	next := ""
	for rows.Next() {
		if len(sessions) == limit { // there is one more
			next = cursor.After(sessions[limit-1].UpdatedAt, n)
			break
		}
		var session chat.Session
		if n, session, err = scanSession(rows.Scan); err != nil {
			return nil, "", fmt.Errorf("list sessions: %w", err)
		}
		sessions = append(sessions, session)
	}
	if err := rows.Err(); err != nil {
		return nil, "", fmt.Errorf("list sessions: %w", failure(err))
	}
	return sessions, next, nil
}

// CountSessions implements chat.Store.
func (c *Chats) CountSessions(ctx context.Context, s chat.Scope) (n int, err error) {
	err = c.db.queryRow(
		ctx, `SELECT count(*) FROM sessions s WHERE s.user = ? AND s.deleted_at = 0`+inLists, []any{s.User}, &n,
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
	return c.changeSession(ctx, "rename session", `UPDATE sessions SET title = ?, title_fold = ? WHERE name = ?
		AND user = ? AND deleted_at = 0`,
		title, strings.ToLower(title), id, s.User)
}

// SetHead implements chat.Store.
func (c *Chats) SetHead(ctx context.Context, s chat.Scope, sessionID, runID string) error {
	return c.db.writeTx(ctx, false, func(tx *tx) error {
		n, err := tx.exec(`UPDATE sessions SET head = r.n FROM (SELECT n, session FROM runs WHERE id = ?) r
			WHERE sessions.n = r.session AND sessions.name = ? AND user = ? AND deleted_at = 0`, runID,
			sessionID, s.User)
		return changedOne(n, err, "set head", "session or run")
	})
}

// DeleteSession implements chat.Store.
func (c *Chats) DeleteSession(ctx context.Context, s chat.Scope, id string) error {
	return c.changeSession(ctx, "delete session", `UPDATE sessions SET deleted_at = ? WHERE name = ? AND user = ?
		AND deleted_at = 0`,
		time.Now().UnixMicro(), id, s.User)
}

// RestoreSession implements chat.Store.
func (c *Chats) RestoreSession(ctx context.Context, s chat.Scope, id string) error {
	return c.changeSession(
		ctx, "restore session", `UPDATE sessions SET deleted_at = 0 WHERE name = ? AND user = ? AND deleted_at <> 0`,
		id, s.User,
	)
}

// changeSession runs an update that must find its session.
func (c *Chats) changeSession(ctx context.Context, op, query string, args ...any) error {
	return c.db.writeTx(ctx, false, func(tx *tx) error {
		n, err := tx.exec(query, args...)
		return changedOne(n, err, op, "session")
	})
}
