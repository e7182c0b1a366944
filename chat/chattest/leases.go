package chattest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

// testLeases checks that a run has one server at a time, also with concurrent takeovers, and that a server learns of
// its lost leases.
func testLeases(t *testing.T, open func(*testing.T) chat.Store) {
	expired := func(b suite, session string) chat.Run {
		run, _, err := b.StartRun(b.t.Context(), anna.User, chat.RunRequest{SessionID: session, Message: "q"},
			chat.Lease{Owner: owner, Until: time.Now().Add(-time.Minute)})
		if err != nil {
			b.t.Fatalf("StartRun: %v", err)
		}
		return run
	}
	next := chat.Lease{Owner: "server-2", Until: time.Now().Add(time.Hour)}
	runIDs := func(runs []chat.Run) (found []string) {
		for _, run := range runs {
			found = append(found, run.ID)
		}
		return found
	}
	parallel(t, open, "only runs with an expired lease are taken over, oldest first", func(t *testing.T, b suite) {
		first, ended, second := expired(b, "s"), expired(b, "s"), expired(b, "t")
		alive := b.ask("s", "q")
		b.finish(ended.ID)
		runs, err := b.TakeOver(t.Context(), next, time.Now())
		if got, want := runIDs(runs), []string{first.ID, second.ID}; err != nil || !slices.Equal(got, want) {
			t.Fatalf("TakeOver = %v, %v; want %v", got, err, want)
		}
		if runs[0].Request.Message != "q" || runs[0].Status != chat.RunRunning {
			t.Errorf("TakeOver returned %+v, want the whole run", runs[0])
		}
		if _, err := b.Append(t.Context(), next.Owner, first.ID, deltas(1)...); err != nil {
			t.Errorf("Append by the new owner: %v", err)
		}
		_, err = b.Append(t.Context(), owner, first.ID, deltas(1)...)
		wantCode(t, "the old owner's append", err, chat.CodeConflict)
		b.mustAppend(alive.ID, deltas(1)...)
	})
	parallel(t, open, "run is taken over by one caller", func(t *testing.T, b suite) {
		want := map[string]int{}
		for range 10 {
			want[expired(b, "").ID] = 1
		}
		got := map[string]int{}
		var mu sync.Mutex
		var wg sync.WaitGroup
		for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
			wg.Go(func() {
				runs, err := b.TakeOver(t.Context(), chat.Lease{Owner: name, Until: next.Until}, time.Now())
				if err != nil {
					t.Errorf("TakeOver: %v", err)
				}
				mu.Lock()
				defer mu.Unlock()
				for _, run := range runs {
					got[run.ID]++
				}
			})
		}
		wg.Wait()
		for id := range want {
			if got[id] != 1 {
				t.Errorf("run %s was taken over %d times, want once", id, got[id])
			}
		}
	})
	parallel(t, open, "renewed lease is not taken over", func(t *testing.T, b suite) {
		kept, gone := expired(b, ""), expired(b, "")
		if lost, err := b.Renew(t.Context(), lease(), []string{kept.ID}); err != nil || len(lost) != 0 {
			t.Fatalf("Renew = lost %v, %v", lost, err)
		}
		runs, err := b.TakeOver(t.Context(), next, time.Now())
		if got := runIDs(runs); err != nil || !slices.Equal(got, []string{gone.ID}) {
			t.Errorf("TakeOver = %v, %v; want %s only", got, err, gone.ID)
		}
	})
	parallel(t, open, "Renew returns lost runs", func(t *testing.T, b suite) {
		mine, taken, over := b.ask("", "q"), expired(b, ""), b.ask("", "q")
		if _, err := b.TakeOver(t.Context(), next, time.Now()); err != nil {
			t.Fatal(err)
		}
		b.finish(over.ID)
		unknown := chat.NewID()
		lost, err := b.Renew(t.Context(), lease(), []string{mine.ID, taken.ID, over.ID, unknown})
		if want := []string{taken.ID, over.ID, unknown}; err != nil || !slices.Equal(lost, want) {
			t.Errorf("Renew lost %v, %v; want %v", lost, err, want)
		}
	})
	parallel(t, open, "runs of a hidden session are taken over", func(t *testing.T, b suite) {
		run := expired(b, "s")
		b.mustHide("s")
		runs, err := b.TakeOver(t.Context(), next, time.Now())
		if got := runIDs(runs); err != nil || !slices.Equal(got, []string{run.ID}) {
			t.Errorf("TakeOver = %v, %v; want %s", got, err, run.ID)
		}
	})
	parallel(t, open, "released run is taken over next", func(t *testing.T, b suite) {
		released, kept := b.ask("s", "q"), b.ask("t", "q")
		b.mustAppend(released.ID, deltas(2)...)
		for _, id := range []string{released.ID, chat.NewID()} {
			if err := b.Release(t.Context(), owner, id); err != nil {
				t.Fatalf("Release: %v", err)
			}
		}
		if err := b.Release(t.Context(), "another", kept.ID); err != nil {
			t.Fatalf("Release by another server: %v", err)
		}
		_, err := b.Append(t.Context(), owner, released.ID, deltas(1)...)
		wantCode(t, "an append after Release", err, chat.CodeConflict)
		if lost, err := b.Renew(t.Context(), lease(), []string{released.ID, kept.ID}); err != nil ||
			!slices.Equal(lost, []string{released.ID}) {
			t.Errorf("Renew = lost %v, %v", lost, err)
		}
		runs, err := b.TakeOver(t.Context(), next, time.Now())
		if got := runIDs(runs); err != nil || !slices.Equal(got, []string{released.ID}) {
			t.Fatalf("TakeOver = %v, %v; want %s only", got, err, released.ID)
		}
		if events, err := b.Append(t.Context(), next.Owner, released.ID, deltas(1)...); err != nil ||
			events[0].Seq != 3 {
			t.Errorf("Append by the new owner: %+v, %v", events, err)
		}
		if err := b.Release(t.Context(), owner, released.ID); err != nil { // the lease has another owner
			t.Fatal(err)
		}
		b.finish(kept.ID)
		if runs, err := b.TakeOver(
			t.Context(), chat.Lease{Owner: "server-3", Until: next.Until}, time.Now(),
		); err != nil || len(runs) != 0 {
			t.Errorf("second takeover = %v, %v", runIDs(runs), err)
		}
	})
}
