package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"syscall"

	"footnote/chat"
	"footnote/cmd/footnote/datadir"
	"footnote/cmd/footnote/settings"
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
func accessAt(set *settings.Settings, addr net.Addr) (access, error) {
	a := access{addr: addr.String(), network: !isLoopback(addr), open: set.OpenToNetwork}
	file, err := openKeys(set)
	if err != nil {
		return a, err
	}
	if a.needsKey, err = file.Needed(); err != nil {
		return a, err
	}
	names, err := keys.List(set.KeysFile())
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

// isLoopback reports whether only this machine can reach an address. No IP means every address.
func isLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// openKeys reads the keys file. Whoever names the file wants keys to be needed, so a missing one then lets nobody in.
func openKeys(s *settings.Settings) (*keys.File, error) {
	if info, err := os.Stat(s.KeysFile()); err == nil {
		if err := datadir.NarrowRights(s.KeysFile(), info); err != nil && !errors.Is(err, syscall.EROFS) {
			return nil, fmt.Errorf("narrow the rights of the keys: %w", err)
		}
	}
	return keys.Open(s.KeysFile(), s.Keys != "")
}
