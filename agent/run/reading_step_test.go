package run

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
)

// A step shows how far a slow model has read, and nothing is said of a fast one.
func TestAStepShowsHowFarAModelHasRead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		took time.Duration
		want []string
	}{
		{"slow", time.Minute, []string{"The model is reading: 30 %", "The model is reading: 61 %", "The model read"}},
		{"fast", 0, nil},
	} {
		var got []string
		log := &eventLog{open: map[string]*chat.Step{}}
		log.store = func(_ context.Context, ps ...chat.Payload) error {
			got = append(got, ps[0].(chat.Step).Message)
			return nil
		}
		r := readingStep{log: log, begun: time.Now().Add(-tt.took)}
		for _, share := range []float64{0, 0.3, 0.61, 1} {
			if err := r.showProgress(t.Context(), share); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			if err := r.endStep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || len(log.open) != 0 {
			t.Errorf("%s: %d steps are open, want 0; steps (-want +got):\n%s", tt.name, len(log.open), diff)
		}
	}
}
