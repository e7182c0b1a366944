package chat

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// Transcript is the state folded from a run's log, for pages, APIs, recovery and reruns. Apply adds events in the
// order of the log. The zero value is the transcript of an empty log. It is not safe for concurrent use. Page, API
// and recovery share this one fold, so they can't disagree about a run.
type Transcript struct {
	Started   RunStarted // zero before the first event
	Steps     []Step     // the last state of each step, in the order they began
	Citations []Citation // of Text, each number once
	Answer    *Answer    // nil until the answer is complete
	Done      *RunDone   // nil while the run is under way
	LastSeq   int64      // number of the last event
	StartedAt time.Time  // when the first event was appended
	LastAt    time.Time  // when the last one was

	text     strings.Builder
	position map[string]int    // in Steps, by call id
	waited   map[string]bool   // call ids of steps that wait, or waited, for approval
	thoughts map[string]string // answer text reclassified as a thought, by call id
}

// Fold returns the transcript of a log, from its first event. It fails with ErrDamaged.
func Fold(log []Event) (*Transcript, error) {
	var t Transcript
	for _, ev := range log {
		if _, err := t.Apply(ev); err != nil {
			return nil, err
		}
	}
	return &t, nil
}

// ReadTranscript returns the transcript of a run's log up to now. It reads pages of MaxPage until one is empty. Of
// events appended concurrently it has a prefix.
func ReadTranscript(ctx context.Context, store Store, s Scope, runID string) (*Transcript, error) {
	var t Transcript
	for {
		page, err := store.Events(ctx, s, runID, t.LastSeq, MaxPage)
		if err != nil || len(page) == 0 {
			return &t, err
		}
		for _, ev := range page {
			if _, err := t.Apply(ev); err != nil {
				return nil, err
			}
		}
	}
}

// Failure returns the error of a finished run without an answer. It never returns nil, so call it only for such a
// run.
func (t *Transcript) Failure() *Error {
	e := &Error{Code: CodeModelFailed, Message: "The question could not be answered."}
	if t.Done != nil && t.Done.Error != nil {
		e.Code, e.Message = t.Done.Error.Code, t.Done.Error.Localised()
	}
	return e
}

// Apply adds the next event and returns its payload. A Step is merged with the fields of earlier events that this
// one omits. An event applied before is skipped and returns nil, so a reader may replay from an earlier position. A
// Reset has the number 0 and is not skipped. Events must be in order: a gap is not detected. It fails with
// ErrDamaged.
func (t *Transcript) Apply(ev Event) (Payload, error) {
	if ev.Seq != 0 && ev.Seq <= t.LastSeq {
		return nil, nil
	}
	payload, err := ev.Payload()
	if err != nil {
		return nil, err
	}
	if t.StartedAt.IsZero() {
		t.StartedAt = ev.At
	}
	t.LastSeq, t.LastAt = ev.Seq, ev.At
	switch p := payload.(type) {
	case RunStarted:
		t.Started = p
	case Step:
		return t.AddStep(p), nil
	case AnswerDelta:
		t.text.WriteString(p.Text)
	case AnswerReset:
		t.resetAnswer(p)
	case Citation:
		t.addCitation(p)
	case Answer:
		t.Answer, t.Citations = &p, p.Citations
		t.text.Reset()
		t.text.WriteString(p.Markdown)
	case RunDone:
		t.Done = &p
	case Reset: // asks a reader to start over; the log itself has none
	}
	return payload, nil
}

// AddStep adds a state of a step that is in no log yet and returns it as Apply does. The run uses it for steps it is
// about to append, so that its state equals the log's fold.
func (t *Transcript) AddStep(step Step) Step {
	if step.Status == StatusPending {
		if t.waited == nil {
			t.waited = map[string]bool{}
		}
		t.waited[step.CallID] = true
	}
	i, known := t.position[step.CallID]
	if !known {
		if t.position == nil {
			t.position = map[string]int{}
		}
		step.Thought = cmp.Or(step.Thought, t.thoughts[step.CallID])
		t.position[step.CallID] = len(t.Steps)
		t.Steps = append(t.Steps, step)
		return step
	}
	old := t.Steps[i]
	step.Thought = cmp.Or(step.Thought, old.Thought)
	step.Title = cmp.Or(step.Title, old.Title)
	step.ParentID = cmp.Or(step.ParentID, old.ParentID)
	if len(step.ToolInput) == 0 {
		step.ToolInput = old.ToolInput
	}
	t.Steps[i] = step
	return step
}

// resetAnswer turns the text so far into the thought of a step. The step may precede or follow the reset in the log,
// so a thought without a step is buffered. An existing thought stays.
func (t *Transcript) resetAnswer(p AnswerReset) {
	if t.text.Len() > 0 {
		if i, known := t.position[p.CallID]; known {
			t.Steps[i].Thought = cmp.Or(t.Steps[i].Thought, t.text.String())
		} else {
			if t.thoughts == nil {
				t.thoughts = map[string]string{}
			}
			t.thoughts[p.CallID] = t.text.String()
		}
	}
	t.text.Reset()
	t.Citations = nil
}

// addCitation adds a citation, or replaces an earlier one with the same number. The later citation is a better
// reading of the same footnote.
func (t *Transcript) addCitation(c Citation) {
	i := slices.IndexFunc(t.Citations, func(known Citation) bool { return known.Number == c.Number })
	if i < 0 {
		t.Citations = append(t.Citations, c)
		return
	}
	t.Citations[i] = c
}

// Text returns the answer written so far: the text since the last reset, or the whole answer. It grows with each
// delta. The final Answer replaces it, since footnotes are settled only then.
func (t *Transcript) Text() string { return t.text.String() }

// Position returns the index of a step in Steps, and whether there is one with that call id.
func (t *Transcript) Position(callID string) (int, bool) {
	i, ok := t.position[callID]
	return i, ok
}

// Step returns the last state of a step, and whether there is one with that call id.
func (t *Transcript) Step(callID string) (Step, bool) {
	i, ok := t.position[callID]
	if !ok {
		return Step{}, false
	}
	return t.Steps[i], true
}

// Waited reports whether a step waits, or waited, for approval.
func (t *Transcript) Waited(callID string) bool { return t.waited[callID] }

// Spent returns the sum of the steps' tokens and cost. The cost is nil if no step had a price. A turn's tokens are
// divided among its calls (Spent.Share), so steps add up to their turns; turns without calls are not included.
func (t *Transcript) Spent() (sum Spent) {
	for _, step := range t.Steps {
		if step.Tokens != nil {
			sum = sum.And(Spent{Tokens: *step.Tokens, Cost: step.Cost})
		}
	}
	return sum
}
