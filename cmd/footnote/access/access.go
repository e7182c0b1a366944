// Package access decides who can use a server: the addresses that other machines can reach, whether an API key is
// required, and where the keys are.
//
// A server that everyone on a network could use without a key is refused ([Access.Check]), unless its operator
// asked for that. The doctor runs the same check before a server is started.
package access

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"syscall"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/keys"
	"github.com/footnote/footnote/cmd/footnote/datadir"
	"github.com/footnote/footnote/cmd/footnote/settings"
	"github.com/footnote/footnote/text/locale"
)

// Access describes who can use a server that listens on an address.
type Access struct {
	addr     string // the configured address
	Network  bool   // the address is reachable from other machines
	NeedsKey bool
	Holders  int  // number of valid keys
	open     bool // FOOTNOTE_OPEN_TO_NETWORK
}

// At returns the access for a server on addr. It reads the keys file.
func At(set *settings.Settings, addr net.Addr) (Access, error) {
	a := Access{addr: addr.String(), Network: !IsLoopback(addr), open: set.OpenToNetwork}
	file, err := OpenKeys(set)
	if err != nil {
		return a, err
	}
	if a.NeedsKey, err = file.Needed(); err != nil {
		return a, err
	}
	names, err := keys.List(set.KeysFile())
	a.Holders = len(names)
	return a, err
}

// Check fails for a server that everyone on the network could use without a key, unless the operator asked for
// that.
func (a Access) Check() error {
	if !a.Network || a.NeedsKey || a.open {
		return nil
	}
	return &chat.Error{
		Code: chat.CodeForbidden,
		Message: locale.Message(
			fmt.Sprintf("Other machines can reach %s, and no API key is required: everyone there could read "+
				"and delete everything. "+
				"Create a key with 'footnote key new NAME' and restart; or, on a trusted network, set "+
				"FOOTNOTE_OPEN_TO_NETWORK=true; or listen on this machine only, like --addr 127.0.0.1:8080",
				a.addr),
		),
	}
}

// Log warns the operator of a server that requires a key while no key exists, or that is open to the network.
func (a Access) Log(log *slog.Logger) {
	switch {
	case a.NeedsKey && a.Holders == 0:
		log.Warn("an API key is required, but none exists: create one with 'footnote key new NAME'")
	case a.Network && !a.NeedsKey:
		log.Warn(
			"everyone who can reach this address can read, change and delete everything: no API key is required, and "+
				"FOOTNOTE_OPEN_TO_NETWORK is set",
			"addr", a.addr,
		)
	}
}

// IsLoopback reports whether only this machine can reach an address. No IP means every address.
func IsLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// OpenKeys opens the keys file. If the settings name the file, keys are required, so a missing file denies all
// access.
func OpenKeys(s *settings.Settings) (*keys.File, error) {
	if info, err := os.Stat(s.KeysFile()); err == nil {
		if err := datadir.NarrowRights(s.KeysFile(), info); err != nil && !errors.Is(err, syscall.EROFS) {
			return nil, fmt.Errorf("restrict the permissions of the key file: %w", err)
		}
	}
	return keys.Open(s.KeysFile(), s.Keys != "")
}
