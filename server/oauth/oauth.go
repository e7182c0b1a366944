// Package oauth issues tokens for /mcp to programs, as the Model Context Protocol requires (OAuth 2.1). It serves
// the metadata (RFC 9728, RFC 8414), registers clients (RFC 7591), and issues and revokes tokens (RFC 7009). The
// consent page is in the room page. All of it is off while no keys are needed.
package oauth

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/footnote/footnote/chat/grants"
	"github.com/footnote/footnote/server/httpio"
)

// Handlers serves the OAuth routes.
type Handlers struct {
	Grants *grants.Issuer
	Log    *slog.Logger

	made registrations
}

// maxBody is the maximum size of a request body in bytes.
const maxBody = 64 << 10

// needed fails with 404 while no keys are needed.
func (h *Handlers) needed() error {
	if h.Grants.Enabled() {
		return nil
	}
	return httpio.StatusError(http.StatusNotFound)
}

// Resource handles GET /.well-known/oauth-protected-resource.
func (h *Handlers) Resource(c httpio.Context) error {
	if err := h.needed(); err != nil {
		return err
	}
	c.Response().Header().Set("Cache-Control", "no-cache")
	return c.JSON(http.StatusOK, map[string]any{
		"resource": httpio.Origin(c) + httpio.MCPPath, "authorization_servers": []string{httpio.Origin(c)},
		"scopes_supported": []string{grants.Scope}, "bearer_methods_supported": []string{"header"},
		"resource_name": "Footnote",
	})
}

// Server handles GET /.well-known/oauth-authorization-server.
func (h *Handlers) Server(c httpio.Context) error {
	if err := h.needed(); err != nil {
		return err
	}
	at, none := httpio.Origin(c), []string{"none"}
	c.Response().Header().Set("Cache-Control", "no-cache")
	return c.JSON(http.StatusOK, map[string]any{
		"issuer": at, "authorization_endpoint": at + "/oauth/authorize", "token_endpoint": at + "/oauth/token",
		"registration_endpoint": at + "/oauth/register", "revocation_endpoint": at + "/oauth/revoke",
		"response_types_supported": []string{"code"}, "response_modes_supported": []string{"query"},
		"grant_types_supported":            []string{"authorization_code", "refresh_token"},
		"code_challenge_methods_supported": []string{"S256"}, "scopes_supported": []string{grants.Scope},
		"token_endpoint_auth_methods_supported": none, "revocation_endpoint_auth_methods_supported": none,
		"authorization_response_iss_parameter_supported": true,
	})
}

// Register handles POST /oauth/register. Other client metadata is ignored.
func (h *Handlers) Register(c httpio.Context) error {
	if err := h.needed(); err != nil {
		return err
	}
	if err := h.made.count(c.RealIP(), time.Now()); err != nil {
		return err
	}
	var said struct {
		Name      string   `json:"client_name"`
		Redirects []string `json:"redirect_uris"`
		Method    string   `json:"token_endpoint_auth_method"`
	}
	body, err := io.ReadAll(http.MaxBytesReader(c.Response(), c.Request().Body, maxBody))
	if err != nil {
		return err
	}
	if httpio.MediaType(c) != httpio.TypeJSON || json.Unmarshal(body, &said) != nil {
		return h.refuse(c, &grants.Error{
			Code: "invalid_client_metadata", Message: "Send a JSON object with redirect_uris and client_name.",
		})
	}
	client, err := h.Grants.Register(c.Request().Context(), grants.Client{Name: said.Name, Redirects: said.Redirects})
	if err != nil {
		return h.refuse(c, err)
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(http.StatusCreated, map[string]any{
		"client_id": client.ID, "client_name": client.Name, "redirect_uris": client.Redirects,
		"grant_types":    []string{"authorization_code", "refresh_token"},
		"response_types": []string{"code"}, "token_endpoint_auth_method": "none", "scope": grants.Scope,
	})
}

// form parses a posted form and refuses duplicate fields.
func (h *Handlers) form(c httpio.Context) (url.Values, error) {
	if err := h.needed(); err != nil {
		return nil, err
	}
	bad := &grants.Error{Code: "invalid_request", Message: "Send a form without duplicate fields."}
	body, err := io.ReadAll(http.MaxBytesReader(c.Response(), c.Request().Body, maxBody))
	if err != nil {
		return nil, err
	}
	values, err := url.ParseQuery(string(body))
	if err != nil || httpio.MediaType(c) != httpio.TypeForm {
		return nil, bad
	}
	for _, all := range values {
		if len(all) > 1 {
			return nil, bad
		}
	}
	return values, nil
}

// Token handles POST /oauth/token.
func (h *Handlers) Token(c httpio.Context) error {
	form, err := h.form(c)
	if err != nil {
		return h.refuse(c, err)
	}
	ctx := c.Request().Context()
	var got grants.Tokens
	switch form.Get("grant_type") {
	case "authorization_code":
		got, err = h.Grants.Exchange(ctx, form.Get("code"), form.Get("code_verifier"), form.Get("client_id"),
			form.Get("redirect_uri"), form.Get("resource"))
	case "refresh_token":
		got, err = h.Grants.Refresh(ctx, form.Get("refresh_token"), form.Get("client_id"), form.Get("resource"))
	default:
		err = &grants.Error{
			Code: "unsupported_grant_type", Message: "grant_type must be authorization_code or refresh_token",
		}
	}
	if err != nil {
		return h.refuse(c, err)
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(http.StatusOK, map[string]any{
		"access_token": got.Access, "token_type": "Bearer", "expires_in": got.Seconds, "refresh_token": got.Refresh,
		"scope": grants.Scope,
	})
}

// Revoke handles POST /oauth/revoke: it revokes a token and with it the grant.
func (h *Handlers) Revoke(c httpio.Context) error {
	form, err := h.form(c)
	if err == nil {
		err = h.Grants.RevokeToken(c.Request().Context(), form.Get("token"))
	}
	if err != nil {
		return h.refuse(c, err)
	}
	return c.NoContent(http.StatusOK)
}

// refuse sends an OAuth error in OAuth's form; others are returned.
func (h *Handlers) refuse(c httpio.Context, err error) error {
	known, ok := errors.AsType[*grants.Error](err)
	if !ok {
		return err
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	h.Log.InfoContext(c.Request().Context(), "oauth refused", "code", known.Code, "why", known.Message)
	return c.JSON(http.StatusBadRequest, map[string]string{
		"error": known.Code, "error_description": known.Message,
	})
}
