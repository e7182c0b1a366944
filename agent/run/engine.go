// Package run answers one question. A model chooses tools, the tools search and read the documents, and every claim
// of the answer is tied to the words it rests on. Engine holds the shared state of all runs of a process, Runner
// executes one run, and Control steers it from outside. Runner.Execute prepares the prompt, makes the plan, and lets
// rules choose the first tools where they can. Then it alternates model turns with tool calls and reviews the
// answer. Each step is stored before the next begins. The tools are in agent/tools, the requirements for a footnote
// in agent/cite, and the rules for the question's text in agent/question.
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

// Config configures an Engine. Store, Feed, Library and Model are required; zero limits take their defaults.
type Config struct {
	Store    chat.Store
	Feed     *chat.Feed // over the same Store
	Library  tools.Library
	Reranker bool // the library has a reranker: searches use it unless a request disables it
	Model    llm.Model
	Fallback llm.Model   // replaces Model when it fails; nil: the run then fails
	Web      *web.Web    // nil: no web_search
	MCP      *mcp.Client // nil: no tools of other servers
	Select   llm.Model   // a cheaper model that chooses tools, plans and judges; nil: Model
	Models   []llm.Model // a request may select one of these instead of Model; weakest first
	Owner    string      // identifies this process in leases, unique per process; empty: a new id
	Log      *slog.Logger

	// LeastModel is the first of Models that chooses tools itself. Weaker ones get passages that rules retrieved,
	// and only write the answer. Empty: all choose.
	LeastModel string
	// Small returns why a model gets the profile for small models, in a few words; empty: it does not. It calls
	// measuring before a measurement, which takes seconds. nil: no model gets the profile.
	Small func(ctx context.Context, model string, measuring func()) string
	// Prices are per million tokens, by model. Runs with other models have no cost.
	Prices map[string]Price

	Toolset     string      // default of requests; empty: DefaultToolset
	Tools       []string    // default for enabled_tools in requests; empty: the toolset's own
	Budget      chat.Budget // zero fields: the toolset's own
	Temperature *float64    // default of requests; nil: the toolset's own
	MaxTokens   int         // token limit of one model reply; 0: the model's own limit
	// SystemPrompt is added to the rules in every model's prompt: a role, a tone, the subject of the documents. It
	// overrides no rule.
	SystemPrompt string
	Guard        Guard         // rules that block questions
	Features     Features      // how runs decide
	Memory       Memory        // limits of the conversation's context
	ToolTimeout  time.Duration // timeout of one call; 0: 30 s

	// ApproveWeb requires approval for each web search.
	ApproveWeb bool

	Framework Framework // drives the runs; nil: the agent's own loop
}

// CheckTools returns an error for a toolset or tool that does not exist. It opens nothing, so footnote doctor can
// validate settings alone.
func (c Config) CheckTools() error {
	registry, err := c.toolRegistry()
	if err != nil {
		return err
	}
	return registry.Check(c.Toolset, c.Tools)
}

// toolRegistry builds the tools that the settings allow. It fails for a tool with an invalid schema, which is a bug
// in the program.
func (c Config) toolRegistry() (tools.Registry, error) {
	return tools.NewRegistry(tools.Config{Web: c.Web, MCP: c.MCP, ApproveWeb: c.ApproveWeb})
}

// Engine holds the shared state of all runs of a process: settings, tools, models, caches and counters. It is safe
// for concurrent use.
type Engine struct {
	cfg      atomic.Pointer[Config] // replaced by Use
	Registry tools.Registry
	guard    guard
	stats    *stats
	results  *lru.Cache[string, tools.Result]
	// tools that a model chose for a question, if the answer had footnotes
	decisions *lru.Cache[string, decision]
	memories  *lru.Cache[string, runMemory] // of finished runs, which never change
	counts    *lru.Cache[string, int]       // numbers of searchable documents
	// of a language model on passages, by model, question and text
	verdicts *lru.Cache[string, llm.Verdict]
}

// NewEngine validates the configuration and returns an engine. It fails for a missing required field and invalid
// settings.
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
	// a tenth of a run's usual time, so that a hanging tool leaves time for others
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

// Config returns the current settings, with defaults.
func (e *Engine) Config() Config { return *e.config() }

// config returns the current settings. They are immutable: a run keeps the snapshot it started with. A caller that
// needs several settings loads it once, since Use may replace it at any time.
func (e *Engine) config() *Config { return e.cfg.Load() }

// Stats returns the counters of all runs so far.
func (e *Engine) Stats() chat.RunStats { return e.stats.copyCounts() }

// DefaultTools returns the tools of a request without a toolset.
func (e *Engine) DefaultTools() tools.Set { return e.Registry.Toolsets[e.config().Toolset] }

// FindTool returns the tool with this name in a request's toolset, including tools of MCP servers; nil if there is
// none.
func (e *Engine) FindTool(ctx context.Context, req chat.RunRequest, name string) (*tools.Tool, error) {
	set, err := e.ToolsOf(req)
	if err != nil {
		return nil, err
	}
	return e.Registry.WithMCPTools(ctx, set).Find(name), nil
}

// ReadLog reads all stored events of a run, in pages of chat.MaxPage, and returns them at once. The store's limit of
// events for a run bounds the result.
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

// maxCached is the size of the cache of tool results, and of the cache of document counts. No measurement of either
// is recorded. A repeated call is mostly one of the same conversation, so the latest entries are enough.
const maxCached = 256

// maxVerdicts is the size of the cache of verdicts on passages: those of some 300 questions. A key takes about 1 KB.
const maxVerdicts = 2000

// newCache returns an LRU cache that all runs share. It is safe for concurrent use.
func newCache[V any](most int) *lru.Cache[string, V] {
	c, err := lru.New[string, V](most)
	if err != nil {
		panic(err) // a size below 1
	}
	return c
}

// FeatureNames returns the names of optional features of a run. Each can be disabled. They are the values of the
// setting agent.without, and the handbook's names for them.
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

// Features configures how runs decide. The zero value enables all features, with each toolset's own selection.
type Features struct {
	Selection tools.Selection // default of requests; empty: the toolset's own
	Without   []string        // disabled features
	Pipeline  bool            // the fixed pipeline for every question: search, read, answer
	// FallbackScore is the minimum similarity, 0–1, of semantic search results in the fallback for a model that
	// can't use its tools.
	FallbackScore float64
	Checks        CheckMode // when a language model checks passages
	NoRescue      bool      // disables the fixed pipeline as fallback for a model that can't use its tools

	// ContextTokens is the history size, in tokens, above which results of older calls are shortened. 0: 60,000.
	ContextTokens int
}

// Check validates the features, and returns an error for the user.
func (t Features) Check() error {
	if err := t.Selection.Check(); err != nil {
		return err
	}
	for _, name := range t.Without {
		if !slices.Contains(FeatureNames(), name) {
			return chat.Invalid(
				"Unknown feature “{1}”. You can turn off: {2}.", text.Shorten(name, 60),
				strings.Join(FeatureNames(), ", "),
			)
		}
	}
	if t.ContextTokens < 0 {
		return chat.Invalid("The context token limit can't be negative.")
	}
	return nil
}

// usesAgent reports whether the model may call tools: the request's setting, else that of the settings.
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

// Framework drives a run: it requests a model turn, has the agent make the turn's calls, and repeats this until a
// turn has no calls. It decides only the order. The agent handles history, budgets, events, citations and failures.
// Framework returns after a turn without calls, or with the error of a turn or a call.
type Framework func(ctx context.Context, r Rounds) error

// Rounds is the view of a run that a Framework gets. Its functions may be called from any goroutine; a mutex
// serialises them.
type Rounds struct {
	Question string
	Tools    []llm.ToolSpec // tools of the run
	Most     int            // upper limit of rounds, which no run reaches

	// Turn completes a model turn and returns its calls; none after an answer. The answer's text is streamed to
	// readers. It fails while calls of the previous turn were not made.
	Turn func(ctx context.Context) ([]llm.Call, error)

	// Call returns the result for the model of one call of the last turn, by its index from 0. For a call that did
	// not run, that is the reason. All calls of a turn run in parallel on the first Call.
	Call func(ctx context.Context, place int) (string, error)
}

// moreRounds is the allowance above the budget of turns: repairs, cut turns and reviews. A run needs far fewer. It
// only has to be large enough that a framework's round limit, as Eino's, never ends a run within its budget.
const moreRounds = 50

var errRounds = errors.New("the agent framework left the order of turns and calls")

// runFramework lets a framework drive the run and then takes it back. The framework's context is cancelled first, so
// that none of its work continues.
func (w *Runner) runFramework(ctx context.Context, drive Framework) ([]chat.Payload, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &rounds{w: w}
	err := drive(ctx, r.asRounds())
	cancel()
	return r.endFramework(err)
}

// rounds gives a framework control of one run until endFramework. A framework may call Turn and Call from other
// goroutines. The mutex serialises them, because a Runner's parts may be used by one goroutine at a time.
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

// asRounds returns the run as a Framework gets it.
func (r *rounds) asRounds() Rounds {
	return Rounds{
		Question: r.w.run.Request.Message, Tools: r.w.model.toolSpecs(),
		Most: r.w.budget.limits.Steps + moreRounds,
		Turn: func(ctx context.Context) (calls []llm.Call, err error) {
			err = r.inOrder(func() error { calls, err = r.completeTurn(ctx); return err })
			return calls, err
		},
		Call: func(ctx context.Context, place int) (told string, err error) {
			err = r.inOrder(func() error { told, err = r.callResult(ctx, place); return err })
			return told, err
		},
	}
}

// inOrder serialises steps. It runs none after a failure or after endFramework.
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

// completeTurn completes a model turn. It fails with errRounds after the answer, and while calls of the last turn are
// open.
func (r *rounds) completeTurn(ctx context.Context) ([]llm.Call, error) {
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

// callResult returns the result for the model of one call, by its index in the turn from 0. The first request runs
// all calls of the turn, so that they run in parallel even if a framework requests the results one by one.
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

// endFramework takes the run back from the framework, which returned err. It waits for a step that still runs.
func (r *rounds) endFramework(err error) ([]chat.Payload, error) {
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
