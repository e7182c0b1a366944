package api

import (
	"time"

	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/shares"
)

// Links serves the public links to answers.
type Links struct{ Shares *shares.Service }

// Make handles POST /agent/runs/{id}/shares. Only its response has the link's address.
func (a *Links) Make(c httpio.Context, wanted shares.ShareRequest) (shares.SharedLink, error) {
	return a.Shares.Make(c.Request().Context(), httpio.Scope(c), c.Param("id"), httpio.Origin(c), wanted.Days)
}

// List handles GET /shares: the user's links, newest first.
func (a *Links) List(c httpio.Context) (shares.ShareList, error) {
	found, err := a.Shares.Store.Shares(c.Request().Context(), httpio.Scope(c), time.Now())
	return shares.ShareList{Shares: httpio.NotNil(found)}, err
}
