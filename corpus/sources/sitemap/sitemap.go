// Package sitemap implements the kind of place that is a site with a list of its pages.
//
// It parses the XML format of sitemaps.org and indexes of such files, compressed or not. Their dates and priorities
// are not trusted: changes of pages are detected by ETag, date and hash (package webpage).
package sitemap

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/request"
	"github.com/footnote/footnote/corpus/sources/robots"
	"github.com/footnote/footnote/corpus/sources/webpage"
	"github.com/footnote/footnote/text/locale"
)

// Limits of a site's list. 50 MiB is the protocol's limit of an uncompressed file.
const (
	maxBytes = 50 << 20 // bytes of one file, compressed and uncompressed
	maxFiles = 500      // in an index
	maxDepth = 3        // nesting of indexes
)

// Kind returns the kind of place for a site with a sitemap. Its settings are the sitemap's address and a prefix of
// pages.
func Kind() sources.Kind {
	return sources.Kind{
		Name:   "sitemap",
		Title:  locale.T("Website with a sitemap"),
		Help:   locale.T("All pages listed in the site's sitemap.xml."),
		Public: true,
		Fields: []sources.Field{{
			Name: "url", Title: locale.T("Sitemap URL"), Required: true,
			Example: "https://example.org/sitemap.xml",
		}, {
			Name: "prefix", Title: locale.T("Only URLs that begin with"), Example: "https://example.org/docs/",
			Help: locale.T("Leave empty to import all pages."),
		}},
		Open: open,
	}
}

// errEndless is returned for an index with too many or too deeply nested files. Both limits are checked during the
// walk, as an endless index would make the sync endless.
var errEndless = &chat.Error{
	Code:    chat.CodeInvalid,
	Message: "The sitemap has too many or too deeply nested sitemaps. Enter the URL of one of them.",
}

// site is one sitemap. All its pages are of one site, so the reader treats a server's failure as the place's.
type site struct {
	address *url.URL
	prefix  string
	client  *request.Client
	reader  webpage.Reader
}

// open validates the settings without a request. The prefix must be of the same site, as the list excludes others.
func open(s sources.Settings, n sources.Net) (sources.Place, error) {
	address, err := request.Address(s["url"])
	if err != nil {
		return nil, &chat.Error{
			Code: chat.CodeInvalid, Message: "Sitemap URL: enter a URL like https://example.org/sitemap.xml.",
			Err: err,
		}
	}
	if prefix := s["prefix"]; prefix != "" {
		u, err := request.Address(prefix)
		if err != nil || webpage.SiteOf(u) != webpage.SiteOf(address) {
			return nil, &chat.Error{
				Code: chat.CodeInvalid, Err: err,
				Message: "Only URLs that begin with: enter a URL of the same site.",
			}
		}
	}
	client := request.New(n)
	return &site{address, s["prefix"], client, webpage.Reader{
		Client: client, Alone: true, Robots: robots.New(client),
	}}, nil
}

// Check implements sources.Place. The first listed page suffices; no page is fetched. It fails for a sitemap that is
// invalid, empty or unreachable.
func (s *site) Check(ctx context.Context) error {
	for _, err := range s.List(ctx) {
		return err
	}
	return &chat.Error{
		Code: chat.CodeInvalid, Message: "The sitemap lists no matching pages. Check both URLs.",
	}
}

// List implements sources.Place. Each page is an item without a version, as dates in a sitemap are not trusted.
// Files are read breadth-first, each once. A file that can't be read ends the list with its error, so nothing is
// removed. An index of more than maxFiles files, or nested deeper than maxDepth, ends with errEndless.
func (s *site) List(ctx context.Context) iter.Seq2[sources.Item, error] {
	return func(yield func(sources.Item, error) bool) {
		type file struct {
			address *url.URL
			depth   int
		}
		seen, kept := map[string]bool{}, sources.ListBudget(0)
		files := []file{{s.address, 0}}
		known := map[string]bool{s.address.String(): true}
		for i := 0; i < len(files); i++ {
			err := s.readFile(ctx, files[i].address, func(u *url.URL, isFile bool) error {
				key := u.String()
				switch {
				// Known files are not read again, so cyclic indexes end.
				case isFile && known[key], seen[key], !isFile && len(key) > sources.MaxKey:
					return nil
				case isFile:
					if known[key] = true; len(known) > maxFiles || files[i].depth == maxDepth {
						return errEndless
					}
					files = append(files, file{u, files[i].depth + 1})
					return nil
				}
				seen[key] = true
				if err := kept.Add(key); err != nil {
					return err
				}
				item := sources.Item{Key: key, Name: webpage.NameOf(u, ".html"), Link: key, Size: -1}
				if !yield(item, nil) || len(seen) > sources.MaxItems {
					return errEnough
				}
				return nil
			})
			if errors.Is(err, errEnough) {
				return
			}
			if err != nil {
				yield(sources.Item{}, err)
				return
			}
		}
	}
}

// errEnough stops the parsing of a file early.
var errEnough = errors.New("nothing more is wanted")

// readFile fetches one file and parses it with read. The address after redirects defines the site. A file larger
// than maxBytes is an error.
//
// Files are decompressed as a stream, and the limit applies to both sizes, as a small file may decompress to a very
// large one.
func (s *site) readFile(ctx context.Context, address *url.URL, do func(*url.URL, bool) error) error {
	resp, err := s.client.Get(ctx, address.String(), nil, maxBytes)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch {
	case resp.Status == http.StatusNotFound || resp.Status == http.StatusGone:
		return &chat.Error{
			Code: chat.CodeInvalid, Message: "No sitemap found at this URL. Check the URL.",
			Err: fmt.Errorf("%s: %d", address, resp.Status),
		}
	case resp.Status == http.StatusUnauthorized: // a sitemap has no password to correct
		return request.Failed(http.StatusForbidden)
	case resp.Status != http.StatusOK:
		return request.Failed(resp.Status)
	}
	err = read(resp.Body, resp.URL, s.prefix, do)
	var told *chat.Error
	if err == nil || errors.As(err, &told) || errors.Is(err, errEnough) || ctx.Err() != nil {
		return err
	}
	return &chat.Error{Code: chat.CodeInvalid, Message: "This is not a sitemap. Check the URL.", Err: err}
}

// Fetch implements sources.Place. Pages that robots.txt forbids are rejected, as no person entered them.
func (s *site) Fetch(ctx context.Context, item sources.Item, known string) (sources.Content, error) {
	return s.reader.Fetch(ctx, item, known)
}
