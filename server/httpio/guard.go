package httpio

import (
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"footnote/chat"
	"footnote/keys"
)

// Guard decides who may ask: by the name that the server is reached by, by the page that a request comes from, and by
// its key.
type Guard struct {
	hosts     []string // further names that the server is reached by
	origins   *http.CrossOriginProtection
	keys      *keys.File  // nil: everybody is the local user
	Tokens    Tokens      // of programs, which may use /mcp alone; nil: there are none
	OnNetwork atomic.Bool // other machines can reach the address it listens on
}

// NewGuard makes a guard that admits requests to hosts, from origins, by users that keys names. It fails when an
// origin is none.
func NewGuard(hosts, origins []string, keys *keys.File) (*Guard, error) {
	g := &Guard{hosts: hosts, origins: http.NewCrossOriginProtection(), keys: keys}
	for _, origin := range origins {
		if err := g.origins.AddTrustedOrigin(origin); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// CheckHost refuses names that are not ours: a foreign name that resolves to this machine is how another site's page
// reaches a local server (DNS rebinding).
func (g *Guard) CheckHost(next Handler) Handler {
	return func(c Context) error {
		if !g.hostAllowed(c.Request()) {
			return &chat.Error{
				Code: chat.CodeForbidden,
				Message: "This server is not known under that name. Open it as http://localhost with its port, or " +
					"add the name to FOOTNOTE_ALLOWED_HOSTS.",
			}
		}
		return next(c)
	}
}

// hostAllowed reports whether a request's Host names this server: localhost, a loopback address, the address that the
// request came in at, or one of hosts. On the network with keys and without hosts it may be anything: a page of
// another site has no key.
func (g *Guard) hostAllowed(r *http.Request) bool {
	if g.OnNetwork.Load() && len(g.hosts) == 0 && g.KeyNeeded() {
		return true
	}
	name := r.Host
	if h, _, err := net.SplitHostPort(r.Host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
	if name == "localhost" {
		return true
	}
	if ip := net.ParseIP(name); ip != nil {
		local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
		if ip.IsLoopback() || ok && local.IP.Equal(ip) {
			return true
		}
	}
	return slices.ContainsFunc(g.hosts, func(known string) bool { return strings.EqualFold(known, name) })
}

// LocalOnly reports whether nobody but the user of this machine reaches the server: it listens on no other address, and
// is known by no other name.
func (g *Guard) LocalOnly() bool { return !g.OnNetwork.Load() && len(g.hosts) == 0 }

// ByLocalUser reports whether only the user of this machine can have sent a request: no key is needed, nobody else
// reaches the server, and no proxy passed it on, behind which anybody may be.
func (g *Guard) ByLocalUser(r *http.Request) bool {
	return !g.KeyNeeded() && g.LocalOnly() && !forwarded(r.Header)
}

// forwarded reports whether a proxy sent a request.
func forwarded(h http.Header) bool {
	return h.Get("Forwarded") != "" || h.Get("X-Forwarded-For") != "" || h.Get("X-Real-Ip") != "" || h.Get("Via") != ""
}

// KeyNeeded reports whether users need a key. Keys that can't be read are needed too: nobody gets in then.
func (g *Guard) KeyNeeded() bool {
	if g.keys == nil {
		return false
	}
	needed, err := g.keys.Needed()
	return needed || err != nil
}

// Gone reports whether a user may use the server no more: all keys of theirs were revoked. What they left open to
// others without a key closes with that.
func (g *Guard) Gone(user string) bool { return g.keys != nil && g.keys.Revoked(user) }

// CheckOrigin refuses requests that change something and come from another site's page.
//
// It judges by Sec-Fetch-Site and Origin, as net/http's CrossOriginProtection does: programs send neither and pass.
func (g *Guard) CheckOrigin(next Handler) Handler {
	return func(c Context) error {
		if err := g.origins.Check(c.Request()); err != nil {
			return &chat.Error{
				Code:    chat.CodeForbidden,
				Message: "Another site's page sent this request. Open the page of this server and try again there.",
				Err:     err,
			}
		}
		return next(c)
	}
}
