package server

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// front is the origin that the tests of cross-origin requests allow.
const front = "https://app.example.org"

// TestAllowedOriginsMayCallTheAPI covers cross-origin resource sharing (CORS), as the Fetch standard defines it.
func TestAllowedOriginsMayCallTheAPI(t *testing.T) {
	b := newBench(t, func(c *Config) { c.Origins = []string{front} })
	run := b.begin("Is the roof sound?")
	for _, tt := range []struct {
		name, method, path string
		headers            []string
		status             int
		shared             bool // the front end's script may read the answer
	}{
		{"a question", "POST", "/agent/chat", []string{"Origin", front}, 400, true},
		{"a failure", "GET", "/agent/runs/nothing", []string{"Origin", front}, 404, true},
		{"a stream", "HEAD", "/agent/runs/" + run.ID + "/events", []string{"Origin", front}, 200, true},
		{"a client of OpenAI", "POST", "/v1/chat/completions", []string{"Origin", front}, 400, true},
		{"the Model Context Protocol", "POST", "/mcp", []string{"Origin", front}, 400, true},
		{"a list", "GET", "/documents", []string{"Origin", front, "Sec-Fetch-Site", "cross-site"}, 200, true},
		{"another origin's question", "POST", "/agent/chat", []string{"Origin", "https://evil.example"}, 403, false},
		{"another origin's look", "GET", "/documents", []string{"Origin", "https://evil.example"}, 200, false},
		{"another port", "POST", "/agent/chat", []string{"Origin", front + ":8443"}, 403, false},
		{"another scheme", "POST", "/agent/chat", []string{"Origin", "http://app.example.org"}, 403, false},
		{"an opaque origin", "POST", "/agent/chat", []string{"Origin", "null"}, 403, false},
		{"a form of the page", "POST", "/c/s1/delete", []string{"Origin", front}, 403, false},
		{"the page's way to sign in", "POST", "/signin", []string{"Origin", front}, 403, false},
		{"a page", "GET", "/", []string{"Origin", front}, 200, false},
		{"a program without an origin", "POST", "/agent/chat", nil, 400, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := b.send(tt.method, tt.path, "{}", tt.headers...)
			if got.status != tt.status {
				t.Errorf("status = %d, want %d: %s", got.status, tt.status, got.body)
			}
			if vary := strings.Join(got.header.Values("Vary"), ", "); tt.path != "/" &&
				!strings.HasPrefix(tt.path, "/c/") && tt.path != "/signin" && !strings.Contains(vary, "Origin") {
				t.Errorf("Vary = %q, want Origin in it", vary)
			}
			want := map[string]string{"Access-Control-Allow-Origin": front, "Access-Control-Allow-Credentials": "true"}
			for name, value := range want {
				if !tt.shared {
					value = ""
				}
				if got := got.header.Get(name); got != value {
					t.Errorf("%s = %q, want %q", name, got, value)
				}
			}
			exposed := got.header.Get("Access-Control-Expose-Headers")
			for _, name := range []string{"X-Request-Id", "Retry-After", "Location"} {
				if strings.Contains(exposed, name) != tt.shared {
					t.Errorf("Access-Control-Expose-Headers = %q, want %s in it: %v", exposed, name, tt.shared)
				}
			}
		})
	}
}

func TestPreflightRequestsNeedNoKey(t *testing.T) {
	b, _, given := keyedWith(t, []string{"anna"}, func(c *Config) { c.Origins = []string{front} })
	for _, tt := range []struct {
		name, origin, path, method string
		allowed                    bool
	}{
		{"a question", front, "/agent/chat", "POST", true},
		{"a change", front, "/sessions/s1", "PATCH", true},
		{"a stream", front, "/agent/runs/r1/events", "GET", true},
		{"another origin", "https://evil.example", "/agent/chat", "POST", false},
		{"a form of the page", front, "/c/s1/delete", "POST", false},
		{"a method that the address does not answer", front, "/agent/chat", "DELETE", false},
		{"an address that is not there", front, "/nothing", "POST", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := b.send("OPTIONS", tt.path, "", "Origin", tt.origin, "Access-Control-Request-Method", tt.method,
				"Access-Control-Request-Headers", "content-type,x-api-key,last-event-id")
			want := map[string]string{
				"Access-Control-Allow-Origin": front, "Access-Control-Allow-Credentials": "true",
				"Access-Control-Allow-Methods": tt.method,
				"Access-Control-Allow-Headers": "content-type,x-api-key,last-event-id",
			}
			for name, value := range want {
				if !tt.allowed {
					value = ""
				}
				if got := got.header.Get(name); got != value {
					t.Errorf("%s = %q, want %q", name, got, value)
				}
			}
			if tt.allowed && (got.status != http.StatusNoContent || got.header.Get("Access-Control-Max-Age") == "") {
				t.Errorf("status = %d, headers %v; want 204 with a Max-Age", got.status, got.header)
			}
			if vary := got.header.Values("Vary"); tt.allowed && !slices.Contains(vary, "Origin") {
				t.Errorf("Vary = %q, want Origin", vary)
			}
		})
	}
	if got := b.send("POST", "/agent/chat", "{}", "Origin", front); got.status != http.StatusUnauthorized ||
		got.header.Get("Access-Control-Allow-Origin") != front {
		t.Errorf("without a key: %d, %v; want a 401 that the front end can read", got.status, got.header)
	}
	got := b.send("POST", "/agent/chat", "{}", "Origin", front, "X-API-Key", given["anna"])
	if got.status != http.StatusBadRequest {
		t.Errorf("with a key: status = %d, want 400", got.status)
	}
}

func TestWithoutAllowedOriginsNothingIsShared(t *testing.T) {
	b := newBench(t)
	got := b.send("OPTIONS", "/agent/chat", "", "Origin", front, "Access-Control-Request-Method", "POST")
	for name := range got.header {
		if strings.HasPrefix(name, "Access-Control-") {
			t.Errorf("%s = %q, want no such header", name, got.header.Get(name))
		}
	}
	for _, origin := range []string{"*", "null", "app.example.org", front + "/", front + "/app",
		"https://APP.example.org",
		front + ":443", "http://app.example.org:80", "https://user@app.example.org", "file://"} {
		if _, err := New(Config{
			Store: b.store, Feed: b.feed, Library: b.library, Runs: b.stage, Places: b.Server.api.Places,
			Origins: []string{origin},
		}); err == nil {
			t.Errorf("%q is taken for an origin", origin)
		}
	}
}
