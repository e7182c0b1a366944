package anthropic

import (
	"context"
	"sync"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"footnote/llm"
)

// reachFor is how long the answer of Reach is kept, so that a health check asked often does not load the model's server.
const reachFor = 10 * time.Second

// reach remembers what the last look at the server found.
type reach struct {
	mu     sync.Mutex
	models sdk.ModelService
	until  time.Time
	err    error
}

// Reach reports whether the server answers and takes the key. It asks for the list of models, which costs no tokens, at most every ten
// seconds, and is safe for concurrent use. The error is an *llm.Error.
func (m *Model) Reach(ctx context.Context) error {
	m.reach.mu.Lock()
	defer m.reach.mu.Unlock()
	if now := time.Now(); now.After(m.reach.until) {
		m.reach.err = nil
		if _, err := m.reach.models.List(ctx, sdk.ModelListParams{}); err != nil {
			if e := m.remote.Transport(ctx, err); e.Status == 0 || e.Kind == llm.KindAuth { // servers without a list answer all the same
				m.reach.err = e
			}
		}
		m.reach.until = now.Add(reachFor)
	}
	return m.reach.err
}
