package openai

import "context"

// Ping reports whether the server responds and accepts the key. It sends a request at most every ten seconds. It is
// safe for concurrent use. The error is an *llm.Error.
func (m *Model) Ping(ctx context.Context) error {
	return m.server.Reachable.Check(ctx, m.now(), func(ctx context.Context) error { return m.probeModels(ctx).Err })
}

// PingEmbeddings reports whether the embedding model works, which a server may refuse while it serves everything
// else. It embeds one word at most every ten seconds, without retries. It is safe for concurrent use. A timeout
// while Embed is active means a busy server and is not a failure. Active calls are checked after the failure, since
// they may have started meanwhile. The error is an *llm.Error.
func (m *Model) PingEmbeddings(ctx context.Context) error {
	return m.embedder.Reachable.Check(ctx, m.now(), func(ctx context.Context) error {
		_, err := m.embedBatch(ctx, []string{"footnote"})
		if busy := m.embedding.Load() > 0; err != nil && !(busy && ctx.Err() == context.DeadlineExceeded) {
			return err
		}
		return nil
	})
}
