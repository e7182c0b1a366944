package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/store"
)

// Runs are copied between the databases with their numbers, so both have the same limit. It limits a log that a
// reader may request as a whole.
const maxSeq = 1<<20 - 1 // events of one run, as in the embedded mode

// plainAppend appends a batch of events to one run; group.go batches several runs. Updating the run's row assigns
// the events' numbers, locks out other appends until the commit, and verifies that the owner still has the lease,
// since a takeover updates the same row. It commits asynchronously: power loss on the server, or a crash of
// PostgreSQL, may lose the last half second of deltas and steps. A log that ends before this process's last append
// ($8) is rejected: the run then continues from the remaining events.
const plainAppend = `
	WITH clock AS MATERIALIZED (SELECT now_micros() AS now, set_config('synchronous_commit', 'off', true)),
	run AS (UPDATE runs SET last = last + cardinality($3::text[])
		WHERE id = $1 AND owner = $2 AND status = 'running' AND last + cardinality($3::text[]) <= $7 AND last >= $8
		RETURNING n, last - cardinality($3::text[]) AS base),
	stored AS (INSERT INTO events (run, seq, at, type, body)
		SELECT run.n, run.base + e.i, clock.now, e.type, e.body
		FROM run, clock, unnest($3::text[], $4::bytea[]) WITH ORDINALITY AS e (type, body, i)),
	told AS (SELECT pg_notify($5, $6) FROM run)
	SELECT run.base, clock.now FROM run, clock, told`

// fullAppend also stores the changes of events outside the log. With an answer, an end, or the start of a call with
// effects ($11) the commit is synchronous, without a notification: its lock would serialise all such commits.
const fullAppend = `
	WITH clock AS MATERIALIZED (SELECT now_micros() AS now,
		set_config('synchronous_commit', CASE WHEN $11 THEN current_setting('synchronous_commit') ELSE 'off'
			END, true)),
	run AS (UPDATE runs SET last = last + cardinality($3::text[]), tokens_in = coalesce($12, tokens_in),
		tokens_out = coalesce($13, tokens_out),
		status = coalesce($14, status), ended_at = CASE WHEN $14::text IS NULL THEN ended_at ELSE (SELECT now
			FROM clock) END
		WHERE id = $1 AND owner = $2 AND status = 'running' AND last + cardinality($3::text[]) <= $7 AND last >= $15
		RETURNING n, session, last - cardinality($3::text[]) AS base),
	stored AS (INSERT INTO events (run, seq, at, type, body)
		SELECT run.n, run.base + e.i, clock.now, e.type, e.body FROM run, clock, unnest($3::text[], $4::bytea[]) WITH
		ORDINALITY AS e (type, body, i)),
	outputs AS (INSERT INTO step_outputs (run, call_id, body)
		SELECT run.n, o.call_id, o.body FROM run, unnest($8::text[], $9::bytea[]) AS o (call_id, body)
		ON CONFLICT (run, call_id) DO UPDATE SET body = excluded.body),
	answered AS (UPDATE run_texts SET answer = $10 FROM run WHERE run_texts.run = run.n AND $10::bytea IS NOT NULL),
	ended AS (UPDATE sessions SET updated_at = greatest(updated_at, clock.now) FROM run, clock
		WHERE sessions.n = run.session AND $14::text IS NOT NULL),
	told AS (SELECT pg_notify($5, $6) FROM run WHERE NOT $11)
	SELECT run.base, clock.now FROM run CROSS JOIN clock LEFT JOIN told ON true`

// logged is the data of an append: events, and their changes outside the log. It is prepared before the statement,
// which depends on the changes. kinds and bodies have one element for each event.
type logged struct {
	kinds   []string
	bodies  [][]byte
	outputs map[string][]byte // complete outputs of steps by call ID
	answer  []byte            // nil: none
	in, out *int              // tokens
	status  *string           // of an end
	acts    bool              // a call with effects starts
}

// isPlain reports whether only events are added, so that the append can be batched with others. isDurable reports
// whether its commit must be synchronous.
func (l *logged) isPlain() bool   { return len(l.outputs) == 0 && !l.isDurable() }
func (l *logged) isDurable() bool { return l.answer != nil || l.status != nil || l.acts }

// addPayload adds an event and its changes outside the log. Call IDs are normalised with legibleText as they are
// stored, so that lookups match.
func (l *logged) addPayload(p chat.Payload, e chat.Event) {
	l.kinds = append(l.kinds, string(e.Type))
	l.bodies = append(l.bodies, e.Body)
	switch p := p.(type) {
	case chat.Step:
		l.acts = l.acts || p.Begins()
		if p.Truncated && len(p.Full) > 0 {
			if l.outputs == nil {
				l.outputs = make(map[string][]byte)
			}
			l.outputs[legibleText(p.CallID)] = p.Full
		}
	case chat.Answer:
		l.answer, l.in, l.out = []byte(p.Markdown), &p.Tokens.In, &p.Tokens.Out
	case chat.RunDone:
		status := string(p.Status)
		l.status = &status
		if p.Tokens != nil {
			l.in, l.out = &p.Tokens.In, &p.Tokens.Out
		}
	}
}

// Append implements chat.Store. Event numbers are consecutive; times are from the database's clock.
func (c *Chats) Append(ctx context.Context, owner, runID string, payloads ...chat.Payload) ([]chat.Event, error) {
	events, err := store.NewEvents(runID, payloads)
	if err != nil {
		return nil, err
	}
	var l logged
	for i, p := range payloads {
		l.addPayload(p, events[i])
	}
	base, at, err := c.appendLogged(ctx, owner, runID, &l)
	if err != nil {
		return nil, fmt.Errorf("append: %w", err)
	}
	for i := range events {
		events[i].Seq, events[i].At = base+int64(i)+1, store.TimeOf(at)
	}
	return events, nil
}

// appendLogged stores an append and returns the number before its first event, and their time. Plain appends are
// batched in a group; others are separate statements. When no run was changed, a second query determines the reason.
// The tail is cached after a success and dropped when the run ends.
func (c *Chats) appendLogged(ctx context.Context, owner, runID string, l *logged) (base, at int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, 0, err
	}
	if l.isPlain() {
		var stored bool
		if base, at, stored, err = c.db.appendGrouped(ctx, owner, runID, l); stored ||
			err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return base, at, err
		}
		if err == nil { // the group skipped it
			base, at, err = c.db.appendPlain(ctx, owner, runID, l)
		}
	} else {
		base, at, err = c.db.appendFull(ctx, owner, runID, l)
	}
	if errors.Is(err, pgx.ErrNoRows) {
		err := c.whyRefused(ctx, owner, runID, c.db.lastEvent(runID))
		if chat.CodeOf(err) == chat.CodeConflict {
			c.db.tails.Delete(runID)
		}
		return 0, 0, err
	}
	switch {
	case err == nil && l.status != nil:
		c.db.tails.Delete(runID)
	case err == nil:
		c.db.tails.Store(runID, base+int64(len(l.kinds)))
	}
	if err == nil && l.isDurable() {
		c.db.queueEndNotice(runID) //nolint:contextcheck // a group stores the appends of many callers
	}
	return base, at, err
}

// appendPlain stores events in a separate statement. It returns pgx.ErrNoRows if the run can't be changed.
func (db *DB) appendPlain(ctx context.Context, owner, runID string, l *logged) (base, at int64, err error) {
	err = db.queryRow(ctx, longTime, plainAppend, l.queryArgs(db, owner, runID, db.lastEvent(runID)), &base, &at)
	return base, at, err
}

// appendFull is like appendPlain and also stores changes outside the log.
func (db *DB) appendFull(ctx context.Context, owner, runID string, l *logged) (base, at int64, err error) {
	calls, bodies := make([]string, 0, len(l.outputs)), make([][]byte, 0, len(l.outputs))
	for call, body := range l.outputs {
		calls, bodies = append(calls, call), append(bodies, body)
	}
	tail := db.lastEvent(runID)
	args := append(
		l.queryArgs(db, owner, runID, tail)[:7], calls, bodies, l.answer, l.isDurable(), l.in, l.out, l.status, tail,
	)
	err = db.queryRow(ctx, longTime, fullAppend, args, &base, &at)
	return base, at, err
}

// queryArgs returns the arguments of plainAppend; fullAppend shares the first seven. Lists are never nil, which
// would be NULL.
func (l *logged) queryArgs(db *DB, owner, runID string, tail int64) []any {
	kinds, bodies := l.kinds, l.bodies
	if len(kinds) == 0 {
		kinds, bodies = []string{}, [][]byte{}
	}
	return []any{runID, owner, kinds, bodies, db.channel, db.writeNotice(runID), maxSeq, tail}
}

// whyRefused returns the reason for an append that changed no run. If the log is shorter than this process's last
// append, a crash of PostgreSQL lost asynchronous commits.
func (c *Chats) whyRefused(ctx context.Context, owner, runID string, tail int64) error {
	var status, holder string
	var last int64
	err := c.db.queryRow(
		ctx, shortTime, `SELECT status, owner, last FROM runs WHERE id = $1`, []any{runID}, &status, &holder, &last,
	)
	if err != nil {
		return store.NotFound(err, "find run", "run")
	}
	if err := store.AppendRefused(status, holder, owner); err != nil {
		return err
	}
	if last < tail {
		return &chat.Error{
			Code:    chat.CodeConflict,
			Message: "The database lost the last events of this run. The run continues from the remaining events.",
		}
	}
	return store.ErrTooManyEvents
}

// lastEvent returns the cached number of the last event that this process appended to a running run; 0 if none.
func (db *DB) lastEvent(runID string) int64 {
	last, _ := db.tails.Load(runID)
	n, _ := last.(int64)
	return n
}

// writeNotice encodes a notification: the sender's instance, so that a process can ignore its own, and one or
// several run IDs. IDs have no spaces, which separate them.
func (db *DB) writeNotice(runID string) string { return db.instance + " " + runID }

// readNotice decodes a notification into its IDs; nil for this process's own.
func (db *DB) readNotice(message string) []string {
	instance, ids, _ := strings.Cut(message, " ")
	if instance == db.instance {
		return nil
	}
	return strings.Split(ids, " ")
}
