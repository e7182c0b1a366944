package chat

import (
	"context"
	"time"
)

// MaxQueued is how many questions can wait in one session.
const MaxQueued = 10

// Queued is a question that waits until its session's run is over. Its text can still be changed until it is taken; its
// request is otherwise that of the moment when it was asked.
type Queued struct {
	ID        string
	SessionID string
	User      string
	Request   RunRequest // its IdempotencyKey is that of the run which it becomes; never empty
	Problem   string     // why it could not be sent, for its user; it waits until it is changed
	CreatedAt time.Time
}

// SessionKey names a session among those of all users.
type SessionKey struct{ User, ID string }

// WaitingStore keeps the questions that wait. Its promises are those of Store. Who sends them takes the first of a
// session, starts its run and settles it: when that breaks off in between, the next one takes the same again, and the
// key makes it one run. No lock is held while a run starts (docs/decisions/replicas.md).
type WaitingStore interface {
	// Enqueue puts a question behind those that wait in req.SessionID, a session that is there. With an
	// IdempotencyKey that one of these has, that one comes back if it asks the same, else it fails with
	// CodeKeyReused. It fails with CodeConflict when MaxQueued wait already. It survives power loss.
	Enqueue(ctx context.Context, s Scope, req RunRequest) (Queued, error)

	// Queue returns what waits in a session, in the order in which it will be sent.
	Queue(ctx context.Context, s Scope, sessionID string) ([]Queued, error)

	// EditQueued gives a waiting question other words and clears its Problem. Like the next two it fails with
	// CodeNotFound for one that is taken.
	EditQueued(ctx context.Context, s Scope, sessionID, id, message string) error

	// MoveQueuedFirst puts a waiting question before all others and clears its Problem.
	MoveQueuedFirst(ctx context.Context, s Scope, sessionID, id string) error

	// DropQueued removes a waiting question.
	DropQueued(ctx context.Context, s Scope, sessionID, id string) error

	// TakeQueued takes the first question of a session to send it; from then on nobody can change it. ok is false
	// when there is none, when a run of the session is under way, when the session is hidden, and when the first one
	// has a Problem.
	TakeQueued(ctx context.Context, session SessionKey) (q Queued, ok bool, err error)

	// SettleQueued ends what TakeQueued began: without a problem the question is gone, with one it waits again.
	SettleQueued(ctx context.Context, id, problem string) error

	// PutBackQueued ends what TakeQueued began, too early: the question waits as before.
	PutBackQueued(ctx context.Context, id string) error

	// Waiting returns the sessions that TakeQueued would give a question of, oldest first, at most MaxPage.
	Waiting(ctx context.Context) ([]SessionKey, error)
}
