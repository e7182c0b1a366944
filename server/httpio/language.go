package httpio

import (
	"net/http"
	"time"

	"github.com/footnote/footnote/text/locale"
)

// LanguageCookie keeps the language that a reader chose for the page.
const LanguageCookie = "footnote_language"

// languageKept is how long a browser keeps it.
const languageKept = 365 * 24 * time.Hour

// SpeakLanguage puts the reader's language into the request's context: the chosen one, else the best of
// Accept-Language. What programs are told stays English.
func SpeakLanguage(next Handler) Handler {
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

// pageHeader is sent by the page's script with what it asks for as a program does and shows to the reader.
const pageHeader = "Footnote-Page"

// Said is a sentence for whoever asks: in the reader's language for the page's script, in English for programs.
func Said(c Context, sentence string) string {
	if c.Request().Header.Get(pageHeader) == "" {
		return sentence
	}
	return locale.Known(c.Request().Context(), sentence)
}

// KeepLanguage has the browser keep a language.
func KeepLanguage(c Context, l *locale.Language) {
	c.SetCookie(&http.Cookie{
		Name: LanguageCookie, Value: l.Code, Path: "/", MaxAge: int(languageKept.Seconds()), HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: c.Scheme() == "https",
	})
}
