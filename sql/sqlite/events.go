package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"footnote/chat"
	"footnote/sql/cursor"
)

// An event's id is its run's number shifted by seqBits, plus its own number in the run.
const (
	seqBits = 20
	maxSeq  = 1<<seqBits - 1
)

// Append implements chat.Store.
func (c *Chats) Append(ctx context.Context, owner, runID string, payloads ...chat.Payload) ([]chat.Event, error) {
	events := make([]chat.Event, len(payloads))
	durable := false
	for i, p := range payloads {
		switch p := p.(type) {
		case chat.Step:
			durable = durable || p.Begins()
		case chat.Reset:
			return nil, &chat.Error{Code: chat.CodeInvalid, Message: "A reset is not part of a run's log."}
		case chat.RunDone:
			if i != len(payloads)-1 {
				return nil, &chat.Error{Code: chat.CodeInvalid, Message: "Nothing can follow the end of a run."}
			}
			durable = true
		case chat.Answer:
			durable = true
		}
		var err error
		if events[i], err = chat.NewEvent(runID, p); err != nil {
			return nil, fmt.Errorf("append: %w", err)
		}
	}
	if err := c.db.writeTx(
		ctx, durable, func(tx *tx) error { return appendEvents(tx, owner, runID, events, payloads) },
	); err != nil {
		return nil, fmt.Errorf("append: %w", err)
	}
	return events, nil
}

func appendEvents(tx *tx, owner, runID string, events []chat.Event, payloads []chat.Payload) error {
	var run, last int64
	var status, holder string
	err := tx.queryRow( // 20 is seqBits, 1048575 is maxSeq
		`SELECT n, status, owner, coalesce((SELECT max(id) FROM events WHERE id BETWEEN n << 20
			AND n << 20 | 1048575), n << 20)
		FROM runs WHERE id = ?`, []any{runID}, &run, &status, &holder, &last)
	switch {
	case err != nil:
		return notFound(err, "find run", "run")
	case chat.RunStatus(status) != chat.RunRunning:
		return &chat.Error{Code: chat.CodeConflict, Message: "This run is over. Ask again to start a new one."}
	case holder != owner:
		return &chat.Error{
			Code: chat.CodeConflict, Message: "Another server works on this run now. Reload to follow it.",
		}
	case last&maxSeq+int64(len(events)) > maxSeq:
		return &chat.Error{Code: chat.CodeTooLarge, Message: "This run has too many events. Ask a smaller question."}
	}
	now := time.Now().UnixMicro()
	for i := range events {
		e := &events[i]
		last++
		e.Seq, e.At = last&maxSeq, timeOf(now)
		if _, err := tx.exec(
			`INSERT INTO events (id, at, type, body) VALUES (?, ?, ?, ?)`, last, now, string(e.Type), []byte(e.Body),
		); err != nil {
			return err
		}
		if err := applyPayload(tx, run, now, payloads[i]); err != nil {
			return err
		}
	}
	return nil
}

// applyPayload stores what an event changes outside the log.
func applyPayload(tx *tx, run, now int64, p chat.Payload) error {
	switch p := p.(type) {
	case chat.Step:
		if !p.Truncated || len(p.Full) == 0 {
			return nil
		}
		_, err := tx.exec(`INSERT INTO step_outputs (run, call_id, body) VALUES (?, ?, ?) ON CONFLICT DO UPDATE
			SET body = excluded.body`,
			run, p.CallID, []byte(p.Full))
		return err
	case chat.Answer:
		if _, err := tx.exec(`UPDATE run_texts SET answer = ? WHERE run = ?`, p.Markdown, run); err != nil {
			return err
		}
		_, err := tx.exec(`UPDATE runs SET tokens_in = ?, tokens_out = ? WHERE n = ?`, p.Tokens.In, p.Tokens.Out, run)
		return err
	case chat.RunDone:
		if _, err := tx.exec(
			`UPDATE runs SET status = ?, ended_at = ? WHERE n = ?`, string(p.Status), now, run,
		); err != nil {
			return err
		}
		if p.Tokens != nil {
			if _, err := tx.exec(
				`UPDATE runs SET tokens_in = ?, tokens_out = ? WHERE n = ?`, p.Tokens.In, p.Tokens.Out, run,
			); err != nil {
				return err
			}
		}
		_, err := tx.exec(
			`UPDATE sessions SET updated_at = ? WHERE n = (SELECT session FROM runs WHERE n = ?)`, now, run,
		)
		return err
	}
	return nil
}

// runNumber returns the number of a run in scope.
func (c *Chats) runNumber(ctx context.Context, s chat.Scope, runID string) (n int64, err error) {
	err = c.db.queryRow(ctx, `SELECT r.n FROM runs r JOIN sessions s ON s.n = r.session WHERE r.id = ? AND s.user = ?
		AND s.deleted_at = 0`,
		[]any{runID, s.User}, &n)
	return n, notFound(err, "find run", "run")
}

// Events implements chat.Store.
func (c *Chats) Events(ctx context.Context, s chat.Scope, runID string, after int64, limit int) ([]chat.Event, error) {
	run, err := c.runNumber(ctx, s, runID)
	if err != nil {
		return nil, err
	}
	first := run<<seqBits + min(max(after, 0), maxSeq)
	rows, err := c.db.queryRows(ctx, `SELECT id, at, type, body FROM events WHERE id > ? AND id <= ?
		ORDER BY id LIMIT +?`,
		first, run<<seqBits|maxSeq, cursor.Limit(limit, chat.DefaultPage, chat.MaxPage))
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	defer rows.Close()
	var events []chat.Event
	for rows.Next() {
		var id, at int64
		var kind string
		var body []byte
		if err := rows.Scan(&id, &at, &kind, &body); err != nil {
			return nil, fmt.Errorf("read events: %w", failure(err))
		}
		events = append(
			events, chat.Event{RunID: runID, Seq: id & maxSeq, At: timeOf(at), Type: chat.Kind(kind), Body: body},
		)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read events: %w", failure(err))
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
	err = c.db.queryRow(ctx, `SELECT body FROM step_outputs WHERE run = ? AND call_id = ?`, []any{run, callID}, &body)
	return body, notFound(err, "read step output", "step")
}
