package corpustest

import (
	"context"
	"testing"

	"github.com/footnote/footnote/corpus"
)

// TestReranker tests the contract of corpus.Reranker. Scores are from 0 to 1, one for each passage in order, and
// independent of the other passages.
func TestReranker(t *testing.T, r corpus.Reranker) {
	t.Helper()
	passages := []string{"the roof is of slate", "", "the rent is paid", "the roof is of slate"}
	got, err := r.Scores(t.Context(), "who paid the rent", passages)
	if err != nil || len(got) != len(passages) {
		t.Fatalf("%v, %v; want %d scores", got, err, len(passages))
	}
	for i, score := range got {
		if !(score >= 0 && score <= 1) {
			t.Errorf("passage %d has the score %v, want 0 to 1", i, score)
		}
	}
	if got[0] != got[3] {
		t.Errorf("scores of one passage = %v and %v, want the same", got[0], got[3])
	}
	if got, err := r.Scores(t.Context(), "who paid the rent", nil); err != nil || len(got) != 0 {
		t.Errorf("no passages: %v, %v; want none", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Scores(ctx, "who paid the rent", passages); err == nil {
		t.Error("cancelled context: got no error, want one")
	}
}
