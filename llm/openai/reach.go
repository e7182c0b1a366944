package openai

import "context"

// Reach reports whether the server answers and takes the key. It asks at most every ten seconds and is safe for concurrent use.
// The error is an *llm.Error.
func (m *Model) Reach(ctx context.Context) error {
	return m.reach.Ask(ctx, m.now(), func(ctx context.Context) error { return m.probeModels(ctx).Err })
}
