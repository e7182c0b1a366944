// Package agent manages runs: it starts, queues, cancels, approves, repeats and takes them over. A run is the work on
// one question, and package agent/run does it. Each run belongs to the server, not to a request: its goroutine goes on
// when nobody looks, and all it does is in the run's log before anybody sees it. Several servers may share a store: a
// lease says which of them works on a run. Start with Runs.Start and Runs.launchRun; Runs.KeepLeases is the loop that
// keeps leases and takes over the runs of other servers.
//
// What comes in are questions (Start, Enqueue), wishes about runs under way (Cancel, AnswerNow, Approve, Deny) and the
// ends of leases; what goes out are runs in the store and their logs. The package knows nothing of turns, tools'
// results and footnotes: that is agent/run. Nothing here may wait for I/O while Runs.mu is held, and no run may be
// launched without a lease in the store.
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
)

// Config wires Runs. Zero limits take their defaults. It is copied once and read without a lock.
type Config struct {
	run.Config // of each run

	MaxQuestions int           // questions of a session; 0: the toolset's own
	KeepSessions time.Duration // how long a session without activity is kept; 0: for ever
	MaxRuns      int           // under way at once; 0: 1,000
	// whether several users share MaxRuns, so that each must leave slots free for the others; nil: one user may use all
	Shared func() bool
	// how long a run stays ours without a sign of life, longer than a run takes to be stored; 0: 30 s
	Lease time.Duration

	// Exclusive says that no other process can work on this store's runs: at start all unfinished ones are taken over
	// at once.
	Exclusive bool

	// GiveWay has the process's other work wait for a run until release is called. nil: it does not.
	GiveWay func() (release func())

	// Revoked reports whether a user has lost the last valid key: runs end and waiting questions are not sent. nil:
	// nobody does.
	Revoked func(user string) bool
}

// Runs starts runs and owns their goroutines. It is safe for concurrent use. mu guards its maps and counters only and
// is never held during I/O. Of its two locks `starting` is taken first. A run counts against slots twice for a moment,
// while it is being stored and launched, which errs on the side of fewer.
type Runs struct {
	cfg    Config // with the defaults
	engine *run.Engine
	wg     sync.WaitGroup

	starting sync.RWMutex // held for writing while runs are taken over at the start, so that none of ours is among them
	mu       sync.Mutex
	active   map[string]*run.Control // runs under way here, by id
	unstored map[string]error        // why the end of a run could not be stored; of runs that are not over
	begun    int                     // runs being stored, not active yet
	slots    map[string]int          // those that are active or begun, by user
	deferred map[string][]string     // sessions whose waiting question its user's limits held back, by user
	stopping bool
	stopped  chan struct{} // closed once stopping is set: what asks models beside runs ends
	look     chan struct{} // holds one: something is wanted of a run, or one is free
}

// NewRuns checks the wiring. Nothing runs until Start or KeepLeases is called.
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

// Models returns the names of the models that a request may name now, the usual one first.
func (r *Runs) Models() []string { return r.engine.ModelNames() }

// Use has the runs that begin from now on answer with other models. Those under way go on with theirs.
func (r *Runs) Use(m run.Models) { r.engine.Use(m) }

// Toolsets returns the names of the toolsets, the usual one first.
func (r *Runs) Toolsets() []string { return r.engine.ToolsetNames() }

// Rules is what every model of a run that searches with a budget is told, as far as it is the same for all of them:
// without what those who run the server add, the mark of the run, its day, its question and its library. A limit of 0
// is that of the usual toolset.
func (r *Runs) Rules(b chat.Budget) string { return r.engine.Rules(b) }

// Stats returns what the runs of this process did so far.
func (r *Runs) Stats() chat.RunStats {
	r.mu.Lock()
	running := len(r.active)
	r.mu.Unlock()
	t := r.engine.Stats()
	t.Running = running
	return t
}

// Start stores a run and works on it apart from ctx, which bounds the storing only. isNew is false when the request's
// IdempotencyKey named an earlier run, which comes back instead. It fails with CodeInvalid for what can't be asked,
// CodeNotFound for a namespace or documents that the user does not have, CodeTooMany when too many runs are under way
// or the user's limits are reached, CodeTurnLimit for a session at its limit of questions, and CodeUnavailable while
// the server stops. The order matters: the request is checked before it takes a slot; documents and questions are
// counted with the slot held; and a request that is refused for want of room is looked up by its key first, as it may
// have been served before. StartRun is under the read side of `starting`, so a take-over at the start never finds a run
// of ours that is stored and not active yet.
func (r *Runs) Start(ctx context.Context, user string, req chat.RunRequest) (begun chat.Run, isNew bool, err error) {
	if r.isRevoked(user) {
		return chat.Run{}, false, &chat.Error{
			Code: chat.CodeUnauthorized, Message: "Your key was revoked before this question was asked.",
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

// checkAdmission rejects a request that names unknown documents, or for which there is no room. waiting is how many
// questions of the conversation wait already.
func (r *Runs) checkAdmission(ctx context.Context, user string, req chat.RunRequest, set tools.Set, waiting int) error {
	if err := r.cfg.Library.CheckNamed(ctx, chat.Scope{User: user}, req.Namespace, req.DocumentIDs); err != nil {
		return err
	}
	return r.checkQuestionLimit(ctx, user, req, set, waiting)
}

// findRepeated returns the run that a rejected request started when it came before, and else why it is rejected: what
// happened to the library since then is no matter of a request that was already served.
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

// newLease is a lease from now on, for a run that starts or goes on here. Its end is a time of this machine's clock, of
// which stores only take the distance from now.
func (r *Runs) newLease() chat.Lease {
	return chat.Lease{Owner: r.cfg.Owner, Until: time.Now().Add(r.cfg.Lease)}
}

// launchRun gives a run its goroutine. log is what it did before a restart, nil for a new run. The goroutine ends with
// its run; Stop waits for it. ctx must not end with a request. When a run ends its slot is free before the next
// question is sent, else that one could find no room. sendNext comes before runner.Wait, so that the next question need
// not wait for what the run still has to tidy up. A run that could not store its end is remembered in unstored, and its
// next attempt is told.
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

// acquireSlot takes a slot for a run. If users share the slots, a user may take another slot only while more slots are
// free than the user already holds. One user alone can get at most half. With n slots free a user who has n already
// gets no further one, so the last slots go to those who have fewer; with the default of 1,000 one user alone stops at
// 500.
func (r *Runs) acquireSlot(user string) error {
	shared := r.cfg.Shared != nil && r.cfg.Shared()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopping {
		return &chat.Error{Code: chat.CodeUnavailable, Message: "The server is stopping. Ask again in a moment."}
	}
	free := r.cfg.MaxRuns - len(r.active) - r.begun
	if free <= 0 || shared && r.slots[user] >= free {
		return &chat.Error{
			Code:    chat.CodeTooMany,
			Message: "Too many questions are being answered right now. Ask again in a few seconds.",
		}
	}
	r.begun++
	r.slots[user]++
	return nil
}

// releaseSlot gives back what acquireSlot took for the time of storing; a run that was launched holds a slot of its
// own.
func (r *Runs) releaseSlot(user string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun--
	r.freeSlot(user)
}

// freeSlot gives a user's place back. The caller holds r.mu.
func (r *Runs) freeSlot(user string) {
	if r.slots[user]--; r.slots[user] <= 0 {
		delete(r.slots, user)
	}
}

// maxDeferred bounds the sessions of one user that are remembered until a place is free; those beyond are found by
// sendWaiting.
const maxDeferred = 100

// deferSession remembers that a user's limits hold a session's waiting question back.
func (r *Runs) deferSession(session chat.SessionKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if list := r.deferred[session.User]; len(list) < maxDeferred && !slices.Contains(list, session.ID) {
		r.deferred[session.User] = append(list, session.ID)
	}
}

// sendDeferred sends a question that the limits of a user held back, once one of the user's runs is over.
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

// countTokens counts what a user's run or search took from models against the user's limit. It comes after the tokens
// were spent and never refuses: a run under way goes on over the limit, and the next one is not started.
func (r *Runs) countTokens(ctx context.Context, user string, used chat.Tokens) {
	if used.In+used.Out == 0 {
		return
	}
	if err := r.cfg.Store.Charge(ctx, user, chat.ResourceTokens, int64(used.In)+int64(used.Out)); err != nil {
		r.cfg.Log.ErrorContext(ctx, "tokens could not be counted", "user", user, "error", err)
	}
}

// questionLimit is how many questions a session may have with a toolset: the setting, which never raises the limit of a
// toolset that is made for short conversations.
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

// checkQuestionLimit rejects a further question in a session that is at its limit with those that wait there. Asking an
// earlier question again, or in other words, takes its place and needs no room. It counts without a lock, so two
// questions at once may both be let in as the last one, which does no harm.
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
		return nil // a new one, or one that StartRun refuses
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil: // the run goes on without what can't be read, and says so
		r.cfg.Log.ErrorContext(
			ctx, "questions of a conversation could not be counted", "session", req.SessionID, "error", err,
		)
		return nil
	case session.TurnCount+waiting < r.questionLimit(set):
		return nil
	}
	return &chat.Error{Code: chat.CodeTurnLimit, Message: fmt.Sprintf(
		"This conversation has reached its limit of %s. Ask in a new one: a request without session_id begins it.",
		english.Count(r.questionLimit(set), "question"))}
}

// Gather lets the agent choose how to search for a question, with the toolset strategy unless the request names
// another, and returns what it found instead of an answer. Nothing is stored. It fails when the model does and there is
// no fallback; what was found until then comes with the error. It takes a slot like a run, since it asks the model as
// one, and its tokens count against the user's limit. most bounds the passages that are returned.
func (r *Runs) Gather(ctx context.Context, user string, req chat.RunRequest, most int) (run.Gathered, error) {
	req, set, err := r.engine.CheckRequest(r.engine.WithToolset(req, "strategy"))
	if err != nil {
		return run.Gathered{}, err
	}
	var found run.Gathered
	err = r.besideRuns(ctx, user, func(ctx context.Context) (_ chat.Spent, err error) {
		found, err = r.engine.Gather(ctx, chat.Run{ID: chat.NewID(), User: user, Request: req}, set, most)
		return found.Spent, err
	})
	return found, err
}

// CheckResults has a language model judge results of a search; see run.Engine.CheckResults. It takes a slot like a run,
// and its tokens count against the user's limit.
func (r *Runs) CheckResults(
	ctx context.Context, user, question string, found []corpus.Result,
) (checked run.CheckedResults, err error) {
	req := chat.RunRequest{Message: question}
	err = r.besideRuns(ctx, user, func(ctx context.Context) (_ chat.Spent, err error) {
		checked, err = r.engine.CheckResults(ctx, chat.Run{ID: chat.NewID(), User: user, Request: req}, found)
		return checked.Spent, err
	})
	return checked, err
}

// besideRuns does a user's work that asks models and is no run. It holds a slot meanwhile, fails when the user has no
// tokens left, and ends the work when the server stops.
func (r *Runs) besideRuns(
	ctx context.Context, user string, work func(context.Context) (chat.Spent, error),
) error {
	if err := r.cfg.Store.Room(ctx, user, chat.ResourceTokens); err != nil {
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
