package openai

import "context"

// Reach reports whether the server answers and takes the key. It asks at most every ten seconds and is safe for
// concurrent use. The error is an *llm.Error.
func (m *Model) Reach(ctx context.Context) error {
	return m.server.Reach.Ask(ctx, m.now(), func(ctx context.Context) error { return m.probeModels(ctx).Err })
}

// ReachEmbeddings reports whether the embedding model makes vectors, which a server can refuse while it answers
// everything else. It asks for that of one word at most every ten seconds, without trying again, and is safe for
// concurrent use. A server that is busy with the texts of Embed may let it wait until ctx ends: that is no failure. The
// error is an *llm.Error. Whether texts are being embedded is asked after the failure: those that began meanwhile are a
// reason too.
func (m *Model) ReachEmbeddings(ctx context.Context) error {
	return m.embedder.Reach.Ask(ctx, m.now(), func(ctx context.Context) error {
		_, err := m.embedBatch(ctx, []string{"footnote"})
		if busy := m.embedding.Load() > 0; err != nil && !(busy && ctx.Err() == context.DeadlineExceeded) {
			return err
		}
		return nil
	})
}
