// Package web searches the web through a provider (SearXNG, Tavily or Brave) and fetches pages. Whatever URL it
// gets, it connects only to the public internet, checked at the moment of connecting. It never connects to this
// machine, the network around it, or a cloud's metadata service. Sizes and times are limited. The package stores
// nothing: agent/tools captures pages into the library.
//
// web.go has the types and the configuration, provider.go the search services, fetch.go fetches pages. guard.go
// checks addresses that are dialled for them, dial_policy.go those that users configured. The reasons for checks in the
// dialer are in docs/decisions/sources.md.
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
	"github.com/footnote/footnote/text/locale"
)

// Providers are the names of the supported search services.
var Providers = []string{"searxng", "tavily", "brave"}

// bases are the default URLs of hosted services.
var bases = map[string]string{"tavily": "https://api.tavily.com", "brave": "https://api.search.brave.com"}

// Config configures the search provider. URL is required for searxng and optional for the others.
type Config struct {
	Provider string // one of Providers
	URL      string // http or https, without a path beyond the service's own
	APIKey   Secret // required for tavily and brave
	// Allow lists addresses that may be fetched although they are private or on a port other than 80 and 443.
	Allow []netip.AddrPort
}

// Secret is a key that is redacted when printed.
type Secret string

// String returns "[set]", or an empty string for an empty secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "[set]"
}

// GoString implements fmt.GoStringer for %#v, redacted.
func (s Secret) GoString() string { return s.String() }

// LogValue implements slog.LogValuer, redacted.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// Found is a search result.
type Found struct {
	URL     string // http or https
	Title   string
	Snippet string // a few sentences of the page, plain text
}

// provider is a search service.
type provider interface {
	search(ctx context.Context, query string, n int) ([]Found, error)
}

// Web searches and fetches. It is safe for concurrent use.
type Web struct {
	name     string
	provider provider
	api      api
	fetcher  *fetcher
}

// Check validates the configuration of a provider.
func (c Config) Check() error {
	if !slices.Contains(Providers, c.Provider) {
		return fmt.Errorf(
			"unknown web search provider %q; supported: %s", c.Provider, strings.Join(Providers, ", "),
		)
	}
	if c.URL != "" {
		if u, err := url.Parse(c.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("the web search URL %q must be a URL like http://localhost:8888", c.URL)
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

// New validates the configuration. It does not connect. The provider's client has no guard, since its URL is a
// setting and may be on this machine.
func New(cfg Config) (*Web, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	base := strings.TrimRight(cmp.Or(cfg.URL, bases[cfg.Provider]), "/")
	api := api{key: string(cfg.APIKey), base: base, client: &http.Client{
		Timeout: searchTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { // a redirect would send the key to another server
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

// Ping returns an error if the provider's server does not respond. It sends no search, so it costs nothing and does
// not validate the key.
func (w *Web) Ping(ctx context.Context) error { return w.api.ping(ctx) }

// Name returns the provider's name.
func (w *Web) Name() string { return w.name }

// Search returns up to n pages, best first, deduplicated by URL without the fragment. Results with an invalid URL
// are skipped. Its errors wrap a chat.Error.
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

// Page is a fetched page.
type Page struct {
	URL       string // after all redirects
	Filename  string // with the extension of its type
	Body      []byte // text in UTF-8 with a byte order mark, or a PDF
	FetchedAt time.Time
}

// Fetch fetches a page: HTML, plain text or PDF, at most MaxPage bytes, in at most ten seconds. It returns
// chat.CodeForbidden for an address that is not public, chat.CodeTooLarge, chat.CodeUnsupported, chat.CodeTimeout or
// chat.CodeUnavailable.
func (w *Web) Fetch(ctx context.Context, address string) (Page, error) {
	return w.fetcher.fetchPage(ctx, address)
}

// plainLine normalises a provider's text to one line of at most limit runes.
func plainLine(s string, limit int) string {
	runes := []rune(strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " "))
	return string(runes[:min(limit, len(runes))])
}

// failedWith returns an error with a message for the user.
func failedWith(code chat.Code, format string, args ...any) error {
	return &chat.Error{Code: code, Message: locale.Message(fmt.Sprintf(format, args...))}
}
