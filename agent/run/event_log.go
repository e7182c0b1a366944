package run

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"footnote/agent/ground"
	"footnote/chat"
)

// eventLog stores what a run does as events: its steps, and its answer as it is written. It knows which steps are
// still running.
type eventLog struct {
	store  ground.Emit  // appends to the run's log
	length atomic.Int64 // how many events are stored, as far as is known here; the writer's timer stores some
	writer *ground.Writer
	open   map[string]*chat.Step // steps that are running, by call id
	ids    int                   // the last call id that was given
}

// emitEvents stores payloads. A run whose events can't be stored ends: an unrecorded step must not shape the answer. A
// cancelled run still stores what it has begun to store, so that one knows what is in the log. Events of one call are
// stored together or not at all, in their order. What can't be stored is not retried here: storeEnd alone tries again,
// for the last events.
func (l *eventLog) emitEvents(ctx context.Context, ps ...chat.Payload) error {
	if len(ps) == 0 {
		return nil
	}
	if err := l.store(context.WithoutCancel(ctx), ps...); err != nil {
		l.reopenSteps(ps)
		return fmt.Errorf("store events: %w", err)
	}
	return nil
}

// reopenSteps remembers the steps whose ends could not be stored as running, so that the end of the run ends them.
func (l *eventLog) reopenSteps(ps []chat.Payload) {
	for _, p := range ps {
		if s, ok := p.(chat.Step); ok {
			l.open[s.CallID] = &s
		}
	}
}

// newID gives out the next call id of the run: c1, c2, … A resumed run goes on after the highest one of its log.
func (l *eventLog) newID() string {
	l.ids++
	return "c" + strconv.Itoa(l.ids)
}

// newStep makes a step that is no tool call.
func (l *eventLog) newStep(name string, action chat.Action, status chat.Status, message string) chat.Step {
	return chat.Step{
		CallID: l.newID(), Step: name, ActionType: action, Message: message, Timestamp: nowSeconds(), Status: status,
		ToolStatus: status,
		Details:    map[string]any{},
	}
}

// trackStep remembers a running step, so that it is closed whatever happens, and forgets one that ended.
func (l *eventLog) trackStep(s chat.Step) chat.Step {
	if s.Status == chat.StatusRunning || s.Status == chat.StatusPending {
		l.open[s.CallID] = &s
	} else {
		delete(l.open, s.CallID)
	}
	return s
}

// takeAnswerBack moves the text that was shown into a step. The text moves into the step's thought, so that nothing
// that a reader saw is lost without a trace.
func (l *eventLog) takeAnswerBack(ctx context.Context, step chat.Step) error {
	text, stored := l.writer.Reset()
	step.Thought = strings.TrimSpace(text)
	if stored {
		return l.emitEvents(ctx, chat.AnswerReset{CallID: step.CallID}, step)
	}
	return l.emitEvents(ctx, step)
}

// closeSteps ends the steps that were running, in the order they began. They are sorted by their numbers, so that c10
// comes after c9. With an empty status in done the run goes on elsewhere: then a tool's step says that nobody knows
// whether it took effect.
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
			if done.Status == "" { // the run goes on
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

// storableSteps ends the steps that are open, as far as they can be stored.
func (l *eventLog) storableSteps(runID string) []chat.Payload {
	return slices.DeleteFunc(l.closeSteps(chat.RunDone{Status: chat.RunFailed}), func(p chat.Payload) bool {
		_, err := chat.NewEvent(runID, p)
		return err != nil
	})
}

// nowSeconds is the time as steps carry it: seconds since 1970 with microseconds, UTC.
func nowSeconds() float64 { return float64(time.Now().UnixMicro()) / 1e6 }

// sinceMS is how long ago a moment was, in whole milliseconds.
func sinceMS(t time.Time) int64 { return time.Since(t).Milliseconds() }
