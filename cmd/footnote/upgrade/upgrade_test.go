package upgrade

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/footnote/footnote/cmd/footnote/release"
)

func TestVersionsAreCompared(t *testing.T) {
	for _, tt := range []struct{ own, newest, want string }{
		{"v1.2.0", "v1.10.0", "There is a newer version: v1.10.0. This is v1.2.0."},
		{"1.2.0", "v1.2.1", "There is a newer version: v1.2.1. This is 1.2.0."},
		{"v1.2.0-rc.1", "v1.2.0", "There is a newer version: v1.2.0."},
		{"v1.2.0", "v1.2.0", "v1.2.0 is the newest version."},
		{"1.2.0", "v1.2.0", "1.2.0 is the newest version."},
		{"v1.2.0-5-g4462e41b", "v1.2.0", "This is v1.2.0-5-g4462e41b, later than the newest version, v1.2.0."},
		{"v1.2.0-5-g4462e41b-dirty", "v1.3.0", "There is a newer version: v1.3.0."},
		{"v2.0.0", "v1.3.0", "This is v2.0.0, later than the newest version, v1.3.0."},
		{"4462e41b", "v1.3.0", "This is 4462e41b, built from source. The newest version is v1.3.0"},
		{"dev", "", "No version is published at "},
	} {
		if got := newerWords(release.Info{Version: tt.own}, tt.newest); !strings.HasPrefix(got, tt.want) {
			t.Errorf("newerWords(%q, %q) = %q, want %q", tt.own, tt.newest, got, tt.want)
		}
	}
}

func TestTheAddressOfTheNewestVersionFollowsFromTheRepository(t *testing.T) {
	for of, want := range map[string]string{
		"github.com/a/b":   "https://api.github.com/repos/a/b/releases/latest",
		"codeberg.org/a/b": "https://codeberg.org/api/v1/repos/a/b/releases/latest",
	} {
		if got := newestAddress(of); got != want {
			t.Errorf("newestAddress(%q) = %q, want %q", of, got, want)
		}
	}
}

func TestTheNewestVersionIsReadWithLimits(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		t.Error("another host was asked")
		_, _ = w.Write([]byte(`{"tag_name":"v9.0.0"}`))
	}))
	t.Cleanup(elsewhere.Close)
	answer := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) }
	}
	for _, tt := range []struct {
		name    string
		handler http.HandlerFunc
		want    string
		fails   string
	}{
		{"a release", answer(`{"tag_name":"v1.3.0","assets":[{"name":"footnote.deb"}]}`), "v1.3.0", ""},
		{"nothing is published", http.NotFound, "", ""},
		{"its own redirect", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" {
				http.Redirect(w, r, "/renamed", http.StatusMovedPermanently)
				return
			}
			_, _ = w.Write([]byte(`{"tag_name":"v1.4.0"}`))
		}, "v1.4.0", ""},
		{"a redirect to another host", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusFound)
		}, "", "it sends to another address"},
		{"redirects without end", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/", http.StatusFound)
		}, "", "it sends to another address"},
		{"too long", answer(`{"tag_name":"v1.3.0","body":"` + strings.Repeat("x", maxRelease) + `"}`), "", "too large"},
		{"a page instead of JSON", answer("<html>"), "", "did not answer with a version"},
		{"a version that is none", answer(`{"tag_name":"\u001b[2Jlatest"}`), "", "did not answer with a version"},
		{"a version of a thousand digits", answer(`{"tag_name":"v` + strings.Repeat("1", 1000) + `"}`), "",
			"did not answer with a version"},
		{"too many requests", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusTooManyRequests)
		}, "", "answered 429"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(tt.handler)
			defer server.Close()
			got, err := newestRelease(t.Context(), server.URL)
			if got != tt.want || (err != nil) != (tt.fails != "") ||
				err != nil && !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("newestRelease = %q, %v; want %q, %q", got, err, tt.want, tt.fails)
			}
		})
	}
	for _, from := range []string{"http://example.org/latest", "ftp://127.0.0.1.example.org/", "::"} {
		if got, err := newestRelease(t.Context(), from); err == nil {
			t.Errorf("newestRelease(%q) = %q, want an error: it is not https", from, got)
		}
	}
}
