package chat

import (
	"context"
	"encoding/json"
	"time"
)

// Limits of the store's pages.
const (
	DefaultPage = 200
	MaxPage     = 1000
)

// Lease says which server works on a run and until when that holds. Owner is unique to a process's life. A server
// renews its leases while it lives. Times are taken as distances from the caller's present and put on the database's
// clock, so servers' clocks need not agree (docs/decisions/replicas.md).
type Lease struct {
	Owner string
	Until time.Time
}

// SessionQuery selects sessions of a scope's user, newest activity first.
type SessionQuery struct {
	Text   string // matched against titles and questions, without case; empty: all
	Limit  int    // 0: DefaultPage, at most MaxPage
	Cursor string // from a previous page
}

// Store keeps sessions, runs and their logs. chattest.TestStore is this contract as tests; sql/sqlite and sql/postgres
// implement it. Times are UTC in whole microseconds. All methods are safe for concurrent use. A method that names
// something which is not there, is deleted or belongs to another user fails with CodeNotFound: callers can't tell these
// apart. When the disk is full, writes fail with CodeDiskFull; when the store can't serve, all fail with
// CodeUnavailable. The embedded interfaces have files of their own beside this one. Only what both databases can keep
// is promised, and each sentence has a test there.
type Store interface {
	FeedbackStore
	ShareStore
	WaitingStore
	CommandStore
	LimitStore
	StandingStore
	GridStore
	WebhookStore

	// StartRun stores a run in state RunRunning, and its session if the request's SessionID is unknown (an empty one
	// makes a new id), and makes the run the session's head. It returns once that survives power loss. If the same
	// user used the request's IdempotencyKey before, nothing is stored: the earlier run comes back with fresh = false
	// when the requests are equal, else it fails with CodeKeyReused. Session ids are unique per user: one that
	// another user has is unknown. A session that is hidden and a Sibling outside the session fail with CodeNotFound;
	// a malformed session id or key with CodeInvalid, and more than the user's limits allow with an *OverLimit:
	// parallel starts get as many runs as there is room for, and no more. The returned Request names the session and
	// has no key.
	StartRun(ctx context.Context, user string, req RunRequest, lease Lease) (run Run, fresh bool, err error)

	// HasRuns reports whether a question of the scope's user is being answered. Runs that fill cells of grids do not
	// count. Work in the background gives way to these runs.
	HasRuns(ctx context.Context, s Scope) (bool, error)

	// CheckWrites fails when a question could not be stored now: it stores one with its first event, and takes both
	// back before anybody can see them.
	CheckWrites(ctx context.Context) error

	// Repeated returns the run that the same user started with the request's IdempotencyKey. It fails with
	// CodeNotFound if there is none, and like StartRun for another request under that key.
	Repeated(ctx context.Context, user string, req RunRequest) (Run, error)

	// Append numbers the payloads from the run's next number on, without gaps, and stores them all or none. It
	// returns the events as stored. A Step's Full goes to StepOutput. An Answer also sets the run's Answer and
	// Tokens; a RunDone ends the run and survives power loss, as does an Answer. After a RunDone every Append fails
	// with CodeConflict; so does one by a server that is not the lease's owner. A Reset, or anything behind a
	// RunDone, fails with CodeInvalid. The runs of a hidden session go on: only Purge ends that, with CodeNotFound.
	Append(ctx context.Context, owner, runID string, payloads ...Payload) ([]Event, error)

	// Events returns up to limit events of a run with Seq > after, oldest first, and none when there is nothing newer.
	// A limit of 0 means DefaultPage; more than MaxPage is cut to it. It sees every Append that returned.
	Events(ctx context.Context, s Scope, runID string, after int64, limit int) ([]Event, error)

	// StepOutput returns the whole output of a step whose event is truncated. It fails with CodeNotFound for any
	// other step.
	StepOutput(ctx context.Context, s Scope, runID, callID string) (json.RawMessage, error)

	// Run returns a run. One whose stored request is damaged is Unreadable, here and wherever runs are returned: it
	// hides no others.
	Run(ctx context.Context, s Scope, runID string) (Run, error)

	// Runs returns all runs of a session, oldest first: the whole tree.
	Runs(ctx context.Context, s Scope, sessionID string) ([]Run, error)

	// Renew extends the lease of every run in runIDs that owner holds, and returns the ids it no longer holds.
	Renew(ctx context.Context, lease Lease, runIDs []string) (lost []string, err error)

	// TakeOver gives lease.Owner every running run whose lease ended before the given time, each to one caller only,
	// and returns them, oldest first.
	TakeOver(ctx context.Context, lease Lease, before time.Time) ([]Run, error)

	// Release ends owner's lease of a running run, so that the next TakeOver gives it to its caller, and wakes the
	// other servers. A run that owner does not hold stays as it is.
	Release(ctx context.Context, owner, runID string) error

	// Session returns a session.
	Session(ctx context.Context, s Scope, id string) (Session, error)

	// Sessions returns one page of sessions and the cursor of the next, empty at the end. A cursor it did not give
	// fails with CodeInvalid. A session's UpdatedAt moves when one of its runs starts or ends.
	Sessions(ctx context.Context, s Scope, q SessionQuery) ([]Session, string, error)

	// CountSessions returns how many sessions there are, those that are hidden left out.
	CountSessions(ctx context.Context, s Scope) (int, error)

	// RenameSession sets a title of 1–200 runes; others fail with CodeInvalid.
	RenameSession(ctx context.Context, s Scope, id, title string) error

	// SetHead shows the branch that ends at runID, which must belong to the session.
	SetHead(ctx context.Context, s Scope, sessionID, runID string) error

	// DeleteSession hides a session at once; RestoreSession brings it back until Purge removes it for good.
	DeleteSession(ctx context.Context, s Scope, id string) error
	RestoreSession(ctx context.Context, s Scope, id string) error

	// Purge removes sessions hidden before the given time and sessions without activity or a running run since idle
	// (zero: never), with all their runs, idempotency keys and spendings older than a day, and commands about runs that
	// are over. It returns how many sessions went.
	Purge(ctx context.Context, hidden, idle time.Time) (int, error)
}
