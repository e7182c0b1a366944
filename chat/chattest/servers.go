package chattest

import (
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

// testFeedServers simulates another server by appending past the feed. It checks the effect of Wake and WakeAll and
// their number of store queries.
func testFeedServers(t *testing.T, open func(*testing.T) chat.Store) {
	const other = "server-2"
	takeOver := func(d feedEnv, by string) {
		d.t.Helper()
		lease := chat.Lease{Owner: by, Until: time.Now().Add(time.Hour)}
		if _, err := d.TakeOver(d.t.Context(), lease, time.Now().Add(2*time.Hour)); err != nil {
			d.t.Fatalf("TakeOver: %v", err)
		}
	}
	appendBy := func(d feedEnv, server, runID string, payloads ...chat.Payload) {
		d.t.Helper()
		if _, err := d.Store.Append(d.t.Context(), server, runID, payloads...); err != nil {
			d.t.Fatalf("Append by %s: %v", server, err)
		}
	}
	withFeed(t, open, "Wake shows what another process appended", func(t *testing.T, d feedEnv) {
		run := d.ask("", "q")
		wake, stop := d.Watch(run.ID)
		defer stop()
		news := wake()
		d.mustAppend(run.ID, deltas(3)...)
		d.Wake(run.ID)
		if !closed(news) {
			t.Error("Wake: got no notification, want one")
		}
		d.wantFrom("after Wake", run.ID, 3, false)
		d.finish(run.ID)
		d.Wake(run.ID)
		d.wantFrom("after the end", run.ID, 4, true)
		d.Wake(chat.NewID()) // a run without readers here: no effect
	})
	withFeed(t, open, "a run that another server took over stays readable to its end", func(t *testing.T, d feedEnv) {
		run := d.ask("", "q")
		_, stop := d.Watch(run.ID)
		defer stop()
		d.append(run.ID, deltas(3)...)
		takeOver(d, other)
		appendBy(d, other, run.ID, deltas(2)...)
		wantCode(t, "the old owner's append", d.Feed.Append(
			t.Context(), owner, run.ID, deltas(1)...,
		), chat.CodeConflict)
		d.wantFrom("after the take-over", run.ID, 5, false)
		appendBy(d, other, run.ID, chat.RunDone{Status: chat.RunCompleted})
		d.Wake(run.ID)
		d.wantFrom("after the end", run.ID, 6, true)
	})
	withFeed(t, open, "Wake alone shows that another server took a run over", func(t *testing.T, d feedEnv) {
		run := d.ask("", "q")
		_, stop := d.Watch(run.ID)
		defer stop()
		d.append(run.ID, deltas(3)...)
		takeOver(d, other)
		appendBy(d, other, run.ID, deltas(2)...)
		d.Wake(run.ID)
		d.wantFrom("after Wake", run.ID, 5, false)
	})
	withFeed(t, open, "a reader who is further than this server knows is not taken for lost", func(
		t *testing.T, d feedEnv,
	) {
		run := d.ask("", "q")
		_, stop := d.Watch(run.ID)
		defer stop()
		d.append(run.ID, deltas(3)...)
		takeOver(d, other)
		appendBy(d, other, run.ID, deltas(2)...)
		for after := int64(4); after <= 5; after++ { // read at the other server, before this one is notified
			page, err := d.Read(t.Context(), anna, run.ID, after)
			if err != nil || page.Last != 5 || len(page.Entries) != int(5-after) {
				t.Errorf("Read after %d = %d entries, last %d, %v; want those up to 5", after, len(
					page.Entries,
				), page.Last, err)
			}
		}
	})
	withFeed(t, open, "WakeAll shows what happened elsewhere to any run, and loses nothing of those that go on here",
		func(
			t *testing.T, d feedEnv,
		) {
			theirs, ours := d.ask("", "q"), d.ask("", "q")
			_, stop := d.Watch(theirs.ID)
			defer stop()
			wake, stopOurs := d.Watch(ours.ID)
			defer stopOurs()
			d.append(theirs.ID, deltas(3)...)
			d.append(ours.ID, deltas(3)...)
			news := wake()
			appendBy(d, owner, theirs.ID, deltas(2)...) // as another process would, past the feed
			d.WakeAll()
			if !closed(news) {
				t.Error("WakeAll: got no notification, want one")
			}
			d.wantFrom("after WakeAll", theirs.ID, 5, false)
			d.append(ours.ID, deltas(2)...)
			d.wantFrom("the run that goes on here", ours.ID, 5, false)
		})
	withFeed(t, open, "a run that came back shows what happened elsewhere", func(t *testing.T, d feedEnv) {
		run := d.ask("", "q")
		_, stop := d.Watch(run.ID)
		defer stop()
		d.append(run.ID, deltas(3)...)
		takeOver(d, other)
		appendBy(d, other, run.ID, deltas(2)...)
		takeOver(d, owner)
		d.append(run.ID, deltas(2)...)
		d.wantFrom("after coming back", run.ID, 7, false)
	})
	withFeed(t, open, "what another server appended is read from the store once for all readers", func(
		t *testing.T, d feedEnv,
	) {
		run := d.ask("", "q")
		var at [20]int64
		for i := range at {
			_, stop := d.Watch(run.ID)
			defer stop()
			at[i] = d.read(run.ID, 0).Last
		}
		more := func(want int64, over bool) {
			t.Helper()
			before := d.reads.Load()
			var first []*chat.Entry
			for i := range at {
				page, err := d.ReadWatched(t.Context(), anna, run.ID, at[i])
				if err != nil || page.Last != want || page.Over != over || int64(len(page.Entries)) != want-at[i] {
					t.Fatalf("More after %d = %d entries, last %d, over %v, %v; want those up to %d", at[i], len(
						page.Entries,
					), page.Last, page.Over, err, want)
				}
				if i > 0 && len(page.Entries) > 0 && page.Entries[0] != first[0] {
					t.Fatal("a second reader got entries of its own")
				}
				first, at[i] = page.Entries, page.Last
				if again, err := d.ReadWatched(t.Context(), anna, run.ID, at[i]); err != nil ||
					len(again.Entries) != 0 ||
					again.Over != over {
					t.Fatalf("More at the end = %d entries, over %v, %v", len(again.Entries), again.Over, err)
				}
			}
			if n := d.reads.Load() - before; n != 1 {
				t.Errorf("%d reads of the store for %d readers, want 1", n, len(at))
			}
		}
		for n := range int64(5) {
			appendBy(d, owner, run.ID, deltas(2)...) // as another process would, past the feed
			d.Wake(run.ID)
			more(2*n+2, false)
		}
		d.Wake(run.ID) // spurious
		more(10, false)
		if late := d.read(run.ID, 3); len(late.Entries) != 7 {
			t.Errorf("a reader who joins gets %d entries, want 7", len(late.Entries))
		}
		appendBy(d, owner, run.ID, chat.RunDone{Status: chat.RunCompleted})
		d.WakeAll()
		more(11, true)
		d.wantFrom("in the end", run.ID, 11, true)
	})
	withFeed(t, open, "More is refused like Read, and never waits without a wake-up", func(t *testing.T, d feedEnv) {
		run := d.ask("", "q")
		_, stop := d.Watch(run.ID)
		defer stop()
		d.read(run.ID, 0)
		appendBy(d, owner, run.ID, deltas(3)...)
		// read at the other server
		if page, err := d.ReadWatched(t.Context(), anna, run.ID, 3); err != nil || page.Last != 3 ||
			len(page.Entries) != 0 {
			t.Errorf("More after 3 = %d entries, last %d, %v; want none, last 3", len(page.Entries), page.Last, err)
		}
		d.wantFrom("read at once", run.ID, 3, false)
		_, err := d.ReadWatched(t.Context(), bert, run.ID, 0)
		wantCode(t, "another user's More", err, chat.CodeNotFound)
		_, err = d.ReadWatched(t.Context(), anna, chat.NewID(), 1)
		wantCode(t, "More of a run that is not there", err, chat.CodeNotFound)
	})
	withFeed(t, open, "a run taken over from a dead server is whole", func(t *testing.T, d feedEnv) {
		run := d.ask("", "q")
		d.mustAppend(run.ID, deltas(4)...)
		d.append(run.ID, deltas(2)...)
		d.wantFrom("carried on", run.ID, 6, false)
		d.end(run.ID)
		d.wantFrom("over", run.ID, 7, true)
	})
}
