package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/cursor"
	"github.com/footnote/footnote/sql/store"
)

// An event's id is its run's number shifted by seqBits, plus its own number in the run. So a run's events are
// neighbours in the table and their key needs no second index; a run can have 1,048,575 of them.
const (
	seqBits = 20
	maxSeq  = 1<<seqBits - 1
)

// Append implements chat.Store. An answer and an end wait for the disk, and so does a call that may act; other events
// survive the end of the process and are on the disk with the next durable write (docs/decisions/event-log.md).
func (c *Chats) Append(ctx context.Context, owner, runID string, payloads ...chat.Payload) ([]chat.Event, error) {
	events, err := store.NewEvents(runID, payloads)
	if err != nil {
		return nil, err
	}
	durable := false
	// What somebody was told of, or what acts outside, has to be on the disk first.
	for _, p := range payloads {
		switch p := p.(type) {
		case chat.Step:
			durable = durable || p.Begins()
		case chat.RunDone, chat.Answer:
			durable = true
		}
	}
	if err := c.db.writeTx(
		ctx, durable, func(tx *tx) error { return appendEvents(tx, owner, runID, events, payloads) },
	); err != nil {
		return nil, fmt.Errorf("append: %w", err)
	}
	return events, nil
}

// appendEvents writes events of a run behind its last one, and what each changes elsewhere, in one transaction. The
// last number is read from the log itself, inside the transaction, so there is no counter that could differ from it. It
// fails when the run is over or another owner holds it, before anything is written. Times are the transaction's, so
// events of one call have one.
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
	for i := range events {
		e := &events[i]
		last++
		e.Seq, e.At = last&maxSeq, store.TimeOf(now)
		if _, err := tx.Exec(
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

// applyPayload stores what an event changes outside the log. The run's row keeps what lists show, so that they need not
// read logs.
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

// Events implements chat.Store. Whether the scope may see the run is asked first. The page is a range of the key, which
// needs no index beside it.
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
