// Package run answers one question: a model chooses tools, the tools search and read the documents, and every claim
// of the answer is tied to the words it rests on. Engine holds what all runs of a process share, Runner is one run,
// and Control steers it from outside. Runner.Execute prepares the prompt, plans, lets rules choose the first tools
// where they can, then alternates turns of the model with calls of tools and reviews the answer; each step is stored
// before the next begins. What a tool can do is in agent/tools, what a footnote must hold in agent/ground, rules
// about the question's text in agent/question.
package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/mcp"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/agent/web"
	"github.com/footnote/footnote/chat"

	lru "github.com/hashicorp/golang-lru/v2"
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
