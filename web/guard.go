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

// control is asked about each address that is about to be dialled, after names were resolved.
type control func(network, address string, c syscall.RawConn) error

// publicOnly lets through addresses of the public internet on ports 80 and 443, and those that are listed.
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
