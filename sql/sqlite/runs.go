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

// StartRun implements chat.Store. It waits for the disk, as somebody was told that the question is there.
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

// CheckWrites implements chat.Store. The error undoes the savepoint, so nothing is committed and nothing flushed.
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

// newRun is a run on its way into the database. A transaction may be tried once only; what it fills in here is read
// after it was committed.
type newRun struct {
	chats      *Chats
	chat.Start // its run is the one of before when the key is known
	lease      chat.Lease
	limits     chat.Limits // the user's
	fresh      bool
}

// storeRun writes the run, its texts, its session's head and its key, all in one transaction. The key comes before the
// limits, so that a repeated request costs nothing; the limits before the session, so that a refused question makes
// none. The local user's runs are not charged: without keys there is one user.
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
	// From here on rows are made; an error undoes them all, the counted question too.
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

// byKey looks for the run that the key already started. A key that came with another request is an error (RunByKey).
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

// findSession finds the run's session and its head, or makes one. Session ids are unique for each user only, while the
// table's id is unique as such: if another user has the id, the row gets a longer one and is found by its name.
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

// placeRun says which run precedes the new one, and how long the branch is with it. A sibling has its parent and depth;
// any other run follows the head, and depth is what a session's TurnCount is read from.
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
