// Package agent manages runs: it starts, queues, cancels, approves, repeats and takes them over. A run is the
// processing of one question; package agent/run executes it. Each run belongs to the server, not to a request. Its
// goroutine continues without a client, and every event is in the run's log before a client sees it. Several servers
// may share a store; a lease determines which of them works on a run.
//
// The entry points are Runs.Start and Runs.launchRun. Runs.KeepLeases is the loop that renews leases and takes over
// the runs of other servers.
//
// Its inputs are questions (Start, Enqueue), commands to active runs (Cancel, AnswerNow, Approve, Deny) and expired
// leases. Its outputs are runs in the store with their logs. Turns, tool results and footnotes are in agent/run.
// Never do I/O while Runs.mu is held, and never launch a run without a lease in the store.
package agent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/english"
	"github.com/footnote/footnote/text/locale"
)

// Config holds the dependencies and limits of Runs. Zero limits take their defaults. It is copied once and read
// without a lock.
type Config struct {
	run.Config // of each run

	MaxQuestions int           // maximum number of questions in a session; 0: the toolset's limit
	KeepSessions time.Duration // retention of a session without activity; 0: unlimited
	MaxRuns      int           // maximum number of active runs; 0: 1,000
	// reports whether several users share MaxRuns, so that each must leave slots for others; nil: one user may use
	// all
	Shared func() bool
	// length of a lease, longer than it takes to store a run; 0: 30 s
	Lease time.Duration

	// Exclusive means that no other process uses this store: at the start all unfinished runs are taken over.
	Exclusive bool

	// GiveWay pauses the process's background work during a run, until release is called. nil: no pause.
	GiveWay func() (release func())

	// Revoked reports whether a user's last valid key was revoked: the user's runs end and queued questions are
	// refused. nil: no user is revoked.
	Revoked func(user string) bool
}

// Runs starts runs and owns their goroutines. It is safe for concurrent use. mu guards its maps and counters only
// and is never held during I/O. Lock order: starting before mu. While a run is stored and launched, it briefly
// occupies two slots.
type Runs struct {
	cfg    Config // with the defaults
	engine *run.Engine
	wg     sync.WaitGroup

	starting sync.RWMutex // write-locked during the take-over at the start, which must not take runs of this process
	mu       sync.Mutex
	active   map[string]*run.Control // active runs of this process, by id
	unstored map[string]error        // errors of storing the end of a run; of runs that are not over
	begun    int                     // number of runs being stored, not active yet
	slots    map[string]int          // number of active and begun runs, by user
	deferred map[string][]string     // sessions whose queued question exceeds a limit of the user, by user
	stopping bool
	stopped  chan struct{} // closed when stopping is set: cancels runWithSlot
	look     chan struct{} // buffer of one signal: a new command or a free run
}

// NewRuns validates the configuration. No work starts until Start or KeepLeases is called.
func NewRuns(cfg Config) (*Runs, error) {
	engine, err := run.NewEngine(cfg.Config)
	if err != nil {
		return nil, err
	}
	cfg.Config = engine.Config()
	cfg.MaxRuns = cmp.Or(cfg.MaxRuns, 1000)
	cfg.Lease = cmp.Or(cfg.Lease, 30*time.Second)
	return &Runs{
		cfg: cfg, engine: engine, active: map[string]*run.Control{}, slots: map[string]int{},
		deferred: map[string][]string{}, unstored: map[string]error{},
		look: make(chan struct{}, 1), stopped: make(chan struct{}),
	}, nil
}

// Models returns the names of the models that a request may use, the default first.
func (r *Runs) Models() []string { return r.engine.ModelNames() }

// Use replaces the models of new runs. Active runs keep theirs.
func (r *Runs) Use(m run.Models) { r.engine.Use(m) }

// Toolsets returns the names of the toolsets, the default first.
func (r *Runs) Toolsets() []string { return r.engine.ToolsetNames() }

// Rules returns the constant part of the system prompt of runs with a budget: without the operator's additions, the
// run's mark, day, question and library. A limit of 0 is that of the default toolset.
func (r *Runs) Rules(b chat.Budget) string { return r.engine.Rules(b) }

// Stats returns the counters of this process's runs.
func (r *Runs) Stats() chat.RunStats {
	r.mu.Lock()
	running := len(r.active)
	r.mu.Unlock()
	t := r.engine.Stats()
	t.Running = running
	return t
}

// Start stores a run and executes it in a goroutine; ctx bounds the storing only. isNew is false if the request's
// IdempotencyKey is that of an earlier run, which is returned instead.
//
// Errors: CodeInvalid for an invalid request; CodeNotFound for a namespace or documents that the user does not have;
// CodeTooMany for too many active runs or an exceeded limit of the user; CodeTurnLimit for a session at its limit of
// questions; CodeUnauthorized for a revoked user; CodeUnavailable while the server stops.
//
// The order matters: the request is validated before it takes a slot, and documents and questions are checked with
// the slot held. A rejected request is looked up by its key first, since it may be a retry. StartRun is called with
// the read lock of starting. So a take-over at the start never finds a run of this process that is stored and not
// active yet.
func (r *Runs) Start(ctx context.Context, user string, req chat.RunRequest) (begun chat.Run, isNew bool, err error) {
	if r.isRevoked(user) {
		return chat.Run{}, false, &chat.Error{
			Code: chat.CodeUnauthorized, Message: "Your API key was revoked before you asked this question.",
		}
	}
	req, set, err := r.engine.CheckRequest(req)
	if err != nil {
		return chat.Run{}, false, err
	}
	if err := r.acquireSlot(user); err != nil {
		return r.findRepeated(ctx, user, req, err)
	}
	defer r.releaseSlot(user)
	if err := r.checkAdmission(ctx, user, req, set, 0); err != nil {
		return r.findRepeated(ctx, user, req, err)
	}
	r.starting.RLock()
	defer r.starting.RUnlock()
	begun, isNew, err = r.cfg.Store.StartRun(ctx, user, req, r.newLease())
	if err != nil || !isNew {
		return begun, isNew, err
	}
	r.cfg.Feed.Begin(begun)
	r.launchRun(context.WithoutCancel(ctx), begun, set, nil)
	return begun, true, nil
}

// checkAdmission rejects a request for unknown documents, or beyond the limit of questions. waiting is the number of
// queued questions of the session.
func (r *Runs) checkAdmission(ctx context.Context, user string, req chat.RunRequest, set tools.Set, waiting int) error {
	if err := r.cfg.Library.CheckNamed(ctx, chat.Scope{User: user}, req.Namespace, req.DocumentIDs); err != nil {
		return err
	}
	return r.checkQuestionLimit(ctx, user, req, set, waiting)
}

// findRepeated returns the earlier run of a rejected request with the same IdempotencyKey, or the rejection. A retry
// succeeds even if the library changed since.
func (r *Runs) findRepeated(
	ctx context.Context, user string, req chat.RunRequest, rejected error,
) (chat.Run, bool, error) {
	if req.IdempotencyKey == "" {
		return chat.Run{}, false, rejected
	}
	earlier, err := r.cfg.Store.Repeated(ctx, user, req)
	if err != nil && chat.CodeOf(err) == chat.CodeNotFound {
		err = rejected
	}
	return earlier, false, err
}

// newLease returns a lease from now on. Its end is in this machine's time; stores use only the duration from now.
func (r *Runs) newLease() chat.Lease {
	return chat.Lease{Owner: r.cfg.Owner, Until: time.Now().Add(r.cfg.Lease)}
}

// launchRun starts the goroutine of a run. log is the run's log before a restart, nil for a new run. The goroutine
// ends with its run; Stop waits for it. ctx must outlive the request.
//
// At the end, the slot is freed before the next queued question is sent, which needs one. sendNext comes before
// runner.Wait, so that the next question does not wait for the run's cleanup. An error of storing the run's end is
// kept in unstored for its next attempt.
func (r *Runs) launchRun(ctx context.Context, begun chat.Run, set tools.Set, log []chat.Event) {
	runCtx, c := run.NewControl(ctx, begun.User)
	r.mu.Lock()
	if r.stopping {
		r.dismissRun(c)
	}
	r.active[begun.ID] = c
	r.slots[begun.User]++
	unstored := r.unstored[begun.ID]
	r.mu.Unlock()
	r.wg.Go(func() {
		defer c.Close()
		release := func() {}
		if r.cfg.GiveWay != nil {
			release = r.cfg.GiveWay()
		}
		runner := r.engine.NewRunner(begun, set, c)
		end := runner.Execute(runCtx, log, unstored)
		release()
		r.countTokens(context.WithoutCancel(ctx), begun.User, end.Tokens)
		r.mu.Lock()
		if end.Unstored != nil {
			r.unstored[begun.ID] = end.Unstored
		} else if end.Over {
			delete(r.unstored, begun.ID)
		}
		delete(r.active, begun.ID)
		r.freeSlot(begun.User)
		r.mu.Unlock()
		r.sendNext(context.WithoutCancel(ctx), chat.SessionKey{User: begun.User, ID: begun.SessionID})
		r.sendDeferred(context.WithoutCancel(ctx), begun.User)
		runner.Wait()
	})
}

// acquireSlot takes a slot for a run. If users share the slots, a user gets another one only while more slots are
// free than the user holds. So the last slots go to users with fewer runs, and with the default of 1,000 one user
// alone gets 500 at most.
func (r *Runs) acquireSlot(user string) error {
	shared := r.cfg.Shared != nil && r.cfg.Shared()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopping {
		return &chat.Error{Code: chat.CodeUnavailable, Message: "The server is shutting down. Try again in a moment."}
	}
	free := r.cfg.MaxRuns - len(r.active) - r.begun
	if free <= 0 || shared && r.slots[user] >= free {
		return &chat.Error{
			Code:    chat.CodeTooMany,
			Message: "Too many questions are running. Try again in a few seconds.",
		}
	}
	r.begun++
	r.slots[user]++
	return nil
}

// releaseSlot returns the slot that acquireSlot took. A launched run holds its own slot.
func (r *Runs) releaseSlot(user string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun--
	r.freeSlot(user)
}

// freeSlot returns a user's slot. The caller holds r.mu.
func (r *Runs) freeSlot(user string) {
	if r.slots[user]--; r.slots[user] <= 0 {
		delete(r.slots, user)
	}
}

// maxDeferred limits the deferred sessions of a user; sendWaiting finds the others.
const maxDeferred = 100

// deferSession records that a limit of the user blocks a session's queued question.
func (r *Runs) deferSession(session chat.SessionKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if list := r.deferred[session.User]; len(list) < maxDeferred && !slices.Contains(list, session.ID) {
		r.deferred[session.User] = append(list, session.ID)
	}
}

// sendDeferred sends a question that a limit of the user blocked, after one of the user's runs has ended.
func (r *Runs) sendDeferred(ctx context.Context, user string) {
	r.mu.Lock()
	list := r.deferred[user]
	if len(list) == 0 {
		r.mu.Unlock()
		return
	}
	next := list[0]
	if list = list[1:]; len(list) == 0 {
		delete(r.deferred, user)
	} else {
		r.deferred[user] = list
	}
	r.mu.Unlock()
	r.sendNext(ctx, chat.SessionKey{User: user, ID: next})
}

// countTokens charges the tokens of a user's run or search to the user's limit. It is called after they were spent
// and never refuses: an active run continues over the limit, and the next one is not started.
func (r *Runs) countTokens(ctx context.Context, user string, used chat.Tokens) {
	if used.In+used.Out == 0 {
		return
	}
	if err := r.cfg.Store.Charge(ctx, user, chat.ResourceTokens, int64(used.In)+int64(used.Out)); err != nil {
		r.cfg.Log.ErrorContext(ctx, "could not count tokens", "user", user, "error", err)
	}
}

// questionLimit returns the maximum number of questions of a session with a toolset. The setting lowers the limit of
// a toolset for short conversations but never raises it.
func (r *Runs) questionLimit(set tools.Set) int {
	switch most := r.cfg.MaxQuestions; {
	case most == 0:
		return set.MaxQuestions
	case set.MaxQuestions < r.engine.Registry.Toolsets[tools.DefaultToolset].MaxQuestions:
		return min(most, set.MaxQuestions)
	default:
		return most
	}
}

// checkQuestionLimit rejects a question if the session's questions, including queued ones, are at the limit. A
// sibling of an earlier question takes no further place. It counts without a lock, so two concurrent questions may
// both be accepted as the last one, which is harmless.
func (r *Runs) checkQuestionLimit(
	ctx context.Context, user string, req chat.RunRequest, set tools.Set, waiting int,
) error {
	if req.SessionID == "" || req.Sibling != "" {
		return nil
	}
	scope := chat.Scope{User: user}
	session, err := r.cfg.Store.Session(ctx, scope, req.SessionID)
	switch {
	case err != nil && chat.CodeOf(err) == chat.CodeNotFound:
		return nil // a new session, or one that StartRun refuses
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil: // the run continues without an unreadable session, and reports that
		r.cfg.Log.ErrorContext(
			ctx, "could not count the questions of a conversation", "session", req.SessionID, "error", err,
		)
		return nil
	case session.TurnCount+waiting < r.questionLimit(set):
		return nil
	}
	return &chat.Error{Code: chat.CodeTurnLimit, Message: locale.Message(fmt.Sprintf(
		"This conversation has reached its limit of %s. Omit session_id to start a new one.",
		english.Count(r.questionLimit(set), "question")))}
}

// Gather searches for a question with the model's tool selection and returns the passages instead of an answer. The
// default toolset is strategy. Nothing is stored. If the model fails without a fallback, it returns the error with
// the passages found so far. It takes a slot like a run, and its tokens are charged to the user's limit. most is the
// maximum number of passages.
func (r *Runs) Gather(ctx context.Context, user string, req chat.RunRequest, most int) (run.Gathered, error) {
	req, set, err := r.engine.CheckRequest(r.engine.WithToolset(req, "strategy"))
	if err != nil {
		return run.Gathered{}, err
	}
	var found run.Gathered
	err = r.runWithSlot(ctx, user, func(ctx context.Context) (_ chat.Spent, err error) {
		found, err = r.engine.Gather(ctx, chat.Run{ID: chat.NewID(), User: user, Request: req}, set, most)
		return found.Spent, err
	})
	return found, err
}

// CheckResults has a language model judge search results; see run.Engine.CheckResults. It takes a slot like a run,
// and its tokens are charged to the user's limit.
func (r *Runs) CheckResults(
	ctx context.Context, user, question string, found []corpus.Result,
) (checked run.CheckedResults, err error) {
	req := chat.RunRequest{Message: question}
	err = r.runWithSlot(ctx, user, func(ctx context.Context) (_ chat.Spent, err error) {
		checked, err = r.engine.CheckResults(ctx, chat.Run{ID: chat.NewID(), User: user, Request: req}, found)
		return checked.Spent, err
	})
	return checked, err
}

// runWithSlot executes work that calls models outside of a run. It holds a slot, returns an error if the user has no
// tokens left, and cancels the work when the server stops.
func (r *Runs) runWithSlot(
	ctx context.Context, user string, work func(context.Context) (chat.Spent, error),
) error {
	if err := r.cfg.Store.CheckQuota(ctx, user, chat.ResourceTokens); err != nil {
		return err
	}
	if err := r.acquireSlot(user); err != nil {
		return err
	}
	defer r.releaseSlot(user)
	working, end := context.WithCancel(ctx)
	defer end()
	go func() {
		select {
		case <-r.stopped:
			end()
		case <-working.Done():
		}
	}()
	spent, err := work(working)
	r.countTokens(context.WithoutCancel(ctx), user, spent.Tokens)
	return err
}
