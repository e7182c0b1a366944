package web

import (
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

	"github.com/footnote/footnote/chat"
)

// inside are addresses that no page may be read from.
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
	// A translator of the provider, or ISATAP, makes the last four bytes an IPv4 address.
	"2606:4700::a9fe:a9fe", "2606:4700::5efe:168.63.129.16", "2606:4700::168.63.129.16",
}

// clouds are the addresses of metadata services, as their vendors document them.
var clouds = []string{
	"169.254.169.254", "169.254.170.2", "169.254.170.23", "169.254.42.42", "169.254.0.23", "169.254.10.10",
	"168.63.129.16", "100.100.100.200", "192.0.0.192", "192.80.8.124",
	"fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd00:c1::a9fe:a9fe", "fd00:42::42", "fd00:a9fe:a9fe::1",
	"fd00:100::100:200", "fe80::a9fe:a9fe",
}

// embeddings are the IPv6 addresses that carry an IPv4 address to whatever translates them.
func embeddings(ip string) []string {
	a := netip.MustParseAddr(ip).As4()
	hex := fmt.Sprintf("%02x%02x:%02x%02x", a[0], a[1], a[2], a[3])
	return []string{
		"::ffff:" + hex, "64:ff9b::" + hex, "64:ff9b:1::" + hex, "2002:" + hex + "::1", "::" + hex, "::ffff:0:" + hex,
		"fd12:3456::" + hex, "fd12:3456::5efe:" + hex, "fd12:3456::200:5efe:" + hex, "2606:4700::" + hex,
		fmt.Sprintf("2001:0:4136:e378:8000:63bf:%02x%02x:%02x%02x", ^a[0], ^a[1], ^a[2], ^a[3]),
	}
}

// spellings are ways to write an IPv4 address as the host of a URL, many of which are host names to a URL parser.
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

// watched is a guard on any port that counts what it lets through, but for one address that stands for the public
// internet.
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
	return errNotPublic // counted; the test itself connects to nobody
}

// secret is a server of the inside that counts who comes.
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

func TestNoSpellingOfAnInsideAddressIsConnectedTo(t *testing.T) {
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

func TestAnAddressIsJudgedAgainAtEachDial(t *testing.T) {
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
		t.Errorf("a name of several inside addresses: %v", err)
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
			chat.MessageOf(errorOf(newFetcher(publicOnly(nil), nil).fetchPage(t.Context(), "http://"+listed.String()))),
		), "127.",
	) {
		t.Error("the refusal tells the address")
	}
	page, err := newFetcher(publicOnly([]netip.AddrPort{listed}), nil).fetchPage(t.Context(), "http://"+listed.String())
	if err != nil || visits.Load() != 1 || string(page.Body) != "the metadata" {
		t.Errorf("listed: %+v, %v; want %q", page, err, "the metadata")
	}
	other := netip.AddrPortFrom(listed.Addr(), listed.Port()+1)
	if _, err := newFetcher(publicOnly([]netip.AddrPort{listed}), nil).fetchPage(t.Context(),
		(&url.URL{Scheme: "http", Host: other.String()}).String()); err == nil {
		t.Error("another port of a listed address was dialled")
	}
}

func errorOf(_ Page, err error) error { return err }
