// Package placestest provides test servers for places, including hostile ones, and a restricted Net.
//
// Its Net rejects all addresses but those that a test allowed, so a kind that connects elsewhere fails.
package placestest

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
)

// Net returns a sources.Net that reaches only these loopback addresses, like a server's Net that rejects internal
// addresses. Other addresses return chat.CodeForbidden at connection time, so redirects can't bypass it.
func Net(t testing.TB, allowed ...net.Addr) sources.Net {
	t.Helper()
	var open []netip.AddrPort
	for _, a := range allowed {
		open = append(open, netip.MustParseAddrPort(a.String()))
	}
	dialer := &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		if to, err := netip.ParseAddrPort(address); err == nil && slices.Contains(open, to) {
			return nil
		}
		return &chat.Error{Code: chat.CodeForbidden, Message: "This address may not be reached."}
	}}
	transport := &http.Transport{DialContext: dialer.DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	return sources.Net{HTTP: &http.Client{Transport: transport}, Dial: dialer.DialContext}
}

// Serve starts a server and returns its URL and a Net that reaches it.
func Serve(t testing.TB, h http.Handler) (string, sources.Net) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL, Net(t, server.Listener.Addr())
}

// At parses the listener address of a server's URL.
func At(t testing.TB, address string) net.Addr {
	t.Helper()
	at, err := net.ResolveTCPAddr("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// List returns the items of a place by key, and the error that ended the list. A duplicate or invalid key fails the
// test. Items before an error are returned with it.
func List(t testing.TB, p sources.Place) (map[string]sources.Item, error) {
	t.Helper()
	items := map[string]sources.Item{}
	for item, err := range p.List(t.Context()) {
		if err != nil {
			return items, err
		}
		if _, twice := items[item.Key]; twice || item.Key == "" || len(item.Key) > sources.MaxKey {
			t.Errorf("key %q is duplicated or invalid", item.Key)
		}
		items[item.Key] = item
	}
	return items, nil
}

// Read fetches an item and returns its text. known is the stored version, as in a sync. An error of Fetch, such as
// sources.ErrSame, is returned without failing the test.
func Read(t testing.TB, p sources.Place, item sources.Item, known string) (string, sources.Content, error) {
	t.Helper()
	content, err := p.Fetch(t.Context(), item, known)
	if err != nil {
		return "", content, err
	}
	text, err := io.ReadAll(content.Body)
	if closing := content.Body.Close(); closing != nil {
		t.Errorf("close the body: %v", closing)
	}
	return string(text), content, err
}

// Open opens a place and fails the test on invalid settings.
func Open(t testing.TB, k sources.Kind, s sources.Settings, n sources.Net) sources.Place {
	t.Helper()
	p, err := k.Open(s, n)
	if err != nil {
		t.Fatalf("open %s: %v", k.Name, err)
	}
	return p
}

// WantCode fails the test unless err has the code.
func WantCode(t testing.TB, what string, err error, code chat.Code) {
	t.Helper()
	if err == nil || chat.CodeOf(err) != code {
		t.Errorf("%s: error = %v (%q), want code %q", what, err, chat.CodeOf(err), code)
	}
}
