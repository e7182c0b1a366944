package run

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
)

// newID gives out the next call id of the run: c1, c2, … A resumed run goes on after the highest one of its log.
func (l *eventLog) newID() string {
	l.ids++
	return "c" + strconv.Itoa(l.ids)
}

// newStep makes a step that is no tool call. It is not stored yet: emitEvents does that, and trackStep has to know of
// one that is running.
func (l *eventLog) newStep(name string, action chat.Action, status chat.Status, message string) chat.Step {
	return chat.Step{
		CallID: l.newID(), Step: name, ActionType: action, Message: message, Timestamp: nowSeconds(), Status: status,
		ToolStatus: status,
		Details:    map[string]any{},
	}
}

// trackStep remembers a running step, so that it is closed whatever happens, and forgets one that ended. It returns the
// step, so that it can be stored in the same expression. finishRun closes what is left.
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

// takeAnswerBack moves the text that was shown into a step. The text moves into the step's thought, so that nothing
// that a reader saw is lost without a trace. Readers that have drawn the text take it away at AnswerReset; without
// stored text there is nothing to take away.
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

// storableSteps ends the steps that are open, as far as they can be stored. It is for the end of a run whose last
// events were refused: one bad step must not keep the run from ending.
func (l *eventLog) storableSteps(runID string) []chat.Payload {
	return slices.DeleteFunc(l.closeSteps(chat.RunDone{Status: chat.RunFailed}), func(p chat.Payload) bool {
		_, err := chat.NewEvent(runID, p)
		return err != nil
	})
}

// nowSeconds is the time as steps carry it: seconds since 1970 with microseconds, UTC. Microseconds are the finest unit
// that both stores keep.
func nowSeconds() float64 { return float64(time.Now().UnixMicro()) / 1e6 }

// sinceMS is how long ago a moment was, in whole milliseconds.
func sinceMS(t time.Time) int64 { return time.Since(t).Milliseconds() }
