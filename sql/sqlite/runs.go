package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/sql/store"
)

// StartRun implements chat.Store. The write is durable, as the user sees the question as accepted.
func (c *Chats) StartRun(
	ctx context.Context, user string, req chat.RunRequest, lease chat.Lease,
) (run chat.Run, fresh bool, err error) {
	asked, err := req.Start(user)
	if err != nil {
		return chat.Run{}, false, fmt.Errorf("start run: %w", err)
	}
	start := newRun{chats: c, Start: asked, lease: lease, limits: c.db.limits.For(user)}
	if err := c.db.writeTx(ctx, true, start.storeRun); err != nil {
		return chat.Run{}, false, fmt.Errorf("start run: %w", err)
	}
	return start.Run, start.fresh, nil
}

// CheckWrites implements chat.Store. The error rolls the savepoint back, so nothing is committed or synced.
func (c *Chats) CheckWrites(ctx context.Context) error {
	asked, first, err := chat.Trial()
	if err != nil {
		return fmt.Errorf("try a question: %w", err)
	}
	lease := chat.Lease{Owner: asked.Run.ID, Until: time.Now()}
	err = c.db.writeTx(ctx, false, func(tx *tx) error {
		if err := (&newRun{chats: c, Start: asked, lease: lease}).storeRun(tx); err != nil {
			return err
		}
		if err := appendEvents(
			tx, lease.Owner, asked.Run.ID, []chat.Event{first}, []chat.Payload{chat.RunStarted{}},
		); err != nil {
			return err
		}
		return store.ErrTakenBack
	})
	if !errors.Is(err, store.ErrTakenBack) {
		return fmt.Errorf("try a question: %w", err)
	}
	return nil
}

// newRun is a run to be stored. Its transaction is never retried, and its fields are read after the commit.
type newRun struct {
	chats      *Chats
	chat.Start // contains the existing run when the key is known
	lease      chat.Lease
	limits     chat.Limits // the user's
	fresh      bool
}

// storeRun writes the run, its texts, its session's head and its key in one transaction. It checks the key before
// the limits, so that a retried request is free, and the limits before the session, so that a rejected question
// creates none. The local user's runs are not charged: without API keys there is one user.
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
	// An error after this point rolls back all rows, including the counted question.
	session, head, err := s.findSession(tx, now)
	if err != nil {
		return err
	}
	parent, depth, err := s.placeRun(tx, session, head)
	if err != nil {
		return err
	}
	s.Run.CreatedAt = store.TimeOf(now)
	var n int64
	if err := tx.One(`
		INSERT INTO runs (id, session, parent, depth, status, owner, lease_until, created_at, charged)
		VALUES (?, ?, ?, ?, 'running', ?, ?, ?, ?) RETURNING n`,
		[]any{s.Run.ID, session, parent, depth, s.lease.Owner, store.ToMicros(s.lease.Until), now, charged}, &n,
	); err != nil {
		return err
	}
	if _, err := tx.Exec(`INSERT INTO run_texts (run, request, question_fold) VALUES (?, ?, ?)`,
		n, string(s.Request), strings.ToLower(s.Run.Request.Message)); err != nil {
		return err
	}
	if _, err := tx.Exec(`UPDATE sessions SET head = ?, updated_at = ? WHERE n = ?`, n, now, session); err != nil {
		return err
	}
	s.fresh = true
	if s.Key == "" {
		return nil
	}
	_, err = tx.Exec(`INSERT INTO idempotency_keys (user_id, key, request, run, created_at) VALUES (?, ?, ?, ?, ?)`,
		s.Run.User, s.Key, s.Digest[:], n, now)
	return err
}

// byKey looks up the run that the key already started. A key with another request is an error (RunByKey).
func (s *newRun) byKey(tx *tx) (known bool, err error) {
	run, err := s.chats.RunByKey(tx, s.Run.User, s.Key, s.Digest[:])
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	s.Run = run
	return true, nil
}

// findSession returns the run's session and its head, or creates one. Session IDs are unique for each user only,
// while the table's column is unique: if another user has the ID, the row gets a longer one. Rows are found by name.
func (s *newRun) findSession(tx *tx, now int64) (n, head int64, err error) {
	var deleted int64
	err = tx.One(`SELECT n, head, deleted_at FROM sessions WHERE name = ? AND user_id = ?`, []any{
		s.Run.SessionID, s.Run.User,
	}, &n, &head, &deleted)
	if errors.Is(err, sql.ErrNoRows) {
		title := chat.TitleOf(s.Run.Request.Message)
		err = tx.One(`INSERT INTO sessions (id, user_id, title, title_fold, created_at, updated_at)
			VALUES (iif(EXISTS (SELECT 1 FROM sessions WHERE id = ?1), ?1 || '/' || ?2, ?1), ?3, ?4, ?5, ?6, ?6)
			RETURNING n`,
			[]any{s.Run.SessionID, s.Run.ID, s.Run.User, title, strings.ToLower(title), now}, &n)
		return n, 0, err
	}
	if err == nil && deleted != 0 {
		err = sql.ErrNoRows
	}
	return n, head, store.NotFound(err, "find session", "session")
}

// placeRun returns the parent of the new run and the length of its branch. A sibling has the same parent and depth;
// any other run follows the head. depth is the session's TurnCount.
func (s *newRun) placeRun(tx *tx, session, head int64) (parent, depth int64, err error) {
	if sibling := s.Run.Request.Sibling; sibling != "" {
		err = tx.One(
			`SELECT parent, depth FROM runs WHERE id = ? AND session = ?`, []any{sibling, session}, &parent, &depth,
		)
		if err != nil {
			return 0, 0, store.NotFound(err, "find sibling", "run")
		}
	} else if head != 0 {
		if err := tx.One(`SELECT depth + 1 FROM runs WHERE n = ?`, []any{head}, &depth); err != nil {
			return 0, 0, err
		}
		parent = head
	} else {
		depth = 1
	}
	if parent == 0 {
		return 0, depth, nil
	}
	return parent, depth, tx.One(`SELECT id FROM runs WHERE n = ?`, []any{parent}, &s.Run.ParentID)
}
