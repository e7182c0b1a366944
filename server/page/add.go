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

// maxGivenTitle is how many characters of a title that another page gives are shown.
// It is a choice: enough for a line of the page.
const maxGivenTitle = 300

// PutPage adds a page of the web and counts it.
type PutPage func(c httpio.Context, page addpage.Page) (d corpus.Document, duplicate bool, err error)

// ShowAdd answers GET /add: the form that adds a page of the web. ?url= and ?title= fill it in, as the bookmark does;
// nothing is fetched until it is sent. ?added= says what became of a page.
//
// 400 draws the form with what is wrong with the address. Another site can lead a browser here, so nothing happens
// before the user sends the form.
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

// AddPage answers POST /add: the form fetches a page. What was typed comes back when it can't be added.
//
// 303 to GET /add?added= on success, else the form again with the status of the failure. Failures of the server go the
// way of all.
func (h *Handlers) AddPage(c httpio.Context) error {
	if err := h.Bodies.ReadForm(c); err != nil {
		return err
	}
	typed := strings.TrimSpace(c.Request().PostForm.Get("url"))
	address := typed
	if !strings.Contains(address, ":") && strings.Contains(address, ".") { // as people write them
		address = "https://" + address
	}
	d, again, err := h.PutPage(c, addpage.Page{User: httpio.Scope(c).User, Address: address})
	status := http.StatusSeeOther
	if err != nil {
		status = httpio.Status(chat.CodeOf(err))
	}
	switch {
	// What the user typed is not at fault here, so the form would say nothing useful.
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
	// The cursor stands in the field only where something is to be typed: it would hide what a page says of an added
	// document.
	a.Origin, a.Focus = httpio.Origin(c), a.Added == nil && !a.Given
	frame, err := h.pageFrame(c, views.AddPageTitle.In(c.Request().Context()))
	if err != nil {
		return err
	}
	frame.Place, frame.Running = "documents", a.Live()
	return h.showPage(c, status, frame, views.Add(a), nil)
}
