package api

import (
	"context"
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
	URL string `json:"url"` // The URL of the receiver: https or http.
}

// WebhookState is the webhook's address and delivery state.
type WebhookState struct {
	URL string `json:"url"` // The URL of the receiver.
	// The signing secret, whsec_ and base64; returned only when it is created.
	Secret string     `json:"secret,omitempty"`
	SetAt  time.Time  `json:"set_at"`  // When the URL was set.
	SentAt *time.Time `json:"sent_at"` // The last successful delivery; null: none yet.
	// The last failed delivery; null: the last one succeeded.
	FailedAt *time.Time `json:"failed_at"`
	Trouble  string     `json:"trouble,omitempty"` // Why the last delivery failed.
	Waiting  int        `json:"waiting"`           // The number of queued changes.
	Lost     int        `json:"lost"`              // The number of undeliverable changes since the URL was set.
}

// Webhook handles GET /standing/webhook: 404 while none is set, and never the secret.
func (a *Standing) Webhook(c httpio.Context) (WebhookState, error) {
	h, err := a.Store.Webhook(c.Request().Context(), httpio.Scope(c))
	return WebhookState{
		URL: h.URL, SetAt: h.SetAt, SentAt: httpio.Known(h.SentAt), FailedAt: httpio.Known(h.FailedAt),
		Trouble: h.Trouble.String(), Waiting: h.Waiting, Lost: h.Lost,
	}, err
}

// SetWebhook handles PUT /standing/webhook. Only its response has the new secret. The queue of the old address is
// sent to the new one.
func (a *Standing) SetWebhook(c httpio.Context, body NewWebhook) (WebhookState, error) {
	secret, err := a.Webhooks.Set(c.Request().Context(), httpio.Scope(c), body.URL, httpio.Origin(c),
		a.Guard.ByLocalUser(c.Request()))
	if err != nil {
		return WebhookState{}, err
	}
	state, err := a.Webhook(c)
	state.Secret = secret
	return state, err
}

// DropWebhook handles DELETE /standing/webhook. Queued changes are not sent.
func (a *Standing) DropWebhook(ctx context.Context, s chat.Scope, _ string) error {
	return a.Store.SetWebhook(ctx, s, nil)
}
