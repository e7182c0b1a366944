package page

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/text/locale"
	"github.com/footnote/footnote/views"
)

// keyKept is the lifetime of a browser's key cookie; the key itself stays valid until it is revoked.
const keyKept = 30 * 24 * time.Hour

// AskForKey handles GET /signin.
//
// It needs no key. ?to= is the redirect target after signing in; see localTarget.
func (h *Handlers) AskForKey(c httpio.Context) error {
	return h.signInPage(c, http.StatusOK, c.QueryParam("to"), "")
}

// signInPage renders the form for a key, before a redirect to an address or with a question that was sent without a
// key.
func (h *Handlers) signInPage(c httpio.Context, status int, to string, detail locale.Message) error {
	return httpio.Show(c, status, views.SignIn(h.Assets, localTarget(to), detail, keptFields(c)))
}

// SignIn stores a valid key in a cookie that scripts can't read.
//
// It handles POST /signin: 303 to the previous address, or the page with the kept question; 401 with the form for an
// invalid key.
func (h *Handlers) SignIn(c httpio.Context, form url.Values) error {
	if h.Keys == nil {
		return c.Redirect(http.StatusSeeOther, "/")
	}
	key := strings.TrimSpace(form.Get("key"))
	user, _, err := h.Keys.User(key)
	if err != nil {
		// An unreadable key file is no error of the user's input.
		if chat.CodeOf(err) != chat.CodeUnauthorized {
			return err
		}
		return h.signInPage(c, http.StatusUnauthorized, form.Get("to"), locale.Message(views.KeyNotValid.English()))
	}
	cookie := keyCookie(c, key, int(keyKept.Seconds()))
	c.SetCookie(cookie)
	if len(keptFields(c)) > 0 {
		// The request continues as if it had been sent with the key: the following page is the user's.
		c.Request().AddCookie(cookie)
		c.Set(httpio.UserField, user)
		if h.showKept(c) {
			return nil
		}
	}
	return c.Redirect(http.StatusSeeOther, localTarget(form.Get("to")))
}

// SignOut deletes the key's cookie.
//
// It handles POST /signout with 303. The key itself stays valid.
func (h *Handlers) SignOut(c httpio.Context) error {
	c.SetCookie(keyCookie(c, "", -1))
	return c.Redirect(http.StatusSeeOther, "/signin")
}

// keyCookie returns the key's cookie, with a lifetime in seconds. It is HttpOnly, and Secure over HTTPS.
//
// SameSite is Lax, so that a link from elsewhere opens a page signed in; forms of other sites do not send it.
func keyCookie(c httpio.Context, key string, seconds int) *http.Cookie {
	return &http.Cookie{
		Name: httpio.KeyCookie, Value: key, Path: "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: c.Scheme() == "https",
	}
}

// localTarget validates a redirect target on this server.
//
// It refuses any form that a browser may parse as another host, such as backslashes and two slashes: otherwise
// signing in would be an open redirect.
func localTarget(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "" || u.Host != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") ||
		strings.Contains(to, `\`) || u.Path == "/signin" {
		return "/"
	}
	return to
}

// SignInFirst handles a browser without a valid key: it shows the sign-in form and then redirects to the requested
// address, or to the question.
//
// The status stays 401, so that scripts and caches do not mistake the form for the page.
func (h *Handlers) SignInFirst(c httpio.Context, p httpio.Problem) error {
	if p.Status != http.StatusUnauthorized {
		return httpio.Show(c, p.Status, views.SignIn(h.Assets, "/", p.Detail, nil))
	}
	// Only a GET request can be repeated: a form's address has no GET.
	to := "/"
	switch c.Request().Method {
	case http.MethodGet:
		to = c.Request().URL.RequestURI()
	default:
		if err := h.Bodies.ReadForm(c); err != nil { // other bodies have no question
			c.Request().PostForm = nil
		}
		to = pageOf(c)
	}
	return h.signInPage(c, p.Status, to, "")
}
