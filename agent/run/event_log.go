package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/footnote/footnote/agent/cite"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text/locale"
)

// eventLog stores a run's events: its steps, and its answer as it is streamed. It tracks the steps that are still
// running. All of it belongs to the run's goroutine, except length and writer: the writer's timer may store text
// while the model streams.
type eventLog struct {
	store  cite.Emit    // appends to the run's log
	length atomic.Int64 // number of stored events, as far as known here; the writer's timer stores some
	writer *cite.Writer
	open   map[string]*chat.Step // running steps, by call id
	ids    int                   // the last call id assigned
}

// emitEvents stores payloads in order, in one batch or not at all. A run whose events can't be stored ends, since an
// unrecorded step must not shape the answer. A cancelled run still completes a write in progress, so that the log's
// content is certain. It does not retry a failed write; only storeEnd retries, for the last events.
func (l *eventLog) emitEvents(ctx context.Context, ps ...chat.Payload) error {
	if len(ps) == 0 {
		return nil
	}
	// without the parent's cancellation, which would leave the outcome of the write unknown
	if err := l.store(context.WithoutCancel(ctx), ps...); err != nil {
		l.reopenSteps(ps)
		return fmt.Errorf("store events: %w", err)
	}
	return nil
}

// reopenSteps marks steps whose end could not be stored as running again, so that the end of the run closes them.
func (l *eventLog) reopenSteps(ps []chat.Payload) {
	for _, p := range ps {
		if s, ok := p.(chat.Step); ok {
			l.open[s.CallID] = &s
		}
	}
}

// appendEvents appends events to the run's log and counts them. The run's goroutine and the timer of its writer call
// it. The store checks the lease: it refuses events with CodeConflict if another server holds the run.
func (s *state) appendEvents(ctx context.Context, ps ...chat.Payload) error {
	err := s.cfg.Feed.Append(ctx, s.cfg.Owner, s.run.ID, ps...)
	if err == nil {
		s.log.length.Add(int64(len(ps)))
		s.countEvents(ctx, ps)
	}
	return err
}

// endTime is the timeout for storing the last events of a run, retries included. Backoff starts at 100 ms and
// doubles, so there are at most eight attempts. The value is not based on a measurement. It is shorter than the
// lease (30 s), after which another server may take over a run that was not renewed.
const endTime = 20 * time.Second

// Step ids of a handover to another server: the last step here and the first one there.
const (
	handedOver = "handover"
	takenOver  = "takeover"
)

// ending is the result of a run on this server, for Runs, which frees the run's slot and charges its user.
type ending struct {
	Over     bool        // the run's end is stored, by this server or another
	Unstored error       // why the end could not be stored; else nil
	Tokens   chat.Tokens // to charge to the user
}

// finishRun runs do and ends the log with exactly one run_done, even if the context is cancelled or the code panics.
// The cause of the context's cancellation takes precedence over the error it caused. If another server holds the run
// by now, nothing is written.
func (w *Runner) finishRun(ctx context.Context, do func() ([]chat.Payload, error)) ending {
	last, err := func() (last []chat.Payload, err error) {
		defer func() {
			if p := recover(); p != nil {
				w.cfg.Log.ErrorContext(ctx, "run panicked", "run", w.run.ID, "panic", p, "stack", string(debug.Stack()))
				err = &chat.Error{
					Code:    chat.CodeInternal,
					Message: "Internal server error. Try again, or see the log for details.",
				}
			}
		}()
		return do()
	}()
	// a cancelled context makes calls and the model fail in many ways: report the cause
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	if errors.Is(err, errLost) || chat.CodeOf(orEmpty(err)) == chat.CodeConflict {
		w.cfg.Log.WarnContext(ctx, "run is executed by another server", "run", w.run.ID, "error", err)
		return ending{}
	}
	if errors.Is(err, errLeaving) {
		w.handOver(ctx)
		return ending{}
	}
	done := w.budget.addUsage(w.outcomeOf(ctx, err))
	if err != nil {
		// keep the partial answer
		last = append(w.log.writer.Rest(), w.log.closeSteps(done)...)
	}
	return w.storeEnd(context.WithoutCancel(ctx), append(last, done))
}

// orEmpty returns err, or an empty error for nil, since CodeOf needs one.
func orEmpty(err error) error {
	if err == nil {
		return &chat.Error{}
	}
	return err
}

// outcomeOf maps an error to the run's final status. Errors that the user must fix are not retryable. An internal
// error is logged with its cause; the user-facing message omits it.
func (w *Runner) outcomeOf(ctx context.Context, err error) chat.RunDone {
	switch {
	case err == nil:
		return chat.RunDone{Status: chat.RunCompleted}
	case errors.Is(err, errCancelled):
		return chat.RunDone{Status: chat.RunCancelled}
	case errors.Is(err, errRevoked):
		return chat.RunDone{Status: chat.RunCancelled, Error: &chat.StepError{
			Code: chat.CodeUnauthorized, Message: "Your API key was revoked before the answer was done.",
		}}
	case errors.Is(err, errStopping):
		return chat.RunDone{Status: chat.RunInterrupted, Error: &chat.StepError{
			Code:    chat.CodeUnavailable,
			Message: "The server was stopped before the answer was done. Press Continue to resume.", Retryable: true,
		}}
	}
	code := chat.CodeOf(err)
	if code == chat.CodeInternal {
		w.cfg.Log.ErrorContext(ctx, "run failed", "run", w.run.ID, "error", err)
	} else {
		w.cfg.Log.WarnContext(ctx, "run failed", "run", w.run.ID, "code", code, "error", err)
	}
	status := chat.RunFailed
	switch {
	case errors.Is(err, errUnsupported):
		status = chat.RunCitationValidationFailed
	case code == chat.CodeGuardrail:
		status = chat.RunGuardrailTriggered
	}
	return chat.RunDone{Status: status, Error: chat.NewStepError(
		code, chat.MessageFor(w.run.User, err), code != chat.CodeInvalid && code != chat.CodeGuardrail,
	)}
}

// storeEnd stores the last events, and retries with backoff while the store is busy or full. After endTime the run
// is left for another server. If the store can't encode an event, it is omitted and the run ends as failed with that
// reason.
func (w *Runner) storeEnd(ctx context.Context, last []chat.Payload) ending {
	limit := time.NewTimer(endTime)
	defer limit.Stop()
	for pause := 100 * time.Millisecond; ; pause *= 2 {
		err := w.log.emitEvents(ctx, last...)
		if err == nil {
			return ending{Over: true, Tokens: w.budget.tokens}
		}
		if errors.Is(err, chat.ErrNotStorable) && len(last) > 1 {
			// it may contain a number that JSON can't encode
			w.budget.cost = nil
			done := w.budget.addUsage(w.outcomeOf(ctx, err))
			last = append(w.log.storableSteps(w.run.ID), done)
			continue
		}
		// another server ended the run, or its conversation was deleted
		if code := chat.CodeOf(err); code == chat.CodeConflict || code == chat.CodeNotFound {
			w.cfg.Log.WarnContext(ctx, "run ended elsewhere", "run", w.run.ID, "error", err)
			return ending{Over: true}
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-limit.C:
			timer.Stop()
			w.cfg.Log.ErrorContext(ctx, "end of run could not be stored", "run", w.run.ID, "error", err)
			return ending{Unstored: err}
		}
	}
}

// handOver hands the run over to another server. If that fails, others find it when its lease expires.
func (w *Runner) handOver(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if w.log.length.Load() > 0 { // not as the first event of a log
		step := w.log.newStep(
			handedOver, chat.ActionThinking, chat.StatusComplete,
			"The server is shutting down: another server continues",
		)
		if err := w.log.retractAnswer(ctx, step); err != nil {
			w.cfg.Log.WarnContext(ctx, "run is left unfinished", "run", w.run.ID, "error", err)
			return
		}
	}
	if err := w.cfg.Store.Release(ctx, w.cfg.Owner, w.run.ID); err != nil {
		w.cfg.Log.WarnContext(ctx, "run could not be released", "run", w.run.ID, "error", err)
		return
	}
	w.cfg.Log.InfoContext(ctx, "run was handed over to another server", "run", w.run.ID)
}

// emitDropped stores dropped text as steps, with the text as their output. Consecutive pieces with the same message
// form one step. It skips blank text.
func (l *eventLog) emitDropped(ctx context.Context, dropped ...llm.Dropped) error {
	var ps []chat.Payload
	for len(dropped) > 0 {
		d := dropped[0]
		for dropped = dropped[1:]; len(dropped) > 0 && dropped[0].Message == d.Message; dropped = dropped[1:] {
			d.Text += dropped[0].Text
		}
		text := strings.TrimSpace(d.Text)
		if text == "" {
			continue
		}
		step := l.newStep("dropped", chat.ActionThinking, chat.StatusComplete, locale.Message(d.Message))
		step.Result = chat.StepResult{Text: text}.Bounded()
		if _, err := setOutput(&step, map[string]any{"text": text}); err != nil {
			return err
		}
		ps = append(ps, step)
	}
	return l.emitEvents(ctx, ps...)
}

// newID returns the next call id of the run: c1, c2, … A resumed run continues after the highest id of its log.
func (l *eventLog) newID() string {
	l.ids++
	return "c" + strconv.Itoa(l.ids)
}

// newStep returns a step that is no tool call. It is not stored: pass it to emitEvents, and a running step to
// trackStep.
func (l *eventLog) newStep(name string, action chat.Action, status chat.Status, message locale.Message) chat.Step {
	step := chat.Step{
		CallID: l.newID(), Step: name, ActionType: action, Timestamp: nowSeconds(), Status: status, ToolStatus: status,
		Details: map[string]any{},
	}
	step.Message = step.Forms.Say(message)
	return step
}

// trackStep records a running or pending step, so that finishRun can close it, and removes one that ended. It
// returns the step, so that it can be stored in the same expression.
func (l *eventLog) trackStep(s chat.Step) chat.Step {
	if s.Status == chat.StatusRunning || s.Status == chat.StatusPending {
		l.open[s.CallID] = &s
	} else {
		delete(l.open, s.CallID)
	}
	return s
}

// setOutput sets the output of a step, clipped to tools.MaxOutput characters, and returns the full output.
func setOutput(step *chat.Step, output any) (whole json.RawMessage, err error) {
	if whole, err = tools.Encode(output); err != nil {
		return nil, fmt.Errorf("encode output of %s: %w", step.Step, err)
	}
	step.ToolOutput, step.OutputSize = whole, len(whole)
	if utf8.RuneCount(whole) > tools.MaxOutput {
		step.Truncated, step.Full = true, whole
		if step.ToolOutput, err = tools.Clip(output, whole); err != nil {
			return nil, fmt.Errorf("clip output of %s: %w", step.Step, err)
		}
	}
	return whole, nil
}

// retractAnswer moves the visible text of the answer into the step's thought, so that no text that a reader saw is
// lost. Pages that rendered the text remove it at AnswerReset, which is only emitted if text was stored.
func (l *eventLog) retractAnswer(ctx context.Context, step chat.Step) error {
	text, stored := l.writer.Reset()
	step.Thought = strings.TrimSpace(text)
	if stored {
		return l.emitEvents(ctx, chat.AnswerReset{CallID: step.CallID}, step)
	}
	return l.emitEvents(ctx, step)
}

// closeSteps ends the running steps, in the order they began. It sorts by the number of the id, so that c10 follows
// c9. An empty status in done means that the run continues elsewhere: then a tool's step states that its side effect
// is unknown.
func (l *eventLog) closeSteps(done chat.RunDone) []chat.Payload {
	var steps []*chat.Step
	for _, s := range l.open {
		steps = append(steps, s)
	}
	slices.SortFunc(steps, func(a, b *chat.Step) int {
		if len(a.CallID) != len(b.CallID) {
			return len(a.CallID) - len(b.CallID)
		}
		return slices.Compare([]byte(a.CallID), []byte(b.CallID))
	})
	var out []chat.Payload
	for _, s := range steps {
		s.Status, s.ToolStatus = chat.StatusCancelled, chat.StatusCancelled
		s.DurationMS, s.Timestamp = int64((nowSeconds()-s.Timestamp)*1000), nowSeconds()
		if s.ToolName != "" {
			why := "The call was stopped."
			if done.Status == "" { // the run continues
				why = unknownSideEffect
			}
			s.ToolOutput, s.Result = []byte(`{"error":"`+why+`"}`), &chat.StepResult{Failure: why}
		}
		if done.Status == chat.RunFailed {
			s.Summary = "stopped: the run failed"
		}
		out = append(out, *s)
	}
	l.open = map[string]*chat.Step{}
	return out
}

// storableSteps ends the open steps and omits those that can't be encoded. It is for the end of a run whose last
// events were refused, so that one bad step does not keep the run from ending.
func (l *eventLog) storableSteps(runID string) []chat.Payload {
	return slices.DeleteFunc(l.closeSteps(chat.RunDone{Status: chat.RunFailed}), func(p chat.Payload) bool {
		_, err := chat.NewEvent(runID, p)
		return err != nil
	})
}

// nowSeconds returns the time for steps: seconds since 1970 with microseconds, UTC. Microseconds are the finest unit
// that both stores keep.
func nowSeconds() float64 { return float64(time.Now().UnixMicro()) / 1e6 }

// sinceMS returns the time since t, in whole milliseconds.
func sinceMS(t time.Time) int64 { return time.Since(t).Milliseconds() }
