package page

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/views"
)

// Standing answers GET /standing: the kept questions. Whoever looks has seen what changed.
//
// Only the change that was the newest when the page was drawn is marked as seen: one that comes meanwhile stays unseen.
func (h *Handlers) Standing(c httpio.Context) error {
	return h.standingPage(c, http.StatusOK, views.KeptPage{})
}

// FeedAddress is the answer of POST /standing/feed for programs.
type FeedAddress struct {
	URL string `json:"url"`
}

// MakeFeed answers POST /standing/feed: it makes the address at which a user's changes can be read, in the place of
// the one before. The address is shown this once: only its hash is kept.
//
// Programs get JSON, a form gets the page; neither is to be stored, since the address is all that a reader needs.
func (h *Handlers) MakeFeed(c httpio.Context) error {
	// rand.Text has 128 bits at least, so nobody finds an address by trying.
	token := rand.Text()
	hash := chat.TokenHash(sha256.Sum256([]byte(token)))
	if err := h.Store.SetStandingFeed(c.Request().Context(), httpio.Scope(c), &hash); err != nil {
		return err
	}
	address := httpio.Origin(c) + "/standing/feed/" + token
	c.Response().Header().Set("Cache-Control", "no-store")
	if httpio.WantsHTML(c) {
		return h.standingPage(c, http.StatusOK, views.KeptPage{Feed: address})
	}
	return c.JSON(http.StatusOK, FeedAddress{address})
}

// DropFeedForm answers POST /standing/feed/delete.
func (h *Handlers) DropFeedForm(c httpio.Context) error {
	if err := h.Store.SetStandingFeed(c.Request().Context(), httpio.Scope(c), nil); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/standing")
}

// Webhooks sends what changed in kept questions to addresses that users set; see api.Webhooks.
type Webhooks interface {
	Set(ctx context.Context, s chat.Scope, address, origin string, local bool) (secret string, err error)
}

// SetWebhookForm answers POST /standing/webhook: a form has the changes sent to an address, and shows the secret, this
// once.
//
// 400 draws the page with what was typed.
func (h *Handlers) SetWebhookForm(c httpio.Context) error {
	if err := h.Bodies.ReadForm(c); err != nil {
		return err
	}
	address := c.Request().PostForm.Get("url")
	secret, err := h.Webhooks.Set(c.Request().Context(), httpio.Scope(c), address, httpio.Origin(c),
		h.Guard.ByLocalUser(c.Request()))
	switch {
	case err != nil && chat.CodeOf(err) == chat.CodeInvalid:
		return h.standingPage(c, http.StatusBadRequest, views.KeptPage{
			HookTyped: address, HookSaid: chat.MessageOf(err),
		})
	case err != nil:
		return err
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return h.standingPage(c, http.StatusOK, views.KeptPage{HookSecret: secret})
}

// DropWebhookForm answers POST /standing/webhook/delete.
func (h *Handlers) DropWebhookForm(c httpio.Context) error {
	if err := h.Store.SetWebhook(c.Request().Context(), httpio.Scope(c), nil); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/standing")
}

func (h *Handlers) standingPage(c httpio.Context, status int, p views.KeptPage) error {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	all, err := h.Store.AllStanding(ctx, scope)
	if err != nil {
		return err
	}
	// What is drawn below are the questions as they were read here, so what is new still shows as new this once.
	for _, kept := range all {
		if !kept.Unseen() {
			continue
		}
		// Changes stand newest first.
		seen := kept.Changes[0].At
		if _, err := h.Store.ChangeStanding(ctx, scope, kept.ID, func(s *chat.Standing) error {
			s.SeenAt = seen
			return nil
		}); err != nil && chat.CodeOf(err) != chat.CodeNotFound {
			return err
		}
	}
	hook, err := h.Store.Webhook(ctx, scope)
	if err != nil && chat.CodeOf(err) != chat.CodeNotFound {
		return err
	}
	frame, err := h.pageFrame(c, views.KeptTitle.In(ctx))
	if err != nil {
		return err
	}
	frame.Place = "standing"
	p.Questions, p.Hook, p.Now = all, hook, time.Now()
	return h.showPage(c, status, frame, views.Kept(p), nil)
}
