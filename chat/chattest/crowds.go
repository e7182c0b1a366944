package chattest

import (
	"bytes"
	"context"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/footnote/footnote/chat"
)

// follow streams a run to its end from one position. It passes each page to take, which returns how many entries
// arrived and whether the reader stays. It returns the last position.
func (d feedEnv) follow(
	ctx context.Context, runID string, after int64, take func([]*chat.Entry) (int, bool),
) (at int64, over bool) {
	wake, stop := d.Watch(runID)
	defer stop()
	read := d.Read
	for at = after; ; read = d.ReadWatched {
		news := wake()
		page, err := read(ctx, anna, runID, at)
		if err != nil {
			d.t.Errorf("Read(after %d): %v", at, err)
			return at, true
		}
		if len(page.Entries) > 0 {
			n, stays := take(page.Entries)
			if n > 0 {
				at = page.Entries[n-1].Seq
			}
			if !stays {
				return at, page.Over && n == len(page.Entries)
			}
		}
		if page.Over {
			return at, true
		}
		select {
		case <-news:
		case <-ctx.Done():
			d.t.Errorf("waiting after %d: %v", at, ctx.Err())
			return at, true
		}
	}
}

// produceRun produces a run: n events in batches of random size, then the end.
func (d feedEnv) produceRun(r *rand.Rand, runID string, n int) {
	for n > 0 {
		k := min(n, 1+r.IntN(3))
		d.append(runID, deltas(k)...)
		n -= k
	}
	d.end(runID)
}

// testFeedCrowds runs many readers and writers concurrently. Random numbers are seeded, and a failure reports the
// seed for reproduction. Every reader's transcript is compared with the store's, byte by byte.
func testFeedCrowds(t *testing.T, open func(*testing.T) chat.Store) {
	withFeed(t, open, "1,000 readers that drop out and rejoin at random lose nothing", func(t *testing.T, d feedEnv) {
		const inFlight, runs, readers = 4, 100, 10
		seeds := make(chan uint64)
		var wg sync.WaitGroup
		for range inFlight {
			wg.Go(func() {
				for seed := range seeds {
					d.reconnectRandomly(seed, readers)
				}
			})
		}
		for run := range uint64(runs) {
			seeds <- run * readers
		}
		close(seeds)
		wg.Wait()
	})
	withFeed(t, open, "200 readers that join at random moments get equal transcripts", func(t *testing.T, d feedEnv) {
		const readers, events = 200, 100
		run := d.ask("", "q")
		random := rand.New(rand.NewPCG(1, 2))
		joins := make(map[int]int) // readers by the event before which they join
		for range readers {
			joins[random.IntN(events+20)]++ // some after the end
		}
		var wg sync.WaitGroup
		got := make(chan []byte, readers)
		join := func(n int) {
			for range n {
				wg.Go(func() {
					var all []byte
					d.follow(t.Context(), run.ID, 0, func(entries []*chat.Entry) (int, bool) {
						all = transcript(all, entries)
						return len(entries), true
					})
					got <- all
				})
			}
		}
		for i := range events {
			join(joins[i])
			d.append(run.ID, deltas(1)...)
		}
		d.end(run.ID)
		for i := events; i < events+20; i++ {
			join(joins[i])
		}
		wg.Wait()
		close(got)
		want := d.stored(run.ID, 0)
		n := 0
		for all := range got {
			if n++; !bytes.Equal(all, want) {
				t.Fatalf("a reader got %d bytes that differ from the log's %d", len(all), len(want))
			}
		}
		if n != readers {
			t.Errorf("%d transcripts, want %d", n, readers)
		}
	})
	withFeed(t, open, "1,000 stalled readers cost the run nothing", func(t *testing.T, d feedEnv) {
		const readers, events = 1000, 200
		run := d.ask("", "q")
		channels := make([]<-chan struct{}, readers)
		for i := range readers {
			wake, stop := d.Watch(run.ID)
			defer stop()
			channels[i] = wake()
			if i > 0 && channels[i] != channels[0] {
				t.Fatal("readers have separate channels, want one")
			}
			d.read(run.ID, 0) // and never reads again
		}
		d.reads.Store(0)
		for range events {
			d.append(run.ID, deltas(1)...) // would block here
		}
		d.end(run.ID)
		for i, news := range channels {
			if !closed(news) {
				t.Fatalf("reader %d was not notified", i)
			}
		}
		one, two := d.read(run.ID, 0), d.read(run.ID, 0)
		if len(one.Entries) != events+1 || &one.Entries[0] != &two.Entries[0] {
			t.Error("readers have separate copies of the log, want one")
		}
		if n := d.reads.Load(); n != 0 {
			t.Errorf("%d reads of the store, want none", n)
		}
	})
	withFeed(t, open, "appends from many goroutines come in order", func(t *testing.T, d feedEnv) {
		run := d.ask("", "q")
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				for range 5 {
					d.append(run.ID, deltas(2)...)
				}
			})
		}
		wg.Go(func() {
			last := int64(0)
			d.follow(t.Context(), run.ID, 0, func(entries []*chat.Entry) (int, bool) {
				for _, e := range entries {
					if e.Seq != last+1 {
						t.Errorf("%d follows %d", e.Seq, last)
					}
					last = e.Seq
				}
				return len(entries), last < 200
			})
		})
		wg.Wait()
		d.wantFrom("after all", run.ID, 200, false)
	})
}

// reconnectRandomly runs one short log with readers whose connections break at random, also within a page, each with
// its own seed.
func (d feedEnv) reconnectRandomly(seed, readers uint64) {
	run, _, err := d.StartRun(d.t.Context(), anna.User, chat.RunRequest{Message: "q"}, lease())
	if err != nil {
		d.t.Errorf("seed %d: StartRun: %v", seed, err)
		return
	}
	transcripts := make([][]byte, readers)
	var wg sync.WaitGroup
	for i := range readers {
		wg.Go(func() { transcripts[i] = d.followInterrupted(rand.New(rand.NewPCG(seed+i, 0)), run.ID) })
	}
	producer := rand.New(rand.NewPCG(seed, 1))
	d.produceRun(producer, run.ID, 1+producer.IntN(30))
	wg.Wait()
	want := d.stored(run.ID, 0)
	for i, got := range transcripts {
		if !bytes.Equal(got, want) {
			d.t.Errorf("seed %d: the reader got\n%s\nwant\n%s", seed+uint64(i), got, want)
		}
	}
}

// followInterrupted reads a run to its end, disconnecting on about every third page with only part of it received.
func (d feedEnv) followInterrupted(random *rand.Rand, runID string) (all []byte) {
	for at, over := int64(0), false; !over; {
		at, over = d.follow(d.t.Context(), runID, at, func(entries []*chat.Entry) (int, bool) {
			if random.IntN(3) > 0 {
				all = transcript(all, entries)
				return len(entries), true
			}
			n := random.IntN(len(entries) + 1)
			all = transcript(all, entries[:n])
			return n, false
		})
	}
	return all
}
