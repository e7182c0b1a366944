package store

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/footnote/footnote/chat"
)

// ScanRun decodes a row of a dialect's SelectRun. An invalid request is no error: the run is returned as damaged.
func ScanRun(row Row) (chat.Run, error) {
	var run chat.Run
	var request, answer []byte
	var created, ended int64
	if err := row.Scan(
		&run.ID, &run.SessionID, &run.User, &run.ParentID, &request, (*string)(&run.Status), &answer, &created, &ended,
		&run.Tokens.In, &run.Tokens.Out,
	); err != nil {
		return chat.Run{}, err
	}
	run.Answer, run.CreatedAt, run.EndedAt = string(answer), TimeOf(created), TimeOf(ended)
	if json.Unmarshal(request, &run.Request) != nil {
		return run.Damaged(), nil
	}
	return run, nil
}

// ReadRuns returns the runs of a query.
func ReadRuns(by Statements, statement string, args ...any) ([]chat.Run, error) {
	return readList(by, ScanRun, statement, args...)
}

// RunByKey returns the run that an idempotency key started with a request of the same digest. It returns
// sql.ErrNoRows for an unknown key, and chat.ErrKeyReused for another digest, before the run is read. A key without
// its run is an internal error, as keys are deleted with their runs.
func (c *Chats) RunByKey(by Statements, user, key string, digest []byte) (chat.Run, error) {
	var n int64
	var known []byte
	if err := by.One(`SELECT run, request FROM idempotency_keys WHERE user_id = $1 AND key = $2`,
		[]any{user, c.sql.Bytes([]byte(key))}, &n, &known); err != nil {
		return chat.Run{}, fmt.Errorf("find the run of an idempotency key: %w", err)
	}
	if !bytes.Equal(known, digest) {
		return chat.Run{}, chat.ErrKeyReused
	}
	runs, err := ReadRuns(by, c.sql.SelectRun+`WHERE r.n = $1`, n)
	if err != nil || len(runs) != 1 {
		return chat.Run{}, fmt.Errorf("find the run of an idempotency key: %d found: %w", len(runs), err)
	}
	return runs[0], nil
}

// Repeated implements chat.Store. It takes no lock: a question that is being stored concurrently may not be found.
func (c *Chats) Repeated(ctx context.Context, user string, req chat.RunRequest) (chat.Run, error) {
	digest, err := req.Digest()
	if err != nil {
		return chat.Run{}, fmt.Errorf("find a repeated run: %w", err)
	}
	run, err := c.RunByKey(c.db.Autocommit(ctx, 0), user, req.IdempotencyKey, digest[:])
	if errors.Is(err, sql.ErrNoRows) {
		return chat.Run{}, chat.ErrKeyUnknown
	}
	return run, err
}

// Run implements chat.Store.
func (c *Chats) Run(ctx context.Context, s chat.Scope, runID string) (chat.Run, error) {
	run, err := readOne(c.db.Autocommit(ctx, 0), ScanRun,
		c.sql.SelectRun+`WHERE r.id = $1 AND s.user_id = $2 AND s.deleted_at = 0`, runID, s.User)
	return run, NotFound(err, "read run", "run")
}

// Runs implements chat.Store. In one session the order of numbers is that of starts. A second query distinguishes a
// session without runs from a missing one.
func (c *Chats) Runs(ctx context.Context, s chat.Scope, sessionID string) ([]chat.Run, error) {
	runs, err := ReadRuns(c.db.Autocommit(ctx, 0),
		c.sql.SelectRun+`WHERE s.name = $1 AND s.user_id = $2 AND s.deleted_at = 0 ORDER BY r.n`, sessionID, s.User)
	if err == nil && len(runs) == 0 {
		_, err = c.Session(ctx, s, sessionID) // not found, or without runs
	}
	return runs, wrap(err, "read runs")
}

// RunNumber returns the number of a run in scope.
func (c *Chats) RunNumber(ctx context.Context, s chat.Scope, runID string) (n int64, err error) {
	err = c.db.Autocommit(ctx, 0).One(`SELECT r.n FROM runs r JOIN sessions s ON s.n = r.session WHERE r.id = $1
		AND s.user_id = $2 AND s.deleted_at = 0`, []any{runID, s.User}, &n)
	return n, NotFound(err, "find run", "run")
}

// StepOutput implements chat.Store.
func (c *Chats) StepOutput(ctx context.Context, s chat.Scope, runID, callID string) (json.RawMessage, error) {
	run, err := c.RunNumber(ctx, s, runID)
	if err != nil {
		return nil, err
	}
	var body []byte
	err = c.db.Autocommit(ctx, 0).One(
		`SELECT body FROM step_outputs WHERE run = $1 AND call_id = $2`, []any{run, callID}, &body)
	return body, NotFound(err, "read step output", "step")
}

// NewEvents validates and encodes payloads as events of a run's log, without numbers and times. It is called before
// the transaction, so an invalid one prevents all writes.
func NewEvents(runID string, payloads []chat.Payload) ([]chat.Event, error) {
	events := make([]chat.Event, len(payloads))
	for i, p := range payloads {
		switch p.(type) {
		case chat.Reset:
			return nil, &chat.Error{Code: chat.CodeInvalid, Message: "A run's log can't contain a reset event."}
		case chat.RunDone:
			if i != len(payloads)-1 {
				return nil, &chat.Error{Code: chat.CodeInvalid, Message: "No event can follow the end of a run."}
			}
		}
		var err error
		if events[i], err = chat.NewEvent(runID, p); err != nil {
			return nil, fmt.Errorf("append: %w", err)
		}
	}
	return events, nil
}

// AppendRefused returns the reason why an owner can't append to a run's log: the run has ended, or another owner has
// it. It returns nil otherwise. An ended run takes precedence over a lost lease.
func AppendRefused(status, holder, owner string) error {
	switch {
	case chat.RunStatus(status) != chat.RunRunning:
		return &chat.Error{Code: chat.CodeConflict, Message: "This run has ended. Ask again to start a new one."}
	case holder != owner:
		return &chat.Error{
			Code: chat.CodeConflict, Message: "Another server now processes this run. Reload to follow it.",
		}
	}
	return nil
}

// ErrTooManyEvents is returned when a run's log is full.
var ErrTooManyEvents = &chat.Error{
	Code: chat.CodeTooLarge, Message: "This run exceeds the event limit. Ask a narrower question.",
}

// ErrTakenBack rolls back a trial transaction. Write returns it unchanged.
var ErrTakenBack = errors.New("the write was only tried")
