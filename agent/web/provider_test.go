package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
)

const key = "canary-key-7f3a"

// services answer as the providers do, and refuse what the providers would.
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

func TestAProviderThatFailsIsNamedWithoutItsKey(t *testing.T) {
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
		!strings.Contains(chat.MessageOf(err), "can't be reached") {
		t.Errorf("a service that is down gives %v", err)
	}
	if got := fmt.Sprintf("%v %+v %#v", Config{APIKey: key}, Config{APIKey: key},
		Config{APIKey: key}); strings.Contains(got, key) {
		t.Errorf("a configuration prints its key: %s, want no %q in it", got, key)
	}
}

func TestSettingsOfAProviderAreChecked(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		cfg  Config
		says string
	}{
		{Config{Provider: "google"}, "searxng, tavily, brave"},
		{Config{Provider: "searxng"}, "needs the URL"},
		{Config{Provider: "searxng", URL: "localhost:8888"}, "not a URL"},
		{Config{Provider: "tavily"}, "needs an API key"},
		{Config{Provider: "brave", URL: "https://x.example"}, "needs an API key"},
	} {
		if _, err := New(tt.cfg); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("New(%+v) = %v, want %q", tt.cfg, err, tt.says)
		}
	}
}
