package run

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/agent/cite"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/locale"
)

// Limits of resuming a run. A planned handover to another server does not count as a restart.
const (
	// maxRestarts is how often a run is resumed after its server died, since the run may be the cause. So a third
	// death ends it (docs/operation.md, “an answer ends as interrupted”).
	maxRestarts = 2

	// maxAway is the maximum age of the log's last event, since users don't wait longer. It compares the clocks of
	// two servers, so one that is 15 minutes ahead ends every run that it takes over (docs/reliability.md).
	maxAway = 15 * time.Minute
)

// unknownSideEffect is the output, for the model, of a call that was interrupted and is not retried.
const unknownSideEffect = "The server was stopped during this call. Nobody knows whether it took effect: do not " +
	"make it " +
	"again, and say so in the answer."

// resumeRun restores a run from its log after its server died or handed it over. A server with exclusive use of its
// store (Exclusive) ends its runs on a planned stop, so they are not resumed. over means that only run_done is
// missing. The run ends as interrupted after maxRestarts unplanned restarts, or if its log is older than maxAway.
func (w *Runner) resumeRun(ctx context.Context, log []chat.Event) (over bool, err error) {
	transcript, err := chat.Fold(log)
	if err != nil {
		return false, fmt.Errorf("read log: %w", err)
	}
	past := replaySteps(transcript.Steps)
	w.log.ids = past.ids
	for _, s := range past.running {
		w.log.open[s.CallID] = &s
	}
	for _, s := range past.waiting {
		w.log.open[s.CallID] = &s
	}
	if transcript.Answer != nil {
		return true, nil
	}
	if w.unstored != nil {
		return false, w.notStored()
	}
	if past.restarts >= maxRestarts && !past.handedOver {
		return false, errStopping
	}
	if time.Since(log[len(log)-1].At) > maxAway {
		return false, errStopping
	}
	if err := w.prepareRun(ctx); err != nil {
		return false, err
	}
	// charge the earlier usage, although the run's time begins anew
	w.budget.recallSpent(w.model.model, transcript.Spent())
	if past.fellBack && w.cfg.Fallback != nil {
		w.model.switchToFallback()
	}
	step := w.log.newStep(
		"restart", chat.ActionThinking, chat.StatusComplete,
		"The server was restarted: continuing from the last completed step",
	)
	if past.handedOver {
		step.Step, step.Message = takenOver, "Resuming from the last finished step"
	}
	// repeatable calls are retried; closeSteps ends the others with an unknown effect
	cut, groups := w.splitUnfinished(past)
	ps := w.log.closeSteps(chat.RunDone{})
	// readers saw this text: it moves into the step, and the answer begins anew
	if begun := transcript.Text(); begun != "" {
		step.Thought = begun
		ps = append(ps, chat.AnswerReset{CallID: step.CallID})
	}
	if err := w.restoreState(ctx, past); err != nil {
		return false, err
	}
	w.resumePlan(past.plan)
	if err := w.log.emitEvents(ctx, append(ps, step)...); err != nil {
		return false, err
	}
	if err := w.repeatCalls(ctx, cut); err != nil {
		return false, err
	}
	if err := w.resumePending(ctx, past.waiting); err != nil {
		return false, err
	}
	for _, g := range groups {
		g.Status, g.ToolStatus = chat.StatusComplete, chat.StatusComplete
		g.DurationMS, g.Timestamp = int64((nowSeconds()-g.Timestamp)*1000), nowSeconds()
		if err := w.log.emitEvents(ctx, w.log.trackStep(g)); err != nil {
			return false, err
		}
	}
	return false, nil
}

// notStored returns the error of a run that was written here but not stored. It is not retried, since that would pay
// the model twice for text that may be lost again.
func (w *Runner) notStored() error {
	return &chat.Error{
		Code: chat.CodeOf(w.unstored), Err: w.unstored,
		Message: locale.Say("The answer was written but could not be saved. {1}", chat.MessageOf(w.unstored)),
	}
}

// splitUnfinished returns the running calls of the log that can be retried, and the parent steps of unfinished
// turns. It removes them, and the calls that wait for approval, from w.log.open, so that closeSteps does not cancel
// them.
func (w *Runner) splitUnfinished(past *replayed) (calls, groups []chat.Step) {
	for _, s := range past.running {
		switch {
		case w.isRepeatable(s.ToolName):
			calls = append(calls, s)
		case s.ToolName == "" && s.Step == parallelStep:
			groups = append(groups, s)
		default:
			continue
		}
		delete(w.log.open, s.CallID)
	}
	for _, s := range past.waiting {
		delete(w.log.open, s.CallID)
	}
	return calls, groups
}

// restoreState rebuilds history, sources and budgets from the finished steps. Passages get their old numbers before
// new ones are assigned, because the results in the history cite by them. Each model turn of the log counts against
// the budget's steps.
func (w *Runner) restoreState(ctx context.Context, past *replayed) error {
	shown := map[cite.PassageRange]chat.Hit{}
	for i, turn := range past.turns {
		if len(turn) == 0 {
			continue
		}
		if past.byModel[i] {
			w.budget.turns++
		}
		said := llm.Message{Role: llm.RoleAssistant, Text: past.thoughts[i]}
		var results []llm.Message
		for _, s := range turn {
			output, err := w.outputOf(ctx, s)
			if err != nil {
				return err
			}
			input := s.ToolInput
			if len(input) == 0 {
				input = json.RawMessage(`{}`)
			}
			said.Calls = append(said.Calls, llm.Call{ID: s.CallID, Name: s.ToolName, Arguments: input})
			if s.Status == chat.StatusComplete {
				noteShown(s.Result, shown)
			}
			message, err := toolMessage(w.nonce, s.CallID, output)
			if err != nil {
				return err
			}
			if s.Status != chat.StatusPending { // its result is still to come
				results = append(results, message)
			}
			w.recountCall(s)
		}
		w.messages.list = append(append(w.messages.list, said), results...)
	}
	if err := w.restoreSources(ctx, shown); err != nil {
		return err
	}
	for _, turn := range past.turns {
		for _, s := range turn {
			if err := w.restoreSourceChanges(ctx, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// outputOf returns a finished call's output as the model got it. For a call without an output, which may have had a
// side effect, that is unknownSideEffect. If the event holds only the beginning, the full output is read from the
// store.
func (k *knowledge) outputOf(ctx context.Context, s chat.Step) (any, error) {
	raw := s.ToolOutput
	if s.Truncated {
		var err error
		if raw, err = k.cfg.Store.StepOutput(ctx, chat.Scope{User: k.run.User}, k.run.ID, s.CallID); err != nil {
			return nil, fmt.Errorf("read output of step %s: %w", s.CallID, err)
		}
	}
	if s.Status == chat.StatusRunning || len(raw) == 0 {
		return map[string]any{"error": unknownSideEffect}, nil
	}
	if t := k.set.Find(s.ToolName); t != nil && s.Status == chat.StatusComplete {
		return t.ForModel(raw), nil
	}
	return raw, nil
}

// recountCall charges a call of the log as toolCaller.countCall did when it was made. A call that was unfit was
// never counted (detailUnfit); one that the approver edited is counted with the model's input. The two must agree,
// or a resumed run would exceed its budget of calls.
func (w *Runner) recountCall(s chat.Step) {
	w.calls.restoreRejected(s)
	t := w.set.Find(s.ToolName)
	if unfit, _ := s.Details[detailUnfit].(bool); t == nil || unfit {
		return
	}
	args := string(s.ToolInput)
	if proposed, edited := s.Details[detailProposed]; edited { // the model's input, not the approver's
		if raw, err := json.Marshal(proposed); err == nil {
			args = string(raw)
		}
	}
	w.calls.made[t.Name+args]++
	_, waited := s.Details[detailApproved] // a rejected call was charged before it waited for approval
	if t.Retrieval && (s.Status != chat.StatusSkipped || waited) {
		w.budget.retrievals++
	}
	if s.Status == chat.StatusError && s.Error != nil && s.Error.Code != chat.CodeInvalid {
		w.noteFailed(t, s)
	}
	if t.NeedsNoFootnote(s.Status) {
		w.evidence.Results.Keep(t.Returned(s.ToolInput, s.ToolOutput, s.Message))
	}
}

// resumePending requests approval again for the calls that waited when the server stopped. The rest of their turn is
// already in the history. approvals.early holds decisions that arrived before.
func (w *Runner) resumePending(ctx context.Context, waiting []chat.Step) error {
	var attempts []*toolCall
	for _, s := range waiting {
		a := &toolCall{
			step: s, args: s.ToolInput, call: llm.Call{ID: s.CallID, Name: s.ToolName, Arguments: s.ToolInput},
			ended: make(chan outcome, 1),
		}
		if a.tool = w.set.Find(s.ToolName); a.tool == nil {
			a.approval = &approval{}
			a.refuseCall(chat.StatusSkipped, "This tool is not there any more.", nil)
		} else {
			a.step.Acts = a.tool.HasSideEffects
			if err := w.log.emitEvents(ctx, w.log.trackStep(w.calls.requestApproval(a))); err != nil {
				return err
			}
		}
		attempts = append(attempts, a)
	}
	callCtx, cancel := w.calls.callContext(ctx)
	defer cancel()
	told, err := w.calls.runApproved(ctx, callCtx, attempts)
	if err != nil {
		return err
	}
	for _, a := range attempts {
		w.messages.list = append(w.messages.list, told[a.step.CallID])
	}
	return nil
}

// replayed is a run's progress, parsed from its log. It holds copies of steps, so the log is never modified.
type replayed struct {
	turns      [][]chat.Step // calls of each model turn, in order, in their last state
	thoughts   []string      // of each turn
	byModel    []bool        // of each turn: the model, not the program, chose the calls
	running    []chat.Step   // steps without an end
	waiting    []chat.Step   // calls that wait for approval
	fellBack   bool          // the fallback was in use
	restarts   int           // number of earlier resumes after a restart
	handedOver bool          // the last server handed it over
	ids        int           // the highest call id
	plan       *chat.Step    // the plan's last state
}

// replaySteps parses a run's steps. It needs them in the order of the log, each in its last state, as chat.Fold
// returns them.
func replaySteps(steps []chat.Step) *replayed {
	r := &replayed{}
	groups := map[string]int{} // turn of a parent step
	for _, s := range steps {
		if n, err := strconv.Atoi(strings.TrimPrefix(s.CallID, "c")); err == nil {
			r.ids = max(r.ids, n)
		}
		r.addStep(s, groups)
		if s.Status == chat.StatusRunning {
			r.running = append(r.running, s)
		} else if s.Status == chat.StatusPending {
			r.waiting = append(r.waiting, s)
		}
	}
	return r
}

// addStep adds a step to its turn. Calls of one turn share the parent step of the turn; a single call is a turn of
// its own. A handover counts only if no step follows it.
func (r *replayed) addStep(s chat.Step, groups map[string]int) {
	turn, grouped := groups[s.ParentID]
	r.handedOver = false
	switch {
	case s.Step == "fallback":
		r.fellBack = true
	case s.Step == "restart":
		r.restarts++
	case s.Step == handedOver:
		r.handedOver = true
	case s.ToolName == "" && s.Step == parallelStep:
		groups[s.CallID] = len(r.turns)
		r.addTurn(s)
	case s.ToolName == "" && s.Step == "plan":
		r.plan = &s
	case s.ToolName == "", s.Capability == chat.CapabilityAnswer: // its answer begins anew
	case grouped && s.ParentID != "":
		r.turns[turn] = append(r.turns[turn], s)
	default:
		r.addTurn(s, s)
	}
}

// addTurn appends a turn. head is the step that carries the turn's tokens and thought.
func (r *replayed) addTurn(head chat.Step, calls ...chat.Step) {
	r.turns, r.thoughts = append(r.turns, calls), append(r.thoughts, head.Thought)
	r.byModel = append(r.byModel, head.Tokens != nil)
}

// ErrUnreadable is returned for a run with a damaged row, which can be neither resumed nor repeated.
var ErrUnreadable = &chat.Error{
	Code:    chat.CodeConflict,
	Message: "The stored question is damaged and can't be read. Ask it again.",
}

// BranchRequest returns the request of a new run beside an earlier one that repeats one of its calls with another
// input. It fails with CodeNotFound for a missing call, and with CodeConflict for one that can't be repeated. It
// fails with CodeInvalid for an input that the tool refuses or can only fail with. The tool validates the input as
// far as it can before anything is stored.
func (e *Engine) BranchRequest(
	ctx context.Context, old chat.Run, log []chat.Event, callID string, input json.RawMessage,
) (req chat.RunRequest, err error) {
	steps, err := upTo(log, callID)
	if err != nil {
		return req, err
	}
	at := slices.IndexFunc(steps, func(s chat.Step) bool { return s.CallID == callID })
	if at < 0 || steps[at].ToolName == "" {
		return req, &chat.Error{Code: chat.CodeNotFound, Message: "The run has no such tool call."}
	}
	t, err := e.FindTool(ctx, old.Request, steps[at].ToolName)
	if err != nil {
		return req, err
	}
	if t == nil || t.EndsRun {
		return req, &chat.Error{Code: chat.CodeConflict, Message: locale.Say(
			"The tool {1} can't be called again here. Choose another step.", text.Shorten(steps[at].ToolName, 64),
		)}
	}
	args, err := t.Normalise(input, old.Request.Config.RetrievalTopK)
	if err != nil {
		return req, chat.Invalid("Invalid input for {1}: {2}.", t.Name, text.Shorten(err.Error(), 400))
	}
	if err := t.Impossible(args); err != nil {
		return req, chat.Invalid("{1}", err)
	}
	req = old.Request
	// the settings may have changed since the run
	if _, err := e.config().modelOf(req.Config); err != nil {
		req.Config.Model = "" // not allowed any more: use the default model
	}
	req.SessionID, req.Sibling, req.IdempotencyKey = old.SessionID, old.ID, ""
	req.From = &chat.From{RunID: old.ID, CallID: callID, Tool: t.Name, Input: args}
	return req, nil
}

// upTo returns the steps of a log before the turn of a call, and those of that turn, in their last state. It returns
// none if there is no such call. It omits steps of the run's own troubles (fallback, restart, handover, rate limits,
// an unreadable conversation), since they are not part of the work on the question.
func upTo(log []chat.Event, callID string) ([]chat.Step, error) {
	transcript, err := chat.Fold(log)
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	call, found := transcript.Step(callID)
	if !found {
		return nil, nil
	}
	at, _ := transcript.Position(callID)
	var steps []chat.Step
	for i, s := range transcript.Steps {
		if i > at && (call.ParentID == "" || s.ParentID != call.ParentID) {
			if s.ToolName != "" || s.Step == parallelStep { // the next turn
				break
			}
			continue // steps within the turn that are not its calls
		}
		if s.ToolName == "" &&
			slices.Contains([]string{"fallback", "restart", handedOver, takenOver, "rate_limit", historyStep}, s.Step) {
			continue
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// startBranch copies the earlier run's steps from its log and then makes the call with the other input. It stores
// all copied steps and the start of the call in one batch, so a server that takes over finds all or none of them.
func (w *Runner) startBranch(ctx context.Context) error {
	if err := w.prepareRun(ctx); err != nil {
		return err
	}
	from := w.run.Request.From
	log, err := w.engine.ReadLog(ctx, chat.Run{ID: from.RunID, User: w.run.User})
	if err != nil {
		return err
	}
	steps, err := upTo(log, from.CallID)
	if err != nil {
		return err
	}
	ps := []chat.Payload{w.startedEvent()}
	var again chat.Step
	var repeated []chat.Step
	for _, s := range steps {
		if s.CallID == from.CallID {
			s = w.editedCall(s, from)
			again = s
		} else if s, err = w.repeatedStep(ctx, s, from); err != nil {
			return err
		}
		repeated = append(repeated, s)
		ps = append(ps, s)
	}
	if err := w.log.emitEvents(ctx, ps...); err != nil {
		return err
	}
	// from here on as for a run that is resumed from these steps
	past := replaySteps(repeated)
	w.log.ids = past.ids
	if err := w.restoreState(ctx, past); err != nil {
		return err
	}
	w.resumePlan(past.plan)
	return w.repeatCalls(ctx, []chat.Step{again})
}

// repeatedStep returns a step of the earlier run for this run's log. Its cost is zero. Its full output is read,
// since the new log has no other source for it.
func (k *knowledge) repeatedStep(ctx context.Context, s chat.Step, from *chat.From) (chat.Step, error) {
	if s.Truncated {
		full, err := k.cfg.Store.StepOutput(ctx, chat.Scope{User: k.run.User}, from.RunID, s.CallID)
		if err != nil {
			return s, fmt.Errorf("read output of step %s: %w", s.CallID, err)
		}
		s.Full = full
	}
	s.Tokens, s.Cost, s.Cached = noTokens(s), nil, s.ToolName != ""
	s.Details = maps.Clone(s.Details)
	if s.Details == nil {
		s.Details = map[string]any{}
	}
	s.Details["repeated_from"] = from.RunID
	return s, nil
}

// noTokens returns the tokens of a copied step: zero for a model turn, nil for others, so that turns stay
// recognisable.
func noTokens(s chat.Step) *chat.Tokens {
	if s.Tokens == nil {
		return nil
	}
	return &chat.Tokens{}
}

// editedCall returns the start of the call with the other input. It keeps the call id, which identifies both
// versions of the step.
func (w *Runner) editedCall(old chat.Step, from *chat.From) chat.Step {
	s := chat.Step{
		CallID: old.CallID, ParentID: old.ParentID, Step: old.Step, ToolName: from.Tool, ActionType: old.ActionType,
		Thought: old.Thought,
		Message: old.Message, Timestamp: nowSeconds(), Status: chat.StatusRunning, ToolStatus: chat.StatusRunning,
		ToolInput: from.Input, Tokens: noTokens(old),
		Details: map[string]any{"edited": true, "repeated_from": from.RunID},
	}
	if t := w.set.Find(from.Tool); t != nil {
		t.MarkStep(&s)
		s.Message = t.Describe(w.toolContext, from.Input)
	}
	return w.log.trackStep(s)
}

// repeatCalls retries in parallel the calls that a restart interrupted, and stores their results in the history.
// They were charged when the model made them, so they are fitted (fitCall) but not counted again. Their results
// replace the placeholders that restoreState put into the history.
func (w *Runner) repeatCalls(ctx context.Context, steps []chat.Step) error {
	if len(steps) == 0 {
		return nil
	}
	version, err := w.cfg.Library.Version(ctx, w.toolContext.Scope)
	if err != nil {
		return fmt.Errorf("read library version: %w", err)
	}
	callCtx, cancel := w.calls.callContext(ctx)
	defer cancel()
	attempts := make([]*toolCall, len(steps))
	for i, step := range steps {
		attempts[i] = w.repeatCall(step, version)
		if attempts[i].status == "" {
			w.calls.launchCall(callCtx, attempts[i])
		}
	}
	for _, a := range attempts {
		o, err := a.awaitEnd(ctx)
		if err != nil {
			return err
		}
		ended, message, err := w.calls.finishCall(a, w.calls.checkResult(ctx, a, w.calls.rewriteResult(ctx, a, o)))
		if err != nil {
			return err
		}
		for j, m := range w.messages.list {
			if m.Role == llm.RoleTool && m.CallID == a.step.CallID {
				w.messages.list[j] = message
			}
		}
		queue, err := w.plan.updateState([]chat.Payload{w.log.trackStep(ended)}, a, ended.Status)
		if err != nil {
			return err
		}
		if err := w.log.emitEvents(ctx, queue...); err != nil {
			return err
		}
	}
	return nil
}

// repeatCall prepares an already counted call for a retry under its old step. It undoes the id that fitCall assigns.
func (w *Runner) repeatCall(step chat.Step, version int64) *toolCall {
	a := w.calls.fitCall(llm.Call{ID: step.CallID, Name: step.ToolName, Arguments: step.ToolInput}, version)
	w.log.ids--
	a.step.CallID, a.step.ParentID, a.step.Thought, a.step.Details = step.CallID, step.ParentID, step.Thought,
		step.Details
	a.step.Tokens, a.step.Cost = step.Tokens, step.Cost
	w.log.trackStep(a.step)
	return a
}
