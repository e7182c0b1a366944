package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
	"github.com/footnote/footnote/text/locale"
)

// Limits on the calls of a turn.
const (
	// maxParallel is the number of calls of one run that run in parallel; the others wait in their own goroutines.
	// Six searches take 0.4 ms longer together than the slowest of them alone (docs/performance.md, “Deciding”).
	maxParallel = 8

	// maxCalls is the maximum number of calls of one turn; further ones are skipped, and the model is notified. It
	// is above the 5 or 10 searches and reads that a toolset allows in a whole run.
	maxCalls = 20

	// maxSame is the maximum number of equal calls (tool and arguments) in a run; the third is skipped, see
	// countCall. The second may be a retry of a failed call, or of one whose result was shortened.
	maxSame = 2

	parallelStep = "parallel" // id of the parent step of a turn's calls

	// quick is how long the start events of calls are buffered: most calls end sooner, and then both events are
	// stored in one append. It is one reason why the 15 to 17 events of a run take 9 appends (docs/performance.md).
	quick = 3 * time.Millisecond
)

// toolCall is one tool call. fitCall resolves its tool and arguments, countCall checks limits, launchCall runs it,
// and finishCall builds its last event. refuseCall and rejectCall end it earlier. Two goroutines share it: that of
// launchCall reads tool, args and key and sends to ended once. The run's goroutine uses all other fields.
type toolCall struct {
	call     llm.Call
	tool     *tools.Tool
	args     json.RawMessage
	key      string // cache key; empty for a tool that is not cached
	step     chat.Step
	status   chat.Status  // final status of a call that does not run: error or skipped
	output   any          // output for the model of a call that does not run
	ended    chan outcome // buffered with size 1, so that a call whose run has continued can end
	approval *approval    // pending approval; nil: none is needed
	edited   bool         // ran with the approver's input
}

// outcome is the result of a call that ran.
type outcome struct {
	result tools.Result
	err    error
	took   time.Duration
	cached bool
	code   chat.Code // of result.WhyRefused; empty: CodeInvalid
}

// toolCaller makes tool calls: it validates them, requests approval where needed, runs them in parallel and stores
// their ends. The goroutines of calls access only running and slots.
type toolCaller struct {
	*state

	running  sync.WaitGroup // calls in progress, and those that wait for a slot
	slots    chan struct{}  // semaphore of parallel calls
	made     map[string]int // how often each call was made
	rejected []rejectedCall
	ask      func(context.Context, []llm.Message) (string, chat.Spent, error) // asks the model outside the conversation
	// judges texts, see modelCaller.judgeTexts
	judge     func(ctx context.Context, asked string, texts []string) ([]llm.Verdict, chat.Spent, error)
	unchecked bool // passages could not be checked, which the answer notes
}

// runCalls runs the calls of a turn in parallel and appends their results to the history in the order of the calls.
// Start events are stored before any call with side effects runs; for quick calls they are stored together with the
// end events. An error means that the run ends; calls in progress end by their context.
func (c *toolCaller) runCalls(ctx context.Context, r reply) (err error) {
	if err := c.stopCause(ctx); err != nil {
		return err
	}
	if r.finish == llm.FinishLength {
		return c.discardCutTurn(ctx, r)
	}
	version, err := c.cfg.Library.KnownVersion(ctx, c.toolContext.Scope) // cached when the run began
	if err != nil {
		return fmt.Errorf("read library version: %w", err)
	}
	// events not stored yet; on an error their steps stay open, for finishRun to close
	var queue []chat.Payload
	defer func() {
		if err != nil {
			c.log.reopenSteps(queue)
		}
	}()
	// text before calls is their thought, not the answer
	said, stored := c.log.writer.Reset()
	thought := strings.TrimSpace(said)
	if thought == "" {
		thought = strings.TrimSpace(tools.CutText(cmp.Or(strings.TrimSpace(r.text), r.reasoning), 4000))
	}
	var parent *chat.Step
	if len(r.calls) > 1 {
		step := c.log.newStep(parallelStep, chat.ActionExploring, chat.StatusRunning, c.describeParallel(r.calls))
		step.Thought = thought
		parent = &step
	}
	attempts := c.prepareCalls(r, version, parent)
	c.explainCalls(ctx, r, thought, attempts)
	head := &attempts[0].step
	if parent != nil {
		parent.ActionType = head.ActionType
		head = parent
	}
	if !r.byProgram {
		head.Tokens, head.Cost = &r.tokens, r.cost
		c.countTurn(r)
	}
	if stored {
		takes := attempts[0].step.CallID
		if parent != nil {
			takes = parent.CallID
		}
		queue = append(queue, chat.AnswerReset{CallID: takes})
	}
	if parent != nil {
		queue = append(queue, c.log.trackStep(*parent))
	}
	c.messages.list = append(c.messages.list, assistantMessage(r, attempts))
	callCtx, cancel := c.callContext(ctx)
	defer cancel()
	for _, a := range attempts {
		if a.status == "" && a.tool.Approve {
			queue = append(queue, c.log.trackStep(c.requestApproval(a)))
		} else if a.status == "" {
			queue = append(queue, c.log.trackStep(a.step))
			if queue, err = c.plan.updateState(queue, a, chat.StatusRunning); err != nil {
				return err
			}
			// the call must be in the log first, or a server that takes over would repeat it
			if a.tool.HasSideEffects {
				if err := c.log.emitEvents(ctx, queue...); err != nil {
					return err
				}
				queue = nil
			}
			c.launchCall(callCtx, a)
		}
	}
	grace := time.NewTimer(quick)
	defer grace.Stop()
	told := map[string]llm.Message{}
	waits := false
	for _, a := range attempts {
		if a.approval != nil {
			waits = true
			continue
		}
		var o outcome
		if a.status == "" {
			o, queue, err = c.awaitCall(ctx, a, grace, queue)
			if err != nil {
				return err
			}
		}
		step, message, err := c.finishCall(a, c.checkResult(ctx, a, c.rewriteResult(ctx, a, o)))
		if err != nil {
			return err
		}
		queue = append(queue, c.log.trackStep(step))
		if queue, err = c.plan.updateState(queue, a, step.Status); err != nil {
			return err
		}
		told[a.step.CallID] = message
	}
	if waits {
		if err := c.log.emitEvents(ctx, queue...); err != nil {
			return err
		}
		queue = nil
		allowed, err := c.runApproved(ctx, callCtx, attempts)
		if err != nil {
			return err
		}
		maps.Copy(told, allowed)
	}
	// model APIs require one result for each call, in the order of the calls
	for _, a := range attempts {
		c.messages.list = append(c.messages.list, told[a.step.CallID])
	}
	if parent != nil {
		parent.Status, parent.ToolStatus, parent.Timestamp = chat.StatusComplete, chat.StatusComplete, nowSeconds()
		parent.DurationMS = int64((parent.Timestamp - attempts[0].step.Timestamp) * 1000)
		queue = append(queue, c.log.trackStep(*parent))
	}
	return c.log.emitEvents(ctx, queue...)
}

// assistantMessage returns the model's turn for the history. Arguments that are not valid JSON become an empty
// object, since providers reject a history that contains them.
func assistantMessage(r reply, attempts []*toolCall) llm.Message {
	m := llm.Message{
		Role: llm.RoleAssistant, Text: strings.TrimSpace(r.text), Reasoning: r.reasoning, Signature: r.signature,
	}
	for _, a := range attempts {
		call := a.call
		call.Malformed = ""
		if !json.Valid(call.Arguments) {
			call.Arguments = json.RawMessage(`{}`)
		}
		m.Calls = append(m.Calls, call)
	}
	return m
}

// awaitCall waits for a call, and stores the queued events if that takes longer than quick.
func (c *toolCaller) awaitCall(
	ctx context.Context, a *toolCall, grace *time.Timer, queue []chat.Payload,
) (outcome, []chat.Payload, error) {
	select {
	case o := <-a.ended:
		o, err := o.unlessStopped(ctx)
		return o, queue, err
	case <-ctx.Done():
		return outcome{}, queue, context.Cause(ctx)
	case <-grace.C:
		grace.Reset(0) // events queued after this are stored before the next wait
	}
	if err := c.log.emitEvents(ctx, queue...); err != nil {
		return outcome{}, nil, err
	}
	o, err := a.awaitEnd(ctx)
	return o, nil, err
}

// unlessStopped returns the outcome of a call. A failure while the run was being stopped is reported as the stop's
// cause.
func (o outcome) unlessStopped(ctx context.Context) (outcome, error) {
	if o.err != nil && ctx.Err() != nil {
		return outcome{}, context.Cause(ctx)
	}
	return o, nil
}

// awaitEnd waits for the end of a launched call or of ctx, and returns the cause of ctx's end. The outcome of a
// refused call (refuseCall) is empty.
func (a *toolCall) awaitEnd(ctx context.Context) (outcome, error) {
	if a.status != "" {
		return outcome{}, nil
	}
	select {
	case o := <-a.ended:
		return o.unlessStopped(ctx)
	case <-ctx.Done():
		return outcome{}, context.Cause(ctx)
	}
}

// callContext returns the context for calls, which is cancelled with the turn, and when the user wants the answer
// now. The returned function releases it and cancels calls in progress. The server's shutdown (leaving) does not
// cancel it, so that running calls may finish.
func (c *toolCaller) callContext(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.control.now, func() { cancel(context.Cause(c.control.now)) })
	return ctx, func() { stop(); cancel(nil) }
}

// launchCall runs a call in its own goroutine once fewer than maxParallel run, and always sends its outcome. It does
// not block, so that waiting calls are shown as running. A panic becomes the call's failure. A result is cached only
// if the tool allows it (Cached) and the result is not transient.
func (c *toolCaller) launchCall(ctx context.Context, a *toolCall) {
	c.running.Go(func() {
		var o outcome
		select {
		case c.slots <- struct{}{}:
			defer func() { <-c.slots }()
		case <-ctx.Done():
			a.ended <- outcome{err: context.Cause(ctx)}
			return
		}
		begun := time.Now()
		defer func() {
			if p := recover(); p != nil {
				c.cfg.Log.ErrorContext(
					ctx, "tool panicked", "run", c.run.ID, "tool", a.tool.Name, "panic", p, "stack",
					string(debug.Stack()),
				)
				o = outcome{err: &chat.Error{Code: chat.CodeInternal, Message: "The tool failed. Continue without it."}}
			}
			o.took = time.Since(begun)
			a.ended <- o
		}()
		if a.key != "" {
			// the key contains the library's version, so a changed library misses the cache
			if o.result, o.cached = c.engine.results.Get(a.key); o.cached {
				return
			}
		}
		limit := c.limitOf(a.tool)
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		o.result, o.err = a.tool.Run(limited, c.toolContext, a.args)
		switch {
		case o.err != nil && errors.Is(context.Cause(ctx), errAnswerNow):
			o.err = errAnswerNow
		// the tool's timeout, not the run's
		case o.err != nil && limited.Err() != nil && ctx.Err() == nil:
			o.err = &chat.Error{Code: chat.CodeTimeout, Message: locale.Say(
				"The tool timed out after {1} s.", math.Round(limit.Seconds()),
			), Err: o.err}
		case o.err == nil && o.result.WhyRefused == "" && !o.result.Transient && a.key != "":
			c.engine.results.Add(a.key, o.result)
		}
	})
}

// finishCall builds a call's last event and its result for the model. It sets the status: refused before it ran,
// cancelled by the user, failed, refused by the tool (WhyRefused), or complete. Only a complete call changes the
// run's sources.
func (c *toolCaller) finishCall(a *toolCall, o outcome) (chat.Step, llm.Message, error) {
	step := a.step
	step.Timestamp, step.DurationMS, step.Cached = nowSeconds(), o.took.Milliseconds(), o.cached
	var output any
	var result chat.StepResult
	switch {
	case a.status != "":
		step.Status, output = a.status, a.output
	case errors.Is(o.err, errAnswerNow):
		step.Status, step.Summary, output = chat.StatusCancelled, "you chose “Answer now”", a.failureOutput(
			"The user wants the answer now.",
		)
	case o.err != nil:
		c.cfg.Log.Error("tool failed", "run", c.run.ID, "tool", step.ToolName, "error", o.err)
		step.Status, output = chat.StatusError, a.failureOutput(chat.MessageOf(o.err).String())
		step.Error = chat.NewStepError(chat.CodeOf(o.err), chat.MessageFor(c.run.User, o.err), true)
		c.noteFailed(a.tool, step)
	case o.result.WhyRefused != "":
		step.Status, output = chat.StatusError, a.failureOutput(o.result.WhyRefused.String())
		step.Error = chat.NewStepError(cmp.Or(o.code, chat.CodeInvalid), o.result.WhyRefused, true)
		step.Error.Message = text.Shorten(step.Error.Message, 300)
	default:
		step.Status = chat.StatusComplete
		output, result = o.result.Output(c.toolContext.Sources.Number)
		c.forgetFailed(step) // it may be a retry
		step.Message, step.Summary = step.Forms.Say(o.result.Message), step.Forms.Say(o.result.Summary)
		step.Details = map[string]any{}
		maps.Copy(step.Details, a.step.Details)
		maps.Copy(step.Details, o.result.Details)
		a.tool.NoteOutcome(c.toolContext.Sources, o.result.SourceChanges, result)
		if a.tool.AnswersNext {
			c.answerNext()
		}
	}
	step.ToolStatus = step.Status
	if said, ok := output.(map[string]any); ok && step.Status != chat.StatusComplete {
		result = failureResult(said)
	}
	step.Result = result.Bounded()
	whole, err := setOutput(&step, output)
	if err != nil {
		return step, llm.Message{}, err
	}
	// keep the full output: an answer may state any of it without a footnote
	if a.tool != nil && a.tool.NeedsNoFootnote(step.Status) {
		c.evidence.Results.Keep(a.tool.Returned(a.args, whole, step.Message))
	}
	if step.Status == chat.StatusComplete {
		output = a.tool.ForModel(whole)
	}
	message, err := toolMessage(c.nonce, a.call.ID, a.withNote(output))
	return step, message, err
}

// makeCalls makes calls of the program, if the budget allows calls. countCall refuses single calls over the limit of
// searches and reads.
func (c *toolCaller) makeCalls(ctx context.Context, calls []llm.Call, why string) error {
	if len(calls) == 0 || !c.budget.mayCall() {
		return nil
	}
	return c.runCalls(ctx, reply{finish: llm.FinishCalls, text: why, calls: calls, byProgram: true})
}

// programCall returns a call made by the program. ok is false if the run has no such tool. The id distinguishes it
// from the model's calls: rule_, the index in the history, the index in the turn.
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

// readingCall returns a call of the program that reads a document, the focus first. ok is false if the run has no
// tool that reads.
func (c *toolCaller) readingCall(id, focus string, place int) (llm.Call, bool) {
	t := c.set.ReadTool()
	if t == nil {
		return llm.Call{}, false
	}
	return c.programCall(t.Name, map[string]any{"doc_id": id, "focus_query": text.Shorten(focus, 1000)}, place)
}

// prepareCalls validates the calls of a turn. A call that may not run has its reason set. A turn with an invalid
// call counts as bad; more than maxRepairs in a row end the use of tools. Skipped calls don't count as bad, since
// they are well-formed.
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

// fitCall resolves the tool of a call and validates the arguments. It charges nothing. It corrects unambiguous
// errors (names of tools, types of arguments), since small models often write them almost right.
func (c *toolCaller) fitCall(call llm.Call, version int64) *toolCall {
	call.Name, _, _ = strings.Cut(call.Name, "<|") // a special token of the model's format got into the name
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

// countCall checks a call against the run's limits (equal calls, calls of a turn, calls that search or read), and
// refuses it if one is reached. Tokens are charged elsewhere: budget.chargeTokens. place is its index in the turn,
// calls the number of calls in the turn. Runner.recountCall does the same for the calls of a log.
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

// explainCalls sets the thought of each call, and logs which tools were selected, by whom and why. The thought is
// the plan's reason for its part, else that of the turn. The logged reason is the turn's thought, else the message
// of its first call. It has at most 300 characters, since a model may quote its sources.
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

// detailUnfit marks a call of an unknown tool or with invalid arguments. It is charged to no budget, unlike one that
// its tool refused (tools.Result.WhyRefused). It is stored with the step, from which recountCall recognises such
// calls.
const detailUnfit = "unfit"

// refuseCall ends a call before it runs. status is StatusError for an invalid call, StatusSkipped for one over a
// limit, or that of an approver's decision. The model gets why and, if there is one, the tool's schema.
func (a *toolCall) refuseCall(status chat.Status, why string, schema json.RawMessage) *toolCall {
	a.status = status
	told := a.failureOutput(why)
	if schema != nil && len(told) == 1 {
		told["schema"] = schema
	}
	a.output = told
	if a.step.Message == "" {
		a.step.Message = a.step.Forms.Say(locale.Say("Could not call {1}", a.step.ToolName))
	}
	a.step.Summary = text.Shorten(why, 160)
	if status == chat.StatusError {
		a.step.Details[detailUnfit] = true
		a.step.Error = &chat.StepError{Code: chat.CodeInvalid, Message: text.Shorten(why, 300), Retryable: true}
	}
	return a
}

// shownArguments returns the model's arguments as a JSON object for events and the page. Other values, and arguments
// too long for an event, are wrapped in an object.
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

// discardCutTurn drops a turn that was cut at the token limit and asks for a shorter one. Its calls may be
// incomplete, so none runs. maxCuts such turns end the use of tools, which bounds the retries.
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
	return c.log.retractAnswer(ctx, step)
}

// describeParallel describes parallel calls: "3 searches in parallel".
func (k *knowledge) describeParallel(calls []llm.Call) locale.Message {
	t := k.set.Find(calls[0].Name)
	same := !slices.ContainsFunc(calls, func(other llm.Call) bool { return other.Name != calls[0].Name })
	noun := "call"
	if same && t != nil && t.Label != nil && t.Label.Noun != "" {
		noun = t.Label.Noun
	}
	return locale.Say("{1} in parallel", locale.Count(len(calls), noun))
}

// failureOutput returns the output of a failed call, in the format of its tool.
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

// failureResult converts a failureOutput to the step's result.
func failureResult(told map[string]any) chat.StepResult {
	why, _ := told["error"].(string)
	asked, _ := told["query"].(string)
	return chat.StepResult{Failure: why, Query: asked}
}
