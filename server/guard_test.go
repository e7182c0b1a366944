package server

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/keys"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/httpio/ssetest"
	"github.com/footnote/footnote/server/page"
)

// tighter are the headers of routes that override the default ones.
var tighter = map[string][]string{
	"Content-Security-Policy": {api.Inert, page.SharedPolicy},
	"Referrer-Policy":         {"no-referrer"},
}

// The rows of TestEveryRouteSendsTheSecurityHeaders are generated from the router, so that new routes are covered.
func TestEveryRouteSendsTheSecurityHeaders(t *testing.T) {
	b := newHarness(t)
	param := regexp.MustCompile(`:[a-z_]+|\*`)
	routes := httpio.Routes(b.router)
	if len(routes) < 30 {
		t.Fatalf("only %d routes are registered, want at least 30 routes", len(routes))
	}
	for _, route := range routes {
		t.Run(route.Method+" "+route.Path, func(t *testing.T) {
			path := param.ReplaceAllString(route.Path, "x")
			req := httptest.NewRequest(route.Method, "http://localhost"+path, nil)
			rec := httptest.NewRecorder()
			b.Handler().ServeHTTP(rec, req)
			for _, want := range httpio.SecurityHeaders {
				got := rec.Header().Get(want[0])
				if got != want[1] && !slices.Contains(tighter[want[0]], got) {
					t.Errorf("%s = %q, want %q", want[0], got, want[1])
				}
			}
			if rec.Header().Get("X-Request-Id") == "" {
				t.Error("response lacks X-Request-Id")
			}
			if strings.Contains(rec.Header().Get("Content-Security-Policy"), "unsafe") {
				t.Error("Content-Security-Policy allows unsafe sources")
			}
		})
	}
}

func TestHostAndOriginChecks(t *testing.T) {
	b := newHarness(t, func(c *Config) {
		c.Hosts = []string{"ask.example.org"}
		c.Origins = []string{"https://trusted.example.org"}
	})
	for _, tt := range []struct {
		name    string
		method  string
		headers []string
		want    int
	}{
		{"localhost is let in", "GET", []string{"Host", "localhost:8080"}, 200},
		{"a loopback address is let in", "GET", []string{"Host", "[::1]:8080"}, 200},
		{"a configured name is let in, whatever its case", "GET", []string{"Host", "Ask.Example.org"}, 200},
		{"a foreign name that resolves here is refused", "GET", []string{"Host", "evil.example"}, 403},
		{"a foreign name that looks local is refused", "GET", []string{"Host", "localhost.evil.example"}, 403},
		{"a private address that is not ours is refused", "GET", []string{"Host", "10.0.0.1"}, 403},
		{"a foreign Origin can't post", "POST", []string{"Origin", "https://evil.example"}, 403},
		{"a cross-site form can't post", "POST", []string{"Sec-Fetch-Site", "cross-site"}, 403},
		{"an opaque Origin can't post", "POST", []string{"Origin", "null"}, 403},
		{"the same site can post", "POST", []string{"Sec-Fetch-Site", "same-origin"}, 400},
		{"a program without Origin can post", "POST", nil, 400},
		{"a configured Origin can post", "POST", []string{"Origin", "https://trusted.example.org"}, 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path, body := "/readyz", ""
			if tt.method == "POST" {
				path, body = "/search", "{}"
			}
			if got := b.send(tt.method, path, body, tt.headers...); got.status != tt.want {
				t.Errorf("status = %d, want %d: %s", got.status, tt.want, got.body)
			}
		})
	}
}

func TestOpenServerOnAllAddressesChecksHost(t *testing.T) {
	b, path, _ := keyed(t)
	ln, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- b.Serve(ln) }()
	t.Cleanup(func() {
		if err := b.Shutdown(t.Context()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
		<-served
	})
	_, port, err := net.SplitHostPort(ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b.url = "http://127.0.0.1:" + port
	for host, want := range map[string]int{
		"intranet.example": 403, "10.0.0.1": 403, "localhost": 200, "127.0.0.1": 200,
	} {
		if got := b.send("GET", "/readyz", "", "Host", host); got.status != want {
			t.Errorf("without keys, Host %s: status = %d, want %d", host, got.status, want)
		}
	}
	if _, err := keys.New(path, "anna"); err != nil {
		t.Fatal(err)
	}
	if got := b.send("GET", "/readyz", "", "Host", "intranet.example"); got.status != http.StatusOK {
		t.Errorf("with keys: status = %d, want 200", got.status)
	}
}

func TestHeadAndOptions(t *testing.T) {
	b := newHarness(t)
	run := b.begin("Is the roof sound?")
	for _, tt := range []struct {
		name, method, path string
		want               int
	}{
		{"HEAD of JSON is its GET without the body", "HEAD", "/agent/runs/" + run.ID, 200},
		{"HEAD of a stream ends at once", "HEAD", "/agent/runs/" + run.ID + "/events", 200},
		{"HEAD of nothing is 404", "HEAD", "/nothing", 404},
		{"OPTIONS names the methods", "OPTIONS", "/search", 204},
		{"another method is 405", "PUT", "/search", 405},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := b.send(tt.method, tt.path, "")
			if got.status != tt.want {
				t.Errorf("status = %d, want %d", got.status, tt.want)
			}
			if tt.method == "HEAD" && got.body != "" {
				t.Errorf("body = %q", got.body)
			}
			if (tt.method == "OPTIONS" || tt.want == 405) && !strings.Contains(got.header.Get("Allow"), "POST") {
				t.Errorf("Allow = %q", got.header.Get("Allow"))
			}
		})
	}
}

func TestEndlessHeaderTimesOut(t *testing.T) {
	b := newHarness(t)
	if b.http.ReadHeaderTimeout <= 0 || b.http.ReadHeaderTimeout > 30*time.Second {
		t.Errorf("ReadHeaderTimeout = %v; want more than 0 and at most %v", b.http.ReadHeaderTimeout, 30*time.Second)
	}
	if got := b.send("GET", "/readyz", "", "X-Big",
		strings.Repeat("x", 100<<10)); got.status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status = %d, want 431", got.status)
	}
}

func TestMissingBodyTimesOut(t *testing.T) {
	b := newHarness(t, func(c *Config) { c.Limits.ReadTimeout = 20 * time.Millisecond })
	conn, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(
		conn,
		"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
	); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusBadRequest {
		t.Errorf("status = %d, want %d", res.StatusCode, http.StatusBadRequest)
	}
}

func TestIdleClientWithBodyKeepsStream(t *testing.T) {
	b := newHarness(t, func(c *Config) { c.Limits.ReadTimeout = 20 * time.Millisecond })
	req, err := http.NewRequestWithContext(t.Context(), "POST", b.url+"/chat",
		strings.NewReader(`{"message":"Why?","session_id":"s1"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	passed := time.NewTimer(60 * time.Millisecond) // later than the deadline of the body's last read
	<-passed.C
	runs, err := b.store.Runs(t.Context(), chat.Local, "s1")
	if err != nil || len(runs) != 1 {
		t.Fatalf("runs: %v, %v; want 1 run", runs, err)
	}
	b.append(runs[0].ID, chat.RunDone{Status: chat.RunCompleted})
	if events := ssetest.NewReader(res.Body).All(t); len(events) != 1 {
		t.Errorf("events = %q, want 1 event", events)
	}
}
