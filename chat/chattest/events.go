package chattest

import (
	"math"
	"slices"
	"testing"

	"github.com/footnote/footnote/chat"
)

// testEvents checks reading: every position, before and after a run's end, has exactly the rest behind it. Streams
// resume by that promise.
func testEvents(t *testing.T, open func(*testing.T) chat.Store) {
	parallel(t, open, "after every position comes exactly the rest, before and after the end", func(
		t *testing.T, b bench,
	) {
		const n = 30
		run := b.ask("", "q")
		b.mustAppend(run.ID, deltas(n-1)...)
		check := func(last int) {
			for k := range last + 1 {
				if got, want := seqs(b.mustEvents(run.ID, int64(k), 0)), oneTo(last)[k:]; !slices.Equal(got, want) {
					t.Errorf("after %d: %v, want %v", k, got, want)
				}
			}
		}
		check(n - 1)
		b.finish(run.ID)
		check(n)
	})
	parallel(t, open, "positions that can't be have nothing behind them, or everything", func(t *testing.T, b bench) {
		run := b.ask("", "q")
		b.mustAppend(run.ID, deltas(3)...)
		b.mustAppend(b.ask("", "next").ID, deltas(3)...) // whose events lie next to it
		for after, want := range map[int64]int{4: 0, 1 << 20: 0, 1<<20 +
			1: 0, math.MaxInt64: 0, -1: 3, math.MinInt64: 3} {
			if got := b.mustEvents(run.ID, after, 0); len(got) != want {
				t.Errorf("after %d: %d events, want %d", after, len(got), want)
			}
		}
	})
	parallel(t, open, "a page has 200 events unless asked otherwise, and at most 1000", func(t *testing.T, b bench) {
		run := b.ask("", "q")
		b.mustAppend(run.ID, deltas(1001)...)
		for limit, want := range map[int]int{0: chat.DefaultPage, 1: 1, 999: 999, 1000: 1000, 5000: chat.MaxPage} {
			if got := seqs(b.mustEvents(run.ID, 0, limit)); !slices.Equal(got, oneTo(want)) {
				t.Errorf("limit %d: %d events, want the first %d", limit, len(got), want)
			}
		}
	})
	parallel(t, open, "a run without events has none", func(t *testing.T, b bench) {
		if got := b.mustEvents(b.ask("", "q").ID, 0, 0); len(got) != 0 {
			t.Errorf("events = %v", got)
		}
	})
	parallel(t, open, "the time of an event is UTC in whole microseconds", func(t *testing.T, b bench) {
		run := b.ask("", "q")
		at := b.mustAppend(run.ID, deltas(1)...)[0].At
		if at.Location().String() != "UTC" || at.Nanosecond()%1000 != 0 || at.IsZero() {
			t.Errorf("At = %v", at)
		}
	})
}
