package page

import (
	"context"
	"net/http"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/views"
)

// offered is the number of documents in the question box, maxOffered the limit of chosen ones.
const (
	offered    = 20
	maxOffered = 200
)

// Choices handles GET /choose?q=: the question box's document list, filtered by name.
//
// The page's script requests it while the user types; the response is a fragment.
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

// fillChooser lists the newest documents, or those with text in their names, and the chosen ones of the last
// question.
//
// Only ready documents are listed, since others can't be searched. Chosen ones that are no longer ready are left
// out.
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
