package httpio

import (
	"net/http"
	"time"

	"github.com/footnote/footnote/text/locale"
)

// LanguageCookie is the cookie with the reader's language.
const LanguageCookie = "footnote_language"

// languageKept is the lifetime of the cookie.
const languageKept = 365 * 24 * time.Hour

// NegotiateLanguage is the middleware that sets the request context's language: the cookie's, else the best match of
// Accept-Language. Responses to programs stay English.
func NegotiateLanguage(next Handler) Handler {
	return func(c Context) error {
		r, chosen := c.Request(), ""
		if cookie, err := r.Cookie(LanguageCookie); err == nil {
			chosen = cookie.Value
		}
		if l := locale.Match(chosen, r.Header.Get("Accept-Language")); l != locale.English {
			c.SetRequest(r.WithContext(locale.With(r.Context(), l)))
		}
		return next(c)
	}
}

// pageHeader marks API requests of the page's script whose response is shown to the reader.
const pageHeader = "Footnote-Page"

// ResponseText returns a message for the page's script in the reader's language; programs get English.
func ResponseText(c Context, m locale.Message) string {
	if c.Request().Header.Get(pageHeader) == "" {
		return m.String()
	}
	return m.In(c.Request().Context())
}

// SetLanguageCookie sets the language cookie.
func SetLanguageCookie(c Context, l *locale.Language) {
	c.SetCookie(&http.Cookie{
		Name: LanguageCookie, Value: l.Code, Path: "/", MaxAge: int(languageKept.Seconds()), HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: c.Scheme() == "https",
	})
}
