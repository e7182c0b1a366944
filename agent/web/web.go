// Package web searches the web through a provider (SearXNG, Tavily or Brave) and reads pages of it. Whatever address it
// is given, it reads only from the public internet, checked at the moment of connecting: never from this machine, the
// network around it, or a cloud's metadata service. Sizes and times are bounded. Nothing is kept here: agent/tools
// captures pages into the library.
//
// web.go has the types and the settings, provider.go the search services, fetch.go reads pages, guard.go decides what
// may be dialled for them, reach.go does so for what a person set up. Why addresses are judged in the dialer:
// docs/decisions/sources.md.
package web

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
)

// Providers are the names of the search services that are understood.
var Providers = []string{"searxng", "tavily", "brave"}

// bases are where the services are that have an address of their own.
var bases = map[string]string{"tavily": "https://api.tavily.com", "brave": "https://api.search.brave.com"}

// Config names the search provider. URL is required for searxng; the others have their own.
type Config struct {
	Provider string // one of Providers
	URL      string // http or https, without a path beyond the service's own
	APIKey   Secret // required for tavily and brave
	// Allow lists addresses that pages may be read from although they are private or on another port than 80 and 443.
	Allow []netip.AddrPort
}

// Secret is a key that never prints.
type Secret string

// String returns "[set]", or nothing when it is empty.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "[set]"
}

// GoString is String for %#v.
func (s Secret) GoString() string { return s.String() }

// LogValue is String for slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Found is a page that a search names.
type Found struct {
	URL     string // http or https
	Title   string
	Snippet string // a few sentences of the page, plain text
}

// provider is a search service.
type provider interface {
	search(ctx context.Context, query string, n int) ([]Found, error)
}

// Web searches and reads. It is safe for concurrent use.
type Web struct {
	name     string
	provider provider
	api      api
	fetcher  *fetcher
}

// Check says what is wrong with the settings of a provider; nil if nothing is.
func (c Config) Check() error {
	if !slices.Contains(Providers, c.Provider) {
		return fmt.Errorf(
			"the web search provider %q is not known; there are %s", c.Provider, strings.Join(Providers, ", "),
		)
	}
	if c.URL != "" {
		if u, err := url.Parse(c.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("the web search URL %q is not a URL like http://localhost:8888", c.URL)
		}
	}
	switch {
	case c.Provider == "searxng" && c.URL == "":
		return fmt.Errorf("the web search provider searxng needs the URL of a SearXNG server")
	case c.Provider != "searxng" && c.APIKey == "":
		return fmt.Errorf("the web search provider %s needs an API key", c.Provider)
	}
	return nil
}

// New checks the settings. It connects to nothing. The client for the provider has no guard: its address is a setting
// and may be on this machine.
func New(cfg Config) (*Web, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	base := strings.TrimRight(cmp.Or(cfg.URL, bases[cfg.Provider]), "/")
	api := api{key: string(cfg.APIKey), base: base, client: &http.Client{
		Timeout: searchTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { // a key goes nowhere else
			return http.ErrUseLastResponse
		},
	}}
	w := &Web{name: cfg.Provider, api: api, fetcher: newFetcher(publicOnly(cfg.Allow), nil)}
	switch cfg.Provider {
	case "searxng":
		w.provider = searxng{api}
	case "tavily":
		w.provider = tavily{api}
	case "brave":
		w.provider = brave{api}
	}
	return w, nil
}

// Reach fails when the provider's server does not answer. It searches for nothing, so it costs nothing, and finds no
// fault with the key.
func (w *Web) Reach(ctx context.Context) error { return w.api.reach(ctx) }

// Name is the provider's name.
func (w *Web) Name() string { return w.name }

// Search returns up to n pages, best first, each address once. It fails with a chat.Error that says what happened.
// Addresses without their fragments tell pages apart. What is no plain address of a page is left out.
func (w *Web) Search(ctx context.Context, query string, n int) ([]Found, error) {
	found, err := w.provider.search(ctx, query, n)
	if err != nil {
		return nil, fmt.Errorf("search the web with %s: %w", w.name, err)
	}
	out := make([]Found, 0, min(n, len(found)))
	for _, f := range found {
		u, err := checkURL(f.URL)
		if err != nil || len(out) == n {
			continue
		}
		u.Fragment = ""
		f.URL = u.String()
		if !slices.ContainsFunc(out, func(o Found) bool { return o.URL == f.URL }) {
			f.Title, f.Snippet = plainLine(f.Title, 300), plainLine(f.Snippet, 1000)
			out = append(out, f)
		}
	}
	return out, nil
}

// Page is what was read from an address.
type Page struct {
	URL       string // after all redirects
	Filename  string // with the extension of its kind
	Body      []byte // text in UTF-8 with a byte order mark, or a PDF
	FetchedAt time.Time
}

// Fetch reads a page: HTML, plain text or PDF, at most MaxPage bytes, in at most ten seconds. It fails with
// chat.CodeForbidden for an address that is not public, chat.CodeTooLarge, chat.CodeUnsupported, chat.CodeTimeout or
// chat.CodeUnavailable.
func (w *Web) Fetch(ctx context.Context, address string) (Page, error) {
	return w.fetcher.fetchPage(ctx, address)
}

// plainLine makes one line of at most limit runes of what a provider says.
func plainLine(s string, limit int) string {
	runes := []rune(strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " "))
	return string(runes[:min(limit, len(runes))])
}

// failedWith is an error with a sentence for the user.
func failedWith(code chat.Code, format string, args ...any) error {
	return &chat.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
