package page

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"footnote/chat"
	"footnote/corpus"
	"footnote/server/httpio"
	"footnote/views"
)

// offered is how many documents the question box offers at once, maxOffered how many chosen ones it shows.
const (
	offered    = 20
	maxOffered = 200
)

// Choices answers GET /choose?q=: documents by name, for the question box.
func (h *Handlers) Choices(c echo.Context) error {
	docs, _, err := h.Library.List(
		c.Request().Context(), httpio.Scope(c), corpus.Filter{Text: draftQuestion(c), States: ready, Limit: offered},
	)
	if err != nil {
		return err
	}
	return httpio.Show(c, http.StatusOK, views.Choices(views.Chooser{Documents: docs}))
}

var ready = []corpus.State{corpus.StateReady}

// fillChooser offers the newest documents beside those that the last question was narrowed to.
func (h *Handlers) fillChooser(
	ctx context.Context, scope chat.Scope, counts corpus.Counts, chosen []string,
) (views.Chooser, error) {
	c := views.Chooser{Ready: counts.Ready}
	if counts.Ready == 0 {
		return c, nil
	}
	var err error
	if c.Documents, _, err = h.Library.List(ctx, scope, corpus.Filter{States: ready, Limit: offered}); err != nil {
		return c, err
	}
	if len(chosen) > 0 {
		c.Chosen, _, err = h.Library.List(
			ctx, scope, corpus.Filter{IDs: chosen[:min(len(chosen), maxOffered)], States: ready, Limit: maxOffered},
		)
	}
	return c, err
}
