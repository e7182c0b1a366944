package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"footnote/agent/tools"
	"footnote/chat"
	"footnote/corpus/text"
	"footnote/llm"
)

// asking is a call that waits for a person's word.
type asking struct {
	tool    *tools.Tool
	decided bool
	answer  chan verdict // holds one
}

// verdict is what a person decided about a call.
type verdict struct {
	denied bool
	input  json.RawMessage // instead of the model's; nil: as it is
}

// Approve lets a call that waits run, with another input if one is given. It fails with CodeNotFound for a call that never waited,
// CodeConflict for one that was decided and for a run that is over, and CodeInvalid for an input that the tool does not take.
func (r *Runs) Approve(ctx context.Context, s chat.Scope, runID, callID string, input json.RawMessage) error {
	return r.decide(ctx, s, chat.Wish{RunID: runID, Kind: chat.WishApprove, CallID: callID, Input: input})
}

// Deny keeps a call that waits from running; the model is told. It fails as Approve does.
func (r *Runs) Deny(ctx context.Context, s chat.Scope, runID, callID string) error {
	return r.decide(ctx, s, chat.Wish{RunID: runID, Kind: chat.WishDeny, CallID: callID})
}

// decide settles on one verdict about a call. With other servers beside this one, the stored wish decides between two that come at once.
func (r *Runs) decide(ctx context.Context, s chat.Scope, w chat.Wish) error {
	h, err := r.reach(ctx, s, w.RunID)
	if err != nil {
		return err
	}
	t, err := r.undecided(ctx, s, h, w)
	if err != nil {
		return err
	}
	if w.Input != nil && t != nil {
		if w.Input, err = t.Normalise(w.Input, nil); err != nil {
			return chat.Invalid("%s does not take this input: %s", t.Name, text.Shorten(err.Error(), 400)+".")
		}
	}
	if h == nil || !r.cfg.Exclusive {
		if err := r.keep(ctx, s, w); err != nil || h == nil {
			return err
		}
	}
	if !r.grant(h, w) && r.cfg.Exclusive {
		return decidedAlready()
	}
	return nil
}

func decidedAlready() error {
	return &chat.Error{Code: chat.CodeConflict, Message: "This step was decided already."}
}

// undecided fails unless the call waits for a decision. It returns the call's tool, nil if this server has no such tool at the moment.
func (r *Runs) undecided(ctx context.Context, s chat.Scope, h *handle, w chat.Wish) (*tools.Tool, error) {
	if h != nil {
		if t, known, err := r.waitsHere(h, w.CallID); known || err != nil {
			return t, err
		}
	}
	run, err := r.cfg.Store.Run(ctx, s, w.RunID)
	if err != nil {
		return nil, err
	}
	log, err := r.log(ctx, run)
	if err != nil {
		return nil, err
	}
	transcript, err := chat.Fold(log)
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	step, ok := transcript.Step(w.CallID)
	switch {
	case !ok || !transcript.Waited(w.CallID):
		return nil, &chat.Error{Code: chat.CodeNotFound, Message: "There is no such step that waits for approval."}
	case step.Status != chat.StatusPending:
		return nil, decidedAlready()
	}
	set, err := r.toolsOf(run.Request)
	if err != nil { // a toolset of an older version: the run's server has the last word
		return nil, nil
	}
	return r.box.WithMCPTools(ctx, set).Find(step.ToolName), nil
}

// waitsHere is undecided for what a run's own server knows. A call of a run that was taken over is not known until it waits again.
func (r *Runs) waitsHere(h *handle, callID string) (t *tools.Tool, known bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, known := h.asked[callID]
	switch {
	case h.ctx.Err() != nil:
		return nil, known, &chat.Error{Code: chat.CodeConflict, Message: "This answer was stopped."}
	case !known:
		return nil, false, nil
	case a.decided:
		return nil, true, decidedAlready()
	}
	return a.tool, true, nil
}

// ask makes a call wait for a person, from the next event on.
func (w *work) ask(a *attempt) chat.Step {
	a.asking = &asking{tool: a.tool, answer: make(chan verdict, 1)}
	w.mu.Lock()
	w.handle.asked[a.step.CallID] = a.asking
	if v, ok := w.handle.decided[a.step.CallID]; ok {
		a.asking.decided = true
		a.asking.answer <- v
	}
	w.mu.Unlock()
	a.step.Status, a.step.ToolStatus = chat.StatusPending, chat.StatusPending
	a.step.Summary = "waits for your approval"
	return a.step
}

// permitted waits for a person's word on each call that needs it, in the order of the calls, and runs those that may. It returns the
// results for the model by the ids of their steps.
func (w *work) permitted(ctx, callCtx context.Context, attempts []*attempt) (map[string]llm.Message, error) {
	late := time.NewTimer(w.searchTime() - time.Since(w.begun))
	defer late.Stop()
	told := map[string]llm.Message{}
	var open []*attempt
	var leaves error
	for _, a := range attempts {
		if a.asking == nil {
			continue
		}
		var v verdict
		if a.status == "" {
			var err error
			if v, err = w.hear(ctx, a, late.C); errors.Is(err, errLeaving) {
				leaves = err // what runs already may end
				break
			} else if err != nil {
				return nil, err
			}
		}
		if a.status == "" {
			w.admit(a, v)
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
		step, message, err := w.conclude(a, o)
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

// hear waits for the word on one call: a person's, the end of the time for tools, or the wish for an answer now.
func (w *work) hear(ctx context.Context, a *attempt, late <-chan time.Time) (verdict, error) {
	object := func(why objection) {
		w.mu.Lock()
		a.asking.decided = true
		w.mu.Unlock()
		w.object(a, why)
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
	case <-w.leaving.Done():
		return verdict{}, context.Cause(w.leaving)
	case <-late:
		object(unheard)
	case <-w.now.Done():
		if why := context.Cause(w.now); !errors.Is(why, errAnswerNow) { // it ends with its run, too
			return verdict{}, why
		}
		object(hurried)
	case <-ctx.Done():
		return verdict{}, context.Cause(ctx)
	}
	return verdict{}, nil
}

// admit makes an approved call ready to run, with the person's input if there is one.
func (w *work) admit(a *attempt, v verdict) {
	a.step.Status, a.step.ToolStatus, a.step.Timestamp, a.step.Summary = chat.StatusRunning, chat.StatusRunning, stamp(), ""
	a.step.Details = map[string]any{"approved": true}
	if v.input != nil && string(v.input) != string(a.args) {
		a.step.Details["proposed"] = a.args
		a.args, a.step.ToolInput, a.edited = v.input, v.input, true
		a.step.Message = a.tool.Describe(w.desk, a.args)
	}
}

// withNote tells the model that its call ran with another input.
func (a *attempt) withNote(output any) any {
	if !a.edited {
		return output
	}
	if m, ok := output.(tools.ModelView); ok {
		output = m.ForModel()
	}
	return map[string]any{"note": fmt.Sprintf("The user changed the input of this call to %s", a.args), "result": output}
}

// resumePending asks again about the calls that waited when the server stopped. The rest of their turn is in the history already.
func (w *work) resumePending(ctx context.Context, waiting []chat.Step) error {
	var attempts []*attempt
	for _, s := range waiting {
		a := &attempt{step: s, args: s.ToolInput, call: llm.Call{ID: s.CallID, Name: s.ToolName, Arguments: s.ToolInput}, ended: make(chan outcome, 1)}
		if a.tool = w.set.Find(s.ToolName); a.tool == nil {
			a.asking = &asking{}
			a.refuse(chat.StatusSkipped, "This tool is not there any more.", nil)
		} else {
			a.step.Acts = a.tool.HasEffects
			if err := w.emit(ctx, w.track(w.ask(a))); err != nil {
				return err
			}
		}
		attempts = append(attempts, a)
	}
	callCtx, cancel := w.callContext(ctx)
	defer cancel()
	told, err := w.permitted(ctx, callCtx, attempts)
	if err != nil {
		return err
	}
	for _, a := range attempts {
		w.history = append(w.history, told[a.step.CallID])
	}
	return nil
}
