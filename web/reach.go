package web

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"code.dny.dev/ssrf"

	"footnote/chat"
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

// never are addresses that tell who can reach them the secrets of a machine of a cloud, and those that lead there by
// another way. Link-local addresses hold the metadata services of clouds (169.254.169.254; AWS also has fd00:ec2::254,
// Alibaba Cloud 100.100.100.200). 64:ff9b::/96, 2002::/16 and 2001::/32 carry IPv4 addresses inside (NAT64, 6to4,
// Teredo). The rest is for no host: “this network”, multicast, reserved.
var never = []netip.Prefix{
	netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("fe80::/10"),
	netip.MustParsePrefix("fd00:ec2::/32"), netip.MustParsePrefix("100.100.100.200/32"),
	netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("::/128"),
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/32"),
	netip.MustParsePrefix("224.0.0.0/4"), netip.MustParsePrefix("ff00::/8"), netip.MustParsePrefix("240.0.0.0/4"),
}

// shared is the network behind a provider's or a private network's translation of addresses. It is RFC 6598's; private
// networks of several vendors use it too.
var shared = netip.MustParsePrefix("100.64.0.0/10")

// errReach is why a connection was not made.
var errReach = &chat.Error{
	Code: chat.CodeForbidden,
	Message: "This address is not on the public internet, and this server may not reach it. Whoever runs the server " +
		"can allow it (FOOTNOTE_PLACES_ALLOW).",
}

// control returns what asks about each address that is about to be dialled, after names were resolved. The order
// matters: never comes before what is private, so no setting opens a metadata service. An IPv4 address inside an IPv6
// one is unwrapped first.
func (r Reach) control(private bool) control {
	guard := ssrf.New(ssrf.WithAnyPort())
	return func(network, address string, c syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return errors.Join(errReach, err)
		}
		ip := at.Addr().Unmap().WithZone("")
		if slices.ContainsFunc(never, func(p netip.Prefix) bool { return p.Contains(ip) }) {
			return errReach
		}
		if private && (ip.IsPrivate() || ip.IsLoopback() || shared.Contains(ip)) {
			return nil
		}
		if err := guard.Safe(network, address, c); err != nil {
			return errors.Join(errReach, err)
		}
		return nil
	}
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
