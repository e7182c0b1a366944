package httpio

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/footnote/footnote/chat"
)

// exposedHeaders are the response headers of the API that a script of another origin may read beside those that the
// Fetch standard always allows.
const exposedHeaders = "Content-Disposition, ETag, Location, Retry-After, WWW-Authenticate, X-Request-Id, " +
	"X-Vercel-AI-UI-Message-Stream"

// preflightAge is how many seconds a browser caches the answer to a preflight request. Chromium's maximum is two hours.
const preflightAge = "7200"

// checkOrigins fails unless every origin is written as browsers send it: the scheme and the host in lower case, and the
// port unless it is the default one.
func checkOrigins(origins []string) error {
	for _, origin := range origins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme == "" || u.Host == "" || origin != strings.ToLower(u.Scheme+"://"+u.Host) ||
			u.Scheme == "https" && u.Port() == "443" || u.Scheme == "http" && u.Port() == "80" {
			return fmt.Errorf("FOOTNOTE_ALLOWED_ORIGINS %q is not an origin as browsers send it, like "+
				"https://app.example.org or http://localhost:3000", origin)
		}
	}
	return nil
}

// CheckOrigin returns middleware that refuses requests which change something and come from another site's page. It
// judges by Sec-Fetch-Site and Origin, as net/http's CrossOriginProtection does: programs send neither and pass.
//
// Pages of the allowed origins may call the routes of the API, with credentials, and read the answers (cross-origin
// resource sharing). inAPI reports whether a method and the path of a route belong to the API. Preflight requests carry
// no key, so they are answered here.
func (g *Guard) CheckOrigin(inAPI func(method, path string) bool) Middleware {
	return func(next Handler) Handler {
		return func(c Context) error {
			req, header := c.Request(), c.Response().Header()
			origin, method := req.Header.Get("Origin"), req.Method
			asked := ""
			if method == http.MethodOptions {
				asked = req.Header.Get("Access-Control-Request-Method")
				method = asked
			}
			if len(g.origins) > 0 && inAPI(method, c.Path()) {
				header.Add("Vary", "Origin")
				if slices.Contains(g.origins, origin) {
					header.Set("Access-Control-Allow-Origin", origin)
					header.Set("Access-Control-Allow-Credentials", "true")
					if asked == "" {
						header.Set("Access-Control-Expose-Headers", exposedHeaders)
						return next(c)
					}
					header.Set("Access-Control-Allow-Methods", asked)
					header.Set("Access-Control-Allow-Headers", req.Header.Get("Access-Control-Request-Headers"))
					header.Set("Access-Control-Max-Age", preflightAge)
					header.Add("Vary", "Access-Control-Request-Method")
					header.Add("Vary", "Access-Control-Request-Headers")
					return c.NoContent(http.StatusNoContent)
				}
			}
			if err := g.foreign.Check(req); err != nil {
				return &chat.Error{
					Code: chat.CodeForbidden,
					Message: "Another site's page sent this request. Open the page of this server and try again " +
						"there.",
					Err: err,
				}
			}
			return next(c)
		}
	}
}
