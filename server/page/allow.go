package page

import (
	"net/http"
	"net/url"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/grants"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/views"
)

// allowFields are the parameters of an authorization request.
var allowFields = []string{
	"response_type", "client_id", "redirect_uri", "code_challenge", "code_challenge_method", "scope", "state",
	"resource",
}

// AskToAllow handles GET /oauth/authorize: a program asks the signed-in user for access to /mcp.
//
// It answers 200 with the consent page, and 404 if no keys are used, since programs then need no token. An invalid
// request is 400 and shown to the user only: there is no redirect to a program before the user's decision (RFC 9700,
// section 4.11.2).
func (h *Handlers) AskToAllow(c httpio.Context) error {
	// RFC 6749, section 3.1: parameters must not be repeated. CheckQuery covers only the routes for programs.
	for _, values := range c.QueryParams() {
		if len(values) > 1 {
			return httpio.Invalid("The URL contains a duplicate parameter. Connect from the app again.")
		}
	}
	client, asked, err := h.checkAllow(c, c.QueryParam)
	if err != nil {
		return err
	}
	if err := h.Grants.KeepPending(c.Request().Context(), client); err != nil {
		return err
	}
	// the form redirects to the program, which the default Content-Security-Policy would block
	c.Response().
		Header().
		Set("Content-Security-Policy", "default-src 'self'; img-src 'self' data:; object-src 'none'; "+
			"base-uri 'none'; form-action 'self' "+asked.Origin()+"; frame-ancestors 'none'")
	var kept []views.Field
	// The form carries the request, so that the server stores nothing before the user's decision.
	for _, name := range allowFields {
		if value := c.QueryParam(name); value != "" {
			kept = append(kept, views.Field{Name: name, Value: value})
		}
	}
	return httpio.Show(c, http.StatusOK, views.Allow(views.AllowPage{
		Assets: h.Assets, Name: client.Name, Goes: asked.Origin(), User: httpio.Scope(c).User, Kept: kept,
	}))
}

// checkAllow parses an authorization request.
//
// get reads a parameter of the address or a form field: both are validated, since a form can be forged.
func (h *Handlers) checkAllow(c httpio.Context, get func(string) string) (grants.Client, *grants.Request, error) {
	if !h.Grants.Enabled() {
		return grants.Client{}, nil, httpio.StatusError(http.StatusNotFound)
	}
	return h.Grants.Check(c.Request().Context(), get, httpio.Origin(c)+httpio.MCPPath)
}

// Allow handles POST /oauth/authorize: the user's decision.
//
// The browser is redirected to the program with a code, or with access_denied (RFC 6749, sections 4.1.2 and
// 4.1.2.1). The grant depends on the key that was sent and ends with it.
func (h *Handlers) Allow(c httpio.Context, form url.Values) error {
	client, asked, err := h.checkAllow(c, form.Get)
	if err != nil {
		return err
	}
	answer := map[string]string{"error": "access_denied"}
	if form.Get("answer") == "allow" {
		key, _ := httpio.RequestKey(c.Request())
		code, err := h.Grants.Allow(c.Request().Context(), httpio.Scope(c).User, key, client, asked)
		if err != nil {
			return err
		}
		answer = map[string]string{"code": code}
	}
	// The redirect address contains a code.
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.Redirect(http.StatusSeeOther, asked.Back(httpio.Origin(c), answer))
}

// Connections handles GET /connections: the user's grants to programs.
//
// It fails with 404 if no keys are used.
func (h *Handlers) Connections(c httpio.Context) error {
	if !h.Grants.Enabled() {
		return httpio.StatusError(http.StatusNotFound)
	}
	list, err := h.Grants.List(c.Request().Context(), httpio.Scope(c).User)
	if err != nil {
		return err
	}
	shown := httpio.Each(list, func(g grants.Grant) views.Connection {
		return views.Connection{ID: g.ID, Name: g.Name, Since: g.Since}
	})
	return httpio.Show(c, http.StatusOK, views.Connections(h.Assets, shown))
}

// EndConnection handles POST /connections/end: it revokes a grant.
//
// It answers 303 to the list, or 404 for a grant that the user does not have.
func (h *Handlers) EndConnection(c httpio.Context, form url.Values) error {
	if !h.Grants.Enabled() {
		return httpio.StatusError(http.StatusNotFound)
	}
	if err := h.Grants.RevokeGrant(c.Request().Context(), httpio.Scope(c).User, form.Get("id")); err != nil {
		if chat.CodeOf(err) == chat.CodeNotFound {
			err = httpio.NotFound("Connection not found. It may have ended.")
		}
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/connections")
}
