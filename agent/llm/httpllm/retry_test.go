package httpllm

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/footnote/footnote/agent/llm"
)

// failing counts its tries and fails them all.
type failing struct {
	err   llm.Error
	tries int
}

func (f *failing) try() (bool, *llm.Error) {
	f.tries++
	e := f.err
	return false, &e
}

// Row 46: at most three tries in thirty seconds.
func TestAFailureIsTriedThreeTimesAtMost(t *testing.T) {
	for _, tt := range []struct {
		name    string
		err     llm.Error
		patient bool
		tries   int
	}{
		{"a failed server", llm.Error{Kind: llm.KindServer, Status: 503}, false, 3},
		{"an overloaded one", llm.Error{Kind: llm.KindServer, Status: 529}, false, 3},
		{"a name that is gone", llm.Error{Kind: llm.KindUnreachable}, false, 3},
		{"a wrong key", llm.Error{Kind: llm.KindAuth}, false, 1},
		{"a spent quota", llm.Error{Kind: llm.KindQuota}, true, 1},
		{"a limit that says nothing", llm.Error{Kind: llm.KindRateLimited}, false, 1},
		{"a limit of a moment", llm.Error{Kind: llm.KindRateLimited, RetryAfter: time.Second}, false, 1},
		{"a limit that is waited for", llm.Error{Kind: llm.KindRateLimited, RetryAfter: 5 * time.Second}, true, 3},
		{"a limit beyond the time", llm.Error{Kind: llm.KindRateLimited, RetryAfter: 31 * time.Second}, true, 1},
		{"an empty reply", llm.Error{Kind: llm.KindEmpty}, false, 1},
		{"a reply that was shown", llm.Error{Kind: llm.KindIncomplete, Shown: true}, false, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, begin := failing{err: tt.err}, time.Now()
				err := newServer().Retry(t.Context(), tt.patient, f.try)
				if err == nil || err.Kind != tt.err.Kind || f.tries != tt.tries {
					t.Errorf("%d tries, want %d: %v", f.tries, tt.tries, err)
				}
				if took := time.Since(begin); took > 30*time.Second {
					t.Errorf("it took %v, want at most %v", took, 30*time.Second)
				}
			})
		})
	}
}

// Row 46: a server that failed five times in a row is left alone, then tried by one request.
func TestADeadServerIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := newServer(), failing{err: llm.Error{Kind: llm.KindServer, Status: 500}}
		_ = s.Retry(t.Context(), false, f.try)
		_ = s.Retry(t.Context(), false, f.try)
		if err := s.Retry(t.Context(), false, f.try); f.tries != 5 || err.Code != CodeLeftAlone ||
			err.Kind != llm.KindUnreachable {
			t.Fatalf("after %d tries: %v; want 5, Code %v, Kind %v", f.tries, err, CodeLeftAlone, llm.KindUnreachable)
		}
		time.Sleep(16 * time.Second)
		if err := s.Retry(t.Context(), false, f.try); f.tries != 6 || err.Code != CodeLeftAlone {
			t.Errorf("the half-open server was tried %d times: %v, want Code %v", f.tries-5, err, CodeLeftAlone)
		}
		time.Sleep(16 * time.Second)
		for range 3 {
			if err := s.Retry(t.Context(), false, func() (bool, *llm.Error) {
				f.tries++
				return true, nil
			}); err != nil {
				t.Errorf("it answers again, but: %v, want no error", err)
			}
		}
		if f.tries != 9 {
			t.Errorf("%d tries, want 9", f.tries)
		}
	})
}

// What says nothing about the server's health does not count.
func TestRefusalsDoNotMakeAServerDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, e := range []llm.Error{
			{Kind: llm.KindRateLimited, Status: 429, RetryAfter: time.Minute}, {Kind: llm.KindInvalid, Status: 400},
			{Kind: llm.KindBadCall, Status: 500}, {Kind: llm.KindTooLong, Status: 500},
		} {
			s, f := newServer(), failing{err: e}
			for range 8 {
				_ = s.Retry(t.Context(), false, f.try)
			}
			if f.tries != 8 {
				t.Errorf("%s: %d tries of 8, want 8", e.Kind, f.tries)
			}
		}
		s, stopped := newServer(), failing{err: llm.Error{Kind: llm.KindUnreachable}}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 8 {
			_ = s.Retry(ctx, false, stopped.try)
		}
		if err := s.Retry(t.Context(), false, func() (bool, *llm.Error) { return true, nil }); err != nil {
			t.Errorf("requests that were stopped made it dead: %v, want no error", err)
		}
	})
}
