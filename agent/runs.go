// Package agent answers questions: a model chooses tools, the tools search and read the documents, and every claim of the
// answer is tied to the words it rests on. Each run belongs to the server, not to a request: its goroutine goes on when nobody
// looks, and all it does is in the run's log before anybody sees it.
package agent

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"footnote/agent/tools"
	"footnote/chat"
	"footnote/llm"
	"footnote/mcp"
	"footnote/web"
)

// Config wires Runs. Store, Feed, Library and Model are required; zero limits take their defaults.
type Config struct {
	Store    chat.Store
	Feed     *chat.Feed // over the same Store
	Library  tools.Library
	Model    llm.Model
	Fallback llm.Model   // takes over when Model fails; nil: the run then fails
	Web      *web.Web    // nil: there is no web_search
	MCP      *mcp.Client // nil: there are no tools of other servers
	Select   llm.Model   // a cheaper one that chooses tools, plans and judges; nil: Model
	Models   []llm.Model // a request may name one of these instead of Model, weakest first
	Owner    string      // names this process in leases; unique to its life. Empty: a fresh id
	Log      *slog.Logger

	// LeastModel is the first of Models that chooses tools by itself. Those before it get passages that rules found, and only write the
	// answer. Empty: all choose.
	LeastModel string
	// Prices are per million tokens, by model. Runs with other models have no cost.
	Prices map[string]Price

	Toolset     string      // of requests without one; empty: DefaultToolset
	Tools       []string    // of requests without enabled_tools; empty: the toolset's own
	Budget      chat.Budget // zero fields: the toolset's own
	Temperature *float64    // of requests without one; nil: the toolset's own
	MaxTokens   int         // of one reply of the model; 0: its own limit
	// SystemPrompt is what every model is told beside the rules: a role, a tone, what the documents are about. It changes no rule.
	SystemPrompt string
	Guard        Guard         // which questions are stopped
	Thinking     Thinking      // how runs decide
	Memory       Memory        // what of a conversation a run knows
	MaxTurns     int           // questions of a session; 0: the toolset's own
	KeepSessions time.Duration // how long a session without activity is kept; 0: for ever
	MaxRuns      int           // under way at once; 0: 1,000
	Shared       func() bool   // whether users share MaxRuns, so that each must leave room for others; nil: one has them all
	ToolTimeout  time.Duration // of one call; 0: 30 s
	Lease        time.Duration // how long a run stays ours without a sign of life, longer than a run takes to be stored; 0: 30 s

	// Exclusive says that no other process can work on this store's runs: at start all unfinished ones are taken over at once.
	Exclusive bool

	// ApproveWeb has a person allow each search of the web.
	ApproveWeb bool

	Framework Framework // drives the runs; nil: the agent's own loop

	// Left reports whether a user has lost the last valid key: runs end and waiting questions are not sent. nil: nobody does.
	Left func(user string) bool
}

// Runs starts runs and owns their goroutines. It is safe for concurrent use.
type Runs struct {
	cfg   Config
	box   tools.Registry
	cache *cache[tools.Result]
	guard guard

	tally     *tallies
	decisions *cache[decision] // which tools a model chose for a question, when that led to an answer with footnotes
	memories  *cache[memory]   // of finished runs, which never change
	counts    *cache[int]      // of documents that can be searched
	wg        sync.WaitGroup

	starting sync.RWMutex // held for writing while runs are taken over at the start, so that none of ours is among them
	mu       sync.Mutex
	active   map[string]*handle
	unended  map[string]error    // why the end of a run could not be stored; of runs that are not over
	begun    int                 // runs being stored, not active yet
	places   map[string]int      // those that are active or begun, by user
	held     map[string][]string // sessions whose waiting question its user's limits held back, by user
	stopping bool
	look     chan struct{} // holds one: something is wanted of a run, or one is free
}

// handle is how others reach a run under way.
type handle struct {
	user    string
	ctx     context.Context    // of the run
	asked   map[string]*asking // calls that wait, or waited, for a person; under Runs.mu
	decided map[string]verdict // about calls that do not wait yet, in a run that was taken over; under Runs.mu
	cancel  context.CancelCauseFunc
	now     func() // answer now
	leave   func() // begin nothing any more: another server goes on
}

// CheckTools reports a toolset or a tool that there is not.
func (c Config) CheckTools() error {
	box, err := tools.NewRegistry(c.toolConfig())
	if err != nil {
		return err
	}
	return box.Check(c.Toolset, c.Tools)
}

func (c Config) toolConfig() tools.Config {
	return tools.Config{Web: c.Web, MCP: c.MCP, ApproveWeb: c.ApproveWeb}
}

// NewRuns checks the wiring.
func NewRuns(cfg Config) (*Runs, error) {
	if cfg.Store == nil || cfg.Feed == nil || cfg.Library == nil || cfg.Model == nil {
		return nil, errors.New("agent: Store, Feed, Library and Model are required")
	}
	box, err := tools.NewRegistry(cfg.toolConfig())
	if err != nil {
		return nil, err
	}
	cfg.Toolset = cmp.Or(cfg.Toolset, tools.DefaultToolset)
	if err := box.Check(cfg.Toolset, cfg.Tools); err != nil {
		return nil, err
	}
	cfg.Owner = cmp.Or(cfg.Owner, chat.NewID())
	cfg.MaxRuns = cmp.Or(cfg.MaxRuns, 1000)
	cfg.ToolTimeout = cmp.Or(cfg.ToolTimeout, 30*time.Second)
	cfg.Lease = cmp.Or(cfg.Lease, 30*time.Second)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if err := cfg.Thinking.Check(); err != nil {
		return nil, err
	}
	cfg.Thinking.ContextTokens = cmp.Or(cfg.Thinking.ContextTokens, contextTokens)
	cfg.Memory = cfg.Memory.orDefaults()
	stops, err := newGuard(cfg.Guard)
	if err != nil {
		return nil, err
	}
	return &Runs{cfg: cfg, box: box, guard: stops, cache: newCache[tools.Result](maxCached), tally: newTally(),
		decisions: newCache[decision](maxDecisions), memories: newCache[memory](maxMemories), counts: newCache[int](maxCached),
		active: map[string]*handle{}, places: map[string]int{}, held: map[string][]string{}, unended: map[string]error{}, look: make(chan struct{}, 1)}, nil
}

// Start stores a run and works on it apart from ctx, which bounds the storing only. fresh is false when the request's
// IdempotencyKey named an earlier run, which comes back instead. It fails with CodeInvalid for what can't be asked, CodeNotFound for a
// namespace or documents that the user does not have, CodeTooMany when too many runs are under way or the user's limits are reached, CodeTurnLimit for a session at its limit of questions, and CodeUnavailable while the server stops.
func (r *Runs) Start(ctx context.Context, user string, req chat.RunRequest) (run chat.Run, fresh bool, err error) {
	if r.left(user) {
		return chat.Run{}, false, &chat.Error{Code: chat.CodeUnauthorized, Message: "Your key was revoked before this question was asked."}
	}
	req, set, err := r.check(req)
	if err != nil {
		return chat.Run{}, false, err
	}
	if err := r.reserve(user); err != nil {
		return r.repeated(ctx, user, req, err)
	}
	defer r.unreserve(user)
	if err := r.admit(ctx, user, req, set, 0); err != nil {
		return r.repeated(ctx, user, req, err)
	}
	r.starting.RLock()
	defer r.starting.RUnlock()
	run, fresh, err = r.cfg.Store.StartRun(ctx, user, req, r.lease())
	if err != nil || !fresh {
		return run, fresh, err
	}
	r.cfg.Feed.Begin(run)
	r.launch(context.WithoutCancel(ctx), run, set, nil)
	return run, true, nil
}

// admit refuses what the library or the conversation, in which some questions wait already, has no place for.
func (r *Runs) admit(ctx context.Context, user string, req chat.RunRequest, set tools.Set, waiting int) error {
	if err := r.named(ctx, user, req); err != nil {
		return err
	}
	return r.room(ctx, user, req, set, waiting)
}

// repeated returns the run that a refused request started when it came before, and else why it is refused: what happened to the library
// since then is no matter of a request that was already served.
func (r *Runs) repeated(ctx context.Context, user string, req chat.RunRequest, refused error) (chat.Run, bool, error) {
	if req.IdempotencyKey == "" {
		return chat.Run{}, false, refused
	}
	run, err := r.cfg.Store.Repeated(ctx, user, req)
	if err != nil && chat.CodeOf(err) == chat.CodeNotFound {
		err = refused
	}
	return run, false, err
}

func (r *Runs) lease() chat.Lease {
	return chat.Lease{Owner: r.cfg.Owner, Until: time.Now().Add(r.cfg.Lease)}
}

// launch gives a run its goroutine. log is what it did before a restart, nil for a new run.
func (r *Runs) launch(ctx context.Context, run chat.Run, set tools.Set, log []chat.Event) {
	ctx, cancel := context.WithCancelCause(ctx)
	now, answerNow := context.WithCancelCause(ctx)
	leaving, leave := context.WithCancelCause(context.WithoutCancel(ctx))
	h := &handle{
		user: run.User, ctx: ctx, asked: map[string]*asking{}, decided: map[string]verdict{}, cancel: cancel,
		now: func() { answerNow(errAnswerNow) }, leave: func() { leave(errLeaving) },
	}
	r.mu.Lock()
	if r.stopping {
		r.dismiss(h)
	}
	r.active[run.ID] = h
	r.places[run.User]++
	r.mu.Unlock()
	r.wg.Go(func() {
		defer leave(nil)
		defer answerNow(nil)
		defer cancel(nil)
		w := r.newWork(run, set, now)
		w.handle, w.leaving, w.fresh = h, leaving, len(log) == 0
		w.finish(ctx, func() ([]chat.Payload, error) { return w.do(ctx, log) })
		r.mu.Lock()
		delete(r.active, run.ID)
		r.leavePlace(run.User)
		r.mu.Unlock()
		r.sendNext(context.WithoutCancel(ctx), chat.SessionKey{User: run.User, ID: run.SessionID})
		r.sendHeld(context.WithoutCancel(ctx), run.User)
		if err := w.tools.Wait(); err != nil { // calls that outlived their run end by their own contexts
			r.cfg.Log.ErrorContext(ctx, "tools ended with an error", "run", run.ID, "error", err)
		}
	})
}
