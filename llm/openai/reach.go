package openai

import (
	"context"
	"sync"
	"time"
)

// reachFor is how long the answer of Reach is kept, so that a health check asked often does not load the model's server.
const reachFor = 10 * time.Second

// reach remembers what the last look at the server found.
type reach struct {
	mu    sync.Mutex
	until time.Time
	err   error
}

// Reach reports whether the server answers and takes the key. It asks at most every ten seconds and is safe for concurrent use.
// The error is an *llm.Error.
func (m *Model) Reach(ctx context.Context) error {
	m.reach.mu.Lock()
	defer m.reach.mu.Unlock()
	if now := m.now(); now.After(m.reach.until) {
		m.reach.err = m.probeModels(ctx).Err
		m.reach.until = now.Add(reachFor)
	}
	return m.reach.err
}
