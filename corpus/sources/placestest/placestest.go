// Package placestest serves hostile and other servers to tests of places, and a way to them alone.
//
// Its Net forbids everything but the addresses that a test opened, so a kind that reaches elsewhere fails here.
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

// Net reaches these addresses of loopback and nothing else, as a server's own net refuses what is inside. Whoever asks
// for another gets chat.CodeForbidden, at the moment of the connection: a redirect can't lead around it.
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

// Serve starts a server and returns its address and a way to it.
func Serve(t testing.TB, h http.Handler) (string, sources.Net) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL, Net(t, server.Listener.Addr())
}

// At is where a server with this address listens.
func At(t testing.TB, address string) net.Addr {
	t.Helper()
	at, err := net.ResolveTCPAddr("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// List returns all that a place lists, by key, and the error that ended it. A key that comes twice fails the test, and
// so does one that the store could not keep: what was listed before an error is returned with it.
func List(t testing.TB, p sources.Place) (map[string]sources.Item, error) {
	t.Helper()
	items := map[string]sources.Item{}
	for item, err := range p.List(t.Context()) {
		if err != nil {
			return items, err
		}
		if _, twice := items[item.Key]; twice || item.Key == "" || len(item.Key) > sources.MaxKey {
			t.Errorf("key %q is listed twice or can't be one", item.Key)
		}
		items[item.Key] = item
	}
	return items, nil
}

// Read fetches an item and returns its text. known is the version that was settled before, as a look has it; an error
// of the fetch, such as sources.ErrSame, is returned and does not fail the test.
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

// Open opens a place of a kind and checks its fields.
func Open(t testing.TB, k sources.Kind, s sources.Settings, n sources.Net) sources.Place {
	t.Helper()
	p, err := k.Open(s, n)
	if err != nil {
		t.Fatalf("open %s: %v", k.Name, err)
	}
	return p
}

// WantCode fails the test unless err has the code and a sentence.
func WantCode(t testing.TB, what string, err error, code chat.Code) {
	t.Helper()
	if err == nil || chat.CodeOf(err) != code {
		t.Errorf("%s: error = %v (%q), want code %q", what, err, chat.CodeOf(err), code)
	}
}
