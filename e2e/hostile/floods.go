//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// floodCells are denial-of-service attacks of one user on the others.
//
// The attacker has a key (or, in one cell, unknown keys), so limits for each user apply. The bystander uses another
// key, and must get its answers without delay. The attacker's statuses are only counted; a response with 429 must
// have Retry-After.
func floodCells() []cell {
	return []cell{
		{name: "flood: 100 slow questions of one user", keys: true,
			act: func(ctx context.Context, s *site, r *result) (string, error) {
				return s.floodRequests(ctx, 100, func(ctx context.Context, n int) (answer, error) {
					return s.postJSON(ctx, s.attack, "/agent/chat", map[string]any{
						"message": fmt.Sprintf("Tell me slowly, %d.", n), "context_text": warranty,
					})
				})
			}},
		{name: "flood: 1,000 searches of one user", keys: true,
			act: func(ctx context.Context, s *site, r *result) (string, error) {
				return s.floodRequests(ctx, 1000, func(ctx context.Context, n int) (answer, error) {
					return s.postJSON(ctx, s.attack, "/search", map[string]any{
						"query": fmt.Sprintf("warranty boiler %d", n),
					})
				})
			}},
		{name: "flood: 600 small files of one user", keys: true,
			act: func(ctx context.Context, s *site, r *result) (string, error) {
				return s.floodRequests(ctx, 600, func(ctx context.Context, n int) (answer, error) {
					return s.putFile(ctx, s.attack, fmt.Sprintf("note-%d.md", n),
						fmt.Appendf(nil, "# Note %d\n\nThe %d. note of many.\n", n, n))
				})
			}},
		// Unknown keys must not cost more than valid ones: each is different, so none is cached.
		{name: "flood: 1,000 keys that are none", keys: true,
			act: func(ctx context.Context, s *site, r *result) (string, error) {
				return s.floodRequests(ctx, 1000, func(ctx context.Context, n int) (answer, error) {
					return s.getPath(ctx, fmt.Sprintf("fn_%040d", n), "/documents", "application/json")
				})
			}},
		// Each of them sends a separate question, whose answer takes seconds.
		{name: "flood: 300 streams of one run", keys: true,
			act: func(ctx context.Context, s *site, r *result) (string, error) {
				return s.floodRequests(ctx, 300, func(ctx context.Context, n int) (answer, error) {
					return s.sendRequest(ctx, s.attack, http.MethodPost, "/chat", "text/event-stream",
						"application/json",
						strings.NewReader(
							`{"message": "Tell me slowly again.", `+
								`"context_text": "The warranty covers the boiler for twelve years."}`,
						))
				})
			}},
		{name: "flood: 300 connections that send a byte a second", keys: true,
			act: func(ctx context.Context, s *site, r *result) (string, error) {
				return s.dripBodies(ctx, 300, time.Minute)
			}},
		{name: "flood: 200 slow readers of a text of 20 MiB", keys: true,
			act: func(ctx context.Context, s *site, r *result) (string, error) {
				return s.crawlAnswers(ctx, 200, 20*mib)
			}},
	}
}

// floodRequests sends n requests, 32 concurrently, counts the statuses, and returns the times of the refusals over
// a limit.
//
// The concurrency is arbitrary. A broken request is counted as “broken” and is not an error. A response with status
// 429 but without Retry-After is an error. request gets the number of the request, from 0 on, and must be safe for
// concurrent use.
func (s *site) floodRequests(
	ctx context.Context, n int, request func(ctx context.Context, n int) (answer, error),
) (string, error) {
	var mu sync.Mutex
	statuses := map[string]int{}
	var noRetryAfter int
	var refused []time.Duration
	next := make(chan int)
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for i := range next {
				got, err := request(ctx, i)
				mu.Lock()
				if err != nil {
					statuses["broken"]++
				} else {
					statuses[fmt.Sprint(got.status)]++
					if got.status == http.StatusTooManyRequests {
						refused = append(refused, got.took)
						if got.header.Get("Retry-After") == "" {
							noRetryAfter++
						}
					}
				}
				mu.Unlock()
			}
		})
	}
	for i := range n {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	// No more follow, and the workers end.
	close(next)
	wg.Wait()
	var said []string
	for _, status := range sortedKeys(statuses) {
		said = append(said, fmt.Sprintf("%d × %s", statuses[status], status))
	}
	outcome := strings.Join(said, ", ")
	if n := len(refused); n > 0 {
		slices.Sort(refused)
		outcome += fmt.Sprintf("; 429 in %d ms (median), %d ms (worst)", refused[n/2].Milliseconds(),
			refused[n-1].Milliseconds())
	}
	if noRetryAfter > 0 {
		return outcome, fmt.Errorf("%d answers with status 429 had no Retry-After", noRetryAfter)
	}
	return outcome, ctx.Err()
}

// dripBodies opens connections that send a request's body at one byte per second (slowloris), and checks that the
// server closes each within most.
//
// For its body of 10,000 bytes, each would use a goroutine and a connection for nearly three hours. So the server
// must time out such a request within most, which is a minute here. The outcome has the time of the last one.
func (s *site) dripBodies(ctx context.Context, n int, most time.Duration) (string, error) {
	var mu sync.Mutex
	var longest time.Duration
	open := 0
	var wg sync.WaitGroup
	host := strings.TrimPrefix(s.server.url, "http://")
	for range n {
		wg.Go(func() {
			begun := time.Now()
			ended := s.dripOne(ctx, host, most)
			mu.Lock()
			defer mu.Unlock()
			if !ended {
				open++
			}
			longest = max(longest, time.Since(begun))
		})
	}
	wg.Wait()
	outcome := fmt.Sprintf("the last one was ended after %d s", int(longest.Seconds()))
	if open > 0 {
		return outcome, fmt.Errorf("%d of %d connections were still open after %v", open, n, most)
	}
	return outcome, nil
}

// dripOne reports whether the server ended the request within most. A refused connection counts as ended.
func (s *site) dripOne(ctx context.Context, host string, most time.Duration) bool {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", host)
	if err != nil {
		return true
	}
	defer conn.Close()
	// The header is complete, so the server waits only for the body.
	fmt.Fprintf(conn,
		"POST /search HTTP/1.1\r\nHost: %s\r\nX-API-Key: %s\r\nContent-Type: application/json\r\nContent-Length: "+
			"10000\r\n\r\n{", host, s.attack)
	ended := make(chan struct{})
	go func() { // ends when the connection does
		defer close(ended)
		_, _ = io.Copy(io.Discard, conn)
	}()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	limit := time.NewTimer(most)
	defer limit.Stop()
	for {
		select {
		case <-ended:
			return true
		case <-limit.C:
			return false
		case <-ctx.Done():
			return false
		case <-tick.C:
			if _, err := conn.Write([]byte(" ")); err != nil {
				return true
			}
		}
	}
}

// crawlAnswers uploads a text and opens n connections that request it and read it slowly.
//
// For a reader of 64 KiB per second the server would buffer the rest of 20 MiB. Buffers in memory would take 4 GB
// for 200 readers, above the memory limit. All of them must be served, at any speed.
func (s *site) crawlAnswers(ctx context.Context, n, size int) (string, error) {
	var text bytes.Buffer
	for random := rand.New(rand.NewPCG(1, 2)); text.Len() < size; { // few distinct words, which compress well
		fmt.Fprintf(&text, "%03d ", random.IntN(1000))
	}
	d, err := s.uploadFile(ctx, s.attack, "long.txt", text.Bytes())
	if err != nil {
		return "", err
	}
	var answered atomic.Int64
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			if s.crawlOne(ctx, "/documents/"+d.ID+"/text") {
				answered.Add(1)
			}
		})
	}
	wg.Wait()
	outcome := fmt.Sprintf("%d of %d were answered", answered.Load(), n)
	if answered.Load() < int64(n) {
		return outcome, errors.New("not every reader got its text")
	}
	return outcome, ctx.Err()
}

// crawlOne requests a page and reads 64 KiB of it in each of ten seconds. It reports whether any bytes were
// received. It uses no HTTP client, which would read ahead.
func (s *site) crawlOne(ctx context.Context, path string) bool {
	host := strings.TrimPrefix(s.server.url, "http://")
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", host)
	if err != nil {
		return false
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nX-API-Key: %s\r\nAccept-Encoding: gzip\r\n\r\n", path, host,
		s.attack)
	// The first 64 bytes contain the status.
	begin := make([]byte, 64)
	if _, err := io.ReadFull(conn, begin); err != nil || !strings.HasPrefix(string(begin), "HTTP/1.1 200") {
		return false
	}
	pace := time.NewTicker(time.Second)
	defer pace.Stop()
	for range 10 {
		select {
		case <-pace.C:
		case <-ctx.Done():
			return true
		}
		if _, err := io.CopyN(io.Discard, conn, 64<<10); err != nil {
			return false
		}
	}
	return true
}

// sortedKeys returns the keys in a fixed order, which is the order of the cells.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
