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

// HealthChecks are the dependencies that GET /health asks beside the database and the index. A critical one that fails
// makes the server down, the others make it degraded. The order is that in which they are shown. Each is asked side by
// side with the others by the room server/api.
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
	answers := modelCheck("model", a.Desk.Reach)
	answers.Critical = !set.AgentFallbackToFixedPipeline // nothing takes its place then
	answers.Applies = a.Desk.Reachable
	checks = append(checks, answers)
	if set.EmbedsRemotely() && a.Library.Semantic() {
		checks = append(checks, modelCheck("embeddings", a.remote.ReachEmbeddings))
	}
	if ranks, ok := a.ranks.(*httprerank.Client); ok {
		checks = append(checks, seldom("reranker", func(ctx context.Context) error {
			if err := ranks.Reach(ctx); err != nil {
				return &chat.Error{
					Code: chat.CodeUnavailable, Message: "The reranker can't be used now.", Hint: err.Error(), Err: err,
				}
			}
			return nil
		}))
	}
	if a.search != nil {
		checks = append(checks, seldom("web search", a.search.Reach))
	}
	if a.Tools != nil {
		for _, server := range a.Tools.Servers() {
			checks = append(checks, api.Check{Name: "mcp " + server, Probe: func(ctx context.Context) error {
				return a.Tools.Reach(ctx, server)
			}})
		}
	}
	return checks
}

// seldom asks for what only helps, every ten seconds at most. Within ten seconds what was found last is told again.
func seldom(name string, look func(context.Context) error) api.Check {
	var seen httpllm.Reach
	return api.Check{Name: name, Probe: func(ctx context.Context) error { return seen.Ask(ctx, time.Now(), look) }}
}

// modelCheck asks a model's server, and says what is wrong with it in words for people. What a user may read is the
// message, and the server's own words are a hint beside it.
func modelCheck(name string, reach func(context.Context) error) api.Check {
	return api.Check{Name: name, Probe: func(ctx context.Context) error {
		err := reach(ctx)
		if e, ok := errors.AsType[*llm.Error](err); ok {
			return &chat.Error{
				Code: chat.CodeModelFailed, Message: "The model can't be used now.", Hint: e.Message, Err: e.Err,
			}
		}
		return err
	}}
}

// originalsTime is how long a look at the originals may take.
const originalsTime = 2 * time.Second

// originalsCheck is how /health asks for originals that all replicas share. Without them questions are answered all
// the same. It asks every ten seconds at most. Two seconds is a choice.
func originalsCheck(kept originals.Store) api.Check {
	return seldom("originals", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, originalsTime)
		defer cancel()
		return kept.Reach(ctx)
	})
}

// milvusCheck is how /health asks for the vectors. Without them searches go on by words. It also says what the server
// is and what it holds.
func milvusCheck(vectors *milvus.Store) api.Check {
	return api.Check{
		Name: "vectors", Probe: vectors.Reach, Says: func(context.Context) string { return vectors.About() },
	}
}
