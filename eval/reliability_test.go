package eval_test

import (
	"testing"

	"footnote/eval"
)

func TestReliabilityComparesWhatIsStatedWithWhatHeld(t *testing.T) {
	t.Parallel()
	r := eval.NewReport("m", 1, []eval.Verdict{
		// called closest, rightly: its quotes hold nothing all the same
		{Confidence: 0.1, Refusal: eval.Hit, Right: true},
		{Confidence: 0.85, Passage: eval.Hit, Right: true},
		{Confidence: 1, Passage: eval.Miss},
		{Confidence: 0.9, Refused: true},
		{Confidence: 0.9, Failed: "lost"},
	}).Reliability
	want := map[int]eval.Reliability{
		0: {From: 0, Answers: 1, Stated: 0.1}, 4: {From: 0.8, Answers: 2, Stated: 0.925, Held: 1},
	}
	if len(r) != 5 {
		t.Fatalf("%d bins", len(r))
	}
	for i, bin := range r {
		if w := want[i]; bin.Answers != w.Answers || bin.Held != w.Held || bin.Stated != w.Stated {
			t.Errorf("bin %d: %+v; want %+v", i, bin, w)
		}
	}
}
