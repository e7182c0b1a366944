package httpio

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/keys"
	"github.com/footnote/footnote/text/host"
)

// Guard authorises requests: by the server's host name, by the origin of the requesting page, and by key.
type Guard struct {
	hosts     []string // further host names of the server
	origins   []string // origins allowed to call the API
	foreign   *http.CrossOriginProtection
	keys      *keys.File  // nil: every user is the local user
	Tokens    Tokens      // of programs, valid for /mcp only; nil: none
	OnNetwork atomic.Bool // the listener's address is reachable from other machines
}

// NewGuard returns a guard that admits requests to hosts, from pages of origins to the API, and by the users of
// keys. It fails for an invalid origin.
func NewGuard(hosts, origins []string, keys *keys.File) (*Guard, error) {
	if err := checkOrigins(origins); err != nil {
		return nil, err
	}
	return &Guard{hosts: hosts, origins: origins, foreign: http.NewCrossOriginProtection(), keys: keys}, nil
}

// CheckHost is the middleware that refuses unknown host names. A foreign name that resolves to this machine lets
// another site's page reach a local server (DNS rebinding).
func (g *Guard) CheckHost(next Handler) Handler {
	return func(c Context) error {
		if !g.hostAllowed(c.Request()) {
			return &chat.Error{
				Code: chat.CodeForbidden,
				Message: "Unknown host name. Open http://localhost with the server's port, or add the name to " +
					"FOOTNOTE_ALLOWED_HOSTS.",
			}
		}
		return next(c)
	}
}

// hostAllowed reports whether a request's Host is valid: localhost, a loopback address, the local address of the
// connection, or one of hosts. On the network with keys and without hosts any name is valid: a page of another site
// has no key.
func (g *Guard) hostAllowed(r *http.Request) bool {
	if g.OnNetwork.Load() && len(g.hosts) == 0 && g.KeyNeeded() {
		return true
	}
	name := r.Host
	if h, _, err := net.SplitHostPort(r.Host); err == nil {
		name = h
	}
	if host.IsHere(name) {
		return true
	}
	name = strings.TrimSuffix(strings.Trim(name, "[]"), ".")
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	ip := net.ParseIP(name)
	return ok && ip != nil && local.IP.Equal(ip) ||
		slices.ContainsFunc(g.hosts, func(known string) bool { return strings.EqualFold(known, name) })
}

// LocalOnly reports whether only this machine reaches the server: it listens on a loopback address and has no other
// host name.
func (g *Guard) LocalOnly() bool { return !g.OnNetwork.Load() && len(g.hosts) == 0 }

// ListenOn records the listener's address. An address that is not TCP, as in tests, counts as loopback.
func (g *Guard) ListenOn(addr net.Addr) {
	tcp, ok := addr.(*net.TCPAddr)
	g.OnNetwork.Store(ok && !tcp.IP.IsLoopback())
}

// LocalUserAlone reports whether only the user of this machine can use the server: no key is needed, and no other
// machine reaches it.
func (g *Guard) LocalUserAlone() bool { return !g.KeyNeeded() && g.LocalOnly() }

// ByLocalUser reports whether the user of this machine sent a request: the server has no other users, and no proxy
// forwarded the request. It is the only definition of a local request. Later work for a request, such as the sync of
// a place, stores its result.
func (g *Guard) ByLocalUser(r *http.Request) bool { return g.LocalUserAlone() && !forwarded(r.Header) }

// forwarded reports whether a proxy or a content delivery network forwarded a request. Each adds a header with the
// client's address, such as X-Forwarded-For, CF-Connecting-IP or True-Client-IP. Browsers and programs do not send
// these headers.
func forwarded(h http.Header) bool {
	for name := range h {
		name = strings.ToLower(name)
		if strings.Contains(name, "forwarded") || slices.Contains(passedOn, name) ||
			slices.ContainsFunc(clientEnds, func(end string) bool { return strings.HasSuffix(name, end) }) {
			return true
		}
	}
	return false
}

// passedOn are headers that proxies add, and clientEnds are suffixes of headers with the client's address.
var (
	passedOn = []string{
		"via", "cdn-loop", "cf-ray", "x-amzn-trace-id", "x-amz-cf-id", "x-original-host", "x-envoy-external-address",
	}
	clientEnds = []string{"-ip", "-ipv6", "-clientip", "-socketip", "-remote-addr"}
)

// KeyNeeded reports whether users need a key. It is true for an unreadable key file: access is then refused.
func (g *Guard) KeyNeeded() bool {
	if g.keys == nil {
		return false
	}
	needed, err := g.keys.Needed()
	return needed || err != nil
}

// Gone reports whether all keys of a user were revoked. Links that the user shared for access without a key are then
// closed as well.
func (g *Guard) Gone(user string) bool { return g.keys != nil && g.keys.Revoked(user) }

// exposedHeaders are the response headers that a cross-origin script may read, besides those that the Fetch standard
// always allows.
const exposedHeaders = "Content-Disposition, ETag, Location, Retry-After, WWW-Authenticate, X-Request-Id, " +
	"X-Vercel-AI-UI-Message-Stream"

// preflightAge is the time in seconds that a browser caches a preflight response. Chromium's maximum is two hours.
const preflightAge = "7200"

// checkOrigins validates that every origin is in the browsers' form: scheme and host in lower case, and the port
// unless it is the default.
func checkOrigins(origins []string) error {
	for _, origin := range origins {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme == "" || u.Host == "" || origin != strings.ToLower(u.Scheme+"://"+u.Host) ||
			u.Scheme == "https" && u.Port() == "443" || u.Scheme == "http" && u.Port() == "80" {
			return fmt.Errorf("FOOTNOTE_ALLOWED_ORIGINS %q must be an origin like "+
				"https://app.example.org or http://localhost:3000", origin)
		}
	}
	return nil
}

// CheckOrigin returns the middleware that refuses state-changing requests from another site's page. It checks
// Sec-Fetch-Site and Origin, as net/http's CrossOriginProtection does: programs send neither and pass.
//
// Pages of the allowed origins may call the API's routes, with credentials, and read the responses (cross-origin
// resource sharing). inAPI reports whether a method and a route's path are part of the API. Preflight requests carry
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
					Code:    chat.CodeForbidden,
					Message: "Cross-site request blocked. Open this server's page and try again there.",
					Err:     err,
				}
			}
			return next(c)
		}
	}
}
