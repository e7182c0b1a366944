package main

import (
	"fmt"
	"log/slog"
	"net"

	"footnote/chat"
	"footnote/keys"
)

// access says who can use a server that listens on an address.
type access struct {
	addr     string // as people write it
	network  bool   // other machines can reach it
	needsKey bool
	holders  int  // keys that are valid
	open     bool // FOOTNOTE_OPEN_TO_NETWORK
}

// accessAt looks at the keys for a server on addr.
func accessAt(set *settings, addr net.Addr) (access, error) {
	a := access{addr: addr.String(), network: !isLoopback(addr), open: set.OpenToNetwork}
	file, err := set.openKeys()
	if err != nil {
		return a, err
	}
	if a.needsKey, err = file.Needed(); err != nil {
		return a, err
	}
	names, err := keys.List(set.keysFile())
	a.holders = len(names)
	return a, err
}

// checkExposure refuses a server that everyone on the network could use without a key, unless the operator asked for
// that.
func (a access) checkExposure() error {
	if !a.network || a.needsKey || a.open {
		return nil
	}
	return &chat.Error{
		Code: chat.CodeForbidden,
		Message: fmt.Sprintf("Other machines can reach %s, and no key is needed yet: everyone there could read and "+
			"delete everything. "+
			"Make a key with 'footnote key new NAME' and start again; or, on a network that you trust, set "+
			"FOOTNOTE_OPEN_TO_NETWORK=true; or listen on this machine only, like --addr 127.0.0.1:8080",
			a.addr),
	}
}

// logAccess tells the operator of a server that nobody or everybody can use.
func (a access) logAccess(log *slog.Logger) {
	switch {
	case a.needsKey && a.holders == 0:
		log.Warn("a key is needed, and nobody has one: make the first with 'footnote key new NAME'")
	case a.network && !a.needsKey:
		log.Warn(
			"everyone who reaches this address can read, change and delete everything: no key is needed, and "+
				"FOOTNOTE_OPEN_TO_NETWORK is set",
			"addr", a.addr,
		)
	}
}

// checkAccess is doctor's finding on who can use the server.
func checkAccess(set *settings) checkResult {
	f := checkResult{what: "access"}
	addr, err := net.ResolveTCPAddr("tcp", set.Addr)
	if err != nil {
		f.err = fmt.Errorf("FOOTNOTE_ADDR: %w", err)
		return f
	}
	a, err := accessAt(set, addr)
	if err == nil {
		err = a.checkExposure()
	}
	switch f.err = err; {
	case err != nil:
	case a.needsKey && a.holders == 0:
		f.err = &chat.Error{
			Code:    chat.CodeUnauthorized,
			Message: "A key is needed, and nobody has one; make the first with 'footnote key new NAME'",
		}
	case a.needsKey:
		f.fine = fmt.Sprintf("a key is needed; %d can be used", a.holders)
	case a.network:
		f.fine = fmt.Sprintf("everyone who reaches %s can use it without a key (FOOTNOTE_OPEN_TO_NETWORK)", set.Addr)
	default:
		f.fine = "without a key, from this machine only"
	}
	return f
}

// isLoopback reports whether only this machine can reach an address. No IP means every address.
func isLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
