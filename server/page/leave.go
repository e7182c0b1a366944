package page

import (
	"net/http"
	"net/url"

	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/views"
)

// Leave handles GET /leave?to=: a page with a link to an address of another site. It never redirects.
//
// Addresses in answers and documents are untrusted. The user sees the host before following the link, so this server
// is no open redirect. Schemes other than http and https get 400.
func (h *Handlers) Leave(c httpio.Context) error {
	u, err := url.Parse(c.QueryParam("to"))
	if err != nil {
		return httpio.Invalid("Invalid URL. It can't be opened.")
	}
	host, ok := views.ShownHost(u)
	if !ok {
		return httpio.Invalid("Only URLs that start with http:// or https:// can be opened.")
	}
	return h.show(c, http.StatusOK, views.Page{Title: views.LeaveTitle.In(c.Request().Context())},
		views.Leave(views.Leaving{Host: host, Address: u.String()}))
}
