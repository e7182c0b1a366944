package run

import (
	"encoding/json"
	"fmt"
	"strings"

	"footnote/agent/tools"
	"footnote/chat"
	"footnote/corpus/text"
	"footnote/llm"
)

// prepareCalls checks the calls of a turn. Those that may not run come back with the reason.
func (w *Runner) prepareCalls(r reply, version int64, parent *chat.Step) []*toolCall {
	out := make([]*toolCall, len(r.calls))
	bad := false
	for i := range r.calls {
		a := w.prepareCall(r, i, version)
		if parent != nil {
			a.step.ParentID = parent.CallID
		}
		bad = bad || a.status == chat.StatusError
		out[i] = a
	}
	if bad {
		w.badTurns++
	} else {
		w.badTurns = 0
	}
	return out
}

// prepareCall checks one call of a turn.
func (w *Runner) prepareCall(r reply, place int, version int64) *toolCall {
	call := r.calls[place]
	call.Name, _, _ = strings.Cut(call.Name, "<|") // a token of the model's own format got into the name
	call.Name = strings.TrimSpace(call.Name)
	if name := llm.ToolNamed(call.Name, w.set.Names()); name != "" {
		call.Name = name
	}
	a := &toolCall{call: call, ended: make(chan outcome, 1)}
	a.step = chat.Step{
		CallID: w.newID(), Step: text.Shorten(call.Name, 64), ToolName: text.Shorten(call.Name, 64),
		ActionType: chat.ActionExploring, Timestamp: stamp(),
		Status: chat.StatusRunning, ToolStatus: chat.StatusRunning, ToolInput: preview(call.Arguments),
		Details: map[string]any{},
	}
	if a.call.ID == "" {
		a.call.ID = a.step.CallID
	}
	if a.tool = w.set.Find(call.Name); a.tool == nil {
		return a.refuse(chat.StatusError, fmt.Sprintf(
			"There is no tool %q. There are: %s.", text.Shorten(call.Name, 64), strings.Join(w.set.Names(), ", "),
		), nil)
	}
	a.step.ActionType, a.step.Capability, a.step.Acts = a.tool.Action, a.tool.Capability, a.tool.HasEffects
	if call.Malformed != "" {
		return a.refuse(chat.StatusError, "The arguments are not a JSON object, so the call did not run: "+text.Shorten(
			call.Malformed, 800,
		), a.tool.Spec.Schema)
	}
	args, err := a.tool.Normalise(a.tool.CoerceArgs(call.Arguments), w.run.Request.Config.RetrievalTopK)
	if err != nil {
		return a.refuse(chat.StatusError, "The arguments do not fit, so the call did not run: "+text.Shorten(
			err.Error(), 800,
		), a.tool.Spec.Schema)
	}
	a.args, a.step.ToolInput = args, args
	a.step.Message = a.tool.Describe(w.toolContext, args)
	same := a.tool.Name + string(args)
	w.calls[same]++
	switch {
	case a.tool.EndsRun && len(r.calls) > 1:
		return a.refuse(
			chat.StatusSkipped, "Call "+a.tool.Name+" alone, when you have seen the results of all other calls.", nil,
		)
	case w.calls[same] > maxSame && !a.tool.Continues:
		return a.refuse(
			chat.StatusSkipped,
			"You have made this very call twice already and have its result. Try something else, or answer.", nil,
		)
	case place >= maxCalls:
		return a.refuse(chat.StatusSkipped, fmt.Sprintf(
			"Only %d calls of one turn run. Make this one in the next turn.", maxCalls,
		), nil)
	case a.tool.Retrieval && w.retrievals >= w.budget.RetrievalCalls:
		if w.stop == "" {
			w.stop = chat.StopMaxRetrievalCalls
		}
		return a.refuse(
			chat.StatusSkipped, "All calls that search or read are used up. Answer now from what you have.", nil,
		)
	}
	if a.tool.Retrieval {
		w.retrievals++
	}
	if a.tool.Cached {
		a.key = w.toolContext.CacheKey(a.tool.Name, string(args), version)
	}
	return a
}

// refuse ends the call before it runs.
func (a *toolCall) refuse(status chat.Status, why string, schema json.RawMessage) *toolCall {
	a.status = status
	told := a.failure(why)
	if schema != nil && len(told) == 1 {
		told["schema"] = schema
	}
	a.told = told
	if a.step.Message == "" {
		a.step.Message = "Could not call " + a.step.ToolName
	}
	a.step.Summary = text.Shorten(why, 160)
	if status == chat.StatusError {
		a.step.Error = &chat.StepError{Code: chat.CodeInvalid, Message: text.Shorten(why, 300), Retryable: true}
	}
	return a
}

// preview is what a model passed, as an object, whatever it was.
func preview(args json.RawMessage) json.RawMessage {
	var object map[string]json.RawMessage
	if len(args) <= tools.MaxOutput && json.Unmarshal(args, &object) == nil && object != nil {
		return args
	}
	if len(args) == 0 {
		return json.RawMessage(`{}`)
	}
	b, err := json.Marshal(map[string]string{"arguments": tools.CutText(string(args), 800)})
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return b
}
