package web

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
)

// wantRefused fails the test unless an error says that an address may not be reached.
func wantRefused(t *testing.T, what string, err error) {
	t.Helper()
	if chat.CodeOf(err) != chat.CodeForbidden || err == nil {
		t.Errorf("%s: %v, want %s", what, err, chat.CodeForbidden)
	}
}

// dialled asks a reach about an address as it would be dialled, without connecting.
func dialled(r Reach, private bool, ip string) error {
	network := "tcp4"
	if strings.Contains(ip, ":") {
		network = "tcp6"
	}
	return r.control(private)(network, net.JoinHostPort(strings.ReplaceAll(ip, "%25", "%"), "80"), nil)
}

func TestReachRefusesWhatIsInside(t *testing.T) {
	t.Parallel()
	for _, ip := range append(inside, inside6...) {
		wantRefused(t, ip, dialled(Reach{}, false, ip))
		if a := netip.MustParseAddr(strings.ReplaceAll(ip, "%25", "%")); a.Is4() {
			wantRefused(t, "mapped "+ip, dialled(Reach{}, false, "::ffff:"+ip))
		}
	}
	for _, ip := range []string{"not an address", ""} {
		wantRefused(t, ip, dialled(Reach{}, true, ip))
	}
	for _, ip := range []string{"93.184.215.14", "2606:4700::1111"} {
		if err := dialled(Reach{}, false, ip); err != nil {
			t.Errorf("%s: %v, want no error", ip, err)
		}
	}
}

// The own network is this machine and the networks it is in, but never what tells secrets of a machine of a cloud.
func TestTheOwnNetworkHasNoSecretsOfClouds(t *testing.T) {
	t.Parallel()
	for _, ip := range []string{
		"127.0.0.1", "::1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "fd12:3456::1", "100.64.0.1", "::ffff:192.168.1.1",
		"93.184.215.14",
	} {
		if err := dialled(Reach{}, true, ip); err != nil {
			t.Errorf("%s: %v, want no error", ip, err)
		}
	}
	for _, ip := range []string{
		"fe80::1%lo", "fd00:ec2::123", "0.0.0.0", "::", "2001::1", "224.0.0.1", "ff02::1", "255.255.255.255",
	} {
		wantRefused(t, ip, dialled(Reach{}, true, ip))
	}
	for _, ip := range clouds {
		wantRefused(t, ip, dialled(Reach{}, true, ip))
		if !netip.MustParseAddr(ip).Is4() {
			continue
		}
		for _, spelling := range embeddings(ip) {
			wantRefused(t, ip+" as "+spelling, dialled(Reach{}, true, spelling))
		}
	}
}

func TestReachRefusesNamesAndRedirectsToMetadata(t *testing.T) {
	t.Parallel()
	names := newNames(t)
	known := hops(t)
	r := Reach{Own: true, Hosts: []string{"nas.example"}, Resolver: names.resolver()}
	client := r.Client()
	t.Cleanup(client.CloseIdleConnections)
	refused := func(address string) {
		resp, err := client.Get(address)
		if err == nil {
			_ = resp.Body.Close()
		}
		wantRefused(t, address, err)
	}
	for _, ip := range clouds {
		host := ip
		if strings.Contains(ip, ":") {
			host = "[" + ip + "]"
		}
		names.answer(netip.MustParseAddr(ip))
		for _, at := range []string{
			"http://" + host + "/", "http://" + host + ":32526/", "http://metadata.example/", "http://nas.example/",
		} {
			refused(at)
			refused(known.URL + "/?to=" + url.QueryEscape(at))
		}
	}
}

// A name is refused by where it leads, each time it is looked up; so is every spelling of an address.
func TestReachLooksAtWhereNamesLead(t *testing.T) {
	t.Parallel()
	port, visits := secret(t)
	names := newNames(t, netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1"))
	r := Reach{Resolver: names.resolver(), Hosts: []string{"known.example", "nas.example:1"}}
	client := r.Client()
	t.Cleanup(client.CloseIdleConnections)
	for _, host := range append(spellings("127.0.0.1"), "rebound.example", "nas.example") {
		address := "http://" + host + ":" + port + "/"
		resp, err := client.Get(address)
		if err == nil {
			_ = resp.Body.Close()
			t.Errorf("%s was reached, want an error", address)
		}
	}
	if n := visits.Load(); n != 0 {
		t.Fatalf("the server inside was reached %d times, want 0", n)
	}
	resp, err := client.Get("http://KNOWN.example:" + port + "/")
	if err != nil || visits.Load() != 1 {
		t.Fatalf("a listed server: %v after %d visits, want 1", err, visits.Load())
	}
	_ = resp.Body.Close()
	names.answer(netip.MustParseAddr("169.254.169.254"))
	client.CloseIdleConnections()
	if resp, err = client.Get("http://known.example:" + port + "/"); err == nil {
		_ = resp.Body.Close()
	}
	wantRefused(t, "a listed name that leads to the secrets of a cloud", err)
}

func TestListedServersAreThoseAlone(t *testing.T) {
	t.Parallel()
	r := Reach{Hosts: []string{"nas.lan", "box.lan:5001", "[::1]", "10.0.0.9"}}
	for address, want := range map[string]bool{
		"nas.lan:80": true, "NAS.lan:443": true, "box.lan:5001": true, "box.lan:5002": false, "[::1]:8080": true,
		"10.0.0.9:1": true, "10.0.0.90:1": false, "nas.lan.evil.example:80": false, "evilnas.lan:80": false,
		"nas.lan.:80": false, "nas.lan": false, "": false, "[::2]:8080": false,
	} {
		if got := r.listed(address); got != want {
			t.Errorf("%q is listed: %v, want %v", address, got, want)
		}
	}
}

// hops is a server that sends on to the address in its query.
func hops(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1"})
		if r.Header.Get("Cookie") != "" || r.Header.Get("Referer") != "" {
			t.Errorf("a request told %v, want neither cookies nor where it is from", r.Header)
		}
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

func TestARedirectReachesNoMoreThanItsFirstRequest(t *testing.T) {
	t.Parallel()
	port, visits := secret(t)
	known := hops(t)
	r := Reach{Hosts: []string{known.Listener.Addr().String()}}
	client := r.Client()
	t.Cleanup(client.CloseIdleConnections)
	get := func(to string) error {
		resp, err := client.Get(known.URL + "/?to=" + url.QueryEscape(to))
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	if err := get(known.URL + "/"); err != nil {
		t.Errorf("a redirect to itself: %v, want no error", err)
	}
	for _, to := range []string{
		"http://127.0.0.1:" + port + "/", "http://[::ffff:127.0.0.1]:" + port + "/", "http://localhost:" + port + "/",
		"http://169.254.169.254/latest/meta-data/", "file:///etc/passwd", "ftp://127.0.0.1/", "gopher://127.0.0.1:70/",
	} {
		wantRefused(t, to, get(to))
	}
	if n := visits.Load(); n != 0 {
		t.Errorf("the server inside was reached %d times, want 0", n)
	}
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/"+r.URL.Path, http.StatusFound)
	}))
	t.Cleanup(endless.Close)
	own := Reach{Own: true}.Client()
	t.Cleanup(own.CloseIdleConnections)
	if resp, err := own.Get(endless.URL + "/x"); err == nil {
		_ = resp.Body.Close()
		t.Error("redirects without end: no error, want one")
	}
}

// A password that was sent over TLS is not sent in the open.
func TestAPasswordIsNotSentInTheOpen(t *testing.T) {
	t.Parallel()
	client := Reach{Own: true}.Client()
	first, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://cloud.example/", nil)
	if err != nil {
		t.Fatal(err)
	}
	next, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://cloud.example/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.CheckRedirect(next, []*http.Request{first}); err != nil {
		t.Errorf("without a password: %v, want no error", err)
	}
	first.SetBasicAuth("ada", "secret")
	wantRefused(t, "with a password", client.CheckRedirect(next, []*http.Request{first}))
}

// Proxies of the environment would connect wherever they are asked to.
func TestReachUsesNoProxy(t *testing.T) {
	t.Parallel()
	transport, ok := Reach{}.Client().Transport.(*http.Transport)
	if !ok || transport.Proxy != nil {
		t.Error("the client uses a proxy, want none")
	}
}

// What refuses a connection is told as one sentence, whatever it is wrapped in.
func TestARefusalIsASentence(t *testing.T) {
	t.Parallel()
	_, err := Reach{}.Dial(t.Context(), "tcp", "127.0.0.1:1")
	wantRefused(t, "loopback", err)
	e, ok := errors.AsType[*chat.Error](fmt.Errorf("look: %w", err))
	if !ok || !strings.Contains(e.Message, "FOOTNOTE_PLACES_ALLOW") {
		t.Errorf("it says %v, want what whoever runs the server can do", err)
	}
}
