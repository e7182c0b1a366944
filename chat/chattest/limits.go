package chattest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

// wantOver fails the test unless err is about this limit, and returns its cause with the retry time.
func wantOver(t *testing.T, what string, err error, want chat.LimitName) *chat.OverLimit {
	t.Helper()
	over, ok := errors.AsType[*chat.OverLimit](err)
	if !ok || over.Limit != want {
		t.Fatalf("%s: error %v, want one of the limit %s", what, err, want)
	}
	return over
}

// inParallel calls do 50 times concurrently and returns its number of successes. Errors other than a limit's fail
// the test.
func inParallel(t *testing.T, do func() error) int {
	t.Helper()
	return sumParallel(t, 50, func() (int, error) {
		err := do()
		if _, over := errors.AsType[*chat.OverLimit](err); over {
			return 0, nil
		}
		return 1, err
	})
}

// sumParallel calls do concurrently and returns the sum of its results. An error fails the test.
func sumParallel(t *testing.T, times int, do func() (int, error)) int {
	t.Helper()
	var group sync.WaitGroup
	var sum atomic.Int64
	for range times {
		group.Go(func() {
			n, err := do()
			if err != nil {
				t.Error(err)
				return
			}
			sum.Add(int64(n))
		})
	}
	group.Wait()
	return int(sum.Load())
}

// testLimits checks that concurrent requests never exceed a limit: a store that counts before it locks fails here.
// Requests refused for another reason must not count.
func testLimits(t *testing.T, open func(*testing.T) chat.Store) {
	start := func(b suite, user string, req chat.RunRequest) (chat.Run, error) {
		req.Message = "q"
		run, _, err := b.StartRun(b.t.Context(), user, req, lease())
		return run, err
	}
	parallel(t, open, "limit of concurrent runs", func(t *testing.T, b suite) {
		b.SetLimits(chat.Limits{chat.RunsAtOnce: 2})
		first, err := start(b, anna.User, chat.RunRequest{})
		if err != nil {
			t.Fatal(err)
		}
		last := chat.RunRequest{SessionID: "s", IdempotencyKey: "key"}
		if _, err := start(b, anna.User, last); err != nil {
			t.Fatalf("at the limit: %v", err)
		}
		_, err = start(b, anna.User, chat.RunRequest{SessionID: "s"})
		_ = wantOver(t, "a third", err, chat.RunsAtOnce)
		if _, err := start(b, anna.User, last); err != nil {
			t.Errorf("second question repeated: %v", err)
		}
		if _, err := start(b, bert.User, chat.RunRequest{}); err != nil {
			t.Errorf("first question of another user: %v", err)
		}
		b.finish(first.ID)
		if _, err := start(b, anna.User, chat.RunRequest{}); err != nil {
			t.Errorf("question after the end of another: %v", err)
		}
		for range 3 {
			if _, err := start(b, chat.LocalUser, chat.RunRequest{}); err != nil {
				t.Errorf("local user: %v", err)
			}
		}
	})
	parallel(t, open, "daily question limit counts deleted sessions", func(t *testing.T, b suite) {
		b.SetLimits(chat.Limits{chat.QuestionsPerDay: 3, chat.QuestionsPerMinute: 10})
		begun := time.Now()
		last := chat.RunRequest{SessionID: "s", IdempotencyKey: "key"}
		for _, req := range []chat.RunRequest{{}, {SessionID: "s"}, last} {
			run, err := start(b, anna.User, req)
			if err != nil {
				t.Fatalf("at the limit: %v", err)
			}
			b.finish(run.ID)
		}
		if _, err := start(b, anna.User, last); err != nil {
			t.Errorf("third question repeated: %v", err)
		}
		b.mustHide("s")
		if _, err := b.Purge(t.Context(), time.Now().Add(time.Hour), time.Time{}); err != nil {
			t.Fatal(err)
		}
		_, err := start(b, anna.User, chat.RunRequest{})
		over := wantOver(t, "the fourth question", err, chat.QuestionsPerDay)
		if wait := over.Until.Sub(begun); chat.CodeOf(err) != chat.CodeTooMany || wait < 24*time.Hour-time.Minute ||
			wait > 24*time.Hour+time.Minute {
			t.Errorf("code %s, the next one in %v; want %s, in 24 hours", chat.CodeOf(err), wait, chat.CodeTooMany)
		}
		if _, err := start(b, bert.User, chat.RunRequest{}); err != nil {
			t.Errorf("first question of another user: %v", err)
		}
		for range 4 {
			if _, err := start(b, chat.LocalUser, chat.RunRequest{}); err != nil {
				t.Errorf("local user: %v", err)
			}
		}
	})
	parallel(t, open, "rejected question does not count", func(t *testing.T, b suite) {
		b.SetLimits(chat.Limits{chat.QuestionsPerMinute: 1})
		for range 3 {
			_, err := start(b, anna.User, chat.RunRequest{SessionID: "s", Sibling: "nowhere"})
			wantCode(t, "a sibling that is not there", err, chat.CodeNotFound)
		}
		if _, err := start(b, anna.User, chat.RunRequest{}); err != nil {
			t.Errorf("at the limit: %v", err)
		}
		_, err := start(b, anna.User, chat.RunRequest{})
		over := wantOver(t, "another one", err, chat.QuestionsPerMinute)
		if over.Wait < 50*time.Second || over.Wait > time.Minute {
			t.Errorf("wait %v, want a minute", over.Wait)
		}
	})
	parallel(t, open, "token quota blocks the next run", func(t *testing.T, b suite) {
		b.SetLimits(chat.Limits{chat.TokensPerDay: 100})
		for _, n := range []int64{99, 1} { // the second run brings them to the limit exactly
			if _, err := start(b, anna.User, chat.RunRequest{}); err != nil {
				t.Fatalf("below the limit: %v", err)
			}
			if err := b.Charge(t.Context(), anna.User, chat.ResourceTokens, n); err != nil {
				t.Fatal(err)
			}
		}
		_, err := start(b, anna.User, chat.RunRequest{})
		_ = wantOver(t, "at the limit", err, chat.TokensPerDay)
		if _, err := start(b, bert.User, chat.RunRequest{}); err != nil {
			t.Errorf("other user: %v", err)
		}
	})
	parallel(t, open, "spend is atomic", func(t *testing.T, b suite) {
		b.SetLimits(chat.Limits{chat.SearchesPerMinute: 10})
		spend := func(user string, n int64) error { return b.Spend(t.Context(), user, chat.ResourceSearches, n) }
		if err := errors.Join(spend(anna.User, 6), spend(bert.User, 10), spend(chat.LocalUser, 1000)); err != nil {
			t.Fatal(err)
		}
		_ = wantOver(t, "more than is left", spend(anna.User, 5), chat.SearchesPerMinute)
		if over := wantOver(t, "more than the limit", spend("carl", 11), chat.SearchesPerMinute); !over.Until.IsZero() {
			t.Errorf("it fits at %v, want never", over.Until)
		}
		if err := b.CheckQuota(t.Context(), anna.User, chat.ResourceSearches); err != nil {
			t.Errorf("room for one: %v", err)
		}
		if err := spend(anna.User, 4); err != nil {
			t.Errorf("at the limit: %v", err)
		}
		_ = wantOver(t, "no room", b.CheckQuota(t.Context(), anna.User, chat.ResourceSearches), chat.SearchesPerMinute)
		if err := b.Spend(t.Context(), anna.User, chat.ResourceUploadFiles, 1_000_000); err != nil {
			t.Errorf("resource without a limit: got %v, want no error", err)
		}
	})
	parallel(t, open, "parallel requests respect the limit", func(t *testing.T, b suite) {
		b.SetLimits(chat.Limits{chat.QuestionsPerMinute: 20, chat.SearchesPerMinute: 30})
		if n := inParallel(t, func() error { _, err := start(b, anna.User, chat.RunRequest{}); return err }); n != 20 {
			t.Errorf("%d of 50 questions started, want 20", n)
		}
		if n := inParallel(
			t, func() error { return b.Spend(t.Context(), anna.User, chat.ResourceSearches, 1) },
		); n != 30 {
			t.Errorf("%d of 50 searches, want 30", n)
		}
		b.SetLimits(chat.Limits{chat.RunsAtOnce: 4})
		if n := inParallel(t, func() error { _, err := start(b, bert.User, chat.RunRequest{}); return err }); n != 4 {
			t.Errorf("%d of 50 runs at once, want 4", n)
		}
	})
}
