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

// counts are the invariant violations of a cell.
//
// All should be 0 except runs. docs/reliability.md defines each column. No fault may increase them: a run that
// fails with a reason has ended and is not counted.
type counts struct {
	runs       int
	lost       int // events that were received but not stored, or never received; missing runs
	doubled    int // events received twice
	disordered int // events out of order, or with other content
	endless    int // runs without an end
	twice      int // runs with two answers, two effects of one tool call, or two runs of one question
	half       int // documents with a missing part in the database, the text index or the vector store
}

// isBad reports whether any invariant was violated.
func (c counts) isBad() bool {
	return c.lost+c.doubled+c.disordered+c.endless+c.twice+c.half > 0
}

// cell is one row of the table: a fault, and the results of the runs and documents in flight.
//
// Its questions and documents are followed by goroutines of wg, which write to it while act runs. mu guards the
// fields below it; act sets those above before anything reads them, except takes, died, taken and latest, which mu
// guards as well.
type cell struct {
	name string

	lasting  time.Duration        // of the fault; it extends the timeouts of runs and documents
	forgets  bool                 // the fault may lose the last half second of logs, if readers are notified
	takes    int                  // runs that lost events
	unbroken bool                 // no run may be taken over by another server
	died     map[string]time.Time // when replicas died, by URL; their runs must be taken over once, in time
	taken    int                  // runs taken over from these
	latest   time.Duration        // the longest takeover
	wg       sync.WaitGroup       // followers of runs and documents
	began    time.Time

	mu     sync.Mutex
	counts counts
	ended  map[string]int // statuses of ended runs
	// The maximum time until a question was refused. It is shown in the table and has no limit here.
	slowest  time.Duration // time until a question was refused
	problems []string
	// Until the last run and document of the cell has ended.
	seconds float64
}

// newCell returns an empty row and starts its clock.
func newCell(name string) *cell {
	return &cell{name: name, began: time.Now(), ended: map[string]int{}}
}

// addCounts changes the counts under the lock.
func (c *cell) addCounts(change func(*counts)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.counts)
}

// noteProblem adds a sentence to the end of the report. One problem makes the cell fail.
func (c *cell) noteProblem(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// describeEndings returns the counts of the runs' statuses, the most frequent first. For example: “12 completed, 1
// failed”.
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

// hasPassed reports whether no violation was counted and no problem was noted.
func (c *cell) hasPassed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.counts.isBad() && len(c.problems) == 0
}

// asked is one question, from its first try to its end.
//
// Its key is in the question's text, so that the model's server and the tool can identify the run, and it is the
// Idempotency-Key of each try. Only the goroutine that follows it writes to seen and status; others may read these
// after over is closed.
type asked struct {
	key, run, session, events string
	at                        string // the URL that accepted it
	onEvent                   func(n int)
	seen                      []event
	over                      chan struct{} // closed when all checks are done
	status                    string        // its final status
}

// asking is a counter for the questions' keys.
var asking atomic.Int64

// Keys differ from those of an earlier run of the harness. A server stores Idempotency-Keys, and an old key would
// return an old run.
var life = fmt.Sprintf("%x", time.Now().UnixNano()&0xfffffff) + fmt.Sprintf("%x", os.Getpid())

// askQuestion retries a question until a server accepts it, and then follows its run. armed gets its key before;
// onEvent the index of each event.
//
// The timeout is 90 seconds. Statuses of an overloaded or failing server (502, 503, 504, 507, 429, or no response)
// are retried after 100 ms; the time until a 503 or 507 is recorded. Any other status is a problem of the cell. The
// first four tries are sent to base, the next ones through nginx. The replica at base may have been killed after it
// stored the question. Then the same key must return the same run.
//
// It returns once a server has accepted the question. The run is then followed in c.wg.
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
		if try > 2 { // the replica has died: another one serves
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

// client has no timeout of its own: every request has one in its context. Idle connections are closed after a
// second, since connections to a killed replica are useless.
var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Second}}

// sendRequest sends a request and reads the whole response.
//
// The timeout is 20 seconds, ten times the limit of docs/reliability.md for refusing a question. A response is cut
// at 32 MiB. key is the Idempotency-Key; empty keys and content types are not sent as headers.
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
