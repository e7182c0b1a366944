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

// Reach says which addresses may be reached for somebody. The zero Reach is the public internet. It is for addresses
// that a person of this server set up, such as places and webhooks, unlike Web, whose addresses come from anywhere.
type Reach struct {
	// Own adds the networks that this machine is in, and itself.
	Own bool
	// Hosts adds servers, wherever their names lead: "nas.lan" or "nas.lan:5001".
	Hosts []string
	// Resolver looks names up; nil: the system's.
	Resolver *net.Resolver
}

const (
	reachTime    = 20 * time.Second // to connect
	replyTime    = 30 * time.Second // to begin a reply
	maxHops      = 10               // redirects
	maxReachIdle = 4                // connections that wait
)

// shared is the network behind a provider's or a private network's translation of addresses. It is RFC 6598's; private
// networks of several vendors use it too.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// errReach is why a connection was not made.
var errReach = &chat.Error{
	Code: chat.CodeForbidden,
	Message: "This address is not on the public internet, and this server may not reach it. Whoever runs the server " +
		"can allow it (FOOTNOTE_PLACES_ALLOW). On a server without keys, enter it again on the server's own machine.",
}

// control checks addresses before they are dialed. With private, the networks of this machine are allowed too.
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

// Dial connects to a host and port that may be reached; else it fails with chat.CodeForbidden.
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

// Client speaks HTTP by Dial alone: it uses no proxy and keeps no cookies. Each redirect is dialled by Dial again, so
// it is checked as the first address was. From https to http nothing goes that has an Authorization header.
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
				return errReach // a password would be sent in the open
			}
			next.Header.Del("Referer")
			return nil
		},
	}
}
