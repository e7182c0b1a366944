package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
)

// Details of a call that waited for a person.
const (
	detailApproved = "approved" // whether it ran
	detailProposed = "proposed" // the model's input, when a person gave another
)

// requestApproval makes a call wait for a person, from the next event on. The caller stores the step: until then nobody
// can decide, except in a run that was taken over (approvals.early).
func (c *toolCaller) requestApproval(a *toolCall) chat.Step {
	a.approval = c.control.approvals.addCall(a.step.CallID, a.tool)
	a.step.Status, a.step.ToolStatus = chat.StatusPending, chat.StatusPending
	a.step.Summary = "waits for your approval"
	return a.step
}

// runApproved waits for a person's word on each call that needs it, in the order of the calls, and runs those that may.
// It returns the results for the model by the ids of their steps. The waits are one after the other and the calls side
// by side: a call begins as soon as it is allowed, while the next one still waits. When the server stops (errLeaving),
// calls under way may end, and what still waits is asked about again by the server that goes on. The time for tools
// bounds the wait, since the goroutine of the run waits with it.
func (c *toolCaller) runApproved(ctx, callCtx context.Context, attempts []*toolCall) (map[string]llm.Message, error) {
	late := time.NewTimer(c.budget.searchTime() - time.Since(c.budget.begun))
	defer late.Stop()
	told := map[string]llm.Message{}
	var open []*toolCall
	var leaves error
	for _, a := range attempts {
		if a.approval == nil {
			continue
		}
		var v verdict
		if a.status == "" {
			var err error
			if v, err = c.awaitVerdict(ctx, a, late.C); errors.Is(err, errLeaving) {
				leaves = err // what runs already may end
				break
			} else if err != nil {
				return nil, err
			}
		}
		if a.status == "" {
			c.acceptApproval(a, v)
			// before it begins: what has an effect is in the log
			if err := c.log.emitEvents(ctx, c.log.trackStep(a.step)); err != nil {
				return nil, err
			}
			c.launchCall(callCtx, a)
		}
		open = append(open, a)
	}
	for _, a := range open {
		o, err := a.awaitEnd(ctx)
		if err != nil {
			return nil, err
		}
		step, message, err := c.finishCall(a, o)
		if err != nil {
			return nil, err
		}
		if err := c.log.emitEvents(ctx, c.log.trackStep(step)); err != nil {
			return nil, err
		}
		told[a.step.CallID] = message
	}
	return told, leaves
}

// awaitVerdict waits for the word on one call: a person's, the end of the time for tools, or the command for an answer
// now. A refusal of any kind is not an error: the call is rejected and its verdict empty. An error ends the run here:
// its context ended, or another server goes on.
func (c *toolCaller) awaitVerdict(ctx context.Context, a *toolCall, late <-chan time.Time) (verdict, error) {
	object := func(why rejection) {
		c.control.approvals.withdrawCall(a.approval)
		c.rejectCall(a, why)
	}
	select {
	case v := <-a.approval.answer:
		if v.denied {
			object(denied)
		} else if v.input != nil { // another server may have another version of the tool
			var err error
			if v.input, err = a.tool.Normalise(v.input, nil); err != nil {
				object(unfit)
			}
		}
		return v, nil
	case <-c.control.leaving.Done():
		return verdict{}, context.Cause(c.control.leaving)
	case <-late:
		object(unheard)
	case <-c.control.now.Done():
		if why := context.Cause(c.control.now); !errors.Is(why, errAnswerNow) { // it ends with its run, too
			return verdict{}, why
		}
		object(hurried)
	case <-ctx.Done():
		return verdict{}, context.Cause(ctx)
	}
	return verdict{}, nil
}

// acceptApproval makes an approved call ready to run, with the person's input if there is one. What the model had asked
// for stays in the step's details, so that a resumed run counts the call as it was made by the model.
func (c *toolCaller) acceptApproval(a *toolCall, v verdict) {
	a.step.Status, a.step.ToolStatus, a.step.Timestamp, a.step.Summary = chat.StatusRunning, chat.StatusRunning,
		nowSeconds(), ""
	a.step.Details = map[string]any{detailApproved: true}
	if v.input != nil && string(v.input) != string(a.args) {
		a.step.Details[detailProposed] = a.args
		a.args, a.step.ToolInput, a.edited = v.input, v.input, true
		a.step.Message = a.tool.Describe(c.toolContext, a.args)
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

// rejection is why a call that waited for a person did not run. Each has its words for three: the reader of the step,
// the reader of the answer, the model.
type rejection struct {
	status    chat.Status // of its step
	summary   string      // likewise
	because   string      // for the answer
	modelText string      // the model
}

var (
	denied = rejection{
		chat.StatusSkipped, "denied by you", ", because you denied it",
		"The user denied this call. Do not make it again; go on without it.",
	}
	unfit = rejection{
		chat.StatusSkipped, "the tool does not take your input", ": the tool does not take the input that you gave it",
		"The user gave this call another input, which the tool does not take. Go on without it.",
	}
	unheard = rejection{
		chat.StatusSkipped, "nobody approved it in time", ": nobody approved it in time",
		"Nobody approved this call in time. Answer from what you have.",
	}
	hurried = rejection{
		chat.StatusCancelled, "you wanted the answer now", ": you wanted the answer before it was approved",
		"The user wants the answer now.",
	}
)

// rejectedCall is a call that a person kept from running.
type rejectedCall struct {
	message        string // what it was about to do
	why            rejection
	hasSideEffects bool // it would have changed something elsewhere: there may be nothing else to say
}

// rejectCall ends a call before it runs.
func (c *toolCaller) rejectCall(a *toolCall, why rejection) {
	a.refuseCall(why.status, why.modelText, nil)
	a.step.Summary, a.step.Error, a.step.Details = why.summary, nil, map[string]any{detailApproved: false}
	c.rejected = append(c.rejected, rejectedCall{a.step.Message, why, a.tool.HasSideEffects})
}

// restoreRejected remembers a call of the log that a person kept from running. The reason is found by the status and
// the summary of the step, which is all that the log has of it: a summary that changes makes rejections of older logs
// unknown.
func (c *toolCaller) restoreRejected(s chat.Step) {
	if allowed, said := s.Details[detailApproved].(bool); !said || allowed {
		return
	}
	for _, why := range []rejection{denied, unfit, unheard, hurried} {
		if s.Status == why.status && s.Summary == why.summary {
			c.rejected = append(c.rejected, rejectedCall{s.Message, why, c.set.HasSideEffects(s.ToolName)})
		}
	}
}

// approval is a call's wait for a person's word.
type approval struct {
	tool    *tools.Tool
	settled bool // guarded by the mutex of approvals
	// holds one: settleCall never blocks, and a decision is kept until awaitVerdict takes it
	answer chan verdict
}

// verdict is what a person decided about a call.
type verdict struct {
	denied bool
	input  json.RawMessage // instead of the model's; nil: as it is
}

// ErrDecided is why a second decision about a call is refused.
var ErrDecided = &chat.Error{Code: chat.CodeConflict, Message: "This step was decided already."}

// approvals are the calls of a run that wait, or waited, for a person. It is safe for concurrent use. A decision may
// arrive before its call waits: a run that was taken over by this server is shown with its pending calls as soon as its
// log is read, but waits for them only when resumePending has come so far. early keeps it.
type approvals struct {
	mu      sync.Mutex
	waiting map[string]*approval // by call id
	early   map[string]verdict   // decisions about calls that do not wait yet, in a run that was taken over
}

// addCall registers a call that waits from now on.
func (s *approvals) addCall(callID string, t *tools.Tool) *approval {
	a := &approval{tool: t, answer: make(chan verdict, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting[callID] = a
	if v, ok := s.early[callID]; ok {
		a.settled = true
		a.answer <- v
	}
	return a
}

// settleCall hands a verdict to the call, and reports whether it is the first. It never blocks. A false result means
// that somebody else decided first, here or on another server.
func (s *approvals) settleCall(callID string, v verdict) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.waiting[callID]
	if !ok { // it begins to wait in a moment
		s.early[callID] = v
		return true
	}
	if a.settled {
		return false
	}
	a.settled = true
	a.answer <- v
	return true
}

// withdrawCall ends the wait without a person's word, or although it can't be followed.
func (s *approvals) withdrawCall(a *approval) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.settled = true
}

// findCall returns the tool of a call that waits or waited.
func (s *approvals) findCall(callID string) (t *tools.Tool, known, settled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, known := s.waiting[callID]
	if !known {
		return nil, false, false
	}
	return a.tool, true, a.settled
}

// PendingCall returns the step of a call that waits for a person. It fails with CodeNotFound for a call that never
// waited, and with CodeConflict for one that was decided. It reads the log alone, so any server can tell, also one that
// does not work on the run.
func PendingCall(log []chat.Event, callID string) (chat.Step, error) {
	transcript, err := chat.Fold(log)
	if err != nil {
		return chat.Step{}, fmt.Errorf("read log: %w", err)
	}
	step, ok := transcript.Step(callID)
	switch {
	case !ok || !transcript.Waited(callID):
		return chat.Step{}, &chat.Error{
			Code: chat.CodeNotFound, Message: "There is no such step that waits for approval.",
		}
	case step.Status != chat.StatusPending:
		return chat.Step{}, ErrDecided
	}
	return step, nil
}
