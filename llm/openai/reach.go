package openai

import "context"

// Reach reports whether the server answers and takes the key. It asks at most every ten seconds and is safe for
// concurrent use. The error is an *llm.Error.
func (m *Model) Reach(ctx context.Context) error {
	return m.server.Reach.Ask(ctx, m.now(), func(ctx context.Context) error { return m.probeModels(ctx).Err })
}

// ReachEmbeddings reports whether the embedding model makes vectors, which a server can refuse while it answers
// everything else. It asks for that of one word at most every ten seconds, without trying again, and is safe for
// concurrent use. The error is an *llm.Error.
func (m *Model) ReachEmbeddings(ctx context.Context) error {
	return m.embedder.Reach.Ask(ctx, m.now(), func(ctx context.Context) error {
		if _, err := m.embedBatch(ctx, []string{"footnote"}); err != nil {
			return err
		}
		return nil
	})
}
