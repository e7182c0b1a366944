package anthropic

import (
	"context"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/footnote/footnote/agent/llm"
)

// Reach reports whether the server answers and takes the key. It asks for the list of models, which costs no tokens,
// at most every ten seconds, and is safe for concurrent use. The error is an *llm.Error.
func (m *Model) Reach(ctx context.Context) error {
	return m.server.Reach.Ask(ctx, time.Now(), func(ctx context.Context) error {
		var raw []byte // not decoded: that it came is enough
		_, err := m.models.List(ctx, sdk.ModelListParams{}, option.WithResponseBodyInto(&raw))
		if err == nil {
			return nil
		}
		// servers without a list answer all the same
		if e := m.server.Transport(ctx, err); e.Status == 0 || e.Kind == llm.KindAuth {
			return e
		}
		return nil
	})
}
