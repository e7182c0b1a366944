package bert

import (
	"context"
	"sync"
	"time"
)

// longestTurn is the maximum time that a part of a passage waits for queries: under a constant load of queries,
// passages proceed slowly.
const longestTurn = 100 * time.Millisecond

// gate gives queries priority over passages. The zero value is open.
type gate struct {
	mu      sync.Mutex
	queries int
	none    chan struct{} // closed when no query is left
}

// enterQuery registers a running query, until leaveQuery.
func (g *gate) enterQuery() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.queries == 0 {
		g.none = make(chan struct{})
	}
	g.queries++
}

func (g *gate) leaveQuery() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.queries--; g.queries == 0 {
		close(g.none)
	}
}

// waitForQueries returns when no query is running, or after longestTurn; it returns an error when ctx has ended.
func (g *gate) waitForQueries(ctx context.Context) error {
	g.mu.Lock()
	queries, none := g.queries, g.none
	g.mu.Unlock()
	if queries > 0 {
		timer := time.NewTimer(longestTurn)
		defer timer.Stop()
		select {
		case <-none:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}
