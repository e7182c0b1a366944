package chat

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
)

// Transcript is the state that a run's log comes to: the one fold of events, for pages, APIs, recovery and reruns.
// Apply adds events in the order of the log. The zero value is the transcript of an empty log. It is not safe for
// concurrent use. A page that is drawn, a run that is taken over and an answer in the API all fold the log by this one
// function, so they can't disagree about what a run did.
type Transcript struct {
	Started   RunStarted // zero before the first event
	Steps     []Step     // the last state of each step, in the order they began
	Citations []Citation // of Text, each number once
	Answer    *Answer    // nil until the whole answer is there
	Done      *RunDone   // nil while the run is under way
	LastSeq   int64      // number of the last event
	StartedAt time.Time  // when the first event was appended
	LastAt    time.Time  // when the last one was

	text     strings.Builder
	position map[string]int    // in Steps, by call id
	waited   map[string]bool   // call ids of steps that wait, or waited, for a person
	thoughts map[string]string // answer text that turned out to be a thought, by call id
}

// Fold returns the transcript of a log. It fails with ErrDamaged. The log must begin at its first event.
func Fold(log []Event) (*Transcript, error) {
	var t Transcript
	for _, ev := range log {
		if _, err := t.Apply(ev); err != nil {
			return nil, err
		}
	}
	return &t, nil
}

// ReadTranscript returns the transcript of a run's log as it is now. It reads in pages of MaxPage until one is empty,
// so an event that is appended meanwhile is either in it or not; what it has is always a log up to some number.
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

// Failure is why a run that is over has no answer. It always returns an error, so call it only for a run without an
// answer.
func (t *Transcript) Failure() *Error {
	e := &Error{Code: CodeModelFailed, Message: "The question could not be answered this time."}
	if t.Done != nil && t.Done.Error != nil {
		e.Code, e.Message = t.Done.Error.Code, t.Done.Error.Message
	}
	return e
}

// Apply adds the next event and returns its payload; a Step comes back with what earlier events said of it and this one
// leaves out. An event that was applied before changes nothing and returns nil. It fails with ErrDamaged. Numbers that
// were applied are skipped, so a reader may replay from an earlier position. A Reset has the number 0 and passes that
// check. The events must come in order: a gap is not noticed.
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
	case Reset: // tells a reader to start over; the log itself has none
	}
	return payload, nil
}

// AddStep adds a state of a step that is in no log yet and returns it as Apply does. The run itself uses it for steps
// that it is about to append, so that its state and the log's fold are the same.
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

// resetAnswer makes the text so far the thought of a step, which may come later. The step may stand before or after the
// reset in the log, so a thought without a step waits for it. A thought that a step has already stays.
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

// addCitation adds a citation, or puts it in the place of an earlier one with its number. A number names one quote: a
// later citation with it is a better reading of the same footnote.
func (t *Transcript) addCitation(c Citation) {
	i := slices.IndexFunc(t.Citations, func(known Citation) bool { return known.Number == c.Number })
	if i < 0 {
		t.Citations = append(t.Citations, c)
		return
	}
	t.Citations[i] = c
}

// Text returns the answer as far as it is written: the text since the last reset, or the whole answer. While deltas
// come it grows; the final Answer replaces it, as footnotes are settled only then.
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

// Waited reports whether a step waits, or waited, for a person's decision.
func (t *Transcript) Waited(callID string) bool { return t.waited[callID] }

// Spent adds up what the steps took. Its cost is nil when none of them had a price. A turn's tokens are divided among
// its calls (Spent.Share), so steps add up to what their turns took; turns without calls are not in it.
func (t *Transcript) Spent() (sum Spent) {
	for _, step := range t.Steps {
		if step.Tokens != nil {
			sum = sum.And(Spent{Tokens: *step.Tokens, Cost: step.Cost})
		}
	}
	return sum
}
