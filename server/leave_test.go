package server

import (
	"net/url"
	"strings"
	"testing"
)

func TestLeavingNamesTheAddressAndNeverRedirects(t *testing.T) {
	b := newBench(t)
	for _, tt := range []struct {
		name, to, host, link string
		status               int
	}{
		{"a page", "https://example.org/a?b=c&d#e", "example.org", "https://example.org/a?b=c&amp;d#e", 200},
		{"letters that look like others", "https://b\u0430nk.example/", "xn--bnk-6cd.example", `href="https://`, 200},
		{"a name before the host", "http://bank.example@evil.example/", "evil.example",
			"http://bank.example@evil.example/", 200},
		{"markup in it", `https://example.org/"><script>alert(1)</script>`, "example.org", "%22%3E%3Cscript%3E", 200},
		{"a script", "javascript:alert(1)", "", "", 400},
		{"data", "data:text/html,x", "", "", 400},
		{"a path of ours", "/documents", "", "", 400},
		{"without a scheme", "//evil.example/", "", "", 400},
		{"no host", "https:///x", "", "", 400},
		{"a host with a line end", "https://evil.example%0d%0aX: y/", "", "", 400},
		{"nothing", "", "", "", 400},
	} {
		got := b.send("GET", "/leave?to="+url.QueryEscape(tt.to), "", "Accept", "text/html")
		if got.status != tt.status || got.header.Get("Location") != "" || got.header.Get("Refresh") != "" {
			t.Errorf("%s: status %d, want %d, Location %q", tt.name, got.status, tt.status, got.header.Get("Location"))
		}
		if !strings.Contains(got.body, tt.host) || !strings.Contains(got.body, tt.link) ||
			strings.Contains(got.body, "<script>alert") || strings.Contains(got.body, `http-equiv="refresh"`) {
			t.Errorf("%s: the page does not name %q and %q, or does more: %s; want %q in it, %q in it, no %q in it, "+
				"no %q in it",
				tt.name, tt.host, tt.link, got.body, tt.host, tt.link, "<script>alert", `http-equiv="refresh"`)
		}
		if strings.Contains(got.header.Get("Content-Security-Policy"), "unsafe") {
			t.Errorf("%s: policy %s, want no %q in it", tt.name, got.header.Get("Content-Security-Policy"), "unsafe")
		}
	}
}
