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

// DialPolicy is a policy of the addresses that may be dialled. The zero value allows the public internet. It is for
// addresses that a user of this server configured, such as places and webhooks, unlike Web, whose URLs come from
// anywhere.
type DialPolicy struct {
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
	maxIdleConns = 4                // maximum idle connections of a host
)

// shared is the address range for carrier-grade NAT, RFC 6598; private networks of several vendors use it too.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// errNotAllowed is the error for a refused connection.
var errNotAllowed = &chat.Error{
	Code: chat.CodeForbidden,
	Message: "This address is not on the public internet, and this server may not reach it. Whoever runs the server " +
		"can allow it (FOOTNOTE_PLACES_ALLOW). On a server without keys, enter it again on the server's own machine.",
}

// control returns the check of addresses before they are dialled. With private, private networks and this machine
// are allowed.
func (p DialPolicy) control(private bool) control {
	return guard(errNotAllowed, func(at netip.AddrPort) bool {
		ip := at.Addr()
		return private && (ip.IsPrivate() || ip.IsLoopback() || shared.Contains(ip))
	}, ssrf.WithAnyPort())
}

// listed reports whether a host and port, as they are dialled, are in Hosts.
func (p DialPolicy) listed(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && slices.ContainsFunc(p.Hosts, func(known string) bool {
		known = strings.Trim(known, "[]")
		return strings.EqualFold(known, host) || strings.EqualFold(known, address)
	})
}

// Dial connects to a host and port, or returns chat.CodeForbidden for an address that is not allowed.
func (p DialPolicy) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &net.Dialer{
		Timeout: reachTime, Control: p.control(p.Own || p.listed(address)), Resolver: p.Resolver,
	}
	conn, err := dialer.DialContext(ctx, network, address)
	if errors.Is(err, errNotAllowed) {
		return nil, errNotAllowed
	}
	return conn, err
}

// Client returns an HTTP client that connects by Dial, without a proxy and cookies. Each redirect is dialled by Dial
// again, so it is checked like the first address. A request with an Authorization header is not redirected from
// https to http.
func (p DialPolicy) Client() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext: p.Dial, ForceAttemptHTTP2: true, TLSHandshakeTimeout: reachTime,
			ResponseHeaderTimeout: replyTime, MaxResponseHeaderBytes: 256 << 10,
			MaxIdleConnsPerHost: maxIdleConns, IdleConnTimeout: replyTime,
		},
		CheckRedirect: func(next *http.Request, before []*http.Request) error {
			switch {
			case len(before) > maxHops:
				return errors.New("too many redirects")
			case next.URL.Scheme != "http" && next.URL.Scheme != "https":
				return errNotAllowed
			case next.URL.Scheme == "http" && before[0].URL.Scheme == "https" &&
				before[0].Header.Get("Authorization") != "":
				return errNotAllowed // the password would be sent in plain text
			}
			next.Header.Del("Referer")
			return nil
		},
	}
}
