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

// Keys of a step's details for a call that waited for approval.
const (
	detailApproved = "approved" // whether the call was approved and ran
	detailProposed = "proposed" // the model's input, if the approver replaced it
)

// requestApproval marks a call as pending approval. The caller stores the step with the next events. Until then no
// decision can arrive, except in a run that was taken over (approvals.early).
func (c *toolCaller) requestApproval(a *toolCall) chat.Step {
	a.approval = c.control.approvals.addCall(a.step.CallID, a.tool)
	a.step.Status, a.step.ToolStatus = chat.StatusPending, chat.StatusPending
	a.step.Summary = "waiting for your approval"
	return a.step
}

// runApproved waits for a decision on each call that needs approval, in call order, and runs the approved ones. It
// returns the results for the model, keyed by call id. The waits are sequential and the calls parallel: a call
// starts once it is approved, while the next one still waits. On server shutdown (errLeaving) running calls may
// finish. The server that resumes the run asks again about the waiting ones. The timeout for tools bounds the wait,
// since the run's goroutine blocks.
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
				leaves = err // running calls may finish
				break
			} else if err != nil {
				return nil, err
			}
		}
		if a.status == "" {
			c.acceptApproval(a, v)
			// before the call starts: the log must hold every call with side effects
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

// awaitVerdict waits for the decision on one call: the approver's, the timeout for tools, or the command to answer
// now. A refusal of any kind is not an error: the call is rejected. An error stops the run on this server: its
// context was cancelled, or another server resumes it.
func (c *toolCaller) awaitVerdict(ctx context.Context, a *toolCall, late <-chan time.Time) (verdict, error) {
	object := func(why rejection) {
		c.control.approvals.withdrawCall(a.approval)
		c.rejectCall(a, why)
	}
	select {
	case v := <-a.approval.answer:
		if v.denied {
			object(denied)
		} else if v.input != nil { // the tool's version may differ on the server that received it
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
		if why := context.Cause(c.control.now); !errors.Is(why, errAnswerNow) { // its parent context was cancelled
			return verdict{}, why
		}
		object(hurried)
	case <-ctx.Done():
		return verdict{}, context.Cause(ctx)
	}
	return verdict{}, nil
}

// acceptApproval prepares an approved call to run, with the approver's input if there is one. The model's own input
// stays in the step's details, so that a resumed run counts the call as the model made it.
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

// withNote wraps the output with a note for the model if the approver changed the call's input.
func (a *toolCall) withNote(output any) any {
	if !a.edited {
		return output
	}
	return map[string]any{
		"note": fmt.Sprintf("The user changed the input of this call to %s", a.args), "result": output,
	}
}

// rejection is the reason why a call that waited for approval did not run. It has separate texts for the step, the
// answer and the model.
type rejection struct {
	status    chat.Status // of the step
	summary   string      // of the step
	because   string      // clause for the answer
	modelText string      // message for the model
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
		chat.StatusCancelled, "you chose “Answer now”", ": you wanted the answer before it was approved",
		"The user wants the answer now.",
	}
)

// rejectedCall is a call that was not approved.
type rejectedCall struct {
	message        string // the step's message, which describes the call
	why            rejection
	hasSideEffects bool // the call would have changed something elsewhere, so there may be nothing else to report
}

// rejectCall ends a call before it runs.
func (c *toolCaller) rejectCall(a *toolCall, why rejection) {
	a.refuseCall(why.status, why.modelText, nil)
	a.step.Summary, a.step.Error, a.step.Details = why.summary, nil, map[string]any{detailApproved: false}
	c.rejected = append(c.rejected, rejectedCall{a.step.Message, why, a.tool.HasSideEffects})
}

// restoreRejected restores a rejected call from the log of a resumed run. It identifies the reason by the step's
// status and summary, since the log stores nothing else of it. Changing a summary makes rejections in older logs
// unknown.
func (c *toolCaller) restoreRejected(s chat.Step) {
	if allowed, said := s.Details[detailApproved].(bool); !said || allowed {
		return
	}
	t := c.set.Find(s.ToolName)
	for _, why := range []rejection{denied, unfit, unheard, hurried} {
		if s.Status == why.status && s.Summary == why.summary {
			c.rejected = append(c.rejected, rejectedCall{s.Message, why, t != nil && t.HasSideEffects})
		}
	}
}

// approval is a call's pending request for approval.
type approval struct {
	tool    *tools.Tool
	settled bool // guarded by the mutex of approvals
	// buffered with size 1: settleCall never blocks, and the decision is kept until awaitVerdict reads it
	answer chan verdict
}

// verdict is the approver's decision about a call.
type verdict struct {
	denied bool
	input  json.RawMessage // replaces the model's input; nil: unchanged
}

// ErrDecided is returned for a second decision about a call.
var ErrDecided = &chat.Error{Code: chat.CodeConflict, Message: "This step is no longer pending approval."}

// approvals holds the calls of a run that wait, or waited, for approval. It is safe for concurrent use. A decision
// may arrive before its call waits. A run that was taken over shows its pending calls as soon as its log is read,
// but waits for them only in resumePending. early buffers such decisions.
type approvals struct {
	mu      sync.Mutex
	waiting map[string]*approval // by call id
	early   map[string]verdict   // buffered decisions about calls of a taken-over run that do not wait yet
}

// addCall registers a waiting call, and applies a decision that arrived early.
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

// settleCall delivers a verdict to the call, and reports whether it is the first. It never blocks. false means that
// the call was already decided, here or on another server.
func (s *approvals) settleCall(callID string, v verdict) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.waiting[callID]
	if !ok { // the call is about to wait
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

// withdrawCall ends the wait without a decision, or rejects a later one.
func (s *approvals) withdrawCall(a *approval) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.settled = true
}

// findCall returns the tool of a call that waits or waited for approval.
func (s *approvals) findCall(callID string) (t *tools.Tool, known, settled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, known := s.waiting[callID]
	if !known {
		return nil, false, false
	}
	return a.tool, true, a.settled
}

// PendingCall returns the step of a call that waits for approval. It fails with CodeNotFound for a call that never
// waited, and with CodeConflict for one that was decided. It parses only the log, so any server can call it,
// including one that does not execute the run.
func PendingCall(log []chat.Event, callID string) (chat.Step, error) {
	transcript, err := chat.Fold(log)
	if err != nil {
		return chat.Step{}, fmt.Errorf("read log: %w", err)
	}
	step, ok := transcript.Step(callID)
	switch {
	case !ok || !transcript.Waited(callID):
		return chat.Step{}, &chat.Error{
			Code: chat.CodeNotFound, Message: "No such step is waiting for approval.",
		}
	case step.Status != chat.StatusPending:
		return chat.Step{}, ErrDecided
	}
	return step, nil
}
