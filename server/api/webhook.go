package api

import (
	"context"
	"net/http"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
)

// Webhooks sends changes of kept questions to the users' webhooks.
type Webhooks interface {
	// Set sets the address for a user's changes, and returns a new secret for the signatures. It fails with
	// chat.CodeInvalid for an invalid address. origin is the server's address for the user; local is the guard's
	// ByLocalUser.
	Set(ctx context.Context, s chat.Scope, address, origin string, local bool) (secret string, err error)
}

// NewWebhook is the body of PUT /standing/webhook.
type NewWebhook struct {
	URL string `json:"url"` // The address that changes are sent to: https or http.
}

// WebhookState is the webhook's address and delivery state.
type WebhookState struct {
	URL string `json:"url"` // Where changes are sent to.
	// The secret for the messages' signatures, whsec_ and base64; only in the response that creates it.
	Secret string     `json:"secret,omitempty"`
	SetAt  time.Time  `json:"set_at"`  // When the address was set.
	SentAt *time.Time `json:"sent_at"` // The last successful delivery; null: none yet.
	// The last failed delivery; null: the last one succeeded.
	FailedAt *time.Time `json:"failed_at"`
	Trouble  string     `json:"trouble,omitempty"` // Why the last delivery failed.
	Waiting  int        `json:"waiting"`           // Changes in the queue.
	Lost     int        `json:"lost"`              // Changes whose delivery was given up since the address was set.
}

// GetWebhook handles GET /standing/webhook. It fails with 404 while no webhook is set. The response never contains
// the secret.
func (a *Handlers) GetWebhook(c httpio.Context) error { return a.sendWebhook(c, "") }

// SetWebhook handles PUT /standing/webhook.
//
// It answers 200 with the new secret, returned only once. The queue of the old address is sent to the new one.
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

// DropWebhook handles DELETE /standing/webhook. It answers 204. Queued changes are not sent.
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
