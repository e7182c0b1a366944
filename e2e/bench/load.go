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

// client keeps one connection for each run at once.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4096, MaxIdleConns: 4096}}

// timing is what one run took.
type timing struct {
	first time.Duration // POST → first event
	total time.Duration
}

// askQuestion posts a question and reads the stream to its end.
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
	if bytes.Contains(last, []byte(`"type":"run_done"`)) != !bytes.Contains(last, []byte(`"type":"answer_delta"`)) ||
		bytes.Contains(last, []byte(`"failed"`)) {
		return t, fmt.Errorf("the run ended with %.200s", last)
	}
	return t, nil
}

// runLoad runs n questions on the servers by turns, at most width at once, and returns what each took and how long all
// took.
func runLoad(ctx context.Context, n, width int, servers ...*process) ([]timing, time.Duration, error) {
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

func totalTimes(ts []timing) []time.Duration {
	all := make([]time.Duration, len(ts))
	for i, t := range ts {
		all[i] = t.total
	}
	return all
}

func firstTimes(ts []timing) []time.Duration {
	all := make([]time.Duration, len(ts))
	for i, t := range ts {
		all[i] = t.first
	}
	return all
}

// quantileOf returns the value below which the share q lies. It sorts ds.
func quantileOf(ds []time.Duration, q float64) time.Duration {
	slices.Sort(ds)
	return ds[min(len(ds)-1, int(q*float64(len(ds))))]
}

func inMilliseconds(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d)/1e6) }
