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

// A run moves between the two databases with its numbers, so both have the same bound. It bounds a log of which each
// reader may ask for the whole.
const maxSeq = 1<<20 - 1 // events of one run, as in the embedded mode

// An append of a lone run is one statement, those of many share one, see group.go. Changing the run's row numbers the
// events, keeps other appends to the run waiting until the commit, and finds out whether the owner still has the
// lease, all at once: whoever took the run over changed the same row. It commits without waiting for the disk: power
// loss on the server, or a crash of PostgreSQL, may cost the last half second of deltas and steps. A log that ends
// before what was appended here ($8) is not added to: its run is carried on from what is left of it.
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

// fullAppend also stores what some events change outside the log. With an answer, an end, or the beginning of a call
// that acts ($11) the commit waits until it survives power loss, and nobody is told: the lock that notifications take
// would make all such commits wait for the disk one by one.
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

// logged is what an append sends: events, and what they change outside the log. It is made before the statement, so
// the statement is chosen by what has to change. kinds and bodies are of the same length, one for each event.
type logged struct {
	kinds   []string
	bodies  [][]byte
	outputs map[string][]byte // whole outputs of steps by call id
	answer  []byte            // nil: none
	in, out *int              // tokens
	status  *string           // of an end
	acts    bool              // a call that may change something begins
}

// isPlain reports whether only events are added, so that the append may share a statement with others; isDurable,
// whether it must wait for the disk.
func (l *logged) isPlain() bool   { return len(l.outputs) == 0 && !l.isDurable() }
func (l *logged) isDurable() bool { return l.answer != nil || l.status != nil || l.acts }

// addPayload notes an event and what it changes elsewhere. Ids are made legible as they will be stored, so that they
// are found again.
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

// Append implements chat.Store. Numbers follow the last event without a gap; times are the database's.
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

// appendLogged stores what was noted and returns the number before the first event, and their time. What only adds
// events goes with others' appends in a group; what changes more, or must survive power loss, is a statement of its
// own. When no run was changed, a second statement finds out why. The tail is remembered after a success and forgotten
// with the run.
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
		if err == nil { // the group left it out
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
		c.db.tellEnd(runID) //nolint:contextcheck // a group stores the appends of many callers
	}
	return base, at, err
}

// appendPlain fails with pgx.ErrNoRows if there is no such run to change. appendPlain stores events alone, in a
// statement of its own.
func (db *DB) appendPlain(ctx context.Context, owner, runID string, l *logged) (base, at int64, err error) {
	err = db.queryRow(ctx, longTime, plainAppend, l.queryArgs(db, owner, runID, db.lastEvent(runID)), &base, &at)
	return base, at, err
}

// appendFull is appendPlain with what changes outside the log.
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

// queryArgs are the arguments of plainAppend; the first seven are the same for fullAppend. Lists are empty and not nil,
// which would be NULL.
func (l *logged) queryArgs(db *DB, owner, runID string, tail int64) []any {
	kinds, bodies := l.kinds, l.bodies
	if len(kinds) == 0 {
		kinds, bodies = []string{}, [][]byte{}
	}
	return []any{runID, owner, kinds, bodies, db.channel, db.writeNotice(runID), maxSeq, tail}
}

// whyRefused says why an append found no run to change. A log that is shorter than what was appended here lost its end
// in a crash of PostgreSQL, which may take back commits that nobody waited for.
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
			Message: "The database has lost the last events of this run. It is carried on from what is left.",
		}
	}
	return store.ErrTooManyEvents
}

// lastEvent is the number of the last event that this process appended to a run under way, 0 for none.
func (db *DB) lastEvent(runID string) int64 {
	last, _ := db.tails.Load(runID)
	n, _ := last.(int64)
	return n
}

// writeNotice is what a notification says: who appended to which run, or to which runs. A message begins with the
// sender, so that a process can leave out its own. Ids have no spaces, which part them.
func (db *DB) writeNotice(runID string) string { return db.instance + " " + runID }

// readNotice reads a message: the ids that it tells of, none if it is this process's own.
func (db *DB) readNotice(message string) []string {
	instance, ids, _ := strings.Cut(message, " ")
	if instance == db.instance {
		return nil
	}
	return strings.Split(ids, " ")
}
