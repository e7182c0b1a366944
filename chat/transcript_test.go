package chat

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// logOf numbers payloads as a store does, a second apart.
func logOf(t *testing.T, payloads ...Payload) []Event {
	t.Helper()
	var log []Event
	for i, p := range payloads {
		ev, err := NewEvent("run", p)
		if err != nil {
			t.Fatal(err)
		}
		ev.Seq, ev.At = int64(i+1), time.Unix(int64(100+i), 0).UTC()
		log = append(log, ev)
	}
	return log
}

func mustFold(t *testing.T, payloads ...Payload) *Transcript {
	t.Helper()
	transcript, err := Fold(logOf(t, payloads...))
	if err != nil {
		t.Fatal(err)
	}
	return transcript
}

func TestStepKeepsFieldsMissingInLaterState(t *testing.T) {
	t.Parallel()
	got := mustFold(t,
		Step{
			CallID: "c1", Title: "Look", Thought: "maybe here", ParentID: "g",
			ToolInput: json.RawMessage(`{"query":"roof"}`), Status: StatusPending,
		},
		Step{CallID: "c2", Status: StatusRunning, Tokens: &Tokens{In: 1, Out: 2}},
		Step{
			CallID: "c1", Message: "Found 3", Status: StatusComplete, Tokens: &Tokens{In: 10, Out: 20}, Cost: new(0.5),
		})
	want := Step{
		CallID: "c1", Title: "Look", Thought: "maybe here", ParentID: "g",
		ToolInput: json.RawMessage(`{"query":"roof"}`), Message: "Found 3",
		Status: StatusComplete, Tokens: &Tokens{In: 10, Out: 20}, Cost: new(0.5),
	}
	if step, ok := got.Step("c1"); !ok || !cmp.Equal(want, step) {
		t.Errorf("step c1 (-want +got):\n%s", cmp.Diff(want, step))
	}
	if at, ok := got.Position("c1"); !ok || at != 0 || len(got.Steps) != 2 {
		t.Errorf("position of c1 = %d, %v of %d steps, want 0 of 2", at, ok, len(got.Steps))
	}
	if !got.Waited("c1") || got.Waited("c2") {
		t.Errorf("waited: c1 = %v, c2 = %v, want true and false", got.Waited("c1"), got.Waited("c2"))
	}
	if sum := got.Spent(); sum.Tokens != (Tokens{In: 11, Out: 22}) || sum.Cost == nil || *sum.Cost != 0.5 {
		t.Errorf("spent = %+v, want 11, 22 and 0.5", sum)
	}
}

func TestSharedCostIsSplitWithoutRemainder(t *testing.T) {
	cost := 0.75
	whole := Spent{Tokens: Tokens{In: 100, Out: 8}, Cost: &cost}
	var sum Spent
	for i, want := range []Tokens{{34, 4}, {33, 2}, {33, 2}} {
		part := whole.Share(i, 3)
		if part.Tokens != want || part.Cost == nil || *part.Cost != 0.25 {
			t.Errorf("part %d = %+v, want %+v for 0.25", i, part, want)
		}
		sum = sum.And(part)
	}
	if sum.Tokens != whole.Tokens {
		t.Errorf("together they are %+v, want %+v", sum, whole)
	}
	if free := (Spent{Tokens: Tokens{In: 1}}).And(Spent{Tokens: Tokens{Out: 1}}); free.Cost != nil {
		t.Errorf("cost without a price = %v, want none", *free.Cost)
	}
}

func TestResetTextBecomesThought(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		log  []Payload
		want string
	}{
		{"of a step that comes later",
			[]Payload{
				AnswerDelta{Text: "Let me "}, AnswerDelta{Text: "look."}, AnswerReset{CallID: "c1"}, Step{CallID: "c1"},
			}, "Let me look."},
		{"of a step that is there",
			[]Payload{Step{CallID: "c1"}, AnswerDelta{Text: "Let me look."}, AnswerReset{CallID: "c1"}},
			"Let me look."},
		{"unless the step has its own",
			[]Payload{AnswerDelta{Text: "Let me look."}, AnswerReset{CallID: "c1"}, Step{CallID: "c1", Thought: "own"}},
			"own"},
		{"and nothing is no thought", []Payload{AnswerReset{CallID: "c1"}, Step{CallID: "c1"}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := mustFold(t, tt.log...)
			if step, _ := got.Step("c1"); step.Thought != tt.want || got.Text() != "" {
				t.Errorf("thought = %q, text = %q, want %q and no text", step.Thought, got.Text(), tt.want)
			}
		})
	}
}

func TestCitationsAreRemovedWithText(t *testing.T) {
	t.Parallel()
	first, better, second := Citation{Number: 1, Quote: "a"}, Citation{Number: 1, Quote: "b"},
		Citation{Number: 2, Quote: "c"}
	got := mustFold(t, first, AnswerReset{CallID: "c1"}, first, second, better, AnswerDelta{Text: "A [1] [2]."})
	if want := []Citation{better, second}; !cmp.Equal(want, got.Citations) {
		t.Errorf("citations (-want +got):\n%s", cmp.Diff(want, got.Citations))
	}
	got = mustFold(t, first, AnswerDelta{Text: "A [1]"}, Answer{Markdown: "A [1].", Citations: []Citation{better}},
		RunDone{Status: RunCompleted})
	if got.Text() != "A [1]." || !cmp.Equal([]Citation{better}, got.Citations) || got.Answer == nil || got.Done == nil {
		t.Errorf("text = %q, citations = %+v, answer = %v, done = %v, want those of the whole answer", got.Text(),
			got.Citations, got.Answer, got.Done)
	}
}

func TestEventsAreAppliedOnce(t *testing.T) {
	t.Parallel()
	log := logOf(t, RunStarted{Question: "How deep?"}, AnswerDelta{Text: "Deep."})
	var got Transcript
	for _, ev := range slices.Concat(log, log) {
		if _, err := got.Apply(ev); err != nil {
			t.Fatal(err)
		}
	}
	if got.Text() != "Deep." || got.LastSeq != 2 || got.Started.Question != "How deep?" {
		t.Errorf("text = %q, last = %d, question = %q, want each event once", got.Text(), got.LastSeq,
			got.Started.Question)
	}
	if took := got.LastAt.Sub(got.StartedAt); took != time.Second {
		t.Errorf("last event %s after the first, want 1s", took)
	}
}

func TestDamagedEventFailsFold(t *testing.T) {
	t.Parallel()
	log := logOf(t, AnswerDelta{Text: "Deep."})
	log[0].Body = json.RawMessage(`{"text":5}`)
	if got, err := Fold(log); !errors.Is(err, ErrDamaged) || got != nil {
		t.Errorf("Fold = %v, %v, want ErrDamaged", got, err)
	}
}
