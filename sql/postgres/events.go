package postgres

import (
	"context"
	"encoding/json"
	"fmt"

	"footnote/chat"
	"footnote/sql/cursor"
)

// runNumber returns the number of a run in scope.
func (c *Chats) runNumber(ctx context.Context, s chat.Scope, runID string) (n int64, err error) {
	err = c.db.queryRow(ctx, shortTime, `SELECT r.n FROM runs r JOIN sessions s ON s.n = r.session WHERE r.id = $1
		AND s.user_id = $2 AND s.deleted_at = 0`,
		[]any{runID, s.User}, &n)
	return n, notFound(err, "find run", "run")
}

// Events implements chat.Store.
func (c *Chats) Events(ctx context.Context, s chat.Scope, runID string, after int64, limit int) ([]chat.Event, error) {
	read := func(row scanner) (chat.Event, error) {
		var seq, at int64
		var kind string
		var body []byte
		err := row.Scan(&seq, &at, &kind, &body)
		return chat.Event{RunID: runID, Seq: seq, At: timeOf(at), Type: chat.Kind(kind), Body: body}, err
	}
	events, err := queryList(ctx, c.db, shortTime, read, `SELECT e.seq, e.at, e.type, e.body
		FROM runs r JOIN sessions s ON s.n = r.session JOIN events e ON e.run = r.n
		WHERE r.id = $1 AND s.user_id = $2 AND s.deleted_at = 0 AND e.seq > $3 ORDER BY e.seq LIMIT $4`,
		runID, s.User, min(max(after, 0), maxSeq), cursor.Limit(limit, chat.DefaultPage, chat.MaxPage))
	if err == nil && len(events) == 0 {
		_, err = c.runNumber(ctx, s, runID) // not there, or nothing newer
	}
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	return events, nil
}

// StepOutput implements chat.Store.
func (c *Chats) StepOutput(ctx context.Context, s chat.Scope, runID, callID string) (json.RawMessage, error) {
	run, err := c.runNumber(ctx, s, runID)
	if err != nil {
		return nil, err
	}
	var body []byte
	err = c.db.queryRow(
		ctx, shortTime, `SELECT body FROM step_outputs WHERE run = $1 AND call_id = $2`, []any{run, callID}, &body,
	)
	return body, notFound(err, "read step output", "step")
}
