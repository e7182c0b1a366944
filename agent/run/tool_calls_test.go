package run

import (
	"context"
	"errors"
	"testing"
)

// The order of the two events is random.
func TestCallFailingDuringStopIsCancelled(t *testing.T) {
	t.Parallel()
	why := errors.New("the user stopped it")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	for range 100 {
		a := &toolCall{ended: make(chan outcome, 1)}
		a.ended <- outcome{err: context.Canceled}
		if o, err := a.awaitEnd(ctx); o.err != nil || !errors.Is(err, why) {
			t.Fatalf("the call ended with %v, %v; want no outcome, and %v", o.err, err, why)
		}
	}
}
