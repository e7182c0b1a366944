package run

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/agent/ground"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
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
	shown := map[ground.PassageRange]chat.Hit{}
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
