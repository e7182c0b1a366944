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

// floodCells are what one user does to have the others starve.
//
// The attacker has a key (or, in one cell, keys that don't exist), so limits for each user hold. The bystander asks
// with another key, and must get its answers as if nothing was. Which statuses the attacker gets is only counted; an
// answer with 429 must say when to come again.
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
		// Keys that don't exist must not cost more than those that do: each is different, so none is remembered.
		{name: "flood: 1,000 keys that are none", keys: true,
			act: func(ctx context.Context, s *site, r *result) (string, error) {
				return s.floodRequests(ctx, 1000, func(ctx context.Context, n int) (answer, error) {
					return s.getPath(ctx, fmt.Sprintf("fn_%040d", n), "/documents", "application/json")
				})
			}},
		// Each of them asks a question of its own, whose answer takes seconds.
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

// floodRequests makes n requests, 32 at a time, counts the statuses, and says how long the answers took that refused
// one over a limit.
//
// That it is 32 is a choice. A request that breaks off is counted as “broken” and is no error. It is an error when an
// answer with status 429 has no header Retry-After. request gets the number of the request, from 0 on, and may be
// called from several goroutines at once.
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
	// No more come, and the workers end.
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

// dripBodies opens connections that send a request's body one byte a second, and wants each ended by the server within
// most.
//
// Each would keep a goroutine and a connection for nearly three hours, for its body of 10,000 bytes. So the server
// must give such a request up, and within most, which is a minute here. The outcome says when the last one was ended.
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

// dripOne reports whether the server ended the request within most. A connection that the server does not even take is
// one that it ended.
func (s *site) dripOne(ctx context.Context, host string, most time.Duration) bool {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", host)
	if err != nil {
		return true
	}
	defer conn.Close()
	// The head is whole, so the server waits for the body alone.
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

// crawlAnswers uploads a text and opens n connections that ask for it and read it slowly.
//
// A reader that takes 64 KiB a second would have the server hold the rest of 20 MiB for it. If it did so in memory,
// 200 readers would take 4 GB, which the bound on memory would show. All of them must be served, each as slowly as it
// likes.
func (s *site) crawlAnswers(ctx context.Context, n, size int) (string, error) {
	var text bytes.Buffer
	for random := rand.New(rand.NewPCG(1, 2)); text.Len() < size; { // few words, which compression makes little of
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

// crawlOne asks for a page and reads 64 KiB of it in each of ten seconds. It reports whether anything came. The answer
// is read without a client of HTTP, which would read ahead.
func (s *site) crawlOne(ctx context.Context, path string) bool {
	host := strings.TrimPrefix(s.server.url, "http://")
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", host)
	if err != nil {
		return false
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nX-API-Key: %s\r\nAccept-Encoding: gzip\r\n\r\n", path, host,
		s.attack)
	// The first 64 bytes have the status.
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

// sortedKeys has the cells come in the same order each time.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
