package web

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"code.dny.dev/ssrf"

	"github.com/footnote/footnote/chat"
)

// Reach is a policy of the addresses that may be dialled. The zero Reach allows the public internet. It is for
// addresses that a user of this server configured, such as places and webhooks, unlike Web, whose URLs come from
// anywhere.
type Reach struct {
	// Own allows this machine and its private networks.
	Own bool
	// Hosts allows servers, wherever their names resolve to: "nas.lan" or "nas.lan:5001".
	Hosts []string
	// Resolver resolves names; nil: the system's.
	Resolver *net.Resolver
}

const (
	reachTime    = 20 * time.Second // timeout of a connection
	replyTime    = 30 * time.Second // timeout of the response header
	maxHops      = 10               // maximum redirects
	maxReachIdle = 4                // maximum idle connections of a host
)

// shared is the address range for carrier-grade NAT, RFC 6598; private networks of several vendors use it too.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// errReach is the error for a refused connection.
var errReach = &chat.Error{
	Code: chat.CodeForbidden,
	Message: "This address is not on the public internet, and this server may not reach it. Whoever runs the server " +
		"can allow it (FOOTNOTE_PLACES_ALLOW). On a server without keys, enter it again on the server's own machine.",
}

// control returns the check of addresses before they are dialled. With private, private networks and this machine
// are allowed.
func (r Reach) control(private bool) control {
	return guard(errReach, func(at netip.AddrPort) bool {
		ip := at.Addr()
		return private && (ip.IsPrivate() || ip.IsLoopback() || shared.Contains(ip))
	}, ssrf.WithAnyPort())
}

// listed reports whether a host and port, as they are dialled, are in Hosts.
func (r Reach) listed(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && slices.ContainsFunc(r.Hosts, func(known string) bool {
		known = strings.Trim(known, "[]")
		return strings.EqualFold(known, host) || strings.EqualFold(known, address)
	})
}

// Dial connects to a host and port, or returns chat.CodeForbidden for an address that is not allowed.
func (r Reach) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &net.Dialer{
		Timeout: reachTime, Control: r.control(r.Own || r.listed(address)), Resolver: r.Resolver,
	}
	conn, err := dialer.DialContext(ctx, network, address)
	if errors.Is(err, errReach) {
		return nil, errReach
	}
	return conn, err
}

// Client returns an HTTP client that connects by Dial, without a proxy and cookies. Each redirect is dialled by Dial
// again, so it is checked like the first address. A request with an Authorization header is not redirected from
// https to http.
func (r Reach) Client() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext: r.Dial, ForceAttemptHTTP2: true, TLSHandshakeTimeout: reachTime,
			ResponseHeaderTimeout: replyTime, MaxResponseHeaderBytes: 256 << 10,
			MaxIdleConnsPerHost: maxReachIdle, IdleConnTimeout: replyTime,
		},
		CheckRedirect: func(next *http.Request, before []*http.Request) error {
			switch {
			case len(before) > maxHops:
				return errors.New("too many redirects")
			case next.URL.Scheme != "http" && next.URL.Scheme != "https":
				return errReach
			case next.URL.Scheme == "http" && before[0].URL.Scheme == "https" &&
				before[0].Header.Get("Authorization") != "":
				return errReach // the password would be sent in plain text
			}
			next.Header.Del("Referer")
			return nil
		},
	}
}
