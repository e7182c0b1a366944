package page

import (
	"net/http"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/runlog"
	"github.com/footnote/footnote/server/shares"
	"github.com/footnote/footnote/views"
)

// ListShares handles GET /shares for a browser: the links to answers, each with a button that ends it.
func (h *Handlers) ListShares(c httpio.Context) error { return h.sharesPage(c, http.StatusOK, nil) }

// ShareAnswer handles POST /agent/runs/{id}/shares of a form. Only the response page shows the link's address.
//
// It answers 201 with the page. The default for a missing or invalid number of days is shares.DefaultDays.
func (h *Handlers) ShareAnswer(c httpio.Context) error {
	var wanted shares.ShareRequest
	if err := h.Bodies.ReadFields(c, &wanted); err != nil {
		return err
	}
	made, err := h.Shares.Make(c.Request().Context(), httpio.Scope(c), c.Param("id"), httpio.Origin(c), wanted.Days)
	if err != nil {
		return err
	}
	return h.sharesPage(c, http.StatusCreated, &made)
}

// sharesPage renders the links, and the address of a new one.
//
// It is not cacheable, since it may contain an address that opens the answer.
func (h *Handlers) sharesPage(c httpio.Context, status int, made *shares.SharedLink) error {
	ctx := c.Request().Context()
	list, err := h.Store.Shares(ctx, httpio.Scope(c), time.Now())
	if err != nil {
		return err
	}
	// If only this machine reaches the server, the page warns that a link is of no use to others.
	p := views.SharesPage{Shares: list, Now: time.Now(), OnlyHere: h.Guard.LocalOnly()}
	if made != nil {
		p.Made, p.URL = &made.Share, made.URL
	}
	return h.show(c, status, views.Page{Title: views.SharesTitle.In(ctx)}, views.Shares(p))
}

// Shared handles GET /s/{token}: one answer with its quotes, for a holder of the link. It needs no key.
//
// An expired and an unknown link get the same 404 page. The page sends no referrer (Referrer-Policy) and is not
// indexed by search engines, since the address gives access.
func (h *Handlers) Shared(c httpio.Context) error {
	head := c.Response().Header()
	// These are set before the link is looked up, so that error pages have them too.
	head.Set("Content-Security-Policy", SharedPolicy)
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("X-Robots-Tag", "noindex, nofollow, noarchive")
	head.Set("Cache-Control", "no-store")
	share, t, err := h.Shares.Open(c.Request().Context(), c.Param("token"))
	if chat.CodeOf(err) == chat.CodeNotFound {
		return httpio.Show(c, http.StatusNotFound, views.SharedGone(h.Assets))
	}
	if err != nil {
		return err
	}
	return httpio.Show(c, http.StatusOK, views.Shared(h.Assets, sharedView(share, t)))
}

// SharedPolicy forbids a shared answer all external resources, scripts and forms.
const SharedPolicy = "default-src 'none'; style-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'"

// sharedView returns an answer without references to the library: no ids, no addresses, no steps.
func sharedView(h chat.Share, t *runlog.Trace) views.SharedAnswer {
	v := views.SharedAnswer{
		Question: h.Question, Model: t.Model, Until: h.ExpiresAt, Unsupported: t.Answer.Unsupported,
		Markdown: t.Answer.Markdown, Asked: t.CreatedAt,
	}
	for _, c := range t.Citations {
		v.Quotes = append(v.Quotes, views.SharedQuote{
			Number: c.Number, Title: c.Title, Filename: c.Filename, Place: c.PlaceWords(), Section: c.Section,
			Quote: c.Quote, Claimed: c.Claimed, Check: c.Check, Added: c.Added,
		})
	}
	return v
}
