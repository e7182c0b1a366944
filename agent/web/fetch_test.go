package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

func zipped(t *testing.T, r io.Reader) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.Copy(z, r); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// spaces yields n spaces.
func spaces(n int64) io.Reader { return io.LimitReader(blank{}, n) }

type blank struct{}

var blanks = bytes.Repeat([]byte(" "), 64<<10)

func (blank) Read(p []byte) (int, error) {
	return copy(p, blanks), nil
}

func TestPagesAreReadWithinLimits(t *testing.T) {
	t.Parallel()
	small, bomb := zipped(t, strings.NewReader("<p>packed</p>")), bytes.Repeat(zipped(t, spaces(1<<20)), 200)
	mux := http.NewServeMux()
	send := func(kind, encoding string, body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Cookie") != "" || r.Header.Get("Referer") != "" || r.Header.Get("Authorization") != "" {
				t.Errorf("headers to %s = %v; want no Cookie, Referer or Authorization", r.URL, r.Header)
			}
			http.SetCookie(w, &http.Cookie{Name: "id", Value: "1"})
			w.Header().Set("Content-Type", kind)
			if encoding != "" {
				w.Header().Set("Content-Encoding", encoding)
			}
			_, _ = w.Write(body)
		}
	}
	mux.HandleFunc("/page", send("text/html; charset=utf-8", "", []byte("<p>plain</p>")))
	mux.HandleFunc("/latin", send("text/html; charset=iso-8859-1", "", []byte("<p>caf\xe9</p>")))
	mux.HandleFunc("/unlabelled", send("text/html", "", []byte("<p>x</p>")))
	mux.HandleFunc("/packed", send("text/html", "gzip", small))
	mux.HandleFunc("/bomb", send("text/html", "gzip", bomb))
	mux.HandleFunc("/brotli", send("text/html", "br", small))
	mux.HandleFunc("/paper.pdf", send("application/pdf", "", []byte("%PDF-1.7")))
	mux.HandleFunc("/image", send("image/png", "", []byte("\x89PNG")))
	mux.HandleFunc("/script", send("application/javascript", "", []byte("1")))
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.Copy(w, spaces(MaxPage+10))
	})
	mux.HandleFunc("/missing", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/page", http.StatusMovedPermanently)
	})
	mux.HandleFunc("/round", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/round", http.StatusFound)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	f := newFetcher(publicOnly([]netip.AddrPort{server.Listener.Addr().(*net.TCPAddr).AddrPort()}), nil)
	for _, tt := range []struct {
		path, url, filename, body string
		code                      chat.Code
	}{
		{"/page", "/page", "127.0.0.1-page.html", "\xef\xbb\xbf<p>plain</p>", ""},
		{"/latin", "/latin", "127.0.0.1-latin.html", "\xef\xbb\xbf<p>café</p>", ""},
		{"/unlabelled", "/unlabelled", "127.0.0.1-unlabelled.html", "<p>x</p>", ""},
		{"/packed", "/packed", "127.0.0.1-packed.html", "<p>packed</p>", ""},
		{"/moved", "/page", "127.0.0.1-page.html", "\xef\xbb\xbf<p>plain</p>", ""},
		{"/paper.pdf", "/paper.pdf", "127.0.0.1-paper.pdf", "%PDF-1.7", ""},
		{"/bomb", "", "", "", chat.CodeTooLarge},
		{"/large", "", "", "", chat.CodeTooLarge},
		{"/brotli", "", "", "", chat.CodeUnsupported},
		{"/image", "", "", "", chat.CodeUnsupported},
		{"/script", "", "", "", chat.CodeUnsupported},
		{"/missing", "", "", "", chat.CodeUnavailable},
		{"/round", "", "", "", chat.CodeUnavailable},
	} {
		page, err := f.fetchPage(t.Context(), server.URL+tt.path)
		if tt.code != "" {
			if err == nil || chat.CodeOf(err) != tt.code {
				t.Errorf("%s = %v, want %s", tt.path, err, tt.code)
			}
			continue
		}
		if err != nil || page.URL != server.URL+tt.url || page.Filename != tt.filename ||
			string(page.Body) != tt.body || time.Since(page.FetchedAt) > time.Minute {
			t.Errorf("%s = %q %q %q, %v; want %q, %q, %v",
				tt.path, page.URL, page.Filename, page.Body, err, server.URL+tt.url, tt.filename, tt.body)
		}
	}
}

func TestEndlessPageTimesOut(t *testing.T) {
	t.Parallel()
	left := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<p>")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(left)
	}))
	t.Cleanup(server.Close)
	f := newFetcher(publicOnly([]netip.AddrPort{server.Listener.Addr().(*net.TCPAddr).AddrPort()}), nil)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := f.fetchPage(ctx, server.URL); err == nil || chat.CodeOf(err) != chat.CodeTimeout {
		t.Errorf("fetch = %v, want %v", err, chat.CodeTimeout)
	}
	<-left
}

const key = "canary-key-7f3a"

// services returns a server that imitates the providers, including their validation.
func services(t *testing.T) *httptest.Server {
	mux := http.NewServeMux()
	hit := func(text string) []map[string]string {
		return []map[string]string{
			{"url": "https://example.org/roof#top", "title": "Roofs", text: "About  roofs."},
			{"url": "https://example.org/roof", "title": "Roofs again", text: "The same page."},
			{"url": "javascript:alert(1)", "title": "No page", text: ""},
			{"url": "https://example.net/", "title": "Another", text: "More."},
		}
	}
	reply := func(w http.ResponseWriter, r *http.Request, allowed bool, body any) {
		switch {
		case strings.Contains(r.URL.RawQuery+r.Header.Get("X-Query"), "busy"):
			w.WriteHeader(http.StatusTooManyRequests)
		case !allowed:
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, "no such key: "+key)
		default:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(body)
		}
	}
	mux.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) {
		reply(w, r, r.URL.Query().Get("format") == "json" && r.URL.Query().Get("q") != "",
			map[string]any{"query": r.URL.Query().Get("q"), "results": hit("content")})
	})
	mux.HandleFunc("POST /search", func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Query string
			Max   int `json:"max_results"`
		}
		ok := json.NewDecoder(r.Body).Decode(&in) == nil && in.Max > 0
		r.Header.Set("X-Query", in.Query)
		reply(w, r, ok && r.Header.Get("Authorization") == "Bearer "+key, map[string]any{"results": hit("content")})
	})
	mux.HandleFunc("GET /res/v1/web/search", func(w http.ResponseWriter, r *http.Request) {
		reply(w, r, r.Header.Get("X-Subscription-Token") == key, map[string]any{
			"web": map[string]any{"results": hit("description")},
		})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

func TestProvidersFindPages(t *testing.T) {
	t.Parallel()
	server := services(t)
	for _, name := range Providers {
		w, err := New(Config{Provider: name, URL: server.URL + "/", APIKey: key})
		if err != nil {
			t.Fatal(err)
		}
		found, err := w.Search(t.Context(), "roof & tiles", 5)
		want := []Found{
			{"https://example.org/roof", "Roofs", "About roofs."}, {"https://example.net/", "Another", "More."},
		}
		if err != nil || len(found) != 2 || found[0] != want[0] || found[1] != want[1] {
			t.Errorf("%s: Search = %+v, %v; want %+v", name, found, err, want)
		}
		if found, err = w.Search(t.Context(), "roof", 1); err != nil || len(found) != 1 {
			t.Errorf("%s: Search for one = %+v, %v; want 1", name, found, err)
		}
		if _, err := w.Search(t.Context(), "busy", 5); err == nil || chat.CodeOf(err) != chat.CodeTooMany {
			t.Errorf("%s: a busy service gives %v, want %v", name, err, chat.CodeTooMany)
		}
	}
}

func TestProviderErrorOmitsKey(t *testing.T) {
	t.Parallel()
	server := services(t)
	for _, name := range []string{"tavily", "brave"} {
		w, err := New(Config{Provider: name, URL: server.URL, APIKey: "wrong-" + key})
		if err != nil {
			t.Fatal(err)
		}
		_, err = w.Search(t.Context(), "roof", 5)
		if err == nil || chat.CodeOf(err) != chat.CodeUnavailable || strings.Contains(err.Error(), key) {
			t.Errorf("%s: a wrong key gives %v; want %v and no %q in it", name, err, chat.CodeUnavailable, key)
		}
	}
	w, err := New(Config{Provider: "searxng", URL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Search(t.Context(), "roof", 5); err == nil ||
		!strings.Contains(chat.MessageOf(err).String(), "can't be reached") {
		t.Errorf("unavailable service: got %v", err)
	}
	if got := fmt.Sprintf("%v %+v %#v", Config{APIKey: key}, Config{APIKey: key},
		Config{APIKey: key}); strings.Contains(got, key) {
		t.Errorf("a configuration prints its key: %s, want no %q in it", got, key)
	}
}

func TestProviderSettingsAreValidated(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		cfg  Config
		says string
	}{
		{Config{Provider: "google"}, "searxng, tavily, brave"},
		{Config{Provider: "searxng"}, "needs the URL"},
		{Config{Provider: "searxng", URL: "localhost:8888"}, "must be a URL"},
		{Config{Provider: "tavily"}, "needs an API key"},
		{Config{Provider: "brave", URL: "https://x.example"}, "needs an API key"},
	} {
		if _, err := New(tt.cfg); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("New(%+v) = %v, want %q", tt.cfg, err, tt.says)
		}
	}
}
