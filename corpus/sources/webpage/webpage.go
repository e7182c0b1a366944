// Package webpage implements the kind of place that is a list of web pages, and fetches pages for other kinds.
//
// webpage.go has the kind, reader.go fetches a page and detects its format, page.go parses HTML metadata, version.go
// detects changes. sitemap, feed and addpage use the Reader, too.
package webpage

import (
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/request"
	"github.com/footnote/footnote/text/locale"
)

// maxPages is the maximum number of addresses in a list. The field's help mentions it.
const maxPages = 1000

// Kind returns the kind of place for a list of web pages.
//
// Public restricts requests to the public internet for all users.
func Kind() sources.Kind {
	return sources.Kind{
		Name:   "webpages",
		Title:  locale.T("Web pages"),
		Public: true,
		Help:   locale.T("Web pages and files by URL. For articles, only the article text is imported."),
		Fields: []sources.Field{{
			Name: "urls", Title: locale.T("URLs"), Help: locale.T("One per line, up to 1,000."),
			Example: "https://example.org/guide", Required: true, Lines: true,
		}},
		Open: open,
	}
}

// pages is a list of addresses in the order in which they were entered, without duplicates.
type pages struct {
	addresses []string
	reader    Reader
}

// open validates every line, so that an error is reported before the place is stored.
func open(s sources.Settings, n sources.Net) (sources.Place, error) {
	p := &pages{reader: Reader{Client: request.New(n)}}
	seen, hosts := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(s["urls"]) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		u, err := request.Address(line)
		if err != nil {
			return nil, &chat.Error{
				Code: chat.CodeInvalid,
				Message: locale.Say("URLs: “{1}” is not supported. A URL begins with https:// or http:// and has no "+
					"username and at most 2,000 characters.", sources.Cut(line, 100)),
				Err: err,
			}
		}
		key := u.String()
		if len(key) > sources.MaxKey {
			return nil, &chat.Error{Code: chat.CodeInvalid, Message: "URLs: one of them is too long."}
		}
		if !seen[key] {
			seen[key], hosts[u.Host] = true, true
			p.addresses = append(p.addresses, key)
		}
	}
	switch {
	case len(p.addresses) == 0:
		return nil, &chat.Error{Code: chat.CodeInvalid, Message: "URLs: enter at least one URL."}
	case len(p.addresses) > maxPages:
		return nil, &chat.Error{
			Code: chat.CodeInvalid, Message: "URLs: the limit is 1,000 per source. Add the others as another source.",
		}
	}
	p.reader.Alone = len(hosts) == 1
	return p, nil
}

// Check implements sources.Place. It fetches the first page. If there are more, its error is ignored and shown with
// the item later, since one page must not make the whole list fail.
func (p *pages) Check(ctx context.Context) error {
	content, err := p.reader.Fetch(ctx, sources.Item{Key: p.addresses[0]}, "")
	switch {
	case err == nil:
		return content.Body.Close()
	case len(p.addresses) > 1 && ctx.Err() == nil:
		return nil
	case errors.Is(err, sources.ErrGone):
		return &chat.Error{Code: chat.CodeInvalid, Message: "No page found at this URL. Check the URL.", Err: err}
	}
	return err
}

// List implements sources.Place. Names may change after a page was fetched.
func (p *pages) List(context.Context) iter.Seq2[sources.Item, error] {
	return func(yield func(sources.Item, error) bool) {
		for _, address := range p.addresses {
			item := sources.Item{Key: address, Link: address, Size: -1}
			if u, err := request.Address(address); err == nil {
				item.Name = NameOf(u, ".html")
			}
			if !yield(item, nil) {
				return
			}
		}
	}
}

// Fetch implements sources.Place.
func (p *pages) Fetch(ctx context.Context, item sources.Item, known string) (sources.Content, error) {
	return p.reader.Fetch(ctx, item, known)
}
