package page

import (
	"net/http"

	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/text/locale"
)

// ChooseLanguage handles POST /language: it sets the language cookie and shows the page again.
//
// It needs no key. It answers 303 to the page, or 400 for an unknown language.
func (h *Handlers) ChooseLanguage(c httpio.Context) error {
	if err := h.Bodies.ReadForm(c); err != nil {
		return err
	}
	l := locale.Find(c.Request().PostForm.Get("language"))
	if l == nil {
		return httpio.Invalid("language must be one that the page offers, such as en or de.")
	}
	httpio.KeepLanguage(c, l)
	return c.Redirect(http.StatusSeeOther, localTarget(c.Request().PostForm.Get("to")))
}
