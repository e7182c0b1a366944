// Package run answers one question: a model chooses tools, the tools search and read the documents, and every claim
// of the answer is tied to the words it rests on. Engine holds what all runs of a process share, Runner is one run,
// and Control steers it from outside. Runner.Execute prepares the prompt, plans, lets rules choose the first tools
// where they can, then alternates turns of the model with calls of tools and reviews the answer; each step is stored
// before the next begins. What a tool can do is in agent/tools, what a footnote must hold in agent/cite, rules
// about the question's text in agent/question.
package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/mcp"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/agent/web"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

// Config wires an Engine. Store, Feed, Library and Model are required; zero limits take their defaults.
type Config struct {
	Store    chat.Store
	Feed     *chat.Feed // over the same Store
	Library  tools.Library
	Reranker bool // the library has a reranker: searches use it unless a request says otherwise
	Model    llm.Model
	Fallback llm.Model   // takes over when Model fails; nil: the run then fails
	Web      *web.Web    // nil: there is no web_search
	MCP      *mcp.Client // nil: there are no tools of other servers
	Select   llm.Model   // a cheaper one that chooses tools, plans and judges; nil: Model
	Models   []llm.Model // a request may name one of these instead of Model, weakest first
	Owner    string      // names this process in leases; unique to its life. Empty: a fresh id
	Log      *slog.Logger

	// LeastModel is the first of Models that chooses tools by itself. Those before it get passages that rules found,
	// and only write the answer. Empty: all choose.
	LeastModel string
	// Small says why a model gets the profile for small ones, in a few words; empty: it does not. measuring is called
	// before it begins to measure, which takes seconds. nil: no model gets it.
	Small func(ctx context.Context, model string, measuring func()) string
	// Prices are per million tokens, by model. Runs with other models have no cost.
	Prices map[string]Price

	Toolset     string      // of requests without one; empty: DefaultToolset
	Tools       []string    // of requests without enabled_tools; empty: the toolset's own
	Budget      chat.Budget // zero fields: the toolset's own
	Temperature *float64    // of requests without one; nil: the toolset's own
	MaxTokens   int         // of one reply of the model; 0: its own limit
	// SystemPrompt is what every model is told beside the rules: a role, a tone, what the documents are about. It
	// changes no rule.
	SystemPrompt string
	Guard        Guard         // which questions are stopped
	Features     Features      // how runs decide
	Memory       Memory        // what of a conversation a run knows
	ToolTimeout  time.Duration // of one call; 0: 30 s

	// ApproveWeb has a person allow each search of the web.
	ApproveWeb bool

	Framework Framework // drives the runs; nil: the agent's own loop
}

// CheckTools reports a toolset or a tool that does not exist. It opens nothing: footnote doctor asks it about settings
// alone.
func (c Config) CheckTools() error {
	registry, err := c.toolRegistry()
	if err != nil {
		return err
	}
	return registry.Check(c.Toolset, c.Tools)
}

// toolRegistry builds the tools that the settings allow. It fails for a tool whose schema is wrong, which is a mistake
// in the program.
func (c Config) toolRegistry() (tools.Registry, error) {
	return tools.NewRegistry(tools.Config{Web: c.Web, MCP: c.MCP, ApproveWeb: c.ApproveWeb})
}

// Engine is what all runs of a process share: settings, tools, models, caches and counters. It is safe for concurrent
// use.
type Engine struct {
	cfg      atomic.Pointer[Config] // Use sets another
	Registry tools.Registry
	guard    guard
	stats    *stats
	results  *lru.Cache[string, tools.Result]
	// which tools a model chose for a question, when that led to an answer with footnotes
	decisions *lru.Cache[string, decision]
	memories  *lru.Cache[string, runMemory] // of finished runs, which never change
	counts    *lru.Cache[string, int]       // of documents that can be searched
	// of a language model on passages, by model, question and text
	verdicts *lru.Cache[string, llm.Verdict]
}

// NewEngine checks the wiring.
func NewEngine(cfg Config) (*Engine, error) {
	if cfg.Store == nil || cfg.Feed == nil || cfg.Library == nil || cfg.Model == nil {
		return nil, errors.New("agent: Store, Feed, Library and Model are required")
	}
	registry, err := cfg.toolRegistry()
	if err != nil {
		return nil, err
	}
	cfg.Toolset = cmp.Or(cfg.Toolset, tools.DefaultToolset)
	if err := registry.Check(cfg.Toolset, cfg.Tools); err != nil {
		return nil, err
	}
	cfg.Owner = cmp.Or(cfg.Owner, chat.NewID())
	// a tenth of a run's usual time, so that a tool that hangs leaves time for others
	cfg.ToolTimeout = cmp.Or(cfg.ToolTimeout, 30*time.Second)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if err := cfg.Features.Check(); err != nil {
		return nil, err
	}
	cfg.Features.ContextTokens = cmp.Or(cfg.Features.ContextTokens, contextTokens)
	cfg.Memory = cfg.Memory.orDefaults()
	stops, err := newGuard(cfg.Guard)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		Registry: registry, guard: stops, stats: newStats(), results: newCache[tools.Result](maxCached),
		decisions: newCache[decision](maxDecisions), memories: newCache[runMemory](maxMemories),
		counts: newCache[int](maxCached), verdicts: newCache[llm.Verdict](maxVerdicts),
	}
	e.cfg.Store(&cfg)
	return e, nil
}

// Config returns the settings with their defaults.
func (e *Engine) Config() Config { return *e.config() }

// config is what is set now. Nobody changes what it points to: a run keeps what it began with. Who needs several
// settings reads it once: Use may put another in its place in between.
func (e *Engine) config() *Config { return e.cfg.Load() }

// Stats returns what all runs did so far.
func (e *Engine) Stats() chat.RunStats { return e.stats.copyCounts() }

// DefaultTools returns the tools of a request that names none.
func (e *Engine) DefaultTools() tools.Set { return e.Registry.Toolsets[e.config().Toolset] }

// FindTool returns the tool of a request's toolset with this name, with those of other servers; nil if it has no such
// tool.
func (e *Engine) FindTool(ctx context.Context, req chat.RunRequest, name string) (*tools.Tool, error) {
	set, err := e.ToolsOf(req)
	if err != nil {
		return nil, err
	}
	return e.Registry.WithMCPTools(ctx, set).Find(name), nil
}

// ReadLog reads all events that a run has stored. It reads page by page, chat.MaxPage events each, and returns all of
// them at once: a log has at most as many as the store allows for a run.
func (e *Engine) ReadLog(ctx context.Context, run chat.Run) ([]chat.Event, error) {
	var log []chat.Event
	for {
		after := int64(0)
		if len(log) > 0 {
			after = log[len(log)-1].Seq
		}
		events, err := e.config().Store.Events(ctx, chat.Scope{User: run.User}, run.ID, after, chat.MaxPage)
		if err != nil {
			return nil, fmt.Errorf("read log of run %s: %w", run.ID, err)
		}
		if len(events) == 0 {
			return log, nil
		}
		log = append(log, events...)
	}
}

// maxCached is how many results of tools are kept, and how many counts of documents. No measurement of either is
// recorded: a call that is made again is mostly one of the same conversation, so the last ones are enough.
const maxCached = 256

// maxVerdicts is how many verdicts on passages are kept: those of some 300 questions. A key has about 1 KB.
const maxVerdicts = 2000

// newCache returns a cache of the values used last, for all runs. It is safe for concurrent use.
func newCache[V any](most int) *lru.Cache[string, V] {
	c, err := lru.New[string, V](most)
	if err != nil {
		panic(err) // a size below 1
	}
	return c
}

// FeatureNames are what a run does around its model, by name. Each can be switched off. They are the values of the
// setting agent.without, and the names under which the handbook explains them.
func FeatureNames() []string {
	return []string{
		featureAnalyse, featurePlan, featurePaths, featureRefine, featureEarlyStop, featureDecisions, featureReflect,
	}
}

const (
	featureAnalyse   = "analyse"
	featurePlan      = "plan"
	featurePaths     = "short_paths"
	featureRefine    = "refine"
	featureEarlyStop = "early_stop"
	featureDecisions = "cached_decisions"
	featureReflect   = "reflect"
)

// Features is how runs decide. Its zero value is all of it, with the selection of each toolset.
type Features struct {
	Selection tools.Selection // of requests without one; empty: the toolset's own
	Without   []string        // features that are switched off
	Pipeline  bool            // the fixed pipeline for every question: search, read, answer
	// FallbackScore is the minimum similarity, 0–1, of the results of the semantic search that replaces a model that
	// can't use its tools.
	FallbackScore float64
	Checks        CheckMode // when a language model checks passages
	NoRescue      bool      // a model that can't use its tools is not helped by the fixed pipeline

	// ContextTokens is how large a run's history may grow before the results of its older calls are shortened. 0:
	// 60,000.
	ContextTokens int
}

// Check says what is wrong with it.
func (t Features) Check() error {
	if err := t.Selection.Check(); err != nil {
		return err
	}
	for _, name := range t.Without {
		if !slices.Contains(FeatureNames(), name) {
			return chat.Invalid(
				"There is nothing called “%s” to switch off. There are: %s.", text.Shorten(name, 60),
				strings.Join(FeatureNames(), ", "),
			)
		}
	}
	if t.ContextTokens < 0 {
		return chat.Invalid("The tokens of a context can't be negative.")
	}
	return nil
}

// usesAgent reports whether the model may call tools as it sees fit: as the request says, else as the settings do.
func (k *knowledge) usesAgent() bool {
	if asked := k.run.Request.Config.UseAgentMode; asked != nil {
		return *asked
	}
	return !k.cfg.Features.Pipeline
}

// isEnabled reports whether a feature is on.
func (k *knowledge) isEnabled(feature string) bool {
	return !slices.Contains(k.cfg.Features.Without, feature)
}

// Framework drives a run: it asks for a turn of the model, lets the agent make the turn's calls, and repeats this until
// a turn has no calls. The framework decides only what comes next. The agent does everything else: history, budgets,
// events, citations and the handling of failures. It returns when a turn had no calls, or with the
// error of a turn or a call.
type Framework func(ctx context.Context, r Rounds) error

// Rounds is a run as a framework drives it. Its functions may be called from any goroutine; they work one after the
// other.
type Rounds struct {
	Question string
	Tools    []llm.ToolSpec // those of the run
	Most     int            // rounds of a turn and its calls that no run reaches

	// Turn has the model speak, and returns the calls that it wants made: none after its answer. The answer's text is
	// shown as it comes. It fails while calls of the last turn are not made.
	Turn func(ctx context.Context) ([]llm.Call, error)

	// Call returns what the model is told about one of the last turn's calls, by its place from 0; for a call that
	// did not run that is why. The calls of a turn are made at the same time, when the first of them is asked for.
	Call func(ctx context.Context, place int) (string, error)
}

// moreRounds are those beyond the budget of turns: repairs, cut turns and reviews. There are far fewer of them; a
// framework that bounds its rounds, as Eino does, must only never end a run that the budget lets go on.
const moreRounds = 50

var errRounds = errors.New("the agent framework left the order of turns and calls")

// driveBy lets a framework drive the run, and takes it back. The framework's context ends before that, so that nothing
// of it goes on.
func (w *Runner) driveBy(ctx context.Context, drive Framework) ([]chat.Payload, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &rounds{w: w}
	err := drive(ctx, r.asRounds())
	cancel()
	return r.takeBack(err)
}

// rounds lets a framework drive one run, whose work is the framework's until close. A framework may call Turn and Call
// from other goroutines; the mutex makes them one after the other, because the parts of a Runner belong to one
// goroutine at a time.
type rounds struct {
	w       *Runner
	mu      sync.Mutex
	closed  bool
	err     error // the first failure; the framework may wrap or hide it
	reply   reply // of the last turn
	results []string
	ended   bool // the last turn was the answer
	last    []chat.Payload
}

// asRounds is the run as a Framework gets it.
func (r *rounds) asRounds() Rounds {
	return Rounds{
		Question: r.w.run.Request.Message, Tools: r.w.model.toolSpecs(),
		Most: r.w.budget.limits.Steps + moreRounds,
		Turn: func(ctx context.Context) (calls []llm.Call, err error) {
			err = r.inOrder(func() error { calls, err = r.takeTurn(ctx); return err })
			return calls, err
		},
		Call: func(ctx context.Context, place int) (told string, err error) {
			err = r.inOrder(func() error { told, err = r.callResult(ctx, place); return err })
			return told, err
		},
	}
}

// inOrder does one step at a time, and none after a failure or when the run was taken back.
func (r *rounds) inOrder(step func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.err != nil:
		return r.err
	case r.closed:
		return errRounds
	}
	r.err = step()
	return r.err
}

// takeTurn has the model speak. It fails with errRounds after the answer, and while calls of the last turn are open.
func (r *rounds) takeTurn(ctx context.Context) ([]llm.Call, error) {
	if r.ended || len(r.reply.calls) > 0 && r.results == nil {
		return nil, errRounds
	}
	var err error
	r.results = nil
	if r.reply, r.last, err = r.w.nextReply(ctx); err != nil {
		return nil, err
	}
	r.ended = len(r.reply.calls) == 0
	return r.reply.calls, nil
}

// callResult is what the model is told of one call, by its place in the turn from 0. All calls of the turn are made
// when the first of them is asked for: a framework that asks one by one still has them run side by side.
func (r *rounds) callResult(ctx context.Context, place int) (string, error) {
	if place < 0 || place >= len(r.reply.calls) {
		return "", errRounds
	}
	if r.results == nil {
		before := len(r.w.messages.list)
		if err := r.w.runTurnCalls(ctx, r.reply); err != nil {
			return "", err
		}
		r.results = make([]string, len(r.reply.calls))
		made := 0
		for _, m := range r.w.messages.list[min(before, len(r.w.messages.list)):] {
			if m.Role == llm.RoleTool && made < len(r.results) {
				r.results[made] = m.Text
				made++
			}
		}
	}
	return r.results[place], nil
}

// takeBack takes the run back from the framework, which returned err. It waits for a step that the framework left
// behind.
func (r *rounds) takeBack(err error) ([]chat.Payload, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	switch {
	case r.err != nil:
		return nil, r.err
	case err != nil:
		return nil, fmt.Errorf("agent framework: %w", err)
	case !r.ended:
		return nil, errRounds
	}
	return r.last, nil
}
