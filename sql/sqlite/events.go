package sqlite

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/cursor"
	"github.com/footnote/footnote/sql/store"
)

// An event's ID is its run's number shifted by seqBits, plus its own number in the run. So a run's events are
// adjacent in the table and need no second index. A run has at most 1,048,575 events.
const (
	seqBits = 20
	maxSeq  = 1<<seqBits - 1
)

// Append implements chat.Store. An answer, an end, and a call with effects are durable. Other events survive a crash
// of the process, and are durable with the next durable write (docs/decisions/event-log.md).
func (c *Chats) Append(ctx context.Context, owner, runID string, payloads ...chat.Payload) ([]chat.Event, error) {
	events, err := store.NewEvents(runID, payloads)
	if err != nil {
		return nil, err
	}
	durable := false
	// Results shown to a user and calls with external effects must be durable first.
	for _, p := range payloads {
		switch p := p.(type) {
		case chat.Step:
			durable = durable || p.Begins()
		case chat.RunDone, chat.Answer:
			durable = true
		}
	}
	if err := c.db.writer.submitWrite(ctx, &pendingWrite{
		fn: func(tx *tx) error { return appendEvents(tx, owner, runID, events, payloads) }, durable: durable,
		checksFirst: true,
	}, false); err != nil {
		return nil, fmt.Errorf("append: %w", err)
	}
	return events, nil
}

// appendEvents appends events to a run's log, with each one's changes outside the log, in one transaction. The last
// number is read from the log itself in the transaction, so there is no counter that could differ. It fails before
// any write when the run has ended or another owner has it. All events of one call have the transaction's time.
func appendEvents(tx *tx, owner, runID string, events []chat.Event, payloads []chat.Payload) error {
	var run, last int64
	var status, holder string
	err := tx.One( // 20 is seqBits, 1048575 is maxSeq
		`SELECT n, status, owner, coalesce((SELECT max(id) FROM events WHERE id BETWEEN n << 20
			AND n << 20 | 1048575), n << 20)
		FROM runs WHERE id = ?`, []any{runID}, &run, &status, &holder, &last)
	if err != nil {
		return store.NotFound(err, "find run", "run")
	}
	if err := store.AppendRefused(status, holder, owner); err != nil {
		return err
	}
	if last&maxSeq+int64(len(events)) > maxSeq {
		return store.ErrTooManyEvents
	}
	now := time.Now().UnixMicro()
	for at := 0; at < len(events); at += maxRows {
		rows := events[at:min(at+maxRows, len(events))]
		args := make([]any, 0, 4*maxRows)
		for i := range rows {
			last++
			rows[i].Seq, rows[i].At = last&maxSeq, store.TimeOf(now)
			args = append(args, last, now, string(rows[i].Type), []byte(rows[i].Body))
		}
		if _, err := tx.Exec(insertEvents[len(rows)], args...); err != nil {
			return err
		}
	}
	for _, p := range payloads {
		if err := applyPayload(tx, run, now, p); err != nil {
			return err
		}
	}
	return nil
}

// maxRows is the number of events that one statement inserts, more than most appends have.
const maxRows = 8

// insertEvents holds the statement that inserts a number of events, from 1 to maxRows.
var insertEvents = func() (statements [maxRows + 1]string) {
	for n := range statements {
		statements[n] = `INSERT INTO events (id, at, type, body) VALUES (?, ?, ?, ?)` +
			strings.Repeat(`, (?, ?, ?, ?)`, max(n-1, 0))
	}
	return statements
}()

// applyPayload stores an event's changes outside the log. The run's row has the values of lists, so that they need
// not read logs.
func applyPayload(tx *tx, run, now int64, p chat.Payload) error {
	switch p := p.(type) {
	case chat.Step:
		if !p.Truncated || len(p.Full) == 0 {
			return nil
		}
		_, err := tx.Exec(`INSERT INTO step_outputs (run, call_id, body) VALUES (?, ?, ?) ON CONFLICT DO UPDATE
			SET body = excluded.body`,
			run, p.CallID, []byte(p.Full))
		return err
	case chat.Answer:
		if _, err := tx.Exec(`UPDATE run_texts SET answer = ? WHERE run = ?`, p.Markdown, run); err != nil {
			return err
		}
		_, err := tx.Exec(`UPDATE runs SET tokens_in = ?, tokens_out = ? WHERE n = ?`, p.Tokens.In, p.Tokens.Out, run)
		return err
	case chat.RunDone:
		if _, err := tx.Exec(
			`UPDATE runs SET status = ?, ended_at = ? WHERE n = ?`, string(p.Status), now, run,
		); err != nil {
			return err
		}
		if p.Tokens != nil {
			if _, err := tx.Exec(
				`UPDATE runs SET tokens_in = ?, tokens_out = ? WHERE n = ?`, p.Tokens.In, p.Tokens.Out, run,
			); err != nil {
				return err
			}
		}
		_, err := tx.Exec(
			`UPDATE sessions SET updated_at = ? WHERE n = (SELECT session FROM runs WHERE n = ?)`, now, run,
		)
		return err
	}
	return nil
}

// Events implements chat.Store. It checks first that the run is in scope. A page is a range of the primary key,
// without a further index.
func (c *Chats) Events(ctx context.Context, s chat.Scope, runID string, after int64, limit int) ([]chat.Event, error) {
	run, err := c.RunNumber(ctx, s, runID)
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
			events, chat.Event{RunID: runID, Seq: id & maxSeq, At: store.TimeOf(at), Type: chat.Kind(kind), Body: body},
		)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read events: %w", failure(err))
	}
	return events, nil
}
