package anthropic

import (
	"context"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/footnote/footnote/agent/llm"
)

// Ping reports whether the server responds and accepts the key. It requests the list of models, which costs no
// tokens, at most every ten seconds. It is safe for concurrent use. The error is an *llm.Error.
func (m *Model) Ping(ctx context.Context) error {
	return m.server.Reachable.Check(ctx, time.Now(), func(ctx context.Context) error {
		var raw []byte // not decoded: a response is enough
		_, err := m.models.List(ctx, sdk.ModelListParams{}, option.WithResponseBodyInto(&raw))
		if err == nil {
			return nil
		}
		// a server without a list of models is reachable as well
		if e := m.server.Transport(ctx, err); e.Status == 0 || e.Kind == llm.KindAuth {
			return e
		}
		return nil
	})
}
