package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/store"
)

// startRun does all of StartRun in one statement, so with one round trip and one commit. It first inserts or updates
// the session's row, which locks out other starts in the session. It returns no row if the session is hidden or the
// sibling is not in it. Two concurrent starts that create sessions of one name may choose the same ID, which
// violates sessionIDOnce.
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

// sessionIDOnce is the unique constraint on session IDs.
const sessionIDOnce = "sessions_id_key"

// StartRun implements chat.Store. The idempotency key is only looked up after a failure: usually it is new, and
// otherwise its unique constraint fails. It is also looked up after an exceeded limit, since a retried request must
// return its run.
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
	// A retry finds the session of the concurrent start.
	for range attempts {
		if limits := c.db.limits.For(user); limits == nil {
			err = c.db.queryRow(ctx, shortTime, startRun, args, &now, &run.ParentID)
		} else {
			err = c.admitRun(
				ctx, limits, user, func(t *tx) error { return t.One(startRun, args, &now, &run.ParentID) },
			)
		}
		if !violatesConstraint(err, sessionIDOnce) { // else retry with the session of the concurrent start
			break
		}
	}
	nowhere := errors.Is(err, pgx.ErrNoRows)
	_, over := errors.AsType[*chat.OverLimit](err)
	if key != nil && (nowhere || over || violatesConstraint(err, "idempotency_keys_once")) {
		if known, err := c.RunByKey(
			engine{c.db}.Autocommit(ctx, 0), user, start.Key, start.Digest[:],
		); err == nil || !errors.Is(err, pgx.ErrNoRows) {
			return known, false, err
		}
	}
	if nowhere {
		return chat.Run{}, false, store.NotFound(
			err, "start run", map[bool]string{true: "session", false: "run"}[req.Sibling == ""],
		)
	}
	if err != nil {
		return chat.Run{}, false, fmt.Errorf("start run: %w", err)
	}
	run.CreatedAt = store.TimeOf(now)
	return run, true, nil
}

// startArgs returns the arguments of startRun, and the idempotency key among them; nil without one.
func startArgs(start chat.Start, lease chat.Lease) (key []byte, args []any) {
	run, req := start.Run, start.Run.Request
	if start.Key != "" {
		key = []byte(start.Key) // an empty key is NULL
	}
	title, charged := chat.TitleOf(req.Message), ""
	if run.User != chat.LocalUser {
		charged = run.User
	}
	return key, []any{req.SessionID, run.User, title, strings.ToLower(title), run.ID, lease.Owner,
		time.Until(lease.Until).Microseconds(), req.Sibling, start.Request, strings.ToLower(req.Message), key,
		start.Digest[:], charged}
}

// CheckWrites implements chat.Store. The error rolls the transaction back, so nothing is stored or notified.
func (c *Chats) CheckWrites(ctx context.Context) error {
	asked, first, err := chat.Trial()
	if err != nil {
		return fmt.Errorf("try a question: %w", err)
	}
	_, args := startArgs(asked, chat.Lease{Owner: asked.Run.ID, Until: time.Now()})
	err = c.db.inTx(ctx, shortTime, func(t *tx) error {
		var now int64
		var parent string
		if err := t.One(startRun, args, &now, &parent); err != nil {
			return err
		}
		if _, err := t.Exec(`INSERT INTO events (run, seq, at, type, body) SELECT n, 1, $2, $3, $4 FROM runs
			WHERE id = $1`,
			asked.Run.ID, now, string(first.Type), []byte(first.Body)); err != nil {
			return err
		}
		return store.ErrTakenBack
	})
	if !errors.Is(err, store.ErrTakenBack) {
		return fmt.Errorf("try a question: %w", err)
	}
	return nil
}
