package wire

import (
	"context"

	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/cmd/footnote/settings"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/api"
)

// Checker lets the connected language model judge search results.
func (a *Parts) Checker(set *settings.Settings) api.Checker {
	return api.Checker{
		Check: func(ctx context.Context, user, question string, found []corpus.Result) (api.CheckedResults, error) {
			checked, err := a.Runs.CheckResults(ctx, user, question, found)
			return api.CheckedResults(checked), err
		},
		Most: tools.MaxChecked,
		Retrieved: func() bool {
			return set.Features().Checks.IsOn() && a.Runs.Models()[0] != offline.Name
		},
	}
}
