package httpllm

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// pings is a body of comments, one every pause.
type pings struct{ pause time.Duration }

func (p pings) Read(b []byte) (int, error) {
	time.Sleep(p.pause)
	return copy(b, ":\n"), nil
}

// A server that is alive gets longer for its first piece, and one that falls silent does not.
func TestSignsOfLifeProlongTheWaitForTheFirstPiece(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pause, want time.Duration
	}{{6 * time.Second, 50 * time.Second}, {11 * time.Second, 10 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			ctx, dog := Watch(t.Context(), Patience{FirstToken: 10 * time.Second, Idle: time.Hour, IdleText: time.Hour})
			defer dog.Stop()
			dog.Body = pings{tt.pause}
			var ended time.Duration
			context.AfterFunc(ctx, func() { ended = time.Since(begun) })
			for ctx.Err() == nil {
				if _, err := io.CopyN(io.Discard, dog, 2); err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait()
			if ended != tt.want || !errors.Is(context.Cause(ctx), ErrNoFirstToken) {
				t.Errorf("with a sign of life each %v it ended after %v with %v, want %v and %v", tt.pause, ended,
					context.Cause(ctx), tt.want, ErrNoFirstToken)
			}
		})
	}
}
