package chattest

import (
	"bytes"
	"context"
	"math"
	"sync/atomic"
	"testing"

	"github.com/footnote/footnote/chat"
)

// TestFeed checks the documented behaviour of a chat.Feed over a store, and its number of store queries.
func TestFeed(t *testing.T, open func(*testing.T) chat.Store) {
	t.Run("one reader", func(t *testing.T) { t.Parallel(); testFeedReads(t, open) })
	t.Run("many readers", func(t *testing.T) { t.Parallel(); testFeedCrowds(t, open) })
	t.Run("several servers", func(t *testing.T) { t.Parallel(); testFeedServers(t, open) })
}

// feedEnv is a feed over a store that counts its reads. Append exists on both: d.append appends through the feed,
// d.mustAppend past it, as another server would.
type feedEnv struct {
	suite
	*chat.Feed
	reads *atomic.Int64 // of pages of events
}

// countedStore counts the reads of event pages, which a feed should avoid.
type countedStore struct {
	chat.Store
	reads *atomic.Int64
}

func (s countedStore) Events(
	ctx context.Context, scope chat.Scope, runID string, after int64, limit int,
) ([]chat.Event, error) {
	s.reads.Add(1)
	return s.Store.Events(ctx, scope, runID, after, limit)
}

// withFeed is parallel with a new feed over the store.
func withFeed(t *testing.T, open func(*testing.T) chat.Store, name string, test func(*testing.T, feedEnv)) {
	parallel(t, open, name, func(t *testing.T, b suite) {
		reads := new(atomic.Int64)
		test(t, feedEnv{suite: b, Feed: chat.NewFeed(countedStore{b.Store, reads}), reads: reads})
	})
}

// append appends to one of this server's runs through the feed.
func (d feedEnv) append(runID string, payloads ...chat.Payload) {
	d.t.Helper()
	if err := d.Feed.Append(d.t.Context(), owner, runID, payloads...); err != nil {
		d.t.Errorf("Append: %v", err)
	}
}

// end ends a run, so that the feed knows its log is complete.
func (d feedEnv) end(runID string) {
	d.t.Helper()
	d.append(runID, chat.RunDone{Status: chat.RunCompleted})
}

func (d feedEnv) read(runID string, after int64) chat.Page {
	d.t.Helper()
	page, err := d.Read(d.t.Context(), anna, runID, after)
	if err != nil {
		d.t.Fatalf("Read(after %d): %v", after, err)
	}
	return page
}

// stored returns the transcript of a run's log after a position, from the store.
func (d feedEnv) stored(runID string, after int64) []byte {
	d.t.Helper()
	var all []byte
	for {
		events := d.mustEvents(runID, after, chat.MaxPage)
		if len(events) == 0 {
			return all
		}
		for _, e := range events {
			all = append(e.AppendJSON(all), '\n')
			after = e.Seq
		}
	}
}

// transcript appends the entries in the format of stored, one per line.
func transcript(dst []byte, entries []*chat.Entry) []byte {
	for _, e := range entries {
		dst = append(append(dst, e.JSON...), '\n')
	}
	return dst
}

// wantFrom checks the page after every position of a log with n events. It includes positions beyond the end, up to
// the largest number, since clients may send any.
func (d feedEnv) wantFrom(what, runID string, n int64, over bool) {
	d.t.Helper()
	for k := range n + 1 {
		page := d.read(runID, k)
		if !bytes.Equal(transcript(nil, page.Entries), d.stored(runID, k)) || int64(len(page.Entries)) != n-k ||
			page.Over != over || page.Last != n {
			d.t.Errorf("%s, after %d: %d entries, over %v, last %d; want exactly the rest of %d, over %v",
				what, k, len(page.Entries), page.Over, page.Last, n, over)
		}
	}
	for _, k := range []int64{n + 1, n + 100, 1 << 21, math.MaxInt64} {
		if page := d.read(runID, k); len(page.Entries) != 0 || page.Last != n || page.Over != over {
			d.t.Errorf("%s, after %d: %+v; want no entries, last %d, over %v", what, k, page, n, over)
		}
	}
}

// testFeedReads checks the results of Read and its number of store queries. A run under way here is read from
// memory; a finished one is evicted without watchers.
func testFeedReads(t *testing.T, open func(*testing.T) chat.Store) {
	withFeed(t, open, "from every position comes exactly the rest, live, after the end and in the next process", func(
		t *testing.T, d feedEnv,
	) {
		run := d.ask("", "q")
		d.wantFrom("before the first event", run.ID, 0, false)
		wake, stop := d.Watch(run.ID)
		for n := range int64(25) {
			news := wake()
			d.append(run.ID, chat.AnswerDelta{Text: "a\r\n\r\nid: 7 \u2028"})
			if !closed(news) {
				t.Fatalf("append %d: got no notification, want one", n+1)
			}
			d.wantFrom("live", run.ID, n+1, false)
		}
		d.end(run.ID)
		d.wantFrom("over and watched", run.ID, 26, true)
		stop()
		stop() // a second call is a no-op
		d.wantFrom("over and unwatched", run.ID, 26, true)
		d.Feed = chat.NewFeed(d.Store)
		d.wantFrom("in the next process", run.ID, 26, true)
		_, stop = d.Watch(run.ID)
		defer stop()
		d.wantFrom("in the next process, watched", run.ID, 26, true)
	})
	withFeed(t, open, "a run just started is read from memory before its first event", func(t *testing.T, d feedEnv) {
		run := d.ask("", "q")
		d.Begin(run)
		wake, stop := d.Watch(run.ID)
		defer stop()
		begun := wake()
		if p := d.read(run.ID, 0); len(p.Entries) != 0 || p.Over {
			t.Errorf("log without events has %d entries, over %v", len(p.Entries), p.Over)
		}
		if _, err := d.Read(t.Context(), bert, run.ID, 0); chat.CodeOf(err) != chat.CodeNotFound {
			t.Errorf("another user's read: %v, want not found", err)
		}
		d.append(run.ID, deltas(3)...)
		<-begun
		if p := d.read(run.ID, 0); len(p.Entries) != 3 || p.Last != 3 {
			t.Errorf("then it reads %d entries, last %d, want 3", len(p.Entries), p.Last)
		}
		if n := d.reads.Load(); n != 0 {
			t.Errorf("%d reads of the store, want none", n)
		}
	})
	withFeed(t, open, "a run under way is read from memory, a finished one is let go", func(t *testing.T, d feedEnv) {
		run := d.ask("", "q")
		d.append(run.ID, deltas(10)...)
		d.read(run.ID, 0)
		d.read(run.ID, 10)
		if n := d.reads.Load(); n != 0 {
			t.Errorf("%d reads of the store for a run under way, want none", n)
		}
		_, stop := d.Watch(run.ID)
		d.end(run.ID)
		d.read(run.ID, 3)
		if n := d.reads.Load(); n != 0 {
			t.Errorf("%d reads of the store while the finished run is watched, want none", n)
		}
		stop()
		if d.read(run.ID, 3); d.reads.Load() == 0 {
			t.Error("ended run without readers is cached, want it evicted")
		}
	})
	withFeed(t, open, "a finished run is read from the store once for all who watch it", func(t *testing.T, d feedEnv) {
		run := d.ask("", "q")
		d.mustAppend(run.ID, deltas(10)...)
		d.finish(run.ID)
		_, stop := d.Watch(run.ID)
		defer stop()
		first := d.read(run.ID, 0)
		for range 10 {
			if next := d.read(run.ID, 0); next.Entries[0] != first.Entries[0] {
				t.Fatal("a second reader got entries of its own")
			}
		}
		if n := d.reads.Load(); n != 1 {
			t.Errorf("%d reads of the store, want 1", n)
		}
	})
	withFeed(t, open, "a log too long for memory is complete", func(t *testing.T, d feedEnv) {
		run := d.ask("", "q")
		text := string(bytes.Repeat([]byte("x"), 3<<10))
		for range 12 {
			payloads := make([]chat.Payload, 100)
			for i := range payloads {
				payloads[i] = chat.AnswerDelta{Text: text}
			}
			d.append(run.ID, payloads...)
		}
		if d.read(run.ID, 1100); d.reads.Load() != 0 {
			t.Error("newest events are not cached")
		}
		page := d.read(run.ID, 0)
		if !bytes.Equal(transcript(nil, page.Entries), d.stored(run.ID, 0)) || page.Last != 1200 {
			t.Errorf("%d entries, last %d; want 1200", len(page.Entries), page.Last)
		}
		if d.reads.Load() == 0 {
			t.Error("more than 2 MiB of a run are cached")
		}
	})
	withFeed(t, open, "an append that fails shows nothing", func(t *testing.T, d feedEnv) {
		run := d.ask("", "q")
		d.append(run.ID, deltas(2)...)
		wantCode(t, "Append", d.Feed.Append(
			t.Context(), owner, run.ID, chat.AnswerDelta{}, chat.Reset{},
		), chat.CodeInvalid)
		d.wantFrom("after a failed append", run.ID, 2, false)
		d.append(run.ID, deltas(2)...)
		d.wantFrom("after the next append", run.ID, 4, false)
	})
	withFeed(t, open, "another user's run is not found, wherever it is read from", func(t *testing.T, d feedEnv) {
		run := d.ask("", "q")
		refused := func(what string) {
			_, err := d.Read(t.Context(), bert, run.ID, 0)
			wantCode(t, what, err, chat.CodeNotFound)
		}
		refused("before the first event")
		d.append(run.ID, deltas(1)...)
		refused("live, first read")
		d.read(run.ID, 0)
		refused("live, after its owner's read")
		d.end(run.ID)
		refused("over")
		_, err := d.Read(t.Context(), anna, chat.NewID(), 5)
		wantCode(t, "a run that is not there", err, chat.CodeNotFound)
	})
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
