package run

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/english"
)

// makeCalls makes calls of the program's own, as far as the budget goes. What is over the limit of searches and
// readings is refused call by call, by countCall.
func (c *toolCaller) makeCalls(ctx context.Context, calls []llm.Call, why string) error {
	if len(calls) == 0 || !c.budget.mayCall() {
		return nil
	}
	return c.runCalls(ctx, reply{finish: llm.FinishCalls, text: why, calls: calls, byProgram: true})
}

// programCall makes a call of the program's own. ok is false when the run has no such tool. Its id tells it apart from
// the model's calls: rule_, the place in the history, the place in the turn.
func (c *toolCaller) programCall(name string, args map[string]any, place int) (llm.Call, bool) {
	if c.set.Find(name) == nil {
		return llm.Call{}, false
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return llm.Call{}, false
	}
	return llm.Call{ID: fmt.Sprintf("rule_%d_%d", len(c.messages.list), place), Name: name, Arguments: raw}, true
}

// readingCall makes a call of the program's own that reads a document, its focus first. ok is false when the run has no
// tool that reads.
func (c *toolCaller) readingCall(id, focus string, place int) (llm.Call, bool) {
	t := c.readTool()
	if t == nil {
		return llm.Call{}, false
	}
	return c.programCall(t.Name, map[string]any{"doc_id": id, "focus_query": text.Shorten(focus, 1000)}, place)
}

// prepareCalls checks the calls of a turn. Those that may not run come back with the reason. A turn with a call that
// could not run at all counts as bad; maxRepairs of them in a row end the tools. Skipped calls do not count as bad: the
// model wrote them well.
func (c *toolCaller) prepareCalls(r reply, version int64, parent *chat.Step) []*toolCall {
	out := make([]*toolCall, len(r.calls))
	bad := false
	for i := range r.calls {
		a := c.fitCall(r.calls[i], version)
		if a.status == "" {
			c.countCall(a, i, len(r.calls))
		}
		if parent != nil {
			a.step.ParentID = parent.CallID
		}
		bad = bad || a.status == chat.StatusError
		out[i] = a
	}
	if bad {
		c.budget.badTurns++
	} else {
		c.budget.badTurns = 0
	}
	return out
}

// fitCall finds the tool of a call and checks the arguments. It charges nothing. It mends what is unambiguous (names of
// tools, types of arguments), because small models write them nearly right.
func (c *toolCaller) fitCall(call llm.Call, version int64) *toolCall {
	call.Name, _, _ = strings.Cut(call.Name, "<|") // a token of the model's own format got into the name
	call.Name = strings.TrimSpace(call.Name)
	if name := llm.ToolNamed(call.Name, c.set.Names()); name != "" {
		call.Name = name
	}
	a := &toolCall{call: call, ended: make(chan outcome, 1)}
	a.step = chat.Step{
		CallID: c.log.newID(), Step: text.Shorten(call.Name, 64), ToolName: text.Shorten(call.Name, 64),
		ActionType: chat.ActionExploring, Timestamp: nowSeconds(),
		Status: chat.StatusRunning, ToolStatus: chat.StatusRunning, ToolInput: shownArguments(call.Arguments),
		Details: map[string]any{},
	}
	if a.call.ID == "" {
		a.call.ID = a.step.CallID
	}
	if a.tool = c.set.Find(call.Name); a.tool == nil {
		return a.refuseCall(chat.StatusError, fmt.Sprintf(
			"There is no tool %q. There are: %s.", text.Shorten(call.Name, 64), strings.Join(c.set.Names(), ", "),
		), nil)
	}
	a.tool.MarkStep(&a.step)
	a.step.Acts = a.tool.HasSideEffects
	if call.Malformed != "" {
		return a.refuseCall(chat.StatusError,
			"The arguments are not a JSON object, so the call did not run: "+text.Shorten(
				call.Malformed, 800,
			), a.tool.Spec.Schema)
	}
	args, err := a.tool.Normalise(a.tool.CoerceArgs(call.Arguments), c.run.Request.Config.RetrievalTopK)
	if err != nil {
		return a.refuseCall(chat.StatusError, "The arguments do not fit, so the call did not run: "+text.Shorten(
			err.Error(), 800,
		), a.tool.Spec.Schema)
	}
	a.args, a.step.ToolInput = args, args
	a.step.Message = a.tool.Describe(c.toolContext, args)
	if a.tool.Cached {
		a.key = c.toolContext.CacheKey(a.tool.Name, string(args), version)
	}
	return a
}

// countCall counts a call against the run's limits (equal calls, calls of a turn, calls that search or read), and
// refuses it when one is used up. Tokens are charged elsewhere: budget.chargeTokens. place is its place among the calls
// of its turn, from 0; calls is how many there are. Runner.recountCall does the same for the calls of a log.
func (c *toolCaller) countCall(a *toolCall, place, calls int) {
	same := a.tool.Name + string(a.args)
	c.made[same]++
	switch {
	case a.tool.EndsRun && calls > 1:
		a.refuseCall(
			chat.StatusSkipped, "Call "+a.tool.Name+" alone, when you have seen the results of all other calls.", nil,
		)
	case c.made[same] > maxSame && !a.tool.Continues:
		a.refuseCall(
			chat.StatusSkipped,
			"You have made this very call twice already and have its result. Try something else, or answer.", nil,
		)
	case place >= maxCalls:
		a.refuseCall(chat.StatusSkipped, fmt.Sprintf(
			"Only %d calls of one turn run. Make this one in the next turn.", maxCalls,
		), nil)
	case a.tool.Retrieval && c.budget.retrievals >= c.budget.limits.RetrievalCalls:
		if c.budget.stop == "" {
			c.budget.stop = chat.StopMaxRetrievalCalls
		}
		a.refuseCall(
			chat.StatusSkipped, "All calls that search or read are used up. Answer now from what you have.", nil,
		)
	case a.tool.Retrieval:
		c.budget.retrievals++
	}
}

// explainCalls gives each call its thought, and logs which tools were selected, by whom and why. The thought is the
// reason that the plan has for its part, else that of the turn. A selection without a reason is logged with what its
// first call is about to do. A logged reason is at most 300 characters: a model may quote what it read.
func (c *toolCaller) explainCalls(ctx context.Context, r reply, thought string, attempts []*toolCall) {
	for _, a := range attempts {
		a.step.Thought = thought
		if i, ok := c.plan.calls[a.call.ID]; ok && r.byProgram {
			a.step.Thought = cmp.Or(c.plan.parts[i].Reasoning, thought)
		}
	}
	by := "model"
	if r.byProgram {
		by = "rules"
	}
	c.cfg.Log.InfoContext(ctx, "tools selected", "run", c.run.ID, "tools", namesOf(r.calls), "by", by,
		"reason", text.Shorten(cmp.Or(thought, attempts[0].step.Message), 300))
}

// detailUnfit marks a call that named no tool or had arguments that don't fit: it is charged to no budget, unlike one
// that its tool did not take (tools.Result.WhyRefused). It is stored with the step, since recountCall has nothing else
// to know it by.
const detailUnfit = "unfit"

// refuseCall ends a call before it runs, as its outcome: status is StatusError for one that the model wrote wrongly,
// StatusSkipped for one over a limit, or what a person's decision means. why goes to the model; schema, if there is
// one, goes with it.
func (a *toolCall) refuseCall(status chat.Status, why string, schema json.RawMessage) *toolCall {
	a.status = status
	told := a.failureOutput(why)
	if schema != nil && len(told) == 1 {
		told["schema"] = schema
	}
	a.output = told
	if a.step.Message == "" {
		a.step.Message = "Could not call " + a.step.ToolName
	}
	a.step.Summary = text.Shorten(why, 160)
	if status == chat.StatusError {
		a.step.Details[detailUnfit] = true
		a.step.Error = &chat.StepError{Code: chat.CodeInvalid, Message: text.Shorten(why, 300), Retryable: true}
	}
	return a
}

// shownArguments is what a model passed, as an object, whatever it was. What is no JSON object, or is too long for an
// event, is wrapped into one. Events hold JSON, and the page draws it as an object.
func shownArguments(args json.RawMessage) json.RawMessage {
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

// discardCutTurn drops a turn that ended at the token limit and asks for a shorter one: its calls may be cut as well,
// so none runs. maxCuts of them end the tools: a model whose replies are always cut would go on for ever.
func (c *toolCaller) discardCutTurn(ctx context.Context, r reply) error {
	c.budget.cutTurns++
	step := c.log.newStep(
		"review", chat.ActionThinking, chat.StatusError,
		"The model's reply was cut at its length limit: asking for a shorter one",
	)
	c.messages.ephemeral = []llm.Message{{
		Role: llm.RoleUser, Aside: true,
		Text: "Your last reply was cut at its length limit, so none of its tool calls ran. Repeat it, shorter.",
	}}
	var dropped []llm.Dropped
	for _, call := range r.calls {
		dropped = append(dropped, llm.DroppedCall(call))
	}
	if err := c.log.emitDropped(ctx, dropped...); err != nil {
		return err
	}
	return c.log.takeAnswerBack(ctx, step)
}

// describeParallel describes parallel calls: "3 searches in parallel".
func (k *knowledge) describeParallel(calls []llm.Call) string {
	t := k.set.Find(calls[0].Name)
	same := !slices.ContainsFunc(calls, func(other llm.Call) bool { return other.Name != calls[0].Name })
	noun := "call"
	if same && t != nil && t.Label != nil && t.Label.Noun != "" {
		noun = t.Label.Noun
	}
	return english.Count(len(calls), noun) + " in parallel"
}

// failureOutput is what a call without a result comes to, in the form its tool has agreed.
func (a *toolCall) failureOutput(text string) map[string]any {
	told := map[string]any{"error": text}
	if a.tool != nil && a.tool.EchoedArg != "" {
		var in map[string]any
		_ = json.Unmarshal(a.call.Arguments, &in) // malformed arguments have nothing to echo
		said, _ := in[a.tool.EchoedArg].(string)
		told[a.tool.EchoedArg] = said
	}
	return told
}

// failureResult is the result of a call that came to what toolCall.failureOutput says.
func failureResult(told map[string]any) chat.StepResult {
	why, _ := told["error"].(string)
	asked, _ := told["query"].(string)
	return chat.StepResult{Failure: why, Query: asked}
}
