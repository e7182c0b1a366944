//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// counts are what must not happen.
type counts struct {
	runs       int
	lost       int // events that were seen and are not in the log, or that a reader never got; runs that are gone
	doubled    int // events that a reader got twice
	disordered int // events that came out of order, or with other content
	endless    int // runs without an end
	twice      int // runs with two answers, two effects of one call of a tool, or that were made twice of one question
	half       int // documents of which a part is missing in the database, in the index of words, or among the vectors
}

func (c counts) isBad() bool {
	return c.lost+c.doubled+c.disordered+c.endless+c.twice+c.half > 0
}

// cell is one row of the table: a fault, and what became of the runs and documents that were under way.
type cell struct {
	name string

	lasting  time.Duration        // of the fault, beside which runs and documents have their limits
	forgets  bool                 // the fault may take the last half second of logs back, if readers are told
	takes    int                  // runs of which it did
	unbroken bool                 // no run may be carried on by another server
	died     map[string]time.Time // when replicas died, by their URLs; what they worked on is taken over once, in time
	taken    int                  // runs that were taken over from these
	latest   time.Duration        // that this took
	wg       sync.WaitGroup       // runs and documents that are being followed
	began    time.Time

	mu       sync.Mutex
	counts   counts
	ended    map[string]int // how runs ended
	slowest  time.Duration  // refusal of a question
	problems []string
	seconds  float64
}

func newCell(name string) *cell {
	return &cell{name: name, began: time.Now(), ended: map[string]int{}}
}

func (c *cell) addCounts(change func(*counts)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.counts)
}

func (c *cell) noteProblem(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// describeEndings says how runs ended, the most frequent first.
func (c *cell) describeEndings() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	kinds := slices.SortedFunc(maps.Keys(c.ended), func(a, b string) int { return c.ended[b] - c.ended[a] })
	var out []string
	for _, kind := range kinds {
		out = append(out, fmt.Sprintf("%d %s", c.ended[kind], kind))
	}
	return strings.Join(out, ", ")
}

func (c *cell) hasPassed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.counts.isBad() && len(c.problems) == 0
}

// asked is one question, from its first try to its end.
type asked struct {
	key, run, session, events string
	at                        string // the URL that took it
	onEvent                   func(n int)
	seen                      []event
	over                      chan struct{} // closed when all is known of it
	status                    string        // how it ended
}

var asking atomic.Int64

// Keys are unlike those of an earlier life of the harness.
var life = fmt.Sprintf("%x", time.Now().UnixNano()&0xfffffff) + fmt.Sprintf("%x", os.Getpid())

// askQuestion posts a question until a server takes it, and has its run followed. armed gets its key before; onEvent
// each event's place.
func (c *cell) askQuestion(
	ctx context.Context, g *rig, base string, armed func(key string), onEvent func(n int),
) (*asked, error) {
	a := &asked{key: fmt.Sprintf("run-%s-%d", life, asking.Add(1)), onEvent: onEvent, over: make(chan struct{})}
	if armed != nil {
		armed(a.key)
	}
	a.session = "s-" + a.key
	body, err := json.Marshal(map[string]string{
		"message": "What is the condition of the roof, and what is the rent? " + a.key, "session_id": a.session,
	})
	if err != nil {
		return nil, err
	}
	late := time.After(90 * time.Second)
	for try := 0; ; try++ {
		began := time.Now()
		status, answer, err := sendRequest(ctx, http.MethodPost, base+"/chat", "application/json", body, a.key)
		if err == nil && status == http.StatusAccepted {
			var started struct {
				RunID  string `json:"run_id"`
				Events string `json:"events"`
			}
			if err := json.Unmarshal(answer, &started); err != nil {
				return nil, err
			}
			a.run, a.events, a.at = started.RunID, started.Events, base
			break
		}
		switch {
		case err != nil, status == http.StatusBadGateway, status == http.StatusGatewayTimeout,
			status == http.StatusTooManyRequests:
		case status == http.StatusServiceUnavailable, status == http.StatusInsufficientStorage:
			c.mu.Lock()
			c.slowest = max(c.slowest, time.Since(began))
			c.mu.Unlock()
		default:
			c.noteProblem("POST /chat answered %d %.200s", status, answer)
		}
		if try > 2 { // it has died: another replica serves
			base = g.proxy
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-late:
			return nil, fmt.Errorf("no server takes a question: %d %.200s %w", status, answer, err)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	c.addCounts(func(n *counts) { n.runs++ })
	c.wg.Go(func() {
		defer close(a.over)
		c.followRun(ctx, g, a)
	})
	return a, nil
}

// client has no limit of its own: every request has one by its context.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Second}}

// sendRequest makes a request and reads its whole answer.
func sendRequest(
	ctx context.Context, method, url, contentType string, body []byte, key string,
) (status int, answer []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	req.Header.Set("Accept", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(resp.Body, 32<<20))
	return resp.StatusCode, answer, err
}
