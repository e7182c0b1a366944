package chat

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"time"

	"github.com/footnote/footnote/text/locale"
)

// Session is one conversation. TurnCount counts the shown branch only, so it can fall when another branch is shown.
type Session struct {
	ID        string
	User      string
	Title     string // the first question, truncated, unless it was renamed
	HeadID    string // the last run of the shown branch; empty for a session without runs
	TurnCount int    // runs on the shown branch
	CreatedAt time.Time
	UpdatedAt time.Time
	Running   bool      // a run is under way
	DeletedAt time.Time // zero unless hidden, until it is purged
}

// Run is one question and its processing. The runs of a session form a tree: regenerating or editing a question adds
// a sibling with the same ParentID. The shown branch goes from the root to Session.HeadID. The row caches the state
// of the log for lists and searches: status, answer and tokens are updated in the transaction of the append that
// holds them.
type Run struct {
	ID        string
	SessionID string
	User      string
	ParentID  string // the preceding run on its branch; empty for a first question
	Request   RunRequest
	Status    RunStatus
	Answer    string // the final Markdown; empty before
	CreatedAt time.Time
	EndedAt   time.Time // zero while running
	Tokens    Tokens
	// Unreadable means that the stored request could not be decoded: Request holds only the session.
	Unreadable bool
}

// Damaged returns a run whose stored request could not be decoded. It keeps the session id for drawing the tree. Its
// log may still be intact.
func (r Run) Damaged() Run {
	r.Request, r.Unreadable = RunRequest{SessionID: r.SessionID}, true
	return r
}

// RunRequest is the complete input of a run. It is stored with the run for recovery and reruns. Its JSON is also
// hashed to compare two requests with one Idempotency-Key (Digest). A new field must be omitted when empty, or a
// retry over an upgrade is refused.
type RunRequest struct {
	SessionID   string `json:"session_id"`
	Message     string `json:"message"`
	ContextText string `json:"context_text,omitempty"`
	// AddedContext is text that the asker supplies besides the documents. The run searches as usual and may also
	// answer from this text.
	AddedContext string    `json:"added_context,omitempty"`
	Namespace    string    `json:"namespace,omitempty"`
	DocumentIDs  []string  `json:"document_ids,omitempty"` // restricts the run to these; empty: all in scope
	Toolset      string    `json:"toolset,omitempty"`
	Config       RunConfig `json:"config"`
	// History holds external turns, as [question, answer], oldest first. They precede the session's own.
	History [][2]string `json:"history,omitempty"`
	// Instructions are the asker's additional instructions to the model: a tone, a format, a language. They override
	// no rule.
	Instructions string `json:"instructions,omitempty"`
	// Thorough turns on an omitted Config.EnableQueryDecomposition and Config.EnableSelfEvaluation, unless rules
	// answer.
	Thorough bool `json:"-"`
	// CitationStyle is the footnote format in API responses. The log always has [N]. Empty: [N].
	CitationStyle  string `json:"citation_style,omitempty"`
	IdempotencyKey string `json:"-"` // 1–255 bytes, per user; empty for none
	// Sibling is the run whose parent the new one shares (regenerate, edit). Empty: the new run follows the head.
	Sibling string `json:"sibling,omitempty"`
	// From makes the run repeat an earlier one up to one of its tool calls. Nil: it starts from the question.
	From *From `json:"from,omitempty"`
}

// SameAs reports whether two requests have the same stored JSON. The Idempotency-Key is not stored, so it is not
// compared.
func (r RunRequest) SameAs(other RunRequest) bool {
	mine, err := json.Marshal(r)
	theirs, otherErr := json.Marshal(other)
	return err == nil && otherErr == nil && bytes.Equal(mine, theirs)
}

// From identifies a tool call of an earlier run to repeat with another input. The new run copies the steps before
// that call into its own log and continues from there.
type From struct {
	RunID  string          `json:"run_id"`
	CallID string          `json:"call_id"`
	Tool   string          `json:"tool"`
	Input  json.RawMessage `json:"input"`
}

// RunConfig holds the options of one run. Nil means the server's default. Pointers distinguish an omitted value from
// zero or false.
type RunConfig struct {
	// The model's name.
	Model string `json:"model,omitempty" api:"shared"` // one of the allowed models
	// The model's temperature, 0 to 2. If the model supports none or a smaller range, a step reports it.
	Temperature *float64 `json:"temperature,omitempty" api:"min=0,max=2,shared"`
	// Passed to the model: the same seed gives the same result if the model supports it. Otherwise it is ignored, and a
	// step reports that.
	Seed *int64 `json:"seed,omitempty" api:"shared"`
	// The maximum number of model turns.
	MaxSteps *int `json:"max_steps,omitempty" api:"min=1,max=MostTurnsOrCalls"`
	// The maximum number of calls to search and read tools.
	MaxRetrievalCalls *int `json:"max_retrieval_calls,omitempty" api:"min=1,max=MostTurnsOrCalls"`
	// The number of passages a search returns.
	RetrievalTopK    *int  `json:"retrieval_top_k,omitempty" api:"min=1,max=50"`
	RequireCitations *bool `json:"require_citations,omitempty"` // Every claim needs a footnote.
	// Have the model judge whether its answer fully addresses the question and which sentences its sources do not
	// support. This costs one model call. At a confidence below 0.5 it searches again while the budget lasts. Left
	// out, it is on in POST /agent/query and with the toolsets react and strategy; elsewhere rules judge. False
	// leaves self_evaluation out.
	EnableSelfEvaluation *bool `json:"enable_self_evaluation,omitempty"`
	// Have the model split the question into parts. This costs one model call. Left out, it is on in POST
	// /agent/query and with the toolset react, and with the toolset strategy for questions that are not simple.
	// Elsewhere rules split complex questions. Without a model rules do it.
	EnableQueryDecomposition *bool `json:"enable_query_decomposition,omitempty"`
	// Rerank search results: by a reranker if the server has one, else by a closer comparison of words. Left out,
	// they are reranked only by a reranker.
	RerankResults *bool `json:"rerank_results,omitempty"`
	// Log the steps of this run at the server's usual log level, rather than only at debug. The steps themselves are
	// the same.
	VerboseLogging *bool `json:"verbose_logging,omitempty"`
	// True lets the model choose its tool calls. False runs the fixed pipeline: search, read, answer. Left out, the
	// server's setting decides. A model too weak for tools always runs the pipeline.
	UseAgentMode *bool `json:"use_agent_mode,omitempty"`
	// How the first tools are selected. Default: the server's setting.
	Selection    string   `json:"selection,omitempty" api:"values=model|rules|auto"`
	EnabledTools []string `json:"enabled_tools,omitempty" api:"max=50"` // The enabled tools, from any toolset.
}

// Errors of every Store for Idempotency-Keys and for a full queue.
var (
	ErrKeyReused = &Error{
		Code: CodeKeyReused, Message: "This Idempotency-Key was used with a different request. Send a new key.",
	}
	ErrKeyUnknown = &Error{Code: CodeNotFound, Message: "There is no run with this Idempotency-Key."}
	ErrQueueFull  = &Error{Code: CodeConflict, Message: locale.Say(
		"{1} questions are already queued. Remove one, or try again later.", MaxQueued,
	)}

	errLongKey = &Error{Code: CodeInvalid, Message: locale.Say(
		"Idempotency-Key must have 1 to {1} bytes.", MaxIdempotencyKey,
	)}
)

// Start is the stored form of a new run. Both stores insert it, so ids, digests and JSON are encoded in one place.
type Start struct {
	Run     Run               // the store sets its ParentID and CreatedAt
	Key     string            // the Idempotency-Key; empty for none
	Digest  [sha256.Size]byte // see RunRequest.Digest
	Request []byte            // JSON of Run.Request
}

// Start returns the run for a user's request, in a new session if the request names none. It fails with CodeInvalid
// for an invalid session id or a key that is too long. Each call makes a new run id; a retry under a known key gets
// the stored id instead. The key is stored in a column of its own, outside the request's JSON.
func (r RunRequest) Start(user string) (s Start, err error) {
	if len(r.IdempotencyKey) > MaxIdempotencyKey {
		return s, errLongKey
	}
	if s.Digest, err = r.Digest(); err != nil {
		return s, err
	}
	if r.SessionID == "" {
		r.SessionID = NewID()
	} else if err := CheckSessionID(r.SessionID); err != nil {
		return s, err
	}
	s.Key, r.IdempotencyKey = r.IdempotencyKey, ""
	s.Run = Run{ID: NewID(), SessionID: r.SessionID, User: user, Request: r, Status: RunRunning}
	s.Request, err = json.Marshal(r)
	return s, err
}

// Trial returns a question and its first event for Store.CheckWrites. Its session id is random, so it conflicts with
// no row, and the store rolls back.
func Trial() (asked Start, first Event, err error) {
	asked, err = RunRequest{Message: "Can a question be stored?"}.Start(LocalUser)
	if err == nil {
		first, err = NewEvent(asked.Run.ID, RunStarted{SessionID: asked.Run.SessionID})
	}
	return asked, first, err
}

// Digest returns the SHA-256 of the request's JSON, which omits the key. Two requests with one Idempotency-Key must
// have the same digest. Session ids count: a retry must send the same one, or none both times.
func (r RunRequest) Digest() ([sha256.Size]byte, error) {
	asked, err := json.Marshal(r)
	return sha256.Sum256(asked), err
}

// AsQueued returns a queued question and its JSON for a Store. It fails with CodeInvalid for a key that is too long.
// A request without a key gets a generated one with the prefix "queued:". The run is later started under that key,
// so two servers that send the same question start one run.
func (r RunRequest) AsQueued(user string) (q Queued, request []byte, err error) {
	if len(r.IdempotencyKey) > MaxIdempotencyKey {
		return q, nil, errLongKey
	}
	q = Queued{ID: NewID(), SessionID: r.SessionID, User: user, Request: r}
	q.Request.IdempotencyKey = cmp.Or(r.IdempotencyKey, "queued:"+q.ID)
	request, err = json.Marshal(r)
	return q, request, err
}

// MaxQueued is the maximum number of queued questions in a session.
const MaxQueued = 10

// Queued is a question in the queue of a session with a running run. Its text can be edited until it is taken. The
// rest of its request stays as submitted.
type Queued struct {
	ID        string
	SessionID string
	User      string
	Request   RunRequest     // its IdempotencyKey becomes that of the run; never empty
	Problem   locale.Message // why sending failed, for its user; it stays queued until it is edited
	CreatedAt time.Time
}

// SessionKey identifies a session across all users.
type SessionKey struct{ User, ID string }

// WaitingStore keeps the queue of questions. Its guarantees are those of Store. A sender takes the first question of
// a session, starts its run and settles it. After a crash in between, the next sender takes the same question, and
// the Idempotency-Key makes it one run. No lock is held while a run starts (docs/decisions/replicas.md).
type WaitingStore interface {
	// Enqueue appends a question to the queue of req.SessionID, an existing session. If a queued question has the
	// same IdempotencyKey, it is returned if the requests are the same, else Enqueue fails with CodeKeyReused. It
	// fails with CodeConflict when MaxQueued are queued. It is durable over power loss.
	Enqueue(ctx context.Context, s Scope, req RunRequest) (Queued, error)

	// Queue returns the queued questions of a session in send order.
	Queue(ctx context.Context, s Scope, sessionID string) ([]Queued, error)

	// EditQueued replaces the message of a queued question and clears its Problem. Like the next two, it fails with
	// CodeNotFound for a question that was taken.
	EditQueued(ctx context.Context, s Scope, sessionID, id, message string) error

	// MoveQueuedFirst moves a question to the front of the queue and clears its Problem.
	MoveQueuedFirst(ctx context.Context, s Scope, sessionID, id string) error

	// DropQueued removes a queued question.
	DropQueued(ctx context.Context, s Scope, sessionID, id string) error

	// TakeQueued takes the first queued question of a session to send it; it can't be edited afterwards. ok is false
	// if the queue is empty, a run of the session is under way, the session is hidden, or the first question has a
	// Problem.
	TakeQueued(ctx context.Context, session SessionKey) (q Queued, ok bool, err error)

	// SettleQueued finishes a question after TakeQueued: without a problem it is deleted, with one it is queued
	// again.
	SettleQueued(ctx context.Context, id, problem string) error

	// PutBackQueued reverts TakeQueued: the question is queued as before.
	PutBackQueued(ctx context.Context, id string) error

	// Waiting returns the sessions with a question for TakeQueued, oldest first, at most MaxPage.
	Waiting(ctx context.Context) ([]SessionKey, error)
}

// RunStats counts the runs of one process since its start. Like Prometheus counters, it starts at zero with the
// process; durable figures are in the store.
type RunStats struct {
	Running int
	Ended   map[RunStatus]Took
	Tools   map[ToolEnd]Took
	Spent   map[string]Spent // turns that called a tool, by tool; calls of one turn share the turn's tokens
	Tokens  Tokens
	Cost    float64 // only of runs whose models all have a price
}

// Spent is the tokens used and their cost. Cost is nil without a price.
type Spent struct {
	Tokens Tokens
	Cost   *float64
}

// And returns the sum of both. Its cost sums the known costs; nil if both are nil. It modifies neither and shares no
// pointers.
func (s Spent) And(more Spent) Spent {
	sum := Spent{Tokens: Tokens{In: s.Tokens.In + more.Tokens.In, Out: s.Tokens.Out + more.Tokens.Out}, Cost: s.Cost}
	if more.Cost != nil {
		cost := *more.Cost
		if s.Cost != nil {
			cost += *s.Cost
		}
		sum.Cost = &cost
	}
	return sum
}

// Share returns part i of n. The first part gets the remainder, since tokens are whole; the n parts add up to the
// whole. It divides a model turn's tokens among the tools it called. n must be at least 1 and i in [0, n).
func (s Spent) Share(i, n int) Spent {
	part := Spent{Tokens: Tokens{In: s.Tokens.In / n, Out: s.Tokens.Out / n}}
	if i == 0 {
		part.Tokens.In, part.Tokens.Out = part.Tokens.In+s.Tokens.In%n, part.Tokens.Out+s.Tokens.Out%n
	}
	if s.Cost != nil {
		cost := *s.Cost / float64(n)
		part.Cost = &cost
	}
	return part
}

// ToolEnd is a tool and the status of its calls.
type ToolEnd struct {
	Tool   string
	Status Status
}

// Took is a count of events and their total duration.
type Took struct {
	Times int
	Time  time.Duration
}

// And returns Took with one more event.
func (t Took) And(d time.Duration) Took { return Took{t.Times + 1, t.Time + d} }

// Page limits of the store.
const (
	DefaultPage = 200
	MaxPage     = 1000
)

// Lease is a server's claim on a run, until a deadline. Owner is unique per process. A live server renews its
// leases. Deadlines are converted from the caller's clock to the database's by their distance from now, so server
// clocks need not agree (docs/decisions/replicas.md).
type Lease struct {
	Owner string
	Until time.Time
}

// SessionQuery selects sessions of a scope's user, newest activity first.
type SessionQuery struct {
	Text   string // matched against titles and questions, ignoring case; empty: all
	Limit  int    // 0: DefaultPage, at most MaxPage
	Cursor string // from a previous page
}

// Store keeps sessions, runs and their logs. chattest.TestStore tests this contract; sql/sqlite and sql/postgres
// implement it. Times are UTC in whole microseconds. All methods are safe for concurrent use. A method fails with
// CodeNotFound if its object is missing, deleted or another user's: callers can't distinguish these. When the disk
// is full, writes fail with CodeDiskFull; when the store is unavailable, all calls fail with CodeUnavailable. The
// embedded interfaces have files of their own in this package. The contract has only guarantees that both databases
// can keep, and each sentence has a test there.
type Store interface {
	FeedbackStore
	ShareStore
	WaitingStore
	CommandStore
	LimitStore
	StandingStore
	GridStore
	WebhookStore

	// StartRun stores a run in state RunRunning, creates its session if the request's SessionID is unknown (an empty
	// one gets a new id), and makes the run the session's head. On return it is durable over power loss. If the same
	// user used the request's IdempotencyKey before, nothing is stored: the earlier run is returned with fresh =
	// false if the requests are equal, else StartRun fails with CodeKeyReused. Session ids are unique per user:
	// another user's id is unknown. A hidden session and a Sibling outside the session fail with CodeNotFound, a
	// malformed session id or key with CodeInvalid. Over the user's limits it fails with an *OverLimit; concurrent
	// starts never exceed them. The returned Request has the session id and no key.
	StartRun(ctx context.Context, user string, req RunRequest, lease Lease) (run Run, fresh bool, err error)

	// HasRuns reports whether the scope's user has a running question. Runs of grid cells do not count. Background
	// work has lower priority than these runs.
	HasRuns(ctx context.Context, s Scope) (bool, error)

	// CheckWrites fails if a question can't be stored now. It inserts a question with its first event and rolls back
	// the transaction.
	CheckWrites(ctx context.Context) error

	// Repeated returns the run that the same user started with the request's IdempotencyKey. It fails with
	// CodeNotFound if no run has the key, and like StartRun for a different request under that key.
	Repeated(ctx context.Context, user string, req RunRequest) (Run, error)

	// Append numbers the payloads from the run's next number, without gaps, and stores them all or none. It returns
	// the events as stored. A Step's Full is stored for StepOutput. An Answer also sets the run's Answer and Tokens.
	// A RunDone ends the run; like an Answer, it is durable over power loss. After a RunDone every Append fails with
	// CodeConflict; so does one by a server that does not hold the lease. A Reset, or any payload after a RunDone,
	// fails with CodeInvalid. The runs of a hidden session continue until Purge; then Append fails with
	// CodeNotFound.
	Append(ctx context.Context, owner, runID string, payloads ...Payload) ([]Event, error)

	// Events returns up to limit events of a run with Seq > after, oldest first, and none at the end of the log. A
	// limit of 0 means DefaultPage; the maximum is MaxPage. It includes every Append that returned.
	Events(ctx context.Context, s Scope, runID string, after int64, limit int) ([]Event, error)

	// StepOutput returns the complete output of a step whose event is truncated. It fails with CodeNotFound for any
	// other step.
	StepOutput(ctx context.Context, s Scope, runID, callID string) (json.RawMessage, error)

	// Run returns a run. A run with a damaged stored request is Unreadable, here and in every list: it hides no
	// other runs.
	Run(ctx context.Context, s Scope, runID string) (Run, error)

	// Runs returns all runs of a session, oldest first: the whole tree.
	Runs(ctx context.Context, s Scope, sessionID string) ([]Run, error)

	// Renew extends the lease of every run in runIDs that owner holds, and returns the ids it no longer holds.
	Renew(ctx context.Context, lease Lease, runIDs []string) (lost []string, err error)

	// TakeOver assigns to lease.Owner every running run whose lease ended before the given time, each to one caller
	// only, and returns them, oldest first.
	TakeOver(ctx context.Context, lease Lease, before time.Time) ([]Run, error)

	// Release ends owner's lease of a running run, so that the next TakeOver gets it, and wakes the other servers. A
	// run whose lease owner does not hold is unchanged.
	Release(ctx context.Context, owner, runID string) error

	// Session returns a session.
	Session(ctx context.Context, s Scope, id string) (Session, error)

	// Sessions returns one page of sessions and the cursor of the next, empty at the end. An invalid cursor fails
	// with CodeInvalid. A session's UpdatedAt changes when one of its runs starts or ends.
	Sessions(ctx context.Context, s Scope, q SessionQuery) ([]Session, string, error)

	// CountSessions returns the number of sessions that are not hidden.
	CountSessions(ctx context.Context, s Scope) (int, error)

	// RenameSession sets a title of 1–200 runes; any other fails with CodeInvalid.
	RenameSession(ctx context.Context, s Scope, id, title string) error

	// SetHead shows the branch that ends at runID, a run of the session.
	SetHead(ctx context.Context, s Scope, sessionID, runID string) error

	// DeleteSession hides a session; RestoreSession undoes this until Purge deletes it permanently.
	DeleteSession(ctx context.Context, s Scope, id string) error
	RestoreSession(ctx context.Context, s Scope, id string) error

	// Purge deletes sessions hidden before the given time and sessions without activity or a running run since idle
	// (zero: never), with all their runs. It also deletes idempotency keys and spendings older than a day, and
	// commands to finished runs. It returns the number of deleted sessions.
	Purge(ctx context.Context, hidden, idle time.Time) (int, error)
}

// MaxShares is the maximum number of a user's open links to answers.
const MaxShares = 200

// Share is a public link to one answer with its quotes. Its token is returned once, on creation: only the token's
// hash is stored. Neither a list of links nor a copy of the database opens an answer.
type Share struct {
	// The object ID.
	ID        string    `json:"id" api:"shared"` // for ending it; it opens nothing
	RunID     string    `json:"run_id"`
	SessionID string    `json:"session_id"`
	Question  string    `json:"question"`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`         // When it expires.
	Opens     int64     `json:"opens"`              // The number of openings.
	OpenedAt  time.Time `json:"opened_at,omitzero"` // When it was last opened; left out before.
}

// TokenHash is the SHA-256 of a link's token. Tokens are long and random, so a fast hash without a salt is
// sufficient.
type TokenHash [sha256.Size]byte

// ShareStore stores links to answers. Its guarantees are those of Store. A link of a hidden session's run is hidden
// with it and deleted when it is purged.
type ShareStore interface {
	// AddShare stores a link to a run's answer until a time, under a new id. It fails with CodeTooMany if the user
	// has MaxShares unexpired links, and with CodeConflict if the hash exists.
	AddShare(ctx context.Context, s Scope, runID string, hash TokenHash, until time.Time) (Share, error)

	// Shares returns the user's links that are not expired at a time, newest first.
	Shares(ctx context.Context, s Scope, now time.Time) ([]Share, error)

	// DropShare ends a link.
	DropShare(ctx context.Context, s Scope, id string) error

	// OpenShare returns the link with a hash and its user, and counts the opening. It fails with CodeNotFound if the
	// link does not exist or has expired, or if its run is hidden or deleted.
	OpenShare(ctx context.Context, hash TokenHash, now time.Time) (user string, share Share, err error)
}

// TooManyShares returns the error for a link over the limit.
func TooManyShares() error {
	return &Error{
		Code:    CodeTooMany,
		Message: "You have reached the limit of 200 share links. Revoke some first.",
	}
}
