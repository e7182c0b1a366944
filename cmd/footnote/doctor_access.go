package main

import (
	"fmt"
	"footnote/chat"
	"footnote/cmd/footnote/settings"
	"net"
)

// checkAccess is doctor's finding on who can use the server.
func checkAccess(set *settings.Settings) checkResult {
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
