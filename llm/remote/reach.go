package remote

import (
	"context"
	"sync"
	"time"
)

// reachFor is how long the answer of a look is kept, so that a health check asked often does not load the model's server.
const reachFor = 10 * time.Second

// Reach remembers what the last look at a model's server found. The zero value is ready, and it is safe for concurrent use.
type Reach struct {
	mu    sync.Mutex
	until time.Time
	err   error
}

// Ask returns what look finds, or found in the ten seconds before now. What it finds for a caller who has gone says nothing of the
// server and is not kept.
func (r *Reach) Ask(ctx context.Context, now time.Time, look func(context.Context) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !now.After(r.until) {
		return r.err
	}
	err := look(ctx)
	if ctx.Err() != context.Canceled {
		r.err, r.until = err, now.Add(reachFor)
	}
	return err
}
