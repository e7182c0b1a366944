package main_test

import (
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// newKey makes a key of a user with 'footnote key new'.
func newKey(t testing.TB, dir, name string, env ...string) string {
	t.Helper()
	made := command(t, "", env, "key", "new", name, "--data="+dir)
	if made.code != 0 {
		t.Fatalf("key new: exit code %d: %s, want 0", made.code, made.stderr)
	}
	return strings.TrimSpace(made.stdout)
}

// networkAddrs are ways to write an address, without its port, that other machines can reach.
func networkAddrs(t *testing.T) []string {
	t.Helper()
	all := []string{"0.0.0.0", "", "[::]", "[::ffff:0.0.0.0]"}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range addrs {
		if ip, ok := addr.(*net.IPNet); ok && ip.IP.To4() != nil && !ip.IP.IsLoopback() {
			all = append(all, ip.IP.String())
			break
		}
	}
	return all
}

func TestWithoutKeysTheNetworkIsRefused(t *testing.T) {
	t.Parallel()
	for _, host := range networkAddrs(t) {
		dir := newDir(t)
		for _, name := range []string{"serve", "doctor"} {
			got := command(t, "", nil, name, "--data="+dir, "--addr="+host+":0")
			text := got.stdout + got.stderr
			if got.code != 1 {
				t.Errorf("%s on %q: exit code %d, want 1:\n%s", name, host, got.code, text)
			}
			for _, want := range []string{
				"footnote key new", "FOOTNOTE_OPEN_TO_NETWORK=true", "--addr 127.0.0.1:8080",
			} {
				if !strings.Contains(text, want) {
					t.Errorf("%s on %q does not say %q:\n%s", name, host, want, text)
				}
			}
		}
	}
	for _, host := range []string{"127.0.0.1", "[::1]", "localhost", "127.8.8.8", "[::ffff:127.0.0.1]"} {
		ln, err := net.Listen("tcp", host+":0")
		if err != nil {
			t.Logf("%s can't be bound here: %v", host, err)
			continue
		}
		_ = ln.Close()
		s := serveAt(t, host+":0", newDir(t))
		if strings.Contains(s.log.String(), "WARN") {
			t.Errorf("on %s it warns:\n%s", host, s.log)
		}
	}
}

func TestAnOpenServerOnTheNetworkWarnsAndKnowsItsNames(t *testing.T) {
	t.Parallel()
	env := []string{"FOOTNOTE_OPEN_TO_NETWORK=true", "FOOTNOTE_ALLOWED_HOSTS=Intranet.example"}
	dir := newDir(t)
	s := serveAt(t, "0.0.0.0:0", dir, env...)
	if log := s.log.String(); !strings.Contains(log, "FOOTNOTE_OPEN_TO_NETWORK") ||
		!strings.Contains(log, "level=WARN") {
		t.Errorf("it does not warn:\n%s", log)
	}
	_, port, err := net.SplitHostPort(strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	status := func(host string) int { return s.send("GET", "/documents", nil, header{"Host", host}).status }
	for host, want := range map[string]int{
		"localhost:" + port: 200, "127.0.0.1": 200, "intranet.example:" + port: 200, "intranet.example.": 200,
		"evil.example": 403, "10.255.254.253": 403, "localhost.evil.example": 403, "0.0.0.0:" + port: 403,
	} {
		if got := status(host); got != want {
			t.Errorf("Host %s: status = %d, want %d", host, got, want)
		}
	}
	for _, host := range networkAddrs(t)[4:] { // this machine's own address, reached by it
		own := *s
		own.url = "http://" + net.JoinHostPort(host, port)
		if got := own.send("GET", "/documents", nil); got.status != 200 {
			t.Errorf("at its own address %s: status = %d, want 200", host, got.status)
		}
	}
	if got := command(t, "", append(env, "FOOTNOTE_ADDR=0.0.0.0:"+port), "doctor", "--data="+dir); got.code != 0 ||
		!strings.Contains(got.stdout, "everyone who reaches") {
		t.Errorf("doctor: exit code %d:\n%s%s", got.code, got.stdout, got.stderr)
	}
	key := newKey(t, dir, "anna")
	if got := s.send("GET", "/documents", nil, header{"Host", "intranet.example"}); got.status != 401 {
		t.Errorf("with the first key made, a request without one: status = %d, want 401", got.status)
	}
	if got := s.send("GET", "/documents", nil, header{"Host", "intranet.example"},
		header{"X-API-Key", key}); got.status != 200 {
		t.Errorf("with the first key: status = %d, want 200", got.status)
	}
}

func TestAServerWithAKeysFileStartsLocked(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	env := []string{"FOOTNOTE_KEYS=" + filepath.Join(t.TempDir(), "keys")}
	s := serveAt(t, "0.0.0.0:0", dir, env...)
	if log := s.log.String(); !strings.Contains(log, "footnote key new NAME") {
		t.Errorf("it does not say how to make the first key:\n%s", log)
	}
	for path, want := range map[string]int{"/documents": 401, "/": 401, "/health": 200, "/readyz": 200} {
		if got := s.send("GET", path, nil); got.status != want {
			t.Errorf("%s before the first key: status = %d, want %d", path, got.status, want)
		}
	}
	if got := command(t, "", env, "doctor", "--data="+dir); got.code != 1 ||
		!strings.Contains(got.stdout, "nobody has one") {
		t.Errorf("doctor: exit code %d:\n%s", got.code, got.stdout)
	}
	key := newKey(t, dir, "anna", env...)
	if got := s.send("GET", "/documents", nil, header{"X-API-Key", key},
		header{"Host", "any.example"}); got.status != 200 {
		t.Errorf("with the first key: status = %d, want 200", got.status)
	}
	if got := command(t, "", env, "doctor", "--data="+dir); got.code != 0 ||
		!strings.Contains(got.stdout, "a key is needed; 1 can be used") {
		t.Errorf("doctor: exit code %d:\n%s", got.code, got.stdout)
	}
}
