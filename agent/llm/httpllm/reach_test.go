package httpllm

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestReachKeepsWhatItFoundForTenSeconds(t *testing.T) {
	var r Reach
	start, away := time.Unix(1_000_000, 0), errors.New("nobody answers")
	looks := 0
	look := func(found error) func(context.Context) error {
		return func(context.Context) error { looks++; return found }
	}
	ask := func(after time.Duration, found error) error { return r.Ask(t.Context(), start.Add(after), look(found)) }
	if err := ask(0, away); !errors.Is(err, away) {
		t.Fatalf("the first look says %v, want %v", err, away)
	}
	if err := ask(10*time.Second, nil); !errors.Is(err, away) || looks != 1 {
		t.Fatalf("ten seconds later it says %v after %d looks; want the same without another look", err, looks)
	}
	if err := ask(10*time.Second+1, nil); err != nil || looks != 2 {
		t.Fatalf("after that it says %v after %d looks; want another look", err, looks)
	}
}

func TestReachForgetsWhatItFoundForACallerWhoHasGone(t *testing.T) {
	var r Reach
	now := time.Unix(1_000_000, 0)
	gone, leave := context.WithCancel(t.Context())
	err := r.Ask(gone, now, func(ctx context.Context) error { leave(); return ctx.Err() })
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("whoever left gets %v, want %v", err, context.Canceled)
	}
	if err := r.Ask(t.Context(), now, func(ctx context.Context) error { return ctx.Err() }); err != nil {
		t.Fatalf("the next caller gets %v, which was of the one who left, want no error", err)
	}
	slow, stop := context.WithTimeout(t.Context(), 0)
	defer stop()
	later := now.Add(time.Minute)
	_ = r.Ask(slow, later, func(ctx context.Context) error { return ctx.Err() })
	if err := r.Ask(t.Context(), later, func(context.Context) error { return nil }); !errors.Is(err,
		context.DeadlineExceeded) {
		t.Fatalf("a server that did not answer in time is asked again at once: %v, want %v",
			err, context.DeadlineExceeded)
	}
}
