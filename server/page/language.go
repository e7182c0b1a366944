package page

import (
	"net/http"

	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/text/locale"
)

// ChooseLanguage answers POST /language: the browser keeps the language that a reader chose, and shows the page again.
//
// Anybody may, also before signing in. 303 back to the page; 400 for a language that the page does not have.
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
