package page

import (
	"net/http"
	"net/url"

	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/text/locale"
)

// ChooseLanguage handles POST /language: it sets the language cookie and shows the page again.
//
// It needs no key. It answers 303 to the page, or 400 for an unknown language.
func (h *Handlers) ChooseLanguage(c httpio.Context, form url.Values) error {
	l := locale.Find(form.Get("language"))
	if l == nil {
		return httpio.Invalid("language must be a supported language, such as en or de.")
	}
	httpio.SetLanguageCookie(c, l)
	return c.Redirect(http.StatusSeeOther, localTarget(form.Get("to")))
}
