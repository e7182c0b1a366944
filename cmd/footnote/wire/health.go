package wire

import (
	"context"
	"errors"
	"time"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/httpllm"
	"github.com/footnote/footnote/agent/llm/httprerank"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/originals"
	"github.com/footnote/footnote/cmd/footnote/settings"
	"github.com/footnote/footnote/corpus/milvus"
	"github.com/footnote/footnote/server/api"
)

// HealthChecks returns the dependencies that GET /health checks besides the database and the index. A critical one
// that fails makes the server down, the others make it degraded. They are listed in this order. Package server/api
// runs them concurrently.
func (a *Parts) HealthChecks(set *settings.Settings) (checks []api.Check) {
	if a.Stores.checkFile != nil {
		checks = append(checks, api.Check{
			Name: "database file", Critical: true, Probe: func(context.Context) error { return a.Stores.checkFile() },
		})
	}
	if set.Blobs != "" {
		checks = append(checks, originalsCheck(a.Stores.Blobs))
	}
	if a.Stores.milvus != nil && a.Library.Semantic() {
		checks = append(checks, milvusCheck(a.Stores.milvus))
	}
	answers := modelCheck("model", a.Switcher.Ping)
	answers.Critical = !set.AgentFallbackToFixedPipeline // there is no fallback then
	answers.Applies = a.Switcher.Reachable
	checks = append(checks, answers)
	if set.EmbedsRemotely() && a.Library.Semantic() {
		checks = append(checks, modelCheck("embeddings", a.remote.PingEmbeddings))
	}
	if ranks, ok := a.ranks.(*httprerank.Client); ok {
		checks = append(checks, cachedCheck("reranker", func(ctx context.Context) error {
			if err := ranks.Ping(ctx); err != nil {
				return &chat.Error{
					Code: chat.CodeUnavailable, Message: "The reranker can't be used now.", Hint: err.Error(), Err: err,
				}
			}
			return nil
		}))
	}
	if a.search != nil {
		checks = append(checks, cachedCheck("web search", a.search.Ping))
	}
	if a.Tools != nil {
		for _, server := range a.Tools.Servers() {
			checks = append(checks, api.Check{Name: "mcp " + server, Probe: func(ctx context.Context) error {
				return a.Tools.Ping(ctx, server)
			}})
		}
	}
	return checks
}

// cachedCheck returns a check for a non-critical dependency. Its result is cached for ten seconds.
func cachedCheck(name string, look func(context.Context) error) api.Check {
	var seen httpllm.ReachCache
	return api.Check{Name: name, Probe: func(ctx context.Context) error { return seen.Check(ctx, time.Now(), look) }}
}

// modelCheck returns the check of a model's server. The message is safe for users; the server's own message is the
// hint.
func modelCheck(name string, reach func(context.Context) error) api.Check {
	return api.Check{Name: name, Probe: func(ctx context.Context) error {
		err := reach(ctx)
		if e, ok := errors.AsType[*llm.Error](err); ok {
			return &chat.Error{
				Code:    chat.CodeModelFailed,
				Message: "The model can't be used now.",
				Hint:    e.Message.String(),
				Err:     e.Err,
			}
		}
		return err
	}}
}

// originalsTime is the timeout of a check of the originals.
const originalsTime = 2 * time.Second

// originalsCheck checks the originals that replicas share. Questions are answered without them. The result is
// cached for ten seconds. The timeout of two seconds is arbitrary.
func originalsCheck(kept originals.Store) api.Check {
	return cachedCheck("originals", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, originalsTime)
		defer cancel()
		return kept.Ping(ctx)
	})
}

// milvusCheck checks the vector store. Without it, search falls back to the text index. It also reports the
// server's version and content.
func milvusCheck(vectors *milvus.Store) api.Check {
	return api.Check{
		Name: "vectors", Probe: vectors.Ping, Says: func(context.Context) string { return vectors.About() },
	}
}
