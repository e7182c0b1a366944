package web

import (
	"errors"
	"net/netip"
	"slices"
	"syscall"

	"code.dny.dev/ssrf"
)

// errNotPublic is why a connection was not made.
var errNotPublic = errors.New("the address is not on the public internet")

// control is asked about each address that is about to be dialled, after names were resolved. It sees the address that
// is really dialled: a check of the URL would miss names that answer differently a second time (DNS rebinding).
type control func(network, address string, c syscall.RawConn) error

// publicOnly lets through addresses of the public internet on ports 80 and 443, and those that are listed. What is
// listed is compared with its port, so that one service of a machine opens no other.
func publicOnly(allow []netip.AddrPort, options ...ssrf.Option) control {
	guard := ssrf.New(options...)
	return func(network, address string, c syscall.RawConn) error {
		if known, err := netip.ParseAddrPort(address); err == nil && slices.Contains(allow, known) {
			return nil
		}
		if err := guard.Safe(network, address, c); err != nil {
			return errors.Join(errNotPublic, err)
		}
		return nil
	}
}
