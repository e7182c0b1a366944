// Package sitemap is the kind of place that is a site with a list of its pages.
//
// It reads the XML form of sitemaps.org and lists of such files, packed or not. Dates and priorities in them are not
// believed: pages are asked whether they changed, by ETag, date and hash (package webpage).
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

// Limits of a site's list. 50 MiB is the protocol's own bound of a file, unpacked.
const (
	maxBytes = 50 << 20 // of one file, as sent and as unpacked
	maxFiles = 500      // that a list names
	maxDepth = 3        // of lists in lists
)

// Kind is a site by its sitemap. Its settings are the sitemap's address and a prefix of the pages that are wanted.
func Kind() sources.Kind {
	return sources.Kind{
		Name:   "sitemap",
		Title:  locale.T("Website with a sitemap"),
		Help:   locale.T("All pages that the site's sitemap.xml names, one after another."),
		Public: true,
		Fields: []sources.Field{{
			Name: "url", Title: locale.T("Address of the sitemap"), Required: true,
			Example: "https://example.org/sitemap.xml",
		}, {
			Name: "prefix", Title: locale.T("Only addresses that begin with"), Example: "https://example.org/docs/",
			Help: locale.T("Leave it empty to follow all pages."),
		}},
		Open: open,
	}
}

// errEndless is a list of sitemaps that leads on and on, by its number of files or by lists in lists. The user reads
// it, so it says what to do. An endless list would also make the look endless, so both bounds are held while it goes
// on.
var errEndless = &chat.Error{
	Code:    chat.CodeInvalid,
	Message: "The sitemap leads to more and more sitemaps. Give the address of one of them.",
}

// site is one sitemap. All its pages are of one site, so the reader takes a server that fails for a place that fails.
type site struct {
	address *url.URL
	prefix  string
	client  *request.Client
	reader  webpage.Reader
}

// open checks what an owner entered, and reaches nothing. A prefix must be of the same site: the list can't name
// others.
func open(s sources.Settings, n sources.Net) (sources.Place, error) {
	address, err := request.Address(s["url"])
	if err != nil {
		return nil, &chat.Error{
			Code: chat.CodeInvalid, Message: "Address of the sitemap: enter one like https://example.org/sitemap.xml.",
			Err: err,
		}
	}
	if prefix := s["prefix"]; prefix != "" {
		u, err := request.Address(prefix)
		if err != nil || webpage.SiteOf(u) != webpage.SiteOf(address) {
			return nil, &chat.Error{
				Code: chat.CodeInvalid, Err: err,
				Message: "Only addresses that begin with: enter an address of the same site.",
			}
		}
	}
	client := request.New(n)
	return &site{address, s["prefix"], client, webpage.Reader{
		Client: client, Alone: true, Robots: robots.New(client),
	}}, nil
}

// Check implements sources.Place. The first page that the list names is enough: no page is fetched. It fails for what
// is no sitemap, and for one that can't be reached.
func (s *site) Check(ctx context.Context) error {
	for _, err := range s.List(ctx) {
		return err
	}
	return &chat.Error{
		Code: chat.CodeInvalid, Message: "The sitemap names no page that would be followed. Check both addresses.",
	}
}

// List implements sources.Place. What a sitemap says of changes is not believed: pages are asked for what is new. Files
// are read one after another, breadth first, each once. A file that can't be read ends the list with its error, so
// nothing is removed for its sake. Each page is an item. A list of more than maxFiles files, or that is more than
// maxDepth deep, ends with errEndless.
func (s *site) List(ctx context.Context) iter.Seq2[sources.Item, error] {
	return func(yield func(sources.Item, error) bool) {
		type file struct {
			address *url.URL
			depth   int
		}
		seen, kept := map[string]bool{}, sources.Kept(0)
		files := []file{{s.address, 0}}
		known := map[string]bool{s.address.String(): true}
		for i := 0; i < len(files); i++ {
			err := s.readFile(ctx, files[i].address, func(u *url.URL, isFile bool) error {
				key := u.String()
				switch {
				// A file that was named before is not read again, so lists that name each other end.
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

// errEnough stops the reading of a file.
var errEnough = errors.New("nothing more is wanted")

// readFile reads one file of the list, as read does. The address after redirects is the one that counts for “the same
// site”. A file that is larger than maxBytes is an error.
//
// Packed files are unpacked while they are read, and the bound holds for both forms: a small file may unpack to a very
// large one.
func (s *site) readFile(ctx context.Context, address *url.URL, do func(*url.URL, bool) error) error {
	req, err := http.NewRequest(http.MethodGet, address.String(), nil) //nolint:noctx // Do takes it
	if err != nil {
		return err
	}
	resp, err := s.client.Do(ctx, req, maxBytes)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	switch {
	case resp.Status == http.StatusNotFound || resp.Status == http.StatusGone:
		return &chat.Error{
			Code: chat.CodeInvalid, Message: "There is no sitemap at this address. Check it.",
			Err: fmt.Errorf("%s: %d", address, resp.Status),
		}
	case resp.Status == http.StatusUnauthorized: // there is no password that could be another
		return request.Failed(http.StatusForbidden)
	case resp.Status != http.StatusOK:
		return request.Failed(resp.Status)
	}
	err = read(resp.Body, resp.URL, s.prefix, do)
	var told *chat.Error
	if err == nil || errors.As(err, &told) || errors.Is(err, errEnough) || ctx.Err() != nil {
		return err
	}
	return &chat.Error{Code: chat.CodeInvalid, Message: "This is not a sitemap. Check the address.", Err: err}
}

// Fetch implements sources.Place. Pages that robots.txt forbids are refused, as nobody named them.
func (s *site) Fetch(ctx context.Context, item sources.Item, known string) (sources.Content, error) {
	return s.reader.Fetch(ctx, item, known)
}
