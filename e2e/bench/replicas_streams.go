package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// At 400 ms per token a run takes 80 seconds, enough to open 5,000 streams meanwhile.
const (
	followers  = 50  // for each run
	tokenPause = 400 // ms
)

// reader is one stream of a run, read to its end. Only its own goroutine writes to it, and others read it after
// that has ended.
type reader struct {
	run  int
	own  bool // at the replica that owns the run
	seen []sighting
	err  error
}

// sighting is an event received by a reader. at is the time when the line with its number was read, by this
// machine's clock.
type sighting struct {
	seq int64
	at  time.Time
}

// followed: many streams of a hundred runs, each run streamed from all three replicas.
//
// It measures the latency of an event from the database to a client, also at a replica that does not own the run:
// it is notified by PostgreSQL. Server and client are on one machine, so both timestamps are of one clock. The
// limit is 300 ms at p99.
//
// It is also a test: each of the readers, 50 for each run, must receive each event exactly once and in order.
// Otherwise the scene fails with an error.
func benchFollowed(ctx context.Context, b *bench) (rows []row, err error) {
	f, err := b.startField(ctx, tokenPause)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.stop()) }()
	replicas := f.three.replicas
	runs := make([]string, b.scaleTimes(100))
	for i := range runs {
		if runs[i], err = postRun(ctx, replicas[i%len(replicas)]); err != nil {
			return nil, err
		}
	}
	// The readers of a run are distributed over the replicas in turn.
	readers := make([]reader, len(runs)*followers)
	replicasBefore, postgresBefore, err := f.three.cpuTimes()
	if err != nil {
		return nil, err
	}
	var wg sync.WaitGroup
	open := make(chan error)
	const opening = 50 // concurrently
	// The loop continues beyond the last reader by the number of pending opens, so that each result on open is
	// received.
	for i := range len(readers) + opening {
		if i < len(readers) {
			run, at := i%len(runs), i/len(runs)%len(replicas)
			r := &readers[i]
			r.run, r.own = run, run%len(replicas) == at
			wg.Go(func() { r.followStream(ctx, replicas[at].url+"/agent/runs/"+runs[run]+"/events", open) })
		}
		if i >= opening {
			if err := <-open; err != nil {
				return nil, err
			}
		}
	}
	opened := time.Now()
	wg.Wait()
	ended := time.Now()
	replicasAfter, postgresAfter, err := f.three.cpuTimes()
	if err != nil {
		return nil, err
	}
	stored, err := f.three.storedOf(ctx, runs)
	if err != nil {
		return nil, err
	}
	var all, away []time.Duration
	for _, r := range readers {
		if r.err != nil {
			return nil, r.err
		}
		if len(r.seen) != len(stored[r.run]) {
			return nil, fmt.Errorf("a reader got %d events of %d", len(r.seen), len(stored[r.run]))
		}
		for i, s := range r.seen {
			if s.seq != int64(i)+1 {
				return nil, fmt.Errorf("a reader got event %d as its number %d", s.seq, i+1)
			}
			// Events from before the last stream was open were sent in one batch to late readers, and are not
			// measured.
			if at := stored[r.run][i]; at.After(opened) {
				all = append(all, s.at.Sub(at))
				if !r.own {
					away = append(away, s.at.Sub(at))
				}
			}
		}
	}
	if len(all) == 0 {
		return nil, errors.New("the runs were over before all their streams were open")
	}
	took := ended.Sub(opened)
	p99 := quantileOf(all, .99)
	return []row{
		{fmt.Sprintf(
			"%d streams of %d runs on three replicas, commit → client, p99 (p50)", len(readers), len(runs),
		), "≤ 300 ms", fmt.Sprintf("%s (%s)", inMilliseconds(p99), inMilliseconds(quantileOf(all, .5))),
			p99 <= 300*time.Millisecond},
		{"the same, of runs of another replica", "", fmt.Sprintf(
			"%s (%s)", inMilliseconds(quantileOf(away, .99)), inMilliseconds(quantileOf(away, .5)),
		), true},
		{"the same, events delivered a second; cores of the replicas, of PostgreSQL", "",
			fmt.Sprintf("%.0f; %.2f, %.2f", float64(
				len(all),
			)/took.Seconds(),
				(replicasAfter-replicasBefore).Seconds()/took.Seconds(),
				(postgresAfter-postgresBefore).Seconds()/took.Seconds()), true},
	}, nil
}

// followStream reads a stream to its end. It sends exactly one value to open: nil once the stream is open, or an
// error. A later error is in r.err; a broken stream is detected by its missing events.
func (r *reader) followStream(ctx context.Context, url string, open chan<- error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		open <- err
		return
	}
	resp, err := client.Do(req)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = errors.Join(fmt.Errorf("GET %s: %s", url, resp.Status), resp.Body.Close())
	}
	open <- err
	if err != nil {
		return
	}
	defer resp.Body.Close()
	lines := bufio.NewReaderSize(resp.Body, 4096)
	for {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			continue // a continuation of a long event
		}
		if err != nil {
			break
		}
		if id, ok := bytes.CutPrefix(line, []byte("id: ")); ok {
			seq, err := strconv.ParseInt(string(bytes.TrimSpace(id)), 10, 64)
			if err != nil {
				r.err = err
				return
			}
			r.seen = append(r.seen, sighting{seq, time.Now()})
		}
	}
}

// storedOf returns the times when the events of each run were stored, in order. events.at is PostgreSQL's time of
// the insert in microseconds. The outer slice is in the order of runs.
func (f *fleet) storedOf(ctx context.Context, runs []string) ([][]time.Time, error) {
	rows, err := f.postgres.Rows(
		ctx, f.url, `SELECT r.id, e.at FROM events e JOIN runs r ON r.n = e.run WHERE r.id = ANY($1) ORDER BY e.seq`,
		runs,
	)
	stored := make([][]time.Time, len(runs))
	for _, row := range rows {
		i := slices.Index(runs, row[0].(string))
		stored[i] = append(stored[i], time.UnixMicro(row[1].(int64)))
	}
	return stored, err
}
