package run

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

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
