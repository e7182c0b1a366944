package page

import (
	"net/http"
	"net/url"

	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/views"
)

// Leave answers GET /leave?to=: a page that names an address of another site and has a link to it. It never redirects.
//
// Addresses in answers and documents come from others. The user sees the host before the browser goes there, and a link
// to this server can't be used to hide where it leads. 400 for anything but http and https.
func (h *Handlers) Leave(c httpio.Context) error {
	u, err := url.Parse(c.QueryParam("to"))
	if err != nil {
		return httpio.Invalid("This is not an address that can be opened from here.")
	}
	host, ok := views.ShownHost(u)
	if !ok {
		return httpio.Invalid("Only addresses that begin with http:// or https:// can be opened from here.")
	}
	page, err := h.pageFrame(c, views.LeaveTitle.In(c.Request().Context()))
	if err != nil {
		return err
	}
	return h.showPage(c, http.StatusOK, page, views.Leave(views.Leaving{Host: host, Address: u.String()}), nil)
}
