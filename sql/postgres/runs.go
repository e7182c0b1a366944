package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"footnote/chat"
)

// runColumns are what scanRun reads of runs (r), sessions (s) and run_texts (t).
const runColumns = ` r.id, s.name, s.user_id, r.parent, t.request, r.status, t.answer, r.created_at, r.ended_at,
	r.tokens_in, r.tokens_out `

// selectRun reads a run whose texts are missing too: it is damaged, and not gone.
const selectRun = `SELECT` + runColumns +
	`FROM runs r JOIN sessions s ON s.n = r.session LEFT JOIN run_texts t ON t.run = r.n `

func scanRun(row scanner) (chat.Run, error) {
	var run chat.Run
	var request, answer []byte
	var status string
	var created, ended int64
	err := row.Scan(
		&run.ID, &run.SessionID, &run.User, &run.ParentID, &request, &status, &answer, &created, &ended, &run.Tokens.In,
		&run.Tokens.Out,
	)
	if err != nil {
		return chat.Run{}, err
	}
	run.Status, run.Answer, run.CreatedAt, run.EndedAt = chat.RunStatus(status), string(answer), timeOf(
		created,
	), timeOf(ended)
	if json.Unmarshal(request, &run.Request) != nil {
		return run.Damaged(), nil
	}
	return run, nil
}

// startRun is all of StartRun in one statement. The session's row is made or changed first: that keeps other starts
// in the session waiting, and nothing comes back of it if the session is hidden or the sibling is not in it. Two
// starts that make sessions of one name at the same moment can both choose the name itself as the id, which breaks
// sessionIDOnce.
const startRun = `
	WITH clock AS MATERIALIZED (SELECT now_micros() AS now),
	sibling AS (SELECT r.parent, r.depth, s.name AS session, s.user_id FROM runs r JOIN sessions s ON s.n = r.session
		WHERE r.id = $8),
	session AS (INSERT INTO sessions AS s (id, user_id, title, title_fold, head, turns, created_at, updated_at)
		SELECT CASE WHEN EXISTS (SELECT FROM sessions WHERE id = $1 AND user_id <> $2) THEN $1 || '/' || $5 ELSE $1 END,
		$2, $3, $4, $5, 1, now, now
		FROM clock WHERE $8 = '' OR EXISTS (SELECT FROM sibling WHERE session = $1 AND user_id = $2)
		ON CONFLICT (user_id, name) DO UPDATE SET previous = s.head, head = excluded.head,
		updated_at = excluded.updated_at,
			turns = coalesce((SELECT depth FROM sibling), s.turns + 1)
		WHERE s.deleted_at = 0
		RETURNING n, turns, coalesce((SELECT parent FROM sibling), previous) AS parent),
	run AS (INSERT INTO runs (id, session, parent, depth, status, owner, lease_until, created_at, charged)
		SELECT $5, session.n, session.parent, session.turns, 'running', $6, clock.now + $7, clock.now, $13
		FROM session, clock RETURNING n),
	texts AS (INSERT INTO run_texts (run, request, question_fold) SELECT n, $9, $10 FROM run),
	key AS (INSERT INTO idempotency_keys (user_id, key, request, run, created_at)
		SELECT $2, $11::bytea, $12, run.n, clock.now FROM run, clock WHERE $11::bytea IS NOT NULL)
	SELECT clock.now, session.parent FROM session, clock`

// sessionIDOnce is the constraint that keeps the ids of sessions apart.
const sessionIDOnce = "sessions_id_key"

// StartRun implements chat.Store.
func (c *Chats) StartRun(
	ctx context.Context, user string, req chat.RunRequest, lease chat.Lease,
) (run chat.Run, fresh bool, err error) {
	start, err := req.Start(user)
	if err != nil {
		return chat.Run{}, false, fmt.Errorf("start run: %w", err)
	}
	run, req = start.Run, start.Run.Request
	key, args := startArgs(start, lease)
	var now int64
	for range attempts {
		if limits := c.db.limits.For(user); limits == nil {
			err = c.db.queryRow(ctx, shortTime, startRun, args, &now, &run.ParentID)
		} else {
			err = c.admitRun(
				ctx, limits, user, func(t *tx) error { return t.queryRow(startRun, args, &now, &run.ParentID) },
			)
		}
		if !violatesConstraint(err, sessionIDOnce) { // else the session that was in the way is there by now
			break
		}
	}
	nowhere := errors.Is(err, pgx.ErrNoRows)
	_, over := errors.AsType[*chat.OverLimit](err)
	if key != nil && (nowhere || over || violatesConstraint(err, "idempotency_keys_once")) {
		if known, err := c.byKey(ctx, user, key, start.Digest[:]); err == nil || !errors.Is(err, pgx.ErrNoRows) {
			return known, false, err
		}
	}
	if nowhere {
		return chat.Run{}, false, notFound(
			err, "start run", map[bool]string{true: "session", false: "run"}[req.Sibling == ""],
		)
	}
	if err != nil {
		return chat.Run{}, false, fmt.Errorf("start run: %w", err)
	}
	run.CreatedAt = timeOf(now)
	return run, true, nil
}

// startArgs are the arguments of startRun, and the key among them; nil for none.
func startArgs(start chat.Start, lease chat.Lease) (key []byte, args []any) {
	run, req := start.Run, start.Run.Request
	if start.Key != "" {
		key = []byte(start.Key) // none is NULL
	}
	title, charged := chat.TitleOf(req.Message), ""
	if run.User != chat.LocalUser {
		charged = run.User
	}
	return key, []any{req.SessionID, run.User, title, strings.ToLower(title), run.ID, lease.Owner,
		time.Until(lease.Until).Microseconds(), req.Sibling, start.Request, strings.ToLower(req.Message), key,
		start.Digest[:], charged}
}

// errTakenBack ends a transaction that was only tried.
var errTakenBack = errors.New("the write was only tried")

// CheckWrites implements chat.Store.
func (c *Chats) CheckWrites(ctx context.Context) error {
	asked, first, err := chat.Trial()
	if err != nil {
		return fmt.Errorf("try a question: %w", err)
	}
	_, args := startArgs(asked, chat.Lease{Owner: asked.Run.ID, Until: time.Now()})
	err = c.db.inTx(ctx, shortTime, func(t *tx) error {
		var now int64
		var parent string
		if err := t.queryRow(startRun, args, &now, &parent); err != nil {
			return err
		}
		if _, err := t.exec(`INSERT INTO events (run, seq, at, type, body) SELECT n, 1, $2, $3, $4 FROM runs
			WHERE id = $1`,
			asked.Run.ID, now, string(first.Type), []byte(first.Body)); err != nil {
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
	run, err := c.byKey(ctx, user, []byte(req.IdempotencyKey), digest[:])
	if errors.Is(err, pgx.ErrNoRows) {
		return chat.Run{}, chat.ErrKeyUnknown
	}
	return run, err
}

// byKey returns the run that an idempotency key started. It fails with pgx.ErrNoRows if there is none.
func (c *Chats) byKey(ctx context.Context, user string, key, digest []byte) (chat.Run, error) {
	var n int64
	var known []byte
	err := c.db.queryRow(
		ctx, shortTime, `SELECT run, request FROM idempotency_keys WHERE user_id = $1 AND key = $2`, []any{user, key},
		&n, &known,
	)
	if err != nil {
		return chat.Run{}, fmt.Errorf("find the run of an idempotency key: %w", err)
	}
	if !bytes.Equal(known, digest) {
		return chat.Run{}, chat.ErrKeyReused
	}
	runs, err := queryList(ctx, c.db, shortTime, scanRun, selectRun+`WHERE r.n = $1`, n)
	if err != nil || len(runs) != 1 {
		return chat.Run{}, fmt.Errorf("find the run of an idempotency key: %d found: %w", len(runs), err)
	}
	return runs[0], nil
}

// Run implements chat.Store.
func (c *Chats) Run(ctx context.Context, s chat.Scope, runID string) (chat.Run, error) {
	runs, err := queryList(
		ctx, c.db, shortTime, scanRun, selectRun+`WHERE r.id = $1 AND s.user_id = $2 AND s.deleted_at = 0`, runID,
		s.User,
	)
	if err == nil && len(runs) == 0 {
		err = pgx.ErrNoRows
	}
	if err != nil {
		return chat.Run{}, notFound(err, "read run", "run")
	}
	return runs[0], nil
}

// Runs implements chat.Store.
func (c *Chats) Runs(ctx context.Context, s chat.Scope, sessionID string) ([]chat.Run, error) {
	runs, err := queryList(
		ctx, c.db, shortTime, scanRun,
		selectRun+`WHERE s.name = $1 AND s.user_id = $2 AND s.deleted_at = 0 ORDER BY r.n`, sessionID, s.User,
	)
	if err == nil && len(runs) == 0 {
		_, err = c.Session(ctx, s, sessionID) // not there, or without runs
	}
	if err != nil {
		return nil, fmt.Errorf("read runs: %w", err)
	}
	return runs, nil
}
