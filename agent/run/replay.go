package run

import (
	"fmt"
	"strconv"
	"strings"

	"footnote/chat"
)

// replayed is what a run's log says about how far it got.
type replayed struct {
	turns    [][]chat.Step // calls of each model turn, in order, as they last were
	thoughts []string      // of each turn
	running  []chat.Step   // steps that began and did not end
	waiting  []chat.Step   // calls that wait for a person
	fell     bool          // the fallback had taken over
	restarts int           // how often it was carried on before
	handed   bool          // the last server left it in order
	ids      int           // the highest call id
	plan     *chat.Step    // its last state
}

// replay reads a run's steps.
func replay(steps []chat.Step) *replayed {
	r := &replayed{}
	groups := map[string]int{} // turn of a parent step
	for _, s := range steps {
		if n, err := strconv.Atoi(strings.TrimPrefix(s.CallID, "c")); err == nil {
			r.ids = max(r.ids, n)
		}
		r.enter(s, groups)
		switch s.Status {
		case chat.StatusRunning:
			r.running = append(r.running, s)
		case chat.StatusPending:
			r.waiting = append(r.waiting, s)
		}
	}
	return r
}

// enter puts a step where it belongs.
func (r *replayed) enter(s chat.Step, groups map[string]int) {
	turn, grouped := groups[s.ParentID]
	r.handed = false
	switch {
	case s.Step == "fallback":
		r.fell = true
	case s.Step == "restart":
		r.restarts++
	case s.Step == handedOver:
		r.handed = true
	case s.ToolName == "" && s.Step == parallelStep:
		groups[s.CallID] = len(r.turns)
		r.turns, r.thoughts = append(r.turns, nil), append(r.thoughts, s.Thought)
	case s.ToolName == "" && s.Step == "plan":
		r.plan = &s
	case s.ToolName == "", s.ToolName == "finish": // what it said begins anew
	case grouped && s.ParentID != "":
		r.turns[turn] = append(r.turns[turn], s)
	default:
		r.turns, r.thoughts = append(r.turns, []chat.Step{s}), append(r.thoughts, s.Thought)
	}
}

// PendingCall returns the step of a call that waits for a person. It fails with CodeNotFound for a call that never
// waited, and with CodeConflict for one that was decided.
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
