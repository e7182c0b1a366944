package page

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/sources/addpage"
	"github.com/footnote/footnote/corpus/sources/request"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/views"
)

// maxGivenTitle is the maximum length in characters of a title from another page: enough for a line of the page.
const maxGivenTitle = 300

// PutPage imports a web page and counts it against the limits.
type PutPage func(c httpio.Context, page addpage.Page) (d corpus.Document, duplicate bool, err error)

// ShowAdd handles GET /add: the form that imports a web page. ?url= and ?title= fill it in, as the bookmark does;
// nothing is fetched before the form is submitted. ?added= shows an imported page.
//
// It renders an invalid address with 400. Another site can link here, so nothing happens before the user submits the
// form.
func (h *Handlers) ShowAdd(c httpio.Context) error {
	if id := c.QueryParam("added"); id != "" {
		d, err := h.Library.Document(c.Request().Context(), httpio.Scope(c), id)
		if err != nil {
			return err
		}
		return h.addForm(c, http.StatusOK, views.AddPage{Added: &d, Again: c.QueryParam("again") != ""})
	}
	a := views.AddPage{URL: strings.TrimSpace(httpio.CleanText(c.QueryParam("url")))}
	if a.URL == "" {
		return h.addForm(c, http.StatusOK, a)
	}
	if _, err := request.Address(a.URL); err != nil {
		a.Said = chat.MessageOf(err)
		return h.addForm(c, http.StatusBadRequest, a)
	}
	title := []rune(strings.TrimSpace(httpio.CleanText(c.QueryParam("title"))))
	a.Given, a.Title = true, string(title[:min(len(title), maxGivenTitle)])
	return h.addForm(c, http.StatusOK, a)
}

// AddPage handles POST /add: it imports the form's page. On failure the form keeps its input.
//
// It answers 303 to GET /add?added= on success, else the form with the status of the failure. Server errors go to
// the error handler.
func (h *Handlers) AddPage(c httpio.Context, form url.Values) error {
	typed := strings.TrimSpace(form.Get("url"))
	address := typed
	if !strings.Contains(address, ":") && strings.Contains(address, ".") { // without a scheme, as people write them
		address = "https://" + address
	}
	d, again, err := h.PutPage(c, addpage.Page{User: httpio.Scope(c).User, Address: address})
	status := http.StatusSeeOther
	if err != nil {
		status = httpio.Status(chat.CodeOf(err))
	}
	switch {
	// The input is valid here, so the form has nothing to report.
	case err != nil && (status == http.StatusInternalServerError || c.Request().Context().Err() != nil):
		return err
	case err != nil:
		return h.addForm(c, status, views.AddPage{URL: typed, Said: httpio.AsError(err).Message})
	}
	to := url.Values{"added": {d.ID}}
	if again {
		to.Set("again", "true")
	}
	return c.Redirect(status, "/add?"+to.Encode())
}

func (h *Handlers) addForm(c httpio.Context, status int, a views.AddPage) error {
	// The field has the focus only for input: a cursor there would hide the page's message about an imported
	// document.
	a.Origin, a.Focus = httpio.Origin(c), a.Added == nil && !a.Given
	return h.show(c, status, views.Page{
		Title: views.AddPageTitle.In(c.Request().Context()), Place: "documents", Running: a.Live(),
	}, views.Add(a))
}
