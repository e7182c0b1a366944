package corpus

import (
	"context"
	"errors"
	"testing"

	"github.com/footnote/footnote/corpus/embed/embedtest"
)

// waiting is an embedder that makes no passages now, but for somebody who waits.
type waiting struct{ embedtest.Hashing }

func (waiting) Embed(context.Context, []string) ([][]float32, error) {
	return nil, errors.New("passages wait for a run")
}

func (w waiting) EmbedNow(ctx context.Context, passages []string) ([][]float32, error) {
	return w.Hashing.Embed(ctx, passages)
}

// A run for which passages wait does not wait for the scale of its own embedder.
func TestTheScaleIsMeasuredForSomebodyWhoWaits(t *testing.T) {
	if _, err := newSimilarities().scaleOf(t.Context(), waiting{}); err != nil {
		t.Errorf("the scale can't be measured: %v", err)
	}
}
