package run

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/agent/cite"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/question"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
	"github.com/footnote/footnote/text/locale"
)

// Runner executes one run. It owns the run's state, shared by all of its parts, and two parts that act on it: one
// calls models, the other makes tool calls. Decisions about the next step need both, and are methods of Runner: the
// plan, the choice of tools, reviews of the answer, recovery. The parts point to the state and never to each other,
// so a Runner must not be copied. Only its own goroutine accesses it.
type Runner struct {
	state
	model modelCaller
	calls toolCaller

	// findings about the answer; each is written by one of the files named
	review     review     // review.go, self_evaluation.go
	remedies   remedies   // used ones
	chosenBy   string     // who chose the first tools; empty: the model
	firstCalls []llm.Call // chosen by the model itself
	judgedTalk bool       // a model judged that the message needs no documents
	unstored   error      // why an earlier end of the run could not be stored; nil: none
}

// state holds a run's knowledge, budget, event log, model history, plan and phase. These are independent of each
// other. Code that needs several of them is a method of state, modelCaller, toolCaller or Runner.
type state struct {
	knowledge
	budget   budget
	log      eventLog // events for readers
	messages messages // messages for the model
	plan     plan
	phase    phase
}

// NewRunner returns a run with the given tools, steered by c; Execute executes it. It does no I/O and can't fail.
// Work that may fail is in prepareRun, so that the run's log records the failure. The order matters: the citer needs
// the tools' sources, the writer needs the citer, and the model caller needs the settings.
func (e *Engine) NewRunner(run chat.Run, set tools.Set, c *Control) *Runner {
	w := &Runner{remedies: remedies{}}
	s := &w.state
	s.knowledge = e.newKnowledge(run, set, c)
	s.budget = budget{
		control: c, prices: s.cfg.Prices, limits: e.budgetOf(set, run.Request.Config), begun: time.Now(),
	}
	// tests, Gather and CheckResults replace store
	s.log.open, s.log.store = map[string]*chat.Step{}, s.appendEvents
	s.log.writer = cite.NewWriter(s.log.emitEvents, s.cite, s.givenText())
	if s.mustCite() {
		s.log.writer.AddFootnotes(s.evidence)
	}
	w.model = newModelCaller(s)
	w.calls = toolCaller{
		state: s, slots: make(chan struct{}, maxParallel), made: map[string]int{}, ask: w.model.askSeparately,
		judge: w.model.judgeTexts,
	}
	return w
}

// Execute executes a run from the end of its log, and stores all events. log is nil for a new run. unstored is the
// reason why an earlier end could not be stored; nil: none. ctx is that of the run's control. It never panics. It
// always ends the log, or returns the reason why it could not.
func (w *Runner) Execute(ctx context.Context, log []chat.Event, unstored error) ending {
	w.log.length.Store(int64(len(log)))
	w.unstored = unstored
	return w.finishRun(ctx, func() ([]chat.Payload, error) { return w.answerQuestion(ctx, log) })
}

// Wait waits for calls that outlived their run. Their own contexts end them. Runs.launchRun calls Wait last, so that
// a slow tool delays neither the next question nor the release of this run's slot.
func (w *Runner) Wait() { w.calls.running.Wait() }

// answerQuestion runs from the beginning, or from the end of the log, to the answer. A run is new, a branch of an
// earlier run, or resumed from its own log. A branch begins with a given call, so nothing is opened or planned for
// it.
func (w *Runner) answerQuestion(ctx context.Context, log []chat.Event) ([]chat.Payload, error) {
	isNew, isBranch := len(log) == 0, len(log) == 0 && w.run.Request.From != nil
	var over bool
	var err error
	switch {
	case w.run.Unreadable:
		err = ErrUnreadable
	case isBranch:
		err = w.startBranch(ctx)
	case !isNew:
		over, err = w.resumeRun(ctx, log)
	case w.unstored != nil:
		err = w.notStored()
	default:
		if err = w.guardInput(ctx); err == nil {
			err = w.beginRun(ctx)
		}
	}
	if over || err != nil {
		return nil, err
	}
	if !isBranch {
		if last, ok, err := w.openAsked(ctx); ok || err != nil {
			return last, err
		}
	}
	if err := w.findProfile(ctx); err != nil {
		return nil, err
	}
	if isNew && !isBranch {
		if err := w.makePlan(ctx); err != nil {
			return nil, err
		}
	}
	if err := w.searchParts(ctx); err != nil {
		return nil, err
	}
	if err := w.preselectTools(ctx); err != nil {
		return nil, err
	}
	if err := w.checkFound(ctx); err != nil {
		return nil, err
	}
	return w.answerLoop(ctx)
}

// answerLoop alternates model turns and calls until the model answers, and returns the run's last events without
// run_done. An error ends the run. If the settings name an agent framework, it decides the order of turns and calls
// (engine.go).
func (w *Runner) answerLoop(ctx context.Context) ([]chat.Payload, error) {
	if w.cfg.Framework != nil {
		return w.runFramework(ctx, w.cfg.Framework)
	}
	for {
		r, last, err := w.nextReply(ctx)
		if err != nil || len(r.calls) == 0 {
			return last, err
		}
		if err := w.runTurnCalls(ctx, r); err != nil {
			return nil, err
		}
	}
}

// nextReply completes model turns until a reply has calls or its answer passes the review. With an answer, last
// holds the events that end the run's log. A turn is retried if it was empty, unsupported or without footnotes, or
// if the model that only chooses tools is done. Each kind of retry has a limit (remedies, maxRepairs, maxCuts), so
// the loop ends.
func (w *Runner) nextReply(ctx context.Context) (r reply, last []chat.Payload, err error) {
	for {
		// without a language model, earlier quotes can answer some questions
		for _, say := range []func(context.Context) (bool, error){w.quoteAgain, w.refuseOwnText} {
			if ok, err := say(ctx); ok || err != nil {
				return w.lastReply(ctx, err)
			}
		}
		w.budget.checkLimits()
		// the model can't make usable calls: rules search instead, once
		if w.budget.badTurns > maxRepairs || w.budget.cutTurns >= maxCuts {
			if _, err := w.fallBackToPipeline(ctx); err != nil {
				return reply{}, nil, err
			}
		}
		if err := w.shortenOldResults(ctx); err != nil {
			return reply{}, nil, err
		}
		// completeTurn drops them, but the model that answers after the selecting model needs them
		aside := w.messages.ephemeral
		if r, err = w.model.completeTurn(ctx); err != nil {
			return w.fallBackToEarlier(ctx, err)
		}
		if declined, err := w.model.answerIfDeclined(ctx, r, aside); err != nil {
			return reply{}, nil, err
		} else if declined {
			continue
		}
		// from here on an answer in a call is handled as any other
		if answer, args, ok := w.answerInCall(r); ok {
			if r, err = w.writeFinishAnswer(ctx, r, answer, args); err != nil {
				return reply{}, nil, err
			}
		}
		if len(r.calls) > 0 {
			return r, nil, nil
		}
		text, err := w.log.writer.Finish(ctx)
		if err != nil {
			return reply{}, nil, err
		}
		if r.finish == llm.FinishFilter || r.finish == llm.FinishRefusal {
			return w.fallBackToEarlier(ctx, &chat.Error{
				Code: chat.CodeGuardrail, Message: "The model provider refused to answer. Rephrase the question.",
			})
		}
		// the program's review comes first, since a judgement by the model costs a call
		again, err := w.reviewReply(ctx, r, text)
		if err != nil {
			return w.fallBackToEarlier(ctx, err)
		}
		if again {
			continue
		}
		if again, err = w.reconsiderAnswer(ctx); err != nil {
			return reply{}, nil, err
		}
		if again {
			continue
		}
		if text, err = w.finishAnswer(ctx); err != nil {
			return reply{}, nil, err
		}
		last, err = w.lastEvents(text, r.finish)
		return r, last, err
	}
}

// runTurnCalls makes the calls of a turn and handles their results. It keeps the first calls that the model chose
// itself for the cache of decisions. Calls of a turn that was cut at its length are not kept, since they may be
// incomplete. Frameworks call it, too.
func (w *Runner) runTurnCalls(ctx context.Context, r reply) error {
	if w.firstCalls == nil && r.finish != llm.FinishLength {
		w.firstCalls = r.calls
	}
	w.reclassifyTalk(r.calls)
	if err := w.calls.runCalls(ctx, r); err != nil {
		return err
	}
	if err := w.reformulateQuery(ctx); err != nil {
		return err
	}
	if w.model.toolSelection() != tools.SelectAuto || w.phase != gathering {
		return nil
	}
	_, err := w.stopEarly(ctx)
	return err
}

// beginRun prepares the history and emits the first events. An unreadable conversation is a step with an error and
// does not fail the run.
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
			locale.Say(
				"{1} of this conversation can't be read: answering without {2}",
				locale.Count(n, "turn"),
				english.Choose(
					n == 1, "it", "them",
				),
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

// prepareRun reads all data that the run needs before its first turn. It runs once in each process that executes the
// run, also after a restart, and stores nothing. The order matters: the analysis depends on the conversation, the
// prompt on both, and earlier passages are added to the prompt.
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
		return w.model.addTextForFallback()
	}
	return nil
}

// startedEvent returns the first event of a log. Its budget and model are the effective ones, with all defaults.
// guardInput, beginRun and startBranch emit it.
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

// shortPath chooses the calls for questions that need no model to choose. These are small talk, work on a given
// text, and questions about a footnote of the last answer or a named document. Tools still search and read the
// documents. A path is taken only if the question's kind is certain. Each path saves one model turn.
func (w *Runner) shortPath(ctx context.Context) (choice, bool, error) {
	c := choice{by: "rules", confidence: 0.95}
	switch {
	case w.asked.Type == question.General && question.IsTalk(w.run.Request.Message):
		c.path, c.message, c.why = "talk", "General talk: nothing to search for", "No document can answer this."
		return c, true, nil
	case w.asked.Reference == question.Rework:
		c.path, c.message, c.why = "transform", "Working on the last answer: nothing to search for",
			"The question wants the last answer in another form."
		return c, true, nil
	case w.asked.Type == question.General:
		c.path, c.message, c.why = "transform", "Working on the given text: nothing to search for",
			"The text to work on is given."
		return c, true, nil
	case w.set.SearchTool() == nil && w.set.ReadTool() == nil:
		return choice{}, false, nil
	}
	if _, ok := w.citationAsked(); ok {
		c, ok = w.citedPath()
		return c, ok, nil
	}
	return w.namedPath(ctx, c)
}

// onlyRules is the answer, without a language model, to a request to rewrite a text.
const onlyRules = "I can't put a text in other words: that needs a language model, and Footnote is in offline mode. " +
	"I can search your documents, and answer with sentences from them."

// refuseOwnText answers, without a language model, that it can't rewrite the text in a question. ok is false for any
// other question.
func (w *Runner) refuseOwnText(ctx context.Context) (ok bool, err error) {
	if !w.model.isRuleBased() || w.givenText() || !w.isEnabled(featurePaths) ||
		!question.OrdersOwnText(w.run.Request.Message) {
		return false, nil
	}
	return true, w.log.writer.WriteWords(ctx, onlyRules)
}

// citedPath reads the source of the last answer's footnote that the question is about. The rule-based model needs
// only this short path, since it knows the others by itself. Models get earlier answers without their footnotes.
func (w *Runner) citedPath() (choice, bool) {
	cited, ok := w.citationAsked()
	if !ok {
		return choice{}, false
	}
	call, ok := w.calls.readingCall(cited.DocumentID, cited.Quote, 0)
	return choice{
		by: "rules", confidence: 0.95, path: "citation",
		message: "Looking at the source of footnote " + strconv.Itoa(cited.Number) + " again",
		why:     "The question is about a footnote of the last answer.", opening: []llm.Call{call},
	}, ok
}

// citationAsked returns the footnote of the last answer that the question names. A number without such a footnote is
// an ordinary question.
func (k *knowledge) citationAsked() (chat.Citation, bool) {
	m := text.Footnote().FindStringSubmatch(k.run.Request.Message)
	if m == nil {
		return chat.Citation{}, false
	}
	for _, cited := range k.conversation.citations {
		if number := strconv.Itoa(cited.Number); number == m[1] || number == m[2] {
			return cited, true
		}
	}
	return chat.Citation{}, false
}

// namedPath searches within the document that a question names, then reads it. It skips comparisons and questions
// with several names, since one document would hide the others.
func (w *Runner) namedPath(ctx context.Context, c choice) (choice, bool, error) {
	names := append(question.FileNames(w.run.Request.Message, 3), question.DocumentIDs(w.run.Request.Message)...)
	if w.asked.Type != question.SpecificDocument || len(names) > 1 || question.IsComparison(w.run.Request.Message) {
		return choice{}, false, nil
	}
	doc := w.titled
	if len(names) == 1 {
		var why locale.Message
		var err error
		if doc, why, err = w.toolContext.Resolve(ctx, names[0]); err != nil || why != "" {
			return choice{}, false, err
		}
	}
	if doc.ID == "" {
		return choice{}, false, nil
	}
	w.toolContext.Sources.AddDocuments(doc)
	if call, ok := w.searchCall(w.searchWords(), 0); ok {
		c.opening = append(c.opening, call)
	}
	if call, ok := w.calls.readingCall(doc.ID, w.run.Request.Message, 1); ok {
		c.then = append(c.then, call)
	}
	c.path, c.only, c.message = "document", doc.ID, "Reading from "+doc.DisplayName()
	c.why = "The question names a document."
	return c, len(c.opening)+len(c.then) > 0, nil
}

// mostQuoted is the number of quotes of the last answer that are repeated: all of most answers, and the first quotes
// of a long one.
const mostQuoted = 5

// onlyQuotes introduces the repeated quotes, which are all that rules can offer about an answer.
const onlyQuotes = "Without a language model I can't put it in other words, only quote again what the last answer " +
	"rests on:"

// quoteAgain answers a question about the last answer by repeating its quotes, if there is no language model. It
// searches nothing. ok is false for other questions, or if no quote is left. The quotes are numbered like passages
// of earlier runs, so that the writer makes ordinary footnotes of them.
func (w *Runner) quoteAgain(ctx context.Context) (ok bool, err error) {
	about := w.asked.Reference == question.Rework || w.asked.Reference == question.AsksWhy
	if !about || !w.model.isRuleBased() || w.givenText() || !w.isEnabled(featurePaths) ||
		len(w.conversation.citations) == 0 {
		return false, nil
	}
	var ids []string
	for _, c := range w.conversation.citations {
		ids = text.AppendNew(ids, c.ChunkID)
	}
	found, err := w.fetchPassages(ctx, ids)
	if err != nil {
		return false, err
	}
	// each quote once, in the order of the answer, from documents that the user may still read
	var again []chat.Citation
	numbers := map[string]int{}
	for _, c := range w.conversation.citations {
		source, ok := found[c.ChunkID]
		said := func(o chat.Citation) bool { return o.ChunkID == c.ChunkID && o.Quote == c.Quote }
		if !ok || c.Quote == "" || len(again) == mostQuoted || slices.ContainsFunc(again, said) {
			continue
		}
		numbers[c.ChunkID] = firstRecalled + slices.Index(ids, c.ChunkID)
		w.toolContext.Sources.AddEarlier(numbers[c.ChunkID], source.Passage, source.Document)
		again = append(again, c)
	}
	if len(again) == 0 {
		return false, nil
	}
	step := w.log.newStep(
		"choose", chat.ActionPlanning, chat.StatusComplete,
		"Quoting the sources of the last answer again: nothing to search for",
	)
	step.Summary = "The question is only about the last answer."
	step.Details = map[string]any{
		"selection": w.model.toolSelection(),
		"by":        "rules",
		"path":      "follow_up",
		"tools":     []string{},
	}
	if err := w.log.emitEvents(ctx, step); err != nil {
		return false, err
	}
	if err := w.log.writer.WriteWords(ctx, onlyQuotes); err != nil {
		return false, err
	}
	// as a quotation, so that the page renders it like those of the previous answer
	for _, c := range again {
		shown := "\n\n" + text.QuoteMarkdown(strings.Split(c.Quote, "\n")) + " "
		if err := w.log.writer.WriteWords(ctx, shown); err != nil {
			return false, err
		}
		if err := w.log.writer.Quote(ctx, numbers[c.ChunkID], c.Quote, c.Matched); err != nil {
			return false, err
		}
	}
	return true, nil
}
