package run

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"footnote/agent/tools"
	"footnote/chat"
	"footnote/llm"
)

// How the model's failures are met.
const (
	maxRepairs    = 2 // turns in a row with calls that could not run
	maxCuts       = 3 // turns cut at the token limit
	maxBadCalls   = 2 // tool calls that the model's server could not read: the second time the model must answer
	leastWait     = time.Second
	fallbackTime  = 10 * time.Second
	answerReserve = 6 // a sixth of the run's time is for the answer
)

// rateLimit says how long a turn waits for a model's server that refuses it because of its rate limit. This is the
// only place that tries a rate-limited turn again. The zero value is ready to use.
type rateLimit struct {
	refusals int
	told     bool // the server named a wait before, and it was too short
}

// wait returns how long to wait after a refusal, and false when it was the last: 5, 10, 20, 40, 60 s. The first wait
// that the server names replaces its step; those after it are lower bounds, since the first did not suffice.
func (l *rateLimit) wait(named time.Duration) (time.Duration, bool) {
	steps := [...]time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, 60 * time.Second}
	if l.refusals == len(steps) {
		return 0, false
	}
	wait := steps[l.refusals]
	l.refusals++
	if named > 0 {
		least := max(named, leastWait)
		least += rand.N(least / 16) // a little apart from others who were told the same
		if !l.told {
			wait = 0
		}
		l.told, wait = true, max(wait, least)
	}
	return wait, true
}

// reply is what one turn of a model came to.
type reply struct {
	text      string
	reasoning string
	signature string
	calls     []llm.Call
	finish    llm.Finish
	tokens    chat.Tokens
	cost      *float64
	chooses   bool // it came from the model that only chooses tools
}

// late reports whether the rest of the time is needed for the answer.
func (w *Runner) late() bool { return time.Since(w.begun) >= w.searchTime() }

func (w *Runner) allTime() time.Duration    { return time.Duration(w.budget.Seconds) * time.Second }
func (w *Runner) searchTime() time.Duration { return w.allTime() - w.allTime()/answerReserve }

// turn gets one whole reply from the model, whatever it takes: waiting, a shorter history, or the fallback.
func (w *Runner) turn(ctx context.Context) (reply, error) {
	var limit rateLimit
	for {
		if err := w.stopCause(ctx); err != nil {
			return reply{}, err
		}
		w.checkBudgets()
		r, err := w.stream(ctx)
		if err == nil {
			w.aside = nil
			if w.stop == "" {
				w.turns++
			}
			return r, nil
		}
		if cause := w.stopCause(ctx); cause != nil {
			return reply{}, cause
		}
		var e *llm.Error
		switch {
		case r.chooses && errors.As(err, &e):
			if err := w.chooseAlone(ctx, e); err != nil {
				return reply{}, err
			}
		case errors.Is(err, errAnswerNow), errors.Is(err, errLate):
			w.stop = map[bool]chat.StopReason{true: chat.StopAnswerNow, false: chat.StopTimeout}[errors.Is(
				err, errAnswerNow,
			)]
			w.writer.Reset()
		case !errors.As(err, &e):
			return reply{}, err // the store, not the model
		case e.Kind == llm.KindRateLimited && !w.writer.Shown() && !w.onFallback:
			wait, again := limit.wait(e.RetryAfter)
			if !again || time.Since(w.begun)+wait > w.searchTime() {
				err = w.fallBack(ctx, e)
			} else {
				err = w.waitForServer(ctx, wait)
			}
			if err != nil {
				return reply{}, err
			}
		case e.Kind == llm.KindTooLong && !w.compacted && w.compact():
		case e.Kind == llm.KindBadCall && w.badCalls < maxBadCalls && !w.onFallback:
			if err := w.repairCall(ctx, e); err != nil {
				return reply{}, err
			}
		default:
			if err := w.fallBack(ctx, e); err != nil {
				return reply{}, err
			}
		}
	}
}

// stream lets the model speak once. Its text is shown as it comes.
func (w *Runner) stream(ctx context.Context) (r reply, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	left := w.allTime() - time.Since(w.begun)
	if w.onFallback {
		left = max(left, fallbackTime)
	}
	turn, free := context.WithTimeout(ctx, left)
	defer free()
	if w.stop == "" { // an answer that is being written is let be
		hurry := func(why error) func() {
			return func() {
				if !w.writer.Shown() {
					cancel(why)
				}
			}
		}
		defer context.AfterFunc(w.control.now, func() { hurry(context.Cause(w.control.now))() })()
		late := time.AfterFunc(w.searchTime()-time.Since(w.begun), hurry(errLate))
		defer late.Stop()
	}
	defer context.AfterFunc(w.control.leaving, func() { cancel(context.Cause(w.control.leaving)) })()
	model, chooses := w.turnModel()
	r.chooses = chooses
	done, err := w.read(ctx, model.Stream(turn, w.request()), &r)
	w.chargeFailed(model, err)
	switch why := context.Cause(ctx); {
	case errors.Is(why, errAnswerNow), errors.Is(why, errLate):
		return r, why
	case err != nil && turn.Err() != nil && ctx.Err() == nil:
		return r, &llm.Error{Kind: llm.KindTimeout, Message: "the model did not answer in time", Err: err}
	case err != nil:
		return r, err
	case done == nil:
		return r, &llm.Error{
			Kind: llm.KindIncomplete, Message: "the model's reply ended too early", Shown: w.writer.Shown(),
		}
	}
	r.finish = done.Finish
	w.count(model, done.Usage, &r)
	return r, w.checkPrompt(ctx, done.Usage)
}

// read takes the parts of a reply.
func (w *Runner) read(
	ctx context.Context, parts func(func(llm.Part, error) bool), r *reply,
) (done *llm.Done, err error) {
	var text, reasoning strings.Builder
	thought := false
	for part, err := range parts {
		if err != nil {
			return nil, err
		}
		switch p := part.(type) {
		case llm.Text:
			if !thought && reasoning.Len() > 0 {
				thought = true
				if err := w.emit(ctx, w.thinking(reasoning.String())); err != nil {
					return nil, err
				}
			}
			text.WriteString(string(p))
			if r.chooses {
				continue
			}
			if err := w.writer.Write(ctx, string(p)); err != nil {
				return nil, err
			}
		case llm.Quoted:
			text.WriteString(p.Marker())
			if r.chooses {
				continue
			}
			if err := w.writer.Quote(ctx, p.Passage, p.Words); err != nil {
				return nil, err
			}
		case llm.Reasoning:
			reasoning.WriteString(string(p))
		case llm.Rethought:
			reasoning.WriteString(text.String())
			text.Reset()
			if !r.chooses {
				thought = true
				if err := w.takeBack(ctx, w.thinking("")); err != nil {
					return nil, err
				}
			}
		case llm.Signature:
			if !r.chooses { // another model could not read it
				r.signature = string(p)
			}
		case llm.Call:
			r.calls = append(r.calls, p)
		case llm.Notice:
			if w.noticed[p] { // once is enough
				continue
			}
			w.noticed[p] = true
			if err := w.emit(
				ctx, w.newStep("notice", chat.ActionThinking, chat.StatusComplete, string(p)),
			); err != nil {
				return nil, err
			}
		case llm.Done:
			done = &p
		}
	}
	r.text, r.reasoning = text.String(), reasoning.String()
	return done, nil
}

func (w *Runner) thinking(thought string) chat.Step {
	step := w.newStep("thinking", chat.ActionThinking, chat.StatusComplete, "Thought about it")
	step.Thought = tools.CutText(strings.TrimSpace(thought), 4000)
	return step
}

// temperature is that of the request, else of the server, else of the toolset.
func (w *Runner) temperature() *float64 {
	switch {
	case w.run.Request.Config.Temperature != nil:
		return w.run.Request.Config.Temperature
	case w.cfg.Temperature != nil:
		return w.cfg.Temperature
	}
	return &w.set.DefaultTemperature
}

// request is the next turn as the model gets it.
func (w *Runner) request() llm.Request {
	req := llm.Request{
		Messages: w.history, NoTools: w.stop != "" || w.enough || w.direct, Temperature: w.temperature(),
		Unasked: w.run.Request.Config.Temperature == nil && w.cfg.Temperature == nil, Seed: w.run.Request.Config.Seed,
		MaxTokens: w.cfg.MaxTokens,
	}
	if len(w.aside) > 0 {
		req.Messages = append(append(make([]llm.Message, 0, len(w.history)+len(w.aside)), w.history...), w.aside...)
	}
	if !w.givenText() {
		req.Tools = make([]llm.ToolSpec, 0, len(w.set.Tools))
		for _, t := range w.set.Tools {
			req.Tools = append(req.Tools, t.Spec)
		}
	}
	return req
}

// count adds a turn's tokens; a provider that does not count is counted for.
func (w *Runner) count(model llm.Model, u *llm.Usage, r *reply) {
	used := chat.Tokens{}
	if model.Name() == offlineName {
		r.tokens, r.cost = used, w.charge(model, used) // rules read no tokens
		return
	}
	if u != nil {
		used = chat.Tokens{In: u.In, Out: u.Out}
	} else {
		for _, m := range w.history {
			used.In += tokens(m.Text)
		}
		used.Out = tokens(r.text + r.reasoning)
		for _, c := range r.calls {
			used.Out += tokens(string(c.Arguments))
		}
	}
	r.tokens, r.cost = used, w.charge(model, used)
}

// waitForServer lets a rate limit pass, visibly. A user who wants the answer now ends it.
func (w *Runner) waitForServer(ctx context.Context, d time.Duration) error {
	step := w.newStep("rate_limit", chat.ActionThinking, chat.StatusRunning,
		fmt.Sprintf("The model's server is busy: trying again in %d s", int(d.Round(time.Second).Seconds())))
	if err := w.emit(ctx, w.track(step)); err != nil {
		return err
	}
	begin := time.Now()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.control.now.Done():
	case <-w.control.leaving.Done():
	case <-ctx.Done():
	}
	if cause := w.stopCause(ctx); cause != nil { // before w.control.now, which ends with ctx
		return cause
	}
	step.Status, step.ToolStatus, step.DurationMS, step.Timestamp = chat.StatusComplete, chat.StatusComplete, sinceMS(
		begin,
	), stamp()
	step.Message = fmt.Sprintf(
		"Waited %d s for the model's server", int(time.Since(begin).Round(time.Second).Seconds()),
	)
	if w.control.now.Err() != nil { // no more waiting: the offline engine answers at once
		if err := w.emit(ctx, w.track(step)); err != nil {
			return err
		}
		w.stop = chat.StopAnswerNow
		return w.fallBack(ctx, &llm.Error{Kind: llm.KindRateLimited, Message: "the model's server asked to wait"})
	}
	return w.emit(ctx, w.track(step))
}

// compact forgets the older results of tools, which take the most room. It reports whether there were any.
func (w *Runner) compact() bool {
	w.compacted = true
	last := len(w.history)
	for last > 0 && w.history[last-1].Role == llm.RoleTool {
		last--
	}
	found := false
	for i := range w.history[:max(0, last)] {
		if m := &w.history[i]; m.Role == llm.RoleTool && len(m.Text) > 400 {
			m.Text = `{"note":"This result was left out to save room. Call the tool again if you need it."}`
			found = true
		}
	}
	return found
}

// fallBack gives the rest of the run to the fallback model and says so; without one, the run ends with the model's
// failure.
func (w *Runner) fallBack(ctx context.Context, e *llm.Error) error {
	reason, _ := explainFailure(e)
	failed := &chat.Error{Code: chat.CodeModelFailed, Message: w.failureOf(e), Err: e}
	if w.onFallback || w.cfg.Fallback == nil {
		w.cfg.Log.WarnContext(ctx, "model failed", "run", w.run.ID, "model", w.model.Name(), "kind", e.Kind, "error", e)
		return failed
	}
	w.cfg.Log.WarnContext(
		ctx, "model failed, falling back", "run", w.run.ID, "model", w.model.Name(), "kind", e.Kind, "error", e,
	)
	step := w.newStep("fallback", chat.ActionThinking, chat.StatusError,
		fmt.Sprintf(
			"The model %s can't answer, because %s: going on with %s instead", w.model.Name(), reason,
			w.cfg.Fallback.Name(),
		))
	step.Error = &chat.StepError{Code: chat.CodeModelFailed, Message: failed.Message, Retryable: e.Retryable()}
	step.Details = map[string]any{"kind": e.Kind, "instead": w.cfg.Fallback.Name()}
	w.model, w.onFallback, w.aside, w.enough, w.direct = w.cfg.Fallback, true, nil, false, false
	if err := w.giveTextToFallback(); err != nil {
		return err
	}
	return w.takeBack(ctx, step)
}
