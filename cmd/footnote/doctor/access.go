package doctor

import (
	"fmt"
	"net"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/cmd/footnote/access"
	"github.com/footnote/footnote/cmd/footnote/settings"
)

// checkAccess is doctor's finding on who can use the server. It looks at the address of the settings and opens no
// port, so that a server may be running meanwhile. Whether keys are needed and how many can be used depends on the
// files in the data directory, too.
func checkAccess(set *settings.Settings) Finding {
	f := Finding{What: "access"}
	// a name stands for what it leads to now, as for the server
	addr, err := net.ResolveTCPAddr("tcp", set.Addr)
	if err != nil {
		f.Err = fmt.Errorf("FOOTNOTE_ADDR: %w", err)
		return f
	}
	a, err := access.At(set, addr)
	if err == nil {
		err = a.Check()
	}
	switch f.Err = err; {
	case err != nil:
	case a.NeedsKey && a.Holders == 0:
		f.Err = &chat.Error{
			Code:    chat.CodeUnauthorized,
			Message: "A key is needed, and nobody has one; make the first with 'footnote key new NAME'",
		}
	case a.NeedsKey:
		f.Fine = fmt.Sprintf("a key is needed; %d can be used", a.Holders)
	case a.Network:
		f.Fine = fmt.Sprintf("everyone who reaches %s can use it without a key (FOOTNOTE_OPEN_TO_NETWORK)", set.Addr)
	default:
		f.Fine = "without a key, from this machine only"
	}
	return f
}
