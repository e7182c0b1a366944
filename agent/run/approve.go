package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"footnote/agent/tools"
	"footnote/chat"
	"footnote/llm"
)

// requestApproval makes a call wait for a person, from the next event on.
func (w *Runner) requestApproval(a *toolCall) chat.Step {
	a.asking = w.control.approvals.wait(a.step.CallID, a.tool)
	a.step.Status, a.step.ToolStatus = chat.StatusPending, chat.StatusPending
	a.step.Summary = "waits for your approval"
	return a.step
}

// runApproved waits for a person's word on each call that needs it, in the order of the calls, and runs those that
// may. It returns the results for the model by the ids of their steps.
func (w *Runner) runApproved(ctx, callCtx context.Context, attempts []*toolCall) (map[string]llm.Message, error) {
	late := time.NewTimer(w.searchTime() - time.Since(w.begun))
	defer late.Stop()
	told := map[string]llm.Message{}
	var open []*toolCall
	var leaves error
	for _, a := range attempts {
		if a.asking == nil {
			continue
		}
		var v verdict
		if a.status == "" {
			var err error
			if v, err = w.awaitVerdict(ctx, a, late.C); errors.Is(err, errLeaving) {
				leaves = err // what runs already may end
				break
			} else if err != nil {
				return nil, err
			}
		}
		if a.status == "" {
			w.acceptApproval(a, v)
			if err := w.emit(ctx, w.track(a.step)); err != nil { // before it begins: what has an effect is in the log
				return nil, err
			}
			w.launch(callCtx, a)
		}
		open = append(open, a)
	}
	for _, a := range open {
		o, err := a.wait(ctx)
		if err != nil {
			return nil, err
		}
		step, message, err := w.finishCall(a, o)
		if err != nil {
			return nil, err
		}
		if err := w.emit(ctx, w.track(step)); err != nil {
			return nil, err
		}
		told[a.step.CallID] = message
	}
	return told, leaves
}

// awaitVerdict waits for the word on one call: a person's, the end of the time for tools, or the command for an answer
// now.
func (w *Runner) awaitVerdict(ctx context.Context, a *toolCall, late <-chan time.Time) (verdict, error) {
	object := func(why rejection) {
		w.control.approvals.withdraw(a.asking)
		w.rejectCall(a, why)
	}
	select {
	case v := <-a.asking.answer:
		if v.denied {
			object(denied)
		} else if v.input != nil { // another server may have another version of the tool
			var err error
			if v.input, err = a.tool.Normalise(v.input, nil); err != nil {
				object(unfit)
			}
		}
		return v, nil
	case <-w.control.leaving.Done():
		return verdict{}, context.Cause(w.control.leaving)
	case <-late:
		object(unheard)
	case <-w.control.now.Done():
		if why := context.Cause(w.control.now); !errors.Is(why, errAnswerNow) { // it ends with its run, too
			return verdict{}, why
		}
		object(hurried)
	case <-ctx.Done():
		return verdict{}, context.Cause(ctx)
	}
	return verdict{}, nil
}

// acceptApproval makes an approved call ready to run, with the person's input if there is one.
func (w *Runner) acceptApproval(a *toolCall, v verdict) {
	a.step.Status, a.step.ToolStatus, a.step.Timestamp, a.step.Summary = chat.StatusRunning, chat.StatusRunning, stamp(), ""
	a.step.Details = map[string]any{"approved": true}
	if v.input != nil && string(v.input) != string(a.args) {
		a.step.Details["proposed"] = a.args
		a.args, a.step.ToolInput, a.edited = v.input, v.input, true
		a.step.Message = a.tool.Describe(w.toolContext, a.args)
	}
}

// withNote tells the model that its call ran with another input.
func (a *toolCall) withNote(output any) any {
	if !a.edited {
		return output
	}
	if m, ok := output.(tools.ModelView); ok {
		output = m.ForModel()
	}
	return map[string]any{
		"note": fmt.Sprintf("The user changed the input of this call to %s", a.args), "result": output,
	}
}

// resumePending asks again about the calls that waited when the server stopped. The rest of their turn is in the
// history already.
func (w *Runner) resumePending(ctx context.Context, waiting []chat.Step) error {
	var attempts []*toolCall
	for _, s := range waiting {
		a := &toolCall{
			step: s, args: s.ToolInput, call: llm.Call{ID: s.CallID, Name: s.ToolName, Arguments: s.ToolInput},
			ended: make(chan outcome, 1),
		}
		if a.tool = w.set.Find(s.ToolName); a.tool == nil {
			a.asking = &approval{}
			a.refuse(chat.StatusSkipped, "This tool is not there any more.", nil)
		} else {
			a.step.Acts = a.tool.HasEffects
			if err := w.emit(ctx, w.track(w.requestApproval(a))); err != nil {
				return err
			}
		}
		attempts = append(attempts, a)
	}
	callCtx, cancel := w.callContext(ctx)
	defer cancel()
	told, err := w.runApproved(ctx, callCtx, attempts)
	if err != nil {
		return err
	}
	for _, a := range attempts {
		w.history = append(w.history, told[a.step.CallID])
	}
	return nil
}
