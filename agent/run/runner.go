package run

import (
	"context"
	"fmt"
	"time"

	"footnote/agent/ground"
	"footnote/agent/question"
	"footnote/agent/tools"
	"footnote/chat"
	"footnote/english"
	"footnote/llm"
)

// Runner is one run under way, made of the parts that do its work. Its goroutine alone touches it and them. The parts
// share pointers to one another, so a Runner is never copied. They embed task, which is read only for them.
type Runner struct {
	task
	log       eventLog
	budget    budget
	messages  messages
	found     findings
	model     modelCaller
	plan      plan
	calls     toolCaller
	planner   planner
	selector  toolSelector
	check     answerCheck
	evaluator selfEvaluator
	reviewer  reviewer
	opener    sourceOpener
	recovery  recovery
	unstored  error // why an earlier end of the run could not be stored here; nil: none
}

// NewRunner makes a run of the given tools that c steers. Execute carries it out. It does no I/O and can't fail: what
// may fail is in prepareRun, so that a failure ends in the run's log.
func (e *Engine) NewRunner(run chat.Run, set tools.Set, c *Control) *Runner {
	w := &Runner{}
	w.task = task{engine: e, cfg: e.config(), control: c, run: run, set: set, nonce: newNonce()}
	w.toolContext = e.newToolContext(run)
	t, b, l, ms, f, m, p, tc := &w.task, &w.budget, &w.log, &w.messages, &w.found, &w.model, &w.plan, &w.calls
	tried := remedies{}
	w.budget = budget{task: t, limits: e.budgetOf(set, run.Request.Config), begun: time.Now()}
	cite := ground.NewCiter(w.toolContext.Sources, w.toolContext.Texts, run.ID)
	w.found = findings{
		task: t, budget: b, cite: cite, evidence: ground.NewEvidence(w.toolContext.Sources, cite, run.Request),
	}
	w.log = eventLog{task: t, budget: b, open: map[string]*chat.Step{}}
	w.log.store = w.log.appendEvents
	w.log.writer = ground.NewWriter(w.log.emitEvents, cite, w.givenText())
	w.messages = messages{task: t, log: l}
	w.model = modelCaller{task: t, log: l, budget: b, messages: ms, found: f, remedies: tried,
		chooser: w.cfg.Select, noticed: map[llm.Notice]bool{},
	}
	w.model.useRequested()
	w.calls = toolCaller{
		task: t, log: l, budget: b, messages: ms, found: f, model: m, plan: p,
		slots: make(chan struct{}, maxParallel), made: map[string]int{},
	}
	w.planner = planner{task: t, log: l, budget: b, messages: ms, found: f, model: m, plan: p, calls: tc}
	w.selector = toolSelector{task: t, log: l, budget: b, found: f, model: m, plan: p, calls: tc, remedies: tried}
	w.check = answerCheck{task: t, found: f, model: m}
	w.evaluator = selfEvaluator{task: t, log: l, budget: b, found: f, model: m, check: &w.check}
	w.reviewer = reviewer{
		task: t, log: l, budget: b, messages: ms, found: f, model: m, plan: p, calls: tc, planner: &w.planner,
		selector: &w.selector, check: &w.check, evaluator: &w.evaluator, remedies: tried,
	}
	w.opener = sourceOpener{task: t, log: l, calls: tc, check: &w.check, reviewer: &w.reviewer}
	w.recovery = recovery{task: t, log: l, budget: b, messages: ms, found: f, plan: p, calls: tc}
	return w
}

// Execute carries a run from where its log ends to its end, and stores all of it. log is nil for a new run; unstored is
// why an earlier end of it could not be stored here, nil for none. ctx is that of the run's control. It never panics
// and always ends the log, or says in the result why it could not.
func (w *Runner) Execute(ctx context.Context, log []chat.Event, unstored error) ending {
	w.log.length.Store(int64(len(log)))
	w.unstored = unstored
	return w.finishRun(ctx, func() ([]chat.Payload, error) { return w.answerQuestion(ctx, log) })
}

// Wait waits for calls that outlived their run. They end by their own contexts.
func (w *Runner) Wait() { w.calls.running.Wait() }

// answerQuestion carries a run from its beginning, or from where its log ends, to its answer. A run begins in one of
// three ways: new, as a branch of an earlier run, or resumed from its own log.
func (w *Runner) answerQuestion(ctx context.Context, log []chat.Event) ([]chat.Payload, error) {
	if w.run.Unreadable {
		return nil, ErrUnreadable
	}
	if len(log) == 0 && w.run.Request.From != nil {
		if err := w.startBranch(ctx); err != nil {
			return nil, err
		}
		if err := w.findProfile(ctx); err != nil {
			return nil, err
		}
	} else if len(log) == 0 && w.unstored != nil {
		return nil, w.notStored()
	} else if len(log) == 0 {
		if err := w.guardInput(ctx); err != nil {
			return nil, err
		}
		if err := w.beginRun(ctx); err != nil {
			return nil, err
		}
		if last, ok, err := w.opener.openAsked(ctx); ok || err != nil {
			return last, err
		}
		if err := w.findProfile(ctx); err != nil {
			return nil, err
		}
		if err := w.planner.makePlan(ctx); err != nil {
			return nil, err
		}
	} else if over, err := w.resumeRun(ctx, log); over || err != nil {
		return nil, err
	} else if last, ok, err := w.opener.openAsked(ctx); ok || err != nil {
		return last, err
	} else if err := w.findProfile(ctx); err != nil {
		return nil, err
	}
	if err := w.planner.searchParts(ctx); err != nil {
		return nil, err
	}
	if err := w.selector.preselectTools(ctx); err != nil {
		return nil, err
	}
	return w.answerLoop(ctx)
}

// beginRun emits how the run starts and prepares the history. A conversation that could not be read is said in a step,
// not an error: an answer without it is better than none.
func (w *Runner) beginRun(ctx context.Context) error {
	if err := w.prepareRun(ctx); err != nil {
		return err
	}
	ps := []chat.Payload{w.startedEvent()}
	switch n := w.conversation.lost; {
	case w.conversation.err != nil || n > 0 && len(w.conversation.messages) == len(w.requestHistory()):
		ps = append(ps, w.log.newStep(
			historyStep, chat.ActionThinking, chat.StatusError,
			"The conversation so far can't be read: answering without it",
		))
	case n > 0:
		ps = append(ps, w.log.newStep(historyStep, chat.ActionThinking, chat.StatusError,
			english.Count(n, "turn")+" of this conversation can't be read: answering without "+english.Choose(
				n == 1, "it", "them",
			)))
	}
	if !w.givenText() && w.isEnabled(featureAnalyse) {
		step := w.asked.Step(w.log.newID(), nowSeconds())
		for _, a := range w.set.Absent {
			step.Details["left_out"] = a.Name + ": " + a.Why
		}
		ps = append(ps, step)
	}
	return w.log.emitEvents(ctx, ps...)
}

// prepareRun reads what the run needs to know before its first turn. It runs once for each process that works on the
// run, also after a restart, and stores nothing.
func (w *Runner) prepareRun(ctx context.Context) (err error) {
	w.set = w.engine.Registry.WithMCPTools(ctx, w.set)
	if w.conversation, err = w.readConversation(ctx); err != nil {
		if ctx.Err() != nil || chat.CodeOf(err) == chat.CodeNotFound {
			return err
		}
		w.cfg.Log.ErrorContext(
			ctx, "conversation could not be read: answering without it", "run", w.run.ID, "error", err,
		)
		w.conversation.err = err
	}
	if w.documentsInReach, err = w.countSearchable(ctx); err != nil {
		return fmt.Errorf("count documents: %w", err)
	}
	w.asked = question.Analyse(w.run.Request.Message, len(w.conversation.messages) > 0)
	if !w.isEnabled(featureAnalyse) {
		w.asked = w.asked.WithoutAdvice()
	} else if err := w.findTitled(ctx); err != nil {
		return err
	}
	if !w.model.isRuleBased() {
		if err := w.findLanguages(ctx); err != nil {
			return err
		}
	}
	w.found.evidence.InReach = w.documentsInReach
	w.found.evidence.Listing = w.asked.Type == question.Metadata
	w.asked.Tools = w.set.Available(w.asked.Tools)
	w.messages.list = buildPrompt(
		w.run,
		w.cfg.SystemPrompt,
		w.budget.limits,
		w.asked,
		w.conversation,
		w.documentsInReach,
		w.nonce,
		w.budget.begun,
	)
	if !w.givenText() {
		w.messages.list[0].Text += w.set.AbsenceNote() + w.languagesPrompt()
	}
	if err := w.promptEarlierPassages(ctx); err != nil {
		return err
	}
	if w.model.isRuleBased() {
		return w.model.giveTextToFallback()
	}
	return nil
}

// startedEvent is the first event of every log. Its budget and model are what this run really has, with all defaults.
func (w *Runner) startedEvent() chat.RunStarted {
	mode := chat.ModeFullBook
	if w.givenText() {
		mode = chat.ModeContextConstrained
	}
	return chat.RunStarted{
		SessionID: w.run.SessionID, Question: w.run.Request.Message, Model: w.model.model.Name(), Mode: mode,
		Toolset: w.set.Name, Budget: w.budget.limits,
	}
}
