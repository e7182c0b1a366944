package page

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/views"
)

// Standing handles GET /standing: the kept questions. It marks their changes as seen.
//
// Only the change that was the newest when the page was rendered is marked: a concurrent one stays unseen.
func (h *Handlers) Standing(c httpio.Context) error {
	return h.standingPage(c, http.StatusOK, views.KeptPage{})
}

// FeedAddress is the response of POST /standing/feed for programs.
type FeedAddress struct {
	URL string `json:"url"`
}

// MakeFeed handles POST /standing/feed: it creates the address of a user's feed and replaces the previous one. The
// address is shown only once: the store has its hash.
//
// Programs get JSON, a form gets the page. Neither is cacheable, since the address gives access.
func (h *Handlers) MakeFeed(c httpio.Context) error {
	// rand.Text has at least 128 bits, so an address can't be guessed.
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

// Webhooks sends changes of kept questions to the users' webhooks; see api.Webhooks.
type Webhooks interface {
	Set(ctx context.Context, s chat.Scope, address, origin string, local bool) (secret string, err error)
}

// SetWebhook handles PUT /standing/webhook of a form: it shows the secret once, or the refused address with 400.
func (h *Handlers) SetWebhook(c httpio.Context) error {
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
	return h.standingPage(c, http.StatusOK, views.KeptPage{HookSecret: secret})
}

func (h *Handlers) standingPage(c httpio.Context, status int, p views.KeptPage) error {
	ctx, scope := c.Request().Context(), httpio.Scope(c)
	all, err := h.Store.AllStanding(ctx, scope)
	if err != nil {
		return err
	}
	// The page renders the questions as read before, so that new changes are marked as new once.
	for _, kept := range all {
		if !kept.Unseen() {
			continue
		}
		// Changes are sorted newest first.
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
	p.Questions, p.Hook, p.Now = all, hook, time.Now()
	return h.show(c, status, views.Page{Title: views.KeptTitle.In(ctx), Place: "standing"}, views.Kept(p))
}

// asked are the form fields of a question.
var asked = []string{"message", "session_id", "context_text", "document_ids", "namespace", "toolset", "model"}

// keptFields returns the form fields of a question, nil if there is none. If a question is sent without a valid key,
// the sign-in form carries these fields, so that the question is not lost. They are only in bodies: never in
// addresses, cookies or logs.
//
// They are sorted by name, so that equal questions give equal forms. The form must be parsed already.
func keptFields(c httpio.Context) []views.Field {
	form := c.Request().PostForm
	if corpus.Blank(form.Get("message")) {
		return nil
	}
	// Other fields, such as a typed key, are dropped.
	var fields []views.Field
	for name, values := range form {
		if slices.Contains(asked, name) {
			for _, value := range values {
				fields = append(fields, views.Field{Name: name, Value: value})
			}
		}
	}
	// Forms of a conversation have its id in their path, which the sign-in form lacks.
	if strings.HasPrefix(c.Path(), "/sessions/:id/") && !form.Has("session_id") {
		fields = append(fields, views.Field{Name: "session_id", Value: c.Param("id")})
	}
	slices.SortStableFunc(fields, func(a, b views.Field) int { return strings.Compare(a.Name, b.Name) })
	return fields
}

// showKept renders the page of a question that was sent before signing in, with the question in the box. It reports
// whether there was one.
//
// The question is not asked: the user submits it again.
func (h *Handlers) showKept(c httpio.Context) bool {
	q, err := h.Questions.Read(c)
	if err != nil {
		return false
	}
	err = h.refusedPage(c, httpio.Problem{Status: http.StatusOK}, q)
	return err == nil || httpio.Committed(c)
}

// pageOf returns the page of this server that a request was sent from.
//
// It uses the header Referer, which a client may forge, so only an address on this server is accepted, else the
// first page.
func pageOf(c httpio.Context) string {
	u, err := url.Parse(c.Request().Referer())
	if err != nil || u.Host != c.Request().Host {
		return "/"
	}
	return localTarget(u.RequestURI())
}
