package run

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
)

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
