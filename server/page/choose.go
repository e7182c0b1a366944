package page

import (
	"context"
	"net/http"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/views"
)

// offered is how many documents the question box offers at once, maxOffered how many chosen ones it shows.
const (
	offered    = 20
	maxOffered = 200
)

// Choices answers GET /choose?q=: the question box's part about documents, with those of that name.
//
// The page's script calls it while a name is typed; it answers with a fragment.
func (h *Handlers) Choices(c httpio.Context) error {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	counts, err := h.Library.Count(ctx, scope)
	if err != nil {
		return err
	}
	chooser, err := h.fillChooser(ctx, scope, counts, draftQuestion(c), nil)
	if err != nil {
		return err
	}
	return httpio.Show(c, http.StatusOK, views.ComposerDocuments(chooser))
}

var ready = []corpus.State{corpus.StateReady}

// fillChooser offers the newest documents, or those with text in their names, beside those that the last question was
// narrowed to.
//
// Only documents that are ready are offered, since others can't be searched. Chosen ones that are not ready any more
// are left out.
func (h *Handlers) fillChooser(
	ctx context.Context, scope chat.Scope, counts corpus.Counts, text string, chosen []string,
) (views.Chooser, error) {
	// Both counts are shown, to explain to users with documents in process why fewer are offered.
	c := views.Chooser{Ready: counts.Ready, All: counts.Documents}
	// Without documents there is nothing to choose, and the lists need not be read.
	if counts.Ready == 0 {
		return c, nil
	}
	var err error
	if c.Documents, _, err = h.Library.List(
		ctx,
		scope,
		corpus.Filter{Text: text, States: ready, Limit: offered},
	); err != nil {
		return c, err
	}
	if len(chosen) > 0 {
		c.Chosen, _, err = h.Library.List(
			ctx, scope, corpus.Filter{IDs: chosen[:min(len(chosen), maxOffered)], States: ready, Limit: maxOffered},
		)
	}
	return c, err
}
