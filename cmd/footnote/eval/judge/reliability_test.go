package judge_test

import (
	"testing"

	"github.com/footnote/footnote/cmd/footnote/eval/judge"
)

func TestReliabilityComparesWhatIsStatedWithWhatHeld(t *testing.T) {
	t.Parallel()
	r := judge.NewReport("m", 1, []judge.Verdict{
		// called closest, rightly: its quotes hold nothing all the same
		{Confidence: 0.1, Refusal: judge.Hit, Right: true},
		{Confidence: 0.85, Passage: judge.Hit, Right: true},
		{Confidence: 1, Passage: judge.Miss},
		{Confidence: 0.9, Refused: true},
		{Confidence: 0.9, Failed: "lost"},
	}).Reliability
	want := map[int]judge.Reliability{
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
