package api

import (
	"context"
	"net/http"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
)

// Webhooks sends what changed in kept questions to addresses that users set.
type Webhooks interface {
	// Set has a user's changes sent to an address, and returns the new secret that signs them. chat.CodeInvalid for
	// what is no such address. origin is where the user reached this server; local is the guard's ByLocalUser.
	Set(ctx context.Context, s chat.Scope, address, origin string, local bool) (secret string, err error)
}

// NewWebhook is the body of PUT /standing/webhook.
type NewWebhook struct {
	URL string `json:"url"` // Where changes are sent to: https or http.
}

// WebhookState is the address that changes are sent to, and how it does.
type WebhookState struct {
	URL string `json:"url"` // Where changes are sent to.
	// What signs the messages, whsec_ and base64; only in the answer that makes it.
	Secret string     `json:"secret,omitempty"`
	SetAt  time.Time  `json:"set_at"`  // When the address was set.
	SentAt *time.Time `json:"sent_at"` // When the address last took a message; null: it took none yet.
	// When the address last did not take a message; null: it took the last one.
	FailedAt *time.Time `json:"failed_at"`
	Trouble  string     `json:"trouble,omitempty"` // Why it did not work the last time.
	Waiting  int        `json:"waiting"`           // Changes that wait to be sent.
	Lost     int        `json:"lost"`              // Changes that were given up since the address was set.
}

// GetWebhook answers GET /standing/webhook.
// 404 while no address is set. The secret is never in it.
func (a *Handlers) GetWebhook(c httpio.Context) error { return a.sendWebhook(c, "") }

// SetWebhook answers PUT /standing/webhook.
//
// 200 with the new secret, this once. What waited for the address before goes to the new one.
func (a *Handlers) SetWebhook(c httpio.Context) error {
	var body NewWebhook
	if err := a.Bodies.ReadJSON(c, &body); err != nil {
		return err
	}
	secret, err := a.Webhooks.Set(c.Request().Context(), httpio.Scope(c), body.URL, httpio.Origin(c),
		a.Guard.ByLocalUser(c.Request()))
	if err != nil {
		return err
	}
	return a.sendWebhook(c, secret)
}

// DropWebhook answers DELETE /standing/webhook.
// 204. What waited is not sent.
func (a *Handlers) DropWebhook(c httpio.Context) error {
	if err := a.Store.SetWebhook(c.Request().Context(), httpio.Scope(c), nil); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func (a *Handlers) sendWebhook(c httpio.Context, secret string) error {
	h, err := a.Store.Webhook(c.Request().Context(), httpio.Scope(c))
	if err != nil {
		return err
	}
	state := WebhookState{
		URL: h.URL, Secret: secret, SetAt: h.SetAt, Trouble: h.Trouble, Waiting: h.Waiting, Lost: h.Lost,
	}
	if !h.SentAt.IsZero() {
		state.SentAt = &h.SentAt
	}
	if !h.FailedAt.IsZero() {
		state.FailedAt = &h.FailedAt
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.JSON(http.StatusOK, state)
}
