package httpllm

import (
	"context"
	"sync"
	"time"
)

// reachFor is how long the answer of a look is kept, so that a health check asked often does not load the model's
// server.
const reachFor = 10 * time.Second

// Reach remembers what was last found of a model's server, by a look at it or by a request. The zero value is ready,
// and it is safe for concurrent use.
type Reach struct {
	looking sync.Mutex // one look at a time

	mu    sync.Mutex
	until time.Time
	err   error
}

// Ask returns what look finds, or was found in the ten seconds before now. What it finds for a caller who has gone says
// nothing of the server and is not kept. Callers that come while a look is under way wait for it and share its answer.
// A look for a caller whose time ran out is kept, as a server that does not answer in time is a finding; one for a
// caller who left is not.
func (r *Reach) Ask(ctx context.Context, now time.Time, look func(context.Context) error) error {
	r.looking.Lock()
	defer r.looking.Unlock()
	if err, known := r.knownResult(now); known {
		return err
	}
	err := look(ctx)
	if ctx.Err() != context.Canceled {
		r.Learn(now, err)
	}
	return err
}

// knownResult returns what was found last; known is false when that is too long ago.
func (r *Reach) knownResult(now time.Time) (err error, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err, !now.After(r.until)
}

// Learn keeps what a request found: that the server can't be used, or nil.
func (r *Reach) Learn(now time.Time, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err, r.until = err, now.Add(reachFor)
}
