package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"footnote/chat"
)

// selectRun reads a run whose texts are missing too: it is damaged, and not gone. A first question has no parent to
// look for: a look for number 0 would read the oldest page, which may be damaged.
const selectRun = `
	SELECT r.id, s.name, s.user, coalesce(p.id, ''), t.request, r.status, coalesce(t.answer, ''), r.created_at,
	r.ended_at, r.tokens_in, r.tokens_out
	FROM runs r JOIN sessions s ON s.n = r.session LEFT JOIN run_texts t ON t.run = r.n LEFT JOIN runs p
	ON p.n = nullif(r.parent, 0) `

// scanRun reads a row of selectRun.
func scanRun(scan func(...any) error) (chat.Run, error) {
	var run chat.Run
	var request []byte
	var status string
	var created, ended int64
	err := scan(
		&run.ID, &run.SessionID, &run.User, &run.ParentID, &request, &status, &run.Answer, &created, &ended,
		&run.Tokens.In, &run.Tokens.Out,
	)
	if err != nil {
		return chat.Run{}, failure(err)
	}
	run.Status, run.CreatedAt, run.EndedAt = chat.RunStatus(status), timeOf(created), timeOf(ended)
	if json.Unmarshal(request, &run.Request) != nil {
		return run.Damaged(), nil
	}
	return run, nil
}

// scanRuns reads all rows of selectRun and closes them.
func scanRuns(rows *sql.Rows) ([]chat.Run, error) {
	defer rows.Close()
	var runs []chat.Run
	for rows.Next() {
		run, err := scanRun(rows.Scan)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, failure(rows.Err())
}

// StartRun implements chat.Store.
func (c *Chats) StartRun(
	ctx context.Context, user string, req chat.RunRequest, lease chat.Lease,
) (run chat.Run, fresh bool, err error) {
	asked, err := req.Start(user)
	if err != nil {
		return chat.Run{}, false, fmt.Errorf("start run: %w", err)
	}
	start := newRun{Start: asked, lease: lease, limits: c.db.limits.For(user)}
	if err := c.db.writeTx(ctx, true, start.storeRun); err != nil {
		return chat.Run{}, false, fmt.Errorf("start run: %w", err)
	}
	return start.Run, start.fresh, nil
}

// errTakenBack ends a write that was only tried.
var errTakenBack = errors.New("the write was only tried")

// CheckWrites implements chat.Store.
func (c *Chats) CheckWrites(ctx context.Context) error {
	asked, first, err := chat.Trial()
	if err != nil {
		return fmt.Errorf("try a question: %w", err)
	}
	lease := chat.Lease{Owner: asked.Run.ID, Until: time.Now()}
	err = c.db.writeTx(ctx, false, func(tx *tx) error {
		if err := (&newRun{Start: asked, lease: lease}).storeRun(tx); err != nil {
			return err
		}
		if err := appendEvents(
			tx, lease.Owner, asked.Run.ID, []chat.Event{first}, []chat.Payload{chat.RunStarted{}},
		); err != nil {
			return err
		}
		return errTakenBack
	})
	if !errors.Is(err, errTakenBack) {
		return fmt.Errorf("try a question: %w", err)
	}
	return nil
}

// Repeated implements chat.Store.
func (c *Chats) Repeated(ctx context.Context, user string, req chat.RunRequest) (chat.Run, error) {
	digest, err := req.Digest()
	if err != nil {
		return chat.Run{}, fmt.Errorf("find a repeated run: %w", err)
	}
	start := newRun{Start: chat.Start{Run: chat.Run{User: user}, Key: req.IdempotencyKey, Digest: digest}}
	known := false
	err = c.db.writeTx(ctx, false, func(tx *tx) error {
		known, err = start.byKey(tx)
		return err
	})
	if err == nil && !known {
		err = chat.ErrKeyUnknown
	}
	if err != nil {
		return chat.Run{}, fmt.Errorf("find a repeated run: %w", err)
	}
	return start.Run, nil
}

// newRun is a run on its way into the database.
type newRun struct {
	chat.Start // its run is the one of before when the key is known
	lease      chat.Lease
	limits     chat.Limits // the user's
	fresh      bool
}

func (s *newRun) storeRun(tx *tx) error {
	if s.Key != "" {
		if known, err := s.byKey(tx); err != nil || known {
			return err
		}
	}
	begun, charged := time.Now(), ""
	if s.Run.User != chat.LocalUser {
		charged = s.Run.User
	}
	if err := tx.admitRun(s.limits, s.Run.User, begun); err != nil {
		return err
	}
	now := begun.UnixMicro()
	session, head, err := s.findSession(tx, now)
	if err != nil {
		return err
	}
	parent, depth, err := s.placeRun(tx, session, head)
	if err != nil {
		return err
	}
	s.Run.CreatedAt = timeOf(now)
	var n int64
	if err := tx.queryRow(`
		INSERT INTO runs (id, session, parent, depth, status, owner, lease_until, created_at, charged)
		VALUES (?, ?, ?, ?, 'running', ?, ?, ?, ?) RETURNING n`,
		[]any{s.Run.ID, session, parent, depth, s.lease.Owner, toMicros(s.lease.Until), now, charged}, &n); err != nil {
		return err
	}
	if _, err := tx.exec(`INSERT INTO run_texts (run, request, question_fold) VALUES (?, ?, ?)`,
		n, string(s.Request), strings.ToLower(s.Run.Request.Message)); err != nil {
		return err
	}
	if _, err := tx.exec(`UPDATE sessions SET head = ?, updated_at = ? WHERE n = ?`, n, now, session); err != nil {
		return err
	}
	s.fresh = true
	if s.Key == "" {
		return nil
	}
	_, err = tx.exec(`INSERT INTO idempotency_keys (user, key, request, run, created_at) VALUES (?, ?, ?, ?, ?)`,
		s.Run.User, s.Key, s.Digest[:], n, now)
	return err
}

// byKey looks for the run that the key already started.
func (s *newRun) byKey(tx *tx) (known bool, err error) {
	var n int64
	var digest []byte
	err = tx.queryRow(
		`SELECT run, request FROM idempotency_keys WHERE user = ? AND key = ?`, []any{s.Run.User, s.Key}, &n, &digest,
	)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !bytes.Equal(digest, s.Digest[:]) {
		return false, chat.ErrKeyReused
	}
	rows, err := tx.query(selectRun+`WHERE r.n = ?`, n)
	if err != nil {
		return false, err
	}
	runs, err := scanRuns(rows)
	if err != nil || len(runs) != 1 {
		return false, fmt.Errorf("find the run of an idempotency key: %d found: %w", len(runs), err)
	}
	s.Run = runs[0]
	return true, nil
}

// findSession finds the run's session and its head, or makes one.
func (s *newRun) findSession(tx *tx, now int64) (n, head int64, err error) {
	var deleted int64
	err = tx.queryRow(`SELECT n, head, deleted_at FROM sessions WHERE name = ? AND user = ?`, []any{
		s.Run.SessionID, s.Run.User,
	}, &n, &head, &deleted)
	if errors.Is(err, sql.ErrNoRows) {
		title := chat.TitleOf(s.Run.Request.Message)
		err = tx.queryRow(`INSERT INTO sessions (id, user, title, title_fold, created_at, updated_at)
			VALUES (iif(EXISTS (SELECT 1 FROM sessions WHERE id = ?1), ?1 || '/' || ?2, ?1), ?3, ?4, ?5, ?6, ?6)
			RETURNING n`,
			[]any{s.Run.SessionID, s.Run.ID, s.Run.User, title, strings.ToLower(title), now}, &n)
		return n, 0, err
	}
	if err == nil && deleted != 0 {
		err = sql.ErrNoRows
	}
	return n, head, notFound(err, "find session", "session")
}

// placeRun says which run precedes the new one, and how long the branch is with it.
func (s *newRun) placeRun(tx *tx, session, head int64) (parent, depth int64, err error) {
	if sibling := s.Run.Request.Sibling; sibling != "" {
		err = tx.queryRow(
			`SELECT parent, depth FROM runs WHERE id = ? AND session = ?`, []any{sibling, session}, &parent, &depth,
		)
		if err != nil {
			return 0, 0, notFound(err, "find sibling", "run")
		}
	} else if head != 0 {
		if err := tx.queryRow(`SELECT depth + 1 FROM runs WHERE n = ?`, []any{head}, &depth); err != nil {
			return 0, 0, err
		}
		parent = head
	} else {
		depth = 1
	}
	if parent == 0 {
		return 0, depth, nil
	}
	return parent, depth, tx.queryRow(`SELECT id FROM runs WHERE n = ?`, []any{parent}, &s.Run.ParentID)
}

// Run implements chat.Store.
func (c *Chats) Run(ctx context.Context, s chat.Scope, runID string) (chat.Run, error) {
	rows, err := c.db.queryRows(ctx, selectRun+`WHERE r.id = ? AND s.user = ? AND s.deleted_at = 0`, runID, s.User)
	if err != nil {
		return chat.Run{}, fmt.Errorf("read run: %w", err)
	}
	runs, err := scanRuns(rows)
	if err == nil && len(runs) == 0 {
		err = sql.ErrNoRows
	}
	if err != nil {
		return chat.Run{}, notFound(err, "read run", "run")
	}
	return runs[0], nil
}

// Runs implements chat.Store.
func (c *Chats) Runs(ctx context.Context, s chat.Scope, sessionID string) ([]chat.Run, error) {
	rows, err := c.db.queryRows(
		ctx, selectRun+`WHERE s.name = ? AND s.user = ? AND s.deleted_at = 0 ORDER BY r.n`, sessionID, s.User,
	)
	if err != nil {
		return nil, fmt.Errorf("read runs: %w", err)
	}
	runs, err := scanRuns(rows)
	if err == nil && len(runs) == 0 {
		_, err = c.Session(ctx, s, sessionID) // not there, or without runs
	}
	if err != nil {
		return nil, fmt.Errorf("read runs: %w", err)
	}
	return runs, nil
}
