package web

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"code.dny.dev/ssrf"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/footnote/footnote/chat"
)

// wantRefused fails the test unless an error is CodeForbidden.
func wantRefused(t *testing.T, what string, err error) {
	t.Helper()
	if chat.CodeOf(err) != chat.CodeForbidden || err == nil {
		t.Errorf("%s: %v, want %s", what, err, chat.CodeForbidden)
	}
}

// dialled checks an address with a reach, without connecting.
func dialled(r DialPolicy, private bool, ip string) error {
	network := "tcp4"
	if strings.Contains(ip, ":") {
		network = "tcp6"
	}
	return r.control(private)(network, net.JoinHostPort(strings.ReplaceAll(ip, "%25", "%"), "80"), nil)
}

func TestReachBlocksInternalAddresses(t *testing.T) {
	t.Parallel()
	for _, ip := range append(inside, inside6...) {
		wantRefused(t, ip, dialled(DialPolicy{}, false, ip))
		if a := netip.MustParseAddr(strings.ReplaceAll(ip, "%25", "%")); a.Is4() {
			wantRefused(t, "mapped "+ip, dialled(DialPolicy{}, false, "::ffff:"+ip))
		}
	}
	for _, ip := range []string{"not an address", ""} {
		wantRefused(t, ip, dialled(DialPolicy{}, true, ip))
	}
	for _, ip := range []string{"93.184.215.14", "2606:4700::1111"} {
		if err := dialled(DialPolicy{}, false, ip); err != nil {
			t.Errorf("%s: %v, want no error", ip, err)
		}
	}
}

// Own allows this machine and its networks, but never cloud metadata services.
func TestOwnNetworkExcludesCloudMetadata(t *testing.T) {
	t.Parallel()
	for _, ip := range []string{
		"127.0.0.1", "::1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "fd12:3456::1", "100.64.0.1", "::ffff:192.168.1.1",
		"93.184.215.14",
	} {
		if err := dialled(DialPolicy{}, true, ip); err != nil {
			t.Errorf("%s: %v, want no error", ip, err)
		}
	}
	for _, ip := range []string{
		"fe80::1%lo", "fd00:ec2::123", "0.0.0.0", "::", "2001::1", "224.0.0.1", "ff02::1", "255.255.255.255",
	} {
		wantRefused(t, ip, dialled(DialPolicy{}, true, ip))
	}
	for _, ip := range clouds {
		wantRefused(t, ip, dialled(DialPolicy{}, true, ip))
		if !netip.MustParseAddr(ip).Is4() {
			continue
		}
		for _, spelling := range embeddings(ip) {
			wantRefused(t, ip+" as "+spelling, dialled(DialPolicy{}, true, spelling))
		}
	}
}

func TestReachBlocksMetadataNamesAndRedirects(t *testing.T) {
	t.Parallel()
	names := newNames(t)
	known := hops(t)
	r := DialPolicy{Own: true, Hosts: []string{"nas.example"}, Resolver: names.resolver()}
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

// A name is checked by its resolved address, at each lookup, and so is every spelling of an address.
func TestReachChecksResolvedAddress(t *testing.T) {
	t.Parallel()
	port, visits := secret(t)
	names := newNames(t, netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("::1"))
	r := DialPolicy{Resolver: names.resolver(), Hosts: []string{"known.example", "nas.example:1"}}
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

func TestListedServersAreExclusive(t *testing.T) {
	t.Parallel()
	r := DialPolicy{Hosts: []string{"nas.lan", "box.lan:5001", "[::1]", "10.0.0.9"}}
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

// hops returns a server that redirects to the URL in its query.
func hops(t *testing.T) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1"})
		if r.Header.Get("Cookie") != "" || r.Header.Get("Referer") != "" {
			t.Errorf("headers = %v, want no Cookie and no Referer", r.Header)
		}
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

func TestRedirectKeepsNetworkPolicy(t *testing.T) {
	t.Parallel()
	port, visits := secret(t)
	known := hops(t)
	r := DialPolicy{Hosts: []string{known.Listener.Addr().String()}}
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
	own := DialPolicy{Own: true}.Client()
	t.Cleanup(own.CloseIdleConnections)
	if resp, err := own.Get(endless.URL + "/x"); err == nil {
		_ = resp.Body.Close()
		t.Error("redirects without end: no error, want one")
	}
}

// A password that was sent over TLS is not sent in plain text.
func TestPasswordIsNotSentWithoutTLS(t *testing.T) {
	t.Parallel()
	client := DialPolicy{Own: true}.Client()
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

// Proxies of the environment would connect to any address.
func TestReachIgnoresProxy(t *testing.T) {
	t.Parallel()
	transport, ok := DialPolicy{}.Client().Transport.(*http.Transport)
	if !ok || transport.Proxy != nil {
		t.Error("the client uses a proxy, want none")
	}
}

// The error of a refused connection is one sentence, however it is wrapped.
func TestBlockedConnectionErrorIsOneSentence(t *testing.T) {
	t.Parallel()
	_, err := DialPolicy{}.Dial(t.Context(), "tcp", "127.0.0.1:1")
	wantRefused(t, "loopback", err)
	e, ok := errors.AsType[*chat.Error](fmt.Errorf("look: %w", err))
	if !ok || !strings.Contains(e.Message.String(), "FOOTNOTE_PLACES_ALLOW") {
		t.Errorf("error = %v, want FOOTNOTE_PLACES_ALLOW in it", err)
	}
}

// inside lists addresses that pages must not be fetched from.
var inside = []string{
	"127.0.0.1", "127.0.0.53", "127.255.255.254", "10.0.0.1", "172.16.0.1", "172.31.255.254", "192.168.1.1",
	"169.254.169.254", "169.254.170.2",
	"100.100.100.200", "0.0.0.0", "192.0.0.192", "198.18.0.1", "224.0.0.1", "255.255.255.255", "168.63.129.16",
	"192.80.8.124",
}

var inside6 = []string{
	"::1", "::", "::127.0.0.1", "::7f00:1", "fe80::1", "fe80::1%25lo", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1",
	"64:ff9b:1::7f00:1", "100::1",
	"2001:db8::1", "2001::7f00:1", "2002:7f00:1::1", "3fff::1", "::ffff:0:127.0.0.1",
	// NAT64 or ISATAP embeds an IPv4 address in the last four bytes.
	"2606:4700::a9fe:a9fe", "2606:4700::5efe:168.63.129.16", "2606:4700::168.63.129.16",
}

// clouds lists the addresses of metadata services, as their vendors document them.
var clouds = []string{
	"169.254.169.254", "169.254.170.2", "169.254.170.23", "169.254.42.42", "169.254.0.23", "169.254.10.10",
	"168.63.129.16", "100.100.100.200", "192.0.0.192", "192.80.8.124",
	"fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fd00:42::42", "fd00:a9fe:a9fe::1",
	"fd00:100::100:200", "fe80::a9fe:a9fe",
}

// embeddings returns the IPv6 addresses that embed an IPv4 address.
func embeddings(ip string) []string {
	a := netip.MustParseAddr(ip).As4()
	hex := fmt.Sprintf("%02x%02x:%02x%02x", a[0], a[1], a[2], a[3])
	return []string{
		"::ffff:" + hex, "64:ff9b::" + hex, "64:ff9b:1::" + hex, "2002:" + hex + "::1", "::" + hex, "::ffff:0:" + hex,
		"fd12:3456::" + hex, "fd12:3456::5efe:" + hex, "fd12:3456::200:5efe:" + hex, "2606:4700::" + hex,
		fmt.Sprintf("2001:0:4136:e378:8000:63bf:%02x%02x:%02x%02x", ^a[0], ^a[1], ^a[2], ^a[3]),
	}
}

// spellings returns notations of an IPv4 address as the host of a URL, many of which a URL parser takes for host
// names.
func spellings(ip string) []string {
	a := netip.MustParseAddr(ip).As4()
	n := uint32(a[0])<<24 | uint32(a[1])<<16 | uint32(a[2])<<8 | uint32(a[3])
	return []string{
		ip, ip + ".", strconv.FormatUint(uint64(n), 10), fmt.Sprintf("0x%x", n), fmt.Sprintf("0%o", n),
		fmt.Sprintf("0%o.0%o.0%o.0%o", a[0], a[1], a[2], a[3]),
		fmt.Sprintf("0x%x.0x%x.0x%x.0x%x", a[0], a[1], a[2], a[3]),
		fmt.Sprintf("%d.%d", a[0], n&0xffffff), fmt.Sprintf("%d.%d.%d", a[0], a[1], n&0xffff),
		fmt.Sprintf("000%o.%d.%d.%d", a[0], a[1], a[2], a[3]),
		"[::ffff:" + ip + "]", fmt.Sprintf("[::ffff:%x:%x]", n>>16, n&0xffff),
		fmt.Sprintf("[0:0:0:0:0:ffff:%x:%x]", n>>16, n&0xffff),
		fmt.Sprintf("[64:ff9b::%x:%x]", n>>16, n&0xffff), fmt.Sprintf("[2002:%x:%x::1]", n>>16, n&0xffff),
		fmt.Sprintf("[::%s]", ip),
		"%31" + ip[1:], "example.org@" + ip, "example.org:80@" + ip, strings.ReplaceAll(ip, ".", "。"),
		ip + ".nip.example", "LOCALHOST", "localhost.localdomain",
	}
}

// watched is a guard on any port that counts the connections it allows, except to one address that simulates the
// public internet.
type watched struct {
	guard   control
	public  netip.AddrPort
	through atomic.Int64
	asked   atomic.Int64
}

func watch(public netip.AddrPort) *watched {
	return &watched{guard: publicOnly([]netip.AddrPort{public}, ssrf.WithAnyPort()), public: public}
}

func (w *watched) control(network, address string, c syscall.RawConn) error {
	if known, err := netip.ParseAddrPort(address); err == nil && known == w.public {
		return w.guard(network, address, c)
	}
	w.asked.Add(1)
	if err := w.guard(network, address, c); err != nil {
		return err
	}
	w.through.Add(1)
	return errNotPublic // counted; the test itself never connects
}

// secret returns an internal server that counts its requests.
func secret(t *testing.T) (port string, visits *atomic.Int64) {
	t.Helper()
	visits = &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		visits.Add(1)
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "the metadata")
	}))
	t.Cleanup(server.Close)
	return strconv.Itoa(server.Listener.Addr().(*net.TCPAddr).Port), visits
}

func TestInternalAddressSpellingsAreBlocked(t *testing.T) {
	t.Parallel()
	port, visits := secret(t)
	var target atomic.Pointer[string]
	public := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Location"] = []string{*target.Load()}
		w.WriteHeader(http.StatusFound)
	}))
	t.Cleanup(public.Close)
	w := watch(public.Listener.Addr().(*net.TCPAddr).AddrPort())
	tried := 0
	for _, ip := range inside {
		names := newNames(t, netip.MustParseAddr(ip))
		f := newFetcher(w.control, names.resolver())
		for _, host := range spellings(ip) {
			for _, form := range []string{"http://%s/", "http://%s:" + port + "/latest/meta-data", "https://%s/"} {
				address := fmt.Sprintf(form, host)
				tried++
				if _, err := f.fetchPage(t.Context(), address); err == nil {
					t.Errorf("%s was read, want an error", address)
				}
				target.Store(&address)
				if _, err := f.fetchPage(t.Context(), public.URL); err == nil {
					t.Errorf("%s was read after a redirect, want an error", address)
				}
			}
		}
	}
	f := newFetcher(w.control, newNames(t, netip.MustParseAddr("::1")).resolver())
	for _, ip := range append(inside6, "rebound.example") {
		host := "[" + ip + "]"
		if strings.HasSuffix(ip, ".example") {
			host = ip
		}
		tried++
		for _, form := range []string{"http://%s/", "http://%s:" + port + "/"} {
			if _, err := f.fetchPage(t.Context(), fmt.Sprintf(form, host)); err == nil {
				t.Errorf("%s was read, want an error", host)
			}
		}
	}
	for _, address := range []string{
		"file:///etc/passwd", "gopher://127.0.0.1:" + port, "ftp://127.0.0.1/", "//127.0.0.1:" + port, "http:127.0.0.1",
		"http://", "http:///x",
		"jar:http://127.0.0.1!/", "unix:///var/run/docker.sock", "data:text/html,x",
		"http://user:pw@127.0.0.1:" + port + "/", " http://127.0.0.1:" + port,
	} {
		tried++
		if _, err := f.fetchPage(t.Context(), address); err == nil {
			t.Errorf("%s was read, want an error", address)
		}
		target.Store(&address)
		if _, err := f.fetchPage(t.Context(), public.URL); err == nil {
			t.Errorf("%s was read after a redirect, want an error", address)
		}
	}
	if tried < 120 || w.asked.Load() < 120 {
		t.Errorf("only %d addresses were tried, %d dials were judged; want at least 120 and at least 120",
			tried, w.asked.Load())
	}
	if w.through.Load() > 0 || visits.Load() > 0 {
		t.Errorf("%d dials were let through, %d requests arrived inside; want at most 0 and at most 0",
			w.through.Load(), visits.Load())
	}
}

func TestAddressIsCheckedAtEachDial(t *testing.T) {
	t.Parallel()
	port, visits := secret(t)
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://rebinding.example:"+port+"/again", http.StatusFound)
	}))
	t.Cleanup(server.Close)
	public := server.Listener.Addr().(*net.TCPAddr).AddrPort()
	w := watch(public)
	names := newNames(t, public.Addr())
	f := newFetcher(w.control, names.resolver())
	_, err := f.fetchPage(t.Context(), "http://rebinding.example:"+strconv.Itoa(int(public.Port()))+"/")
	if err == nil || chat.CodeOf(err) != chat.CodeForbidden || visits.Load() > 0 || w.through.Load() > 0 {
		t.Errorf("a name that changed its mind: %v, %d visits; want %v and at most 0",
			err, visits.Load(), chat.CodeForbidden)
	}
	names.answer(netip.MustParseAddr("127.0.0.9"), netip.MustParseAddr("10.0.0.1"))
	if _, err = f.fetchPage(t.Context(), "http://many.example:"+strconv.Itoa(int(public.Port()))+"/"); err == nil ||
		w.through.Load() > 0 {
		t.Errorf("name with several internal addresses: got %v", err)
	}
	if asked := names.asked.Load(); asked == 0 {
		t.Errorf("the fake name server was never asked: got %v, want other than 0", asked)
	}
}

func TestOnlyListedAddressesAreExceptions(t *testing.T) {
	t.Parallel()
	port, visits := secret(t)
	listed := netip.MustParseAddrPort("127.0.0.1:" + port)
	if _, err := newFetcher(publicOnly(nil), nil).fetchPage(t.Context(), "http://"+listed.String()); err == nil ||
		chat.CodeOf(err) != chat.CodeForbidden {
		t.Errorf("unlisted: %v, want %v", err, chat.CodeForbidden)
	}
	if strings.Contains(
		fmt.Sprint(
			chat.MessageOf(
				errorOf(newFetcher(publicOnly(nil), nil).fetchPage(t.Context(), "http://"+listed.String())),
			).String(),
		), "127.",
	) {
		t.Error("message of the blocked connection has its address")
	}
	page, err := newFetcher(publicOnly([]netip.AddrPort{listed}), nil).fetchPage(t.Context(), "http://"+listed.String())
	if err != nil || visits.Load() != 1 || string(page.Body) != "the metadata" {
		t.Errorf("listed: %+v, %v; want %q", page, err, "the metadata")
	}
	other := netip.AddrPortFrom(listed.Addr(), listed.Port()+1)
	if _, err := newFetcher(publicOnly([]netip.AddrPort{listed}), nil).fetchPage(t.Context(),
		(&url.URL{Scheme: "http", Host: other.String()}).String()); err == nil {
		t.Error("other port of a listed address was dialled")
	}
}

func errorOf(_ Page, err error) error { return err }

// names is a DNS server on loopback that resolves every name to the same addresses.
type names struct {
	conn      net.PacketConn
	addresses atomic.Pointer[[]netip.Addr]
	asked     atomic.Int64
}

func newNames(t *testing.T, addresses ...netip.Addr) *names {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &names{conn: conn}
	n.answer(addresses...)
	ended := make(chan struct{})
	go func() { defer close(ended); n.serve() }()
	t.Cleanup(func() { _ = conn.Close(); <-ended })
	return n
}

func (n *names) answer(addresses ...netip.Addr) { n.addresses.Store(&addresses) }

func (n *names) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", n.conn.LocalAddr().String())
	}}
}

func (n *names) serve() {
	buffer := make([]byte, 1500)
	for {
		size, from, err := n.conn.ReadFrom(buffer)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buffer[:size]) != nil || len(m.Questions) == 0 {
			continue
		}
		n.asked.Add(1)
		q := m.Questions[0]
		m.Response, m.Authoritative, m.Additionals = true, true, nil
		for _, a := range *n.addresses.Load() {
			header := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, Type: q.Type}
			switch {
			case a.Is4() && q.Type == dnsmessage.TypeA:
				m.Answers = append(m.Answers, dnsmessage.Resource{
					Header: header, Body: &dnsmessage.AResource{A: a.As4()},
				})
			case a.Is6() && q.Type == dnsmessage.TypeAAAA:
				m.Answers = append(m.Answers, dnsmessage.Resource{
					Header: header, Body: &dnsmessage.AAAAResource{AAAA: a.As16()},
				})
			}
		}
		reply, err := m.Pack()
		if err != nil {
			continue
		}
		if _, err := n.conn.WriteTo(reply, from); err != nil {
			return
		}
	}
}
