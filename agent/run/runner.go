package run

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"footnote/agent/ground"
	"footnote/agent/question"
	"footnote/agent/tools"
	"footnote/chat"
	"footnote/corpus"
	"footnote/english"
	"footnote/llm"
)

// offlineName is the name of the model made of rules. It needs no advice: what it says is what it can.
const offlineName = "offline"

// Runner is one run under way. Its goroutine alone touches it.
type Runner struct {
	engine           *Engine
	cfg              *Config // the engine's
	control          *Control
	store            ground.Emit // appends to the run's log
	run              chat.Run
	set              tools.Set
	budget           chat.Budget
	begun            time.Time
	fresh            bool           // nothing of it is stored yet
	unstored         error          // why an earlier end of it could not be stored here; nil: none
	tools            sync.WaitGroup // calls under way, and those that wait for a slot
	slots            chan struct{}  // as many as calls run at the same time
	model            llm.Model
	onFallback       bool // the model is the one made of rules: from the start, or because the other failed
	toolContext      *tools.Context
	cite             *ground.Citer
	evidence         *ground.Evidence
	writer           *ground.Writer
	nonce            string
	documentsInReach int // documents in reach
	asked            question.Analysis
	titled           corpus.Document // that the question names by its title; empty: none
	conversation     conversation
	pastLost         bool  // what came before could not be read: the answer goes on without it
	plan             *plan // nil: the question is answered as it is
	history          []llm.Message
	aside            []llm.Message         // for the next turn only: a reply and what was wrong with it
	open             map[string]*chat.Step // steps that are running
	calls            map[string]int        // how often each call was made

	ids              int
	turns            int // model turns that may call tools
	retrievals       int
	hasToolFacts     bool       // a tool answered that shows no passages
	failed           []string   // messages of searches that failed
	enough           bool       // the model said that it can answer
	preselected      bool       // the program chose the first tools
	direct           bool       // the next turn is the answer, for the model was not asked to choose
	refined          bool       // it was searched in other words
	rescued          bool       // the fixed pipeline took over
	selectorFailed   bool       // the model that only chooses tools failed
	first            []llm.Call // what the model chose first
	badTurns         int        // turns in a row with calls that could not run
	cutTurns         int
	rejected         []rejectedCall
	ownAnswer        bool      // the answer is the program's own: what it opened for the reader
	answeredRejected bool      // the answer is the program's own: what was not done
	badCalls         int       // that the model's server could not read
	promptLost       bool      // it was said that the model's server dropped a part of the prompt
	judged           judgement // the model's, on the answer that stands
	earlier          *draft    // the best answer so far, while a better one is looked for
	compacted        bool
	nudged           map[string]bool
	noticed          map[llm.Notice]bool
	tokens           chat.Tokens
	cost             *float64        // of what was used; nil without prices
	unpriced         bool            // a model was used that has no price
	stop             chat.StopReason // why the answer is forced; empty while it is not
}

func (e *Engine) NewRunner(run chat.Run, set tools.Set, c *Control) *Runner {
	model, err := e.modelOf(run.Request.Config)
	if err != nil {
		model = e.cfg.Model // it was allowed when the run began
	}
	w := &Runner{
		engine: e, cfg: &e.cfg, control: c, run: run, set: set, budget: e.budgetOf(set, run.Request.Config),
		begun: time.Now(),
		model: model, onFallback: model.Name() == offlineName, nonce: newNonce(),
		open: map[string]*chat.Step{}, calls: map[string]int{}, nudged: map[string]bool{},
		noticed: map[llm.Notice]bool{}, slots: make(chan struct{}, maxParallel),
	}
	w.store = func(ctx context.Context, ps ...chat.Payload) error {
		err := e.cfg.Feed.Append(ctx, e.cfg.Owner, run.ID, ps...)
		if err == nil {
			if w.fresh {
				w.fresh = false
			}
			w.note(ctx, ps)
		}
		return err
	}
	top := tools.DefaultTopK
	if k := run.Request.Config.RetrievalTopK; k != nil {
		top = *k
	}
	w.toolContext = &tools.Context{
		Library: e.cfg.Library, Scope: chat.Scope{User: run.User}.In(run.Request.Namespace),
		DocumentIDs: run.Request.DocumentIDs,
		RunID:       run.ID, TopK: top, Rerank: isOn(run.Request.Config.RerankResults), Sources: ground.NewSources(),
	}
	w.toolContext.Texts = ground.NewTexts(e.cfg.Library, w.toolContext.ReadScope())
	w.cite = ground.NewCiter(w.toolContext.Sources, w.toolContext.Texts, run.ID)
	w.evidence = ground.NewEvidence(w.toolContext.Sources, w.cite, run.Request)
	w.writer = ground.NewWriter(w.emit, w.cite, w.givenText())
	return w
}

// isOn reports whether a request switched something on that is off by default.
func isOn(b *bool) bool { return b != nil && *b }

// givenText reports whether the answer comes from the text that came with the question, and from nothing else.
func (w *Runner) givenText() bool { return w.run.Request.ContextText != "" }

// emit stores payloads. A run whose events can't be stored ends: an unrecorded step must not shape the answer. A
// cancelled run still stores what it has begun to store, so that one knows what is in the log.
func (w *Runner) emit(ctx context.Context, ps ...chat.Payload) error {
	if len(ps) == 0 {
		return nil
	}
	if err := w.store(context.WithoutCancel(ctx), ps...); err != nil {
		w.reopen(ps)
		return fmt.Errorf("store events: %w", err)
	}
	return nil
}

// reopen remembers the steps whose ends could not be stored as running, so that the end of the run ends them.
func (w *Runner) reopen(ps []chat.Payload) {
	for _, p := range ps {
		if s, ok := p.(chat.Step); ok {
			w.open[s.CallID] = &s
		}
	}
}

func (w *Runner) newID() string {
	w.ids++
	return "c" + strconv.Itoa(w.ids)
}

// newStep makes a step that is no tool call.
func (w *Runner) newStep(name string, action chat.Action, status chat.Status, message string) chat.Step {
	return chat.Step{
		CallID: w.newID(), Step: name, ActionType: action, Message: message, Timestamp: stamp(), Status: status,
		ToolStatus: status,
		Details:    map[string]any{},
	}
}

// track remembers a running step, so that it is closed whatever happens, and forgets one that ended.
func (w *Runner) track(s chat.Step) chat.Step {
	if s.Status == chat.StatusRunning || s.Status == chat.StatusPending {
		w.open[s.CallID] = &s
	} else {
		delete(w.open, s.CallID)
	}
	return s
}

func stamp() float64 { return float64(time.Now().UnixMicro()) / 1e6 }

func sinceMS(t time.Time) int64 { return time.Since(t).Milliseconds() }

// begin emits how the run starts and prepares the history.
func (w *Runner) begin(ctx context.Context) error {
	if err := w.prepare(ctx); err != nil {
		return err
	}
	ps := []chat.Payload{w.started()}
	switch n := w.conversation.lost; {
	case w.pastLost || n > 0 && len(w.conversation.messages) == len(w.outside()):
		ps = append(ps, w.newStep(
			historyStep, chat.ActionThinking, chat.StatusError,
			"The conversation so far can't be read: answering without it",
		))
	case n > 0:
		ps = append(ps, w.newStep(historyStep, chat.ActionThinking, chat.StatusError,
			english.Count(n, "turn")+" of this conversation can't be read: answering without "+english.Choose(
				n == 1, "it", "them",
			)))
	}
	if !w.givenText() && w.enabled(featureAnalyse) {
		step := w.asked.Step(w.newID(), stamp())
		for _, a := range w.set.Absent {
			step.Details["left_out"] = a.Name + ": " + a.Why
		}
		ps = append(ps, step)
	}
	return w.emit(ctx, ps...)
}

// prepare reads what the run needs to know before its first turn.
func (w *Runner) prepare(ctx context.Context) (err error) {
	w.set = w.engine.Registry.WithMCPTools(ctx, w.set)
	if w.conversation, err = w.recollect(ctx); err != nil {
		if ctx.Err() != nil || chat.CodeOf(err) == chat.CodeNotFound {
			return err
		}
		w.cfg.Log.ErrorContext(
			ctx, "conversation could not be read: answering without it", "run", w.run.ID, "error", err,
		)
		w.pastLost = true
	}
	if w.documentsInReach, err = w.searchable(ctx); err != nil {
		return fmt.Errorf("count documents: %w", err)
	}
	w.asked = question.Analyse(w.run.Request.Message, len(w.conversation.messages) > 0)
	if !w.enabled(featureAnalyse) {
		w.asked = w.asked.WithoutAdvice()
	} else if err := w.byTitle(ctx); err != nil {
		return err
	}
	w.evidence.Listing = w.asked.Type == question.Metadata
	w.asked.Tools = w.set.Available(w.asked.Tools)
	w.history = prompt(
		w.run, w.cfg.SystemPrompt, w.budget, w.asked, w.conversation, w.documentsInReach, w.nonce, w.begun,
	)
	if !w.givenText() {
		w.history[0].Text += w.set.AbsenceNote()
	}
	if err := w.promptEarlierPassages(ctx); err != nil {
		return err
	}
	if w.onFallback {
		return w.giveTextToFallback()
	}
	return nil
}

// searchable counts the documents that can be searched, none of a run that has its text given. All of them are
// counted once for each version of the library, which calls of tools know from here on.
func (w *Runner) searchable(ctx context.Context) (int, error) {
	version, err := w.cfg.Library.Version(ctx, w.toolContext.Scope)
	if err != nil {
		return 0, err
	}
	if w.givenText() {
		return 0, nil
	}
	if n := len(w.toolContext.DocumentIDs); n > 0 {
		return n, nil
	}
	key := w.toolContext.CacheKey("count", "", version)
	if n, ok := w.engine.counts.Get(key); ok {
		return n, nil
	}
	counts, err := w.cfg.Library.Count(ctx, w.toolContext.Scope)
	if err == nil {
		w.engine.counts.Add(key, counts.Ready)
	}
	return counts.Ready, err
}

// giveTextToFallback gives the fallback, which knows documents only, the given text as one that was read.
func (w *Runner) giveTextToFallback() error {
	if !w.givenText() {
		return w.giveContextToFallback()
	}
	out := tools.ReadDocumentOutput{
		DocID: "context", Filename: "the given text", Title: "The given text", Page: 1, Pages: 1,
	}
	for _, part := range strings.Split(w.run.Request.ContextText, "\n\n") {
		if part = strings.TrimSpace(part); part != "" {
			out.Passages = append(out.Passages, tools.ShownPassage{N: len(out.Passages) + 1, Text: part})
		}
	}
	result, err := toolMessage(w.nonce, "context", out)
	if err != nil {
		return err
	}
	call := llm.Call{ID: "context", Name: "read_document", Arguments: json.RawMessage(`{"doc_id":"context"}`)}
	w.history = append(w.history, llm.Message{Role: llm.RoleAssistant, Calls: []llm.Call{call}}, result)
	return nil
}

func (w *Runner) started() chat.RunStarted {
	mode := chat.ModeFullBook
	if w.givenText() {
		mode = chat.ModeContextConstrained
	}
	return chat.RunStarted{
		SessionID: w.run.SessionID, Question: w.run.Request.Message, Model: w.model.Name(), Mode: mode,
		Toolset: w.set.Name, Budget: w.budget,
	}
}
