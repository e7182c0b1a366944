package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// client keeps one connection for each run at once. Without so many idle connections, a scene with a thousand runs at
// once would mostly measure how connections are made.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4096, MaxIdleConns: 4096}}

// timing is what one run took. first is what a reader waits until something shows; total is until the stream's end.
type timing struct {
	first time.Duration // POST → first event
	total time.Duration
}

// askQuestion posts a question and reads the stream to its end.
//
// The question is always the same one, about the document in smallLibrary, since the fake model's answers are about
// that. Each has a conversation of its own. It works for Footnote and for the relay alike, and fails when the last
// event is not an end: a scene must not count runs that broke off as quick ones.
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
	// An event with the whole answer is a single line, longer than what a Scanner takes by default.
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(make([]byte, 0, 16<<10), 4<<20)
	var last []byte
	for lines.Scan() {
		if data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: ")); ok {
			if t.first == 0 {
				t.first = time.Since(began)
			}
			last = append(last[:0], data...)
		}
	}
	t.total = time.Since(began)
	if err := lines.Err(); err != nil {
		return t, err
	}
	// The relay ends with a piece of the answer, Footnote with run_done: exactly one of the two is in the last event.
	if bytes.Contains(last, []byte(`"type":"run_done"`)) != !bytes.Contains(last, []byte(`"type":"answer_delta"`)) ||
		bytes.Contains(last, []byte(`"failed"`)) {
		return t, fmt.Errorf("the run ended with %.200s", last)
	}
	return t, nil
}

// runLoad runs n questions on the servers by turns, at most width at once, and returns what each took and how long all
// took.
//
// Each worker asks its next question as soon as its last one is answered, so width questions are under way all the
// time except at the start and at the end. A failed question ends its worker; the others go on, and the first error is
// returned instead of all times. The number of a question, not its worker, chooses the server.
func runLoad(ctx context.Context, n, width int, servers ...*process) ([]timing, time.Duration, error) {
	// Each worker writes to elements that no other one writes to, so neither slice needs a lock.
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

// totalTimes takes the total of each timing. The result is new, so that quantileOf may sort it.
func totalTimes(ts []timing) []time.Duration {
	all := make([]time.Duration, len(ts))
	for i, t := range ts {
		all[i] = t.total
	}
	return all
}

// firstTimes takes of each timing what its first event took. The result is new, too.
func firstTimes(ts []timing) []time.Duration {
	all := make([]time.Duration, len(ts))
	for i, t := range ts {
		all[i] = t.first
	}
	return all
}

// quantileOf returns the value below which the share q lies. It sorts ds.
//
// q is between 0 and 1. It takes a value that was measured and does not interpolate: with few values, a high quantile
// is the greatest of them. ds must not be empty.
func quantileOf(ds []time.Duration, q float64) time.Duration {
	slices.Sort(ds)
	return ds[min(len(ds)-1, int(q*float64(len(ds))))]
}

// inMilliseconds writes a time with two digits after the point, the unit of nearly all rows.
func inMilliseconds(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/1e6) }
