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
)

// When a run is not carried on any more. A planned handover to another server does not count as a restart.
const (
	// maxRestarts is how often a run is carried on after deaths of its server: it may be what kills them. So a third
	// death ends it (docs/operation.md, “an answer ends as interrupted”).
	maxRestarts = 2

	// maxAway is how long ago the last event of its log may be: nobody waits longer. It is by the clocks of two
	// servers, so one that is 15 minutes ahead ends what it takes over (docs/reliability.md).
	maxAway = 15 * time.Minute
)

// unknownSideEffect is what the model is told of a call that was cut off and is not made again.
const unknownSideEffect = "The server was stopped during this call. Nobody knows whether it took effect: do not " +
	"make it " +
	"again, and say so in the answer."

// resumeRun puts a run back to where its log ends, after its server died or handed it over. A server that alone works
// on its store (Exclusive) ends its runs when it is stopped as planned, so there is nothing to resume then. over means
// that there is nothing left to do but run_done. It ends as interrupted after maxRestarts restarts in a row that no
// server announced, and when its log is older than maxAway.
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
	// what it cost before is charged, though its time begins anew: somebody pays for all of it
	w.budget.recallSpent(w.model.model, transcript.Spent())
	if past.fellBack && w.cfg.Fallback != nil {
		w.model.switchToFallback()
	}
	step := w.log.newStep(
		"restart", chat.ActionThinking, chat.StatusComplete,
		"The server was restarted: going on from the last finished step",
	)
	if past.handedOver {
		step.Step, step.Message = takenOver, "Going on from the last finished step"
	}
	// what can be made again goes on; closeSteps ends the rest, as of unknown effect
	cut, groups := w.splitUnfinished(past)
	ps := w.log.closeSteps(chat.RunDone{})
	// readers have seen it: it moves into the step, and the answer begins anew
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

// notStored returns why a run that was written here, and whose end the store did not take, is not written again: the
// model would be paid twice for what may be lost once more.
func (w *Runner) notStored() error {
	return &chat.Error{
		Code: chat.CodeOf(w.unstored), Err: w.unstored,
		Message: "The answer was written and could not be stored. " + chat.MessageOf(w.unstored),
	}
}

// splitUnfinished returns the calls that the log leaves running and that may be made again, and the groups of calls
// that are not over. It takes them, and the calls that wait for a person, out of w.log.open, so that closeSteps does
// not cancel them.
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
// anything new is numbered, because the answer that was begun, and the results in the history, cite by them. Each model
// turn of the log counts against the steps of the budget.
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

// outputOf is what the model was told of a finished call. A call that never ended has no output: it is made again, or
// it may have changed something elsewhere. The full output is read where the event holds only its beginning: the model
// was told all of it.
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
	var told any = raw
	var err error
	if t := k.set.Find(s.ToolName); t != nil && s.Status == chat.StatusComplete {
		told, err = t.ModelOutput(raw)
	}
	if err != nil {
		return nil, fmt.Errorf("read output of step %s: %w", s.CallID, err)
	}
	return told, nil
}

// recountCall charges a call of the log to the budgets as toolCaller.countCall did when it was made. A call that named
// no tool or did not fit was never counted (detailUnfit); one that a person changed is counted as the model had asked
// for it. The two have to agree, or a resumed run would have more calls than its budget.
func (w *Runner) recountCall(s chat.Step) {
	w.calls.restoreRejected(s)
	t := w.set.Find(s.ToolName)
	if unfit, _ := s.Details[detailUnfit].(bool); t == nil || unfit {
		return
	}
	args := string(s.ToolInput)
	if proposed, edited := s.Details[detailProposed]; edited { // what the model asked for, not what a person made of it
		if raw, err := json.Marshal(proposed); err == nil {
			args = string(raw)
		}
	}
	w.calls.made[t.Name+args]++
	_, waited := s.Details[detailApproved] // a call that a person kept from running was charged before it waited
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

// resumePending asks again about the calls that waited when the server stopped. The rest of their turn is in the
// history already. Decisions that came before this are kept by approvals.early.
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

// replayed is what a run's log says about how far it got. It holds copies of steps: nothing of the log is changed by
// reading it.
type replayed struct {
	turns      [][]chat.Step // calls of each model turn, in order, as they last were
	thoughts   []string      // of each turn
	byModel    []bool        // of each turn: a model chose the calls, not the program
	running    []chat.Step   // steps that began and did not end
	waiting    []chat.Step   // calls that wait for a person
	fellBack   bool          // the fallback had taken over
	restarts   int           // how often it was carried on before
	handedOver bool          // the last server left it in order
	ids        int           // the highest call id
	plan       *chat.Step    // its last state
}

// replaySteps reads a run's steps. It needs the steps only, in the order of the log, each in its last state; chat.Fold
// makes them.
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

// addStep puts a step where it belongs. Calls of one turn share the parent step of the turn; a single call is a turn by
// itself. A handover counts only when nothing came after it.
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
	case s.ToolName == "", s.Capability == chat.CapabilityAnswer: // what it said begins anew
	case grouped && s.ParentID != "":
		r.turns[turn] = append(r.turns[turn], s)
	default:
		r.addTurn(s, s)
	}
}

// addTurn begins a turn. head is the step that carries what the turn cost.
func (r *replayed) addTurn(head chat.Step, calls ...chat.Step) {
	r.turns, r.thoughts = append(r.turns, calls), append(r.thoughts, head.Thought)
	r.byModel = append(r.byModel, head.Tokens != nil)
}

// ErrUnreadable is why a run can neither be carried on nor made again.
var ErrUnreadable = &chat.Error{
	Code:    chat.CodeConflict,
	Message: "What was asked can't be read any more, because its stored row is damaged. Ask it again.",
}

// BranchRequest is the request of a run beside an earlier one that makes one of its calls with another input. It fails
// with CodeNotFound for a call that is not there, with CodeConflict for one that can't be made again, and with
// CodeInvalid for an input that the tool does not take or can only fail with. The tool checks the input as far as it
// can before anything is stored: a run that can only fail is not begun.
func (e *Engine) BranchRequest(
	ctx context.Context, old chat.Run, log []chat.Event, callID string, input json.RawMessage,
) (req chat.RunRequest, err error) {
	steps, err := upTo(log, callID)
	if err != nil {
		return req, err
	}
	at := slices.IndexFunc(steps, func(s chat.Step) bool { return s.CallID == callID })
	if at < 0 || steps[at].ToolName == "" {
		return req, &chat.Error{Code: chat.CodeNotFound, Message: "There is no such tool call in this run."}
	}
	t, err := e.FindTool(ctx, old.Request, steps[at].ToolName)
	if err != nil {
		return req, err
	}
	if t == nil || t.EndsRun {
		return req, &chat.Error{Code: chat.CodeConflict, Message: "A call of " + text.Shorten(steps[at].ToolName, 64) +
			" can't be made again here. Choose another step."}
	}
	args, err := t.Normalise(input, old.Request.Config.RetrievalTopK)
	if err != nil {
		return req, chat.Invalid("%s does not take this input: %s", t.Name, text.Shorten(err.Error(), 400)+".")
	}
	if t.WhyImpossible != nil {
		if err := t.WhyImpossible(args); err != nil {
			return req, chat.Invalid("%s", err.Error())
		}
	}
	req = old.Request
	// the settings may have changed since the run
	if _, err := e.config().modelOf(req.Config); err != nil {
		req.Config.Model = "" // it is no longer allowed: the usual one makes the new version
	}
	req.SessionID, req.Sibling, req.IdempotencyKey = old.SessionID, old.ID, ""
	req.From = &chat.From{RunID: old.ID, CallID: callID, Tool: t.Name, Input: args}
	return req, nil
}

// upTo returns the steps of a log before the model's turn with a call, and those of that turn, as they last were, but
// for those that tell of the earlier run's own troubles. It returns none when there is no such call. Left out are the
// steps in which the run itself had trouble (fallback, restart, handover, rate limits): they are not part of how the
// question was worked on.
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
			continue // what was thought of the turn
		}
		if s.ToolName == "" &&
			slices.Contains([]string{"fallback", "restart", handedOver, takenOver, "rate_limit", historyStep}, s.Step) {
			continue
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// startBranch repeats the earlier run's steps from its log and then makes the call with the other input. All that is
// repeated is stored at once, with the call that begins: a server that takes the run over finds nothing of it or
// everything.
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
	// from here on it is as if this run had been resumed from what it has just stored
	past := replaySteps(repeated)
	w.log.ids = past.ids
	if err := w.restoreState(ctx, past); err != nil {
		return err
	}
	w.resumePlan(past.plan)
	return w.repeatCalls(ctx, []chat.Step{again})
}

// repeatedStep is a step of the earlier run as this one shows it. It cost nothing here. Its output is read whole: the
// log that it is copied into has no other source for it.
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

// noTokens is what a step of the earlier run costs here: nothing, but a turn of the model stays one.
func noTokens(s chat.Step) *chat.Tokens {
	if s.Tokens == nil {
		return nil
	}
	return &chat.Tokens{}
}

// editedCall is the call with the other input, beginning. It keeps the call id, under which both versions of the step
// are found.
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

// repeatCalls makes calls again that began but did not end before the restart, all at the same time, and puts their
// results into the history. They are charged once, when the model made them, so they are fitted (fitCall) but not
// counted again. Their results take the places that restoreState has left for them in the history.
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

// repeatCall is a call that was allowed and charged once, ready to be made as the step it is. fitCall gives out an id
// of its own, which is given back.
func (w *Runner) repeatCall(step chat.Step, version int64) *toolCall {
	a := w.calls.fitCall(llm.Call{ID: step.CallID, Name: step.ToolName, Arguments: step.ToolInput}, version)
	w.log.ids--
	a.step.CallID, a.step.ParentID, a.step.Thought, a.step.Details = step.CallID, step.ParentID, step.Thought,
		step.Details
	a.step.Tokens, a.step.Cost = step.Tokens, step.Cost
	w.log.trackStep(a.step)
	return a
}
