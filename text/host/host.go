// Package host reports from the name of a host alone whether it is local. Names are not resolved: what is dialled is
// checked in agent/web.
package host

import (
	"net/netip"
	"net/url"
	"strings"
)

// IsHere reports whether a host is this machine: localhost, or a loopback address.
func IsHere(name string) bool {
	name = plain(name)
	ip, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && ip.Zone() == "" && ip.Unmap().IsLoopback()
}

// IsNear reports whether a host is this machine or in its network. A name without a dot is a local one, of a
// container network or of a router.
func IsNear(name string) bool {
	name = plain(name)
	if ip, err := netip.ParseAddr(name); err == nil {
		ip = ip.Unmap()
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	return name != "" && !strings.Contains(name, ".") || strings.HasSuffix(name, ".local") ||
		strings.HasSuffix(name, ".internal")
}

// Of returns the host of a URL, empty if the URL is invalid.
func Of(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// plain removes what does not distinguish hosts: case, brackets and the dot of the root.
func plain(name string) string {
	return strings.ToLower(strings.TrimSuffix(strings.Trim(name, "[]"), "."))
}
