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

// Runner is one run under way. It owns everything that the run holds: the state, which all of its work shares, and the
// two parts that act on it, of which one has models speak and the other makes calls. What decides what comes next, and
// needs both of them, are Runner's own methods: the plan, the choice of tools, reviews of the answer, recovery. The
// parts point to the state and never to each other, so a Runner is not copied. Its goroutine alone touches it.
type Runner struct {
	state
	model modelCaller
	calls toolCaller

	review     review
	remedies   remedies   // that were used
	chosenBy   string     // who chose the first tools; empty: the model
	firstCalls []llm.Call // that the model chose by itself
	unstored   error      // why an earlier end of the run could not be stored here; nil: none
}

// state is what a run knows, what it may still spend, what it says, and how far it is. None of these knows another:
// what needs several of them is a method of state, modelCaller, toolCaller or Runner.
type state struct {
	knowledge
	budget   budget
	log      eventLog // what it says to readers
	messages messages // what it says to its model
	plan     plan
	phase    phase
}

// NewRunner makes a run of the given tools that c steers. Execute carries it out. It does no I/O and can't fail: what
// may fail is in prepareRun, so that a failure ends in the run's log.
func (e *Engine) NewRunner(run chat.Run, set tools.Set, c *Control) *Runner {
	w := &Runner{remedies: remedies{}}
	s := &w.state
	s.knowledge = e.newKnowledge(run, set, c)
	s.budget = budget{
		control: c, prices: s.cfg.Prices, limits: e.budgetOf(set, run.Request.Config), begun: time.Now(),
	}
	s.log.open, s.log.store = map[string]*chat.Step{}, s.appendEvents
	s.log.writer = ground.NewWriter(s.log.emitEvents, s.cite, s.givenText())
	w.model = newModelCaller(s)
	w.calls = toolCaller{state: s, slots: make(chan struct{}, maxParallel), made: map[string]int{}}
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
		if last, ok, err := w.openAsked(ctx); ok || err != nil {
			return last, err
		}
		if err := w.findProfile(ctx); err != nil {
			return nil, err
		}
		if err := w.makePlan(ctx); err != nil {
			return nil, err
		}
	} else if over, err := w.resumeRun(ctx, log); over || err != nil {
		return nil, err
	} else if last, ok, err := w.openAsked(ctx); ok || err != nil {
		return last, err
	} else if err := w.findProfile(ctx); err != nil {
		return nil, err
	}
	if err := w.searchParts(ctx); err != nil {
		return nil, err
	}
	if err := w.preselectTools(ctx); err != nil {
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
	w.evidence.InReach = w.documentsInReach
	w.evidence.Listing = w.asked.Type == question.Metadata
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
