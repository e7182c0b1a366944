package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/footnote/footnote/text/sse"
)

// client keeps one connection for each concurrent run. With fewer idle connections, a scene with a thousand
// concurrent runs would mostly measure the creation of connections.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4096, MaxIdleConns: 4096}}

// timing holds the durations of a run: first until the first visible output, total until the end of the stream.
type timing struct {
	first time.Duration // POST → first event
	total time.Duration
}

// askQuestion sends a question and reads the stream to its end.
//
// The question is always the same, about the document in smallLibrary, since the fake model's answers are about
// that. Each has its own session. It supports Footnote and the relay, and fails if the last event is not an end: a
// scene must not count broken runs as quick ones.
func askQuestion(ctx context.Context, server *process) (timing, error) {
	var t timing
	began := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.url+"/chat", bytes.NewReader(
		[]byte(`{"message":"What is the condition of the roof?"}`),
	))
	if err != nil {
		return t, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	resp, err := client.Do(req)
	if err != nil {
		return t, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return t, fmt.Errorf("POST /chat: %s", resp.Status)
	}
	var last []byte
	for events := sse.NewReader(resp.Body, 4<<20); ; {
		event, err := events.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return t, err
		}
		if t.first == 0 {
			t.first = time.Since(began)
		}
		last = append(last[:0], event.Data...)
	}
	t.total = time.Since(began)
	// The relay ends with a token of the answer, Footnote with run_done: exactly one of the two is in the last
	// event.
	if bytes.Contains(last, []byte(`"type":"run_done"`)) != !bytes.Contains(last, []byte(`"type":"answer_delta"`)) ||
		bytes.Contains(last, []byte(`"failed"`)) {
		return t, fmt.Errorf("the run ended with %.200s", last)
	}
	return t, nil
}

// runLoad runs n questions on the servers in rotation, at most width concurrently, and returns the duration of each
// and of all.
//
// Each worker sends its next question as soon as its last one is answered, so width questions are in flight except
// at the start and the end. An error ends its worker; the others continue, and the first error is returned instead
// of all durations. A question's number, not its worker, selects the server.
func runLoad(ctx context.Context, n, width int, servers ...*process) ([]timing, time.Duration, error) {
	// Each worker writes only to its own elements, so the slices need no lock.
	timings := make([]timing, n)
	errs := make([]error, width)
	next := make(chan int)
	var wg sync.WaitGroup
	for w := range width {
		wg.Go(func() {
			for i := range next {
				if timings[i], errs[w] = askQuestion(ctx, servers[i%len(servers)]); errs[w] != nil {
					return
				}
			}
		})
	}
	began := time.Now()
	func() {
		defer close(next)
		for i := range n {
			select {
			case next <- i:
			case <-ctx.Done():
				return
			case <-time.After(2 * time.Minute): // all workers have failed
				return
			}
		}
	}()
	wg.Wait()
	took := time.Since(began)
	for _, err := range errs {
		if err != nil {
			return nil, 0, err
		}
	}
	return timings, took, ctx.Err()
}

// totalTimes returns the total of each timing in a new slice, which quantileOf may sort.
func totalTimes(ts []timing) []time.Duration {
	all := make([]time.Duration, len(ts))
	for i, t := range ts {
		all[i] = t.total
	}
	return all
}

// firstTimes returns the time to the first event of each timing, in a new slice.
func firstTimes(ts []timing) []time.Duration {
	all := make([]time.Duration, len(ts))
	for i, t := range ts {
		all[i] = t.first
	}
	return all
}

// quantileOf returns the quantile q of ds. It sorts ds.
//
// q is between 0 and 1. It returns a measured value without interpolation: with few values, a high quantile is the
// maximum. ds must not be empty.
func quantileOf(ds []time.Duration, q float64) time.Duration {
	slices.Sort(ds)
	return ds[min(len(ds)-1, int(q*float64(len(ds))))]
}

// inMilliseconds formats a duration in ms with two decimals.
func inMilliseconds(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/1e6) }
