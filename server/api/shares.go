package api

import (
	"net/http"
	"time"

	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/shares"
)

// ShareRun answers POST /agent/runs/{id}/shares: it makes a link to the answer.
//
// For the run's user: 201 with the address, which is told this once. 409 while there is no answer, 429 over the user's
// limit.
func (a *Handlers) ShareRun(c httpio.Context) error {
	id, err := httpio.RunID(c)
	if err != nil {
		return err
	}
	var wanted shares.ShareRequest
	if err := a.Bodies.ReadJSON(c, &wanted); err != nil {
		return err
	}
	made, err := a.Shares.Make(c.Request().Context(), httpio.Scope(c), id, httpio.Origin(c), wanted.Days)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(http.StatusCreated, made)
}

// ListShares answers GET /shares: the user's links, the latest first.
func (a *Handlers) ListShares(c httpio.Context) error {
	found, err := a.Store.Shares(c.Request().Context(), httpio.Scope(c), time.Now())
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, shares.ShareList{Shares: httpio.NotNil(found)})
}

// EndShare answers DELETE /shares/{id}: from then on the link opens nothing.
//
// 204, or 404 for a link that the user does not have.
func (a *Handlers) EndShare(c httpio.Context) error {
	if err := a.Store.DropShare(c.Request().Context(), httpio.Scope(c), c.Param("id")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
