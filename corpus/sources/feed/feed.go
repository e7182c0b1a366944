// Package feed implements the kind of place that is an RSS or Atom feed. bounds.go validates a feed against limits
// before it is parsed.
//
// gofeed parses RSS, Atom (RFC 4287) and JSON Feed. An entry's key is its id (guid), else its link. Its text is the
// content in the feed, else the linked page. Entries stay when the feed drops them, as feeds list only their latest
// ones.
package feed

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mmcdole/gofeed"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/request"
	"github.com/footnote/footnote/corpus/sources/robots"
	"github.com/footnote/footnote/corpus/sources/webpage"
	"github.com/footnote/footnote/text/locale"
)

// maxBytes is the maximum size of a feed. A feed is buffered whole, as gofeed parses from a buffer.
const maxBytes = 16 << 20

// Kind returns the kind of place for a feed.
//
// Keeps is true: an entry that the feed no longer lists stays in the library.
func Kind() sources.Kind {
	return sources.Kind{
		Name:   "feed",
		Title:  locale.T("RSS or Atom feed"),
		Help:   locale.T("New entries as they are published. Entries are kept after they leave the feed."),
		Public: true,
		Fields: []sources.Field{{
			Name: "url", Title: locale.T("Feed URL"), Required: true,
			Example: "https://example.org/feed.xml",
		}},
		Keeps: true,
		Open:  open,
	}
}

// feed is one feed. texts caches the entries with full content, by key, from the last List, so their Fetch needs no
// request. texts has no lock: one goroutine uses a feed.
type feed struct {
	address *url.URL
	client  *request.Client
	reader  webpage.Reader
	texts   map[string][]byte
}

// open validates the address without a request. robots.txt applies, since the pages that entries link to were not
// entered by a person.
func open(s sources.Settings, n sources.Net) (sources.Place, error) {
	address, err := request.Address(s["url"])
	if err != nil {
		return nil, &chat.Error{
			Code:    chat.CodeInvalid,
			Message: "Feed URL: enter a URL like https://example.org/feed.xml.",
			Err:     err,
		}
	}
	client := request.New(n)
	return &feed{
		address: address, client: client, reader: webpage.Reader{Client: client, Robots: robots.New(client)},
	}, nil
}

// Check implements sources.Place. It reads the whole feed, so a response that is no feed fails. A feed without
// entries is valid.
func (f *feed) Check(ctx context.Context) error {
	_, _, err := f.read(ctx)
	return err
}

// List implements sources.Place. Entries are in the order of the feed.
func (f *feed) List(ctx context.Context) iter.Seq2[sources.Item, error] {
	return func(yield func(sources.Item, error) bool) {
		items, texts, err := f.read(ctx)
		if err != nil {
			yield(sources.Item{}, err)
			return
		}
		f.texts = texts
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}
}

// Fetch implements sources.Place. An entry with its full content in the feed needs no request. A Fetch without a
// List before it, as after a restart, reads the feed again.
func (f *feed) Fetch(ctx context.Context, item sources.Item, known string) (sources.Content, error) {
	if f.texts == nil {
		_, texts, err := f.read(ctx)
		if err != nil {
			return sources.Content{}, err
		}
		f.texts = texts
	}
	text, ok := f.texts[item.Key]
	if !ok {
		if item.Link == "" {
			return sources.Content{}, sources.ErrGone
		}
		return f.reader.Fetch(ctx, sources.Item{Key: item.Link}, known)
	}
	version := hashOf(text)
	if version == known {
		return sources.Content{}, sources.ErrSame
	}
	return sources.Content{Body: io.NopCloser(bytes.NewReader(text)), Version: version}, nil
}

// read fetches and parses the feed. It returns its items and the texts of entries with full content, by key. Status
// 401 is reported as forbidden, as a feed has no password field.
func (f *feed) read(ctx context.Context) ([]sources.Item, map[string][]byte, error) {
	resp, err := f.client.Get(ctx, f.address.String(), http.Header{
		"Accept": {"application/atom+xml, application/rss+xml, application/xml;q=0.9, */*;q=0.5"},
	}, maxBytes)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	switch resp.Status {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusGone:
		return nil, nil, &chat.Error{Code: chat.CodeInvalid, Message: "No feed found at this URL. Check the URL."}
	case http.StatusUnauthorized: // a feed has no password to correct
		return nil, nil, request.Failed(http.StatusForbidden)
	default:
		return nil, nil, request.Failed(resp.Status)
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, nil, err
	}
	if raw, err = bounded(raw); err != nil {
		return nil, nil, err
	}
	parsed, err := parse(raw)
	if err != nil {
		return nil, nil, &chat.Error{
			Code: chat.CodeInvalid, Message: "This is not an RSS or Atom feed. Check the URL.", Err: err,
		}
	}
	items, texts := entries(parsed, resp.URL, time.Now())
	return items, texts, nil
}

// parse parses a feed with gofeed. It recovers from panics, which some damaged feeds cause.
func parse(raw []byte) (parsed *gofeed.Feed, err error) {
	defer func() {
		if r := recover(); r != nil {
			parsed, err = nil, fmt.Errorf("parse a feed: %v", r)
		}
	}()
	return gofeed.NewParser().Parse(bytes.NewReader(raw))
}

// entries converts a feed's entries into items without duplicates. Keys beyond sources.MaxKey become a hash. A date
// more than two days ahead is dropped as a mistake; the two days allow for time zones and clocks. Names begin with
// the date, so they sort by it.
func entries(parsed *gofeed.Feed, address *url.URL, now time.Time) ([]sources.Item, map[string][]byte) {
	var items []sources.Item
	texts, seen := map[string][]byte{}, map[string]bool{}
	for _, entry := range parsed.Items {
		link := ""
		if u, err := address.Parse(strings.TrimSpace(entry.Link)); err == nil && strings.TrimSpace(entry.Link) != "" {
			if u, err = request.Address(u.String()); err == nil {
				link = u.String()
			}
		}
		key := cmp.Or(strings.ToValidUTF8(strings.ReplaceAll(strings.TrimSpace(entry.GUID), "\x00", ""), ""), link)
		if len(key) > sources.MaxKey {
			key = hashOf([]byte(key))
		}
		if key == "" || seen[key] || len(items) > sources.MaxItems {
			continue
		}
		item := sources.Item{Key: key, Link: link, Size: -1, Meta: map[string]any{}}
		title := oneLine(entry.Title)
		if title != "" {
			item.Meta["title"] = title
		}
		if author := authorsOf(entry); author != "" {
			item.Meta["author"] = author
		}
		date := ""
		at := cmp.Or(entry.PublishedParsed, entry.UpdatedParsed)
		if at != nil && at.Year() > 1 && at.Before(now.AddDate(0, 0, 2)) { // drop dates in the future
			date = at.Format(time.DateOnly)
			item.Meta["date"] = date
		}
		name := sources.Cut(strings.ReplaceAll(cmp.Or(title, key), "/", "-"), 120)
		item.Name = strings.TrimSpace(date+" "+name) + ".html"
		if strings.TrimSpace(entry.Content) != "" {
			texts[key] = pageOf(title, entry.Content)
			item.Version, item.Size = hashOf(texts[key]), int64(len(texts[key]))
		} else if link == "" { // no page to fetch
			texts[key] = pageOf(title, entry.Description)
			item.Version, item.Size = hashOf(texts[key]), int64(len(texts[key]))
		}
		seen[key] = true
		items = append(items, item)
	}
	return items, texts
}

// pageOf makes an HTML page of an entry. The title is escaped as text; the content is HTML and stays unchanged for
// the library's parser.
func pageOf(title, content string) []byte {
	title = html.EscapeString(title)
	return []byte(`<!doctype html><html><head><meta charset="utf-8"><title>` + title +
		"</title></head><body><article><h1>" + title + "</h1>\n" + strings.ToValidUTF8(content, "\ufffd") +
		"</article></body></html>")
}

// authorsOf joins the names of an entry's authors in their order. Authors without a name are omitted.
func authorsOf(entry *gofeed.Item) string {
	var names []string
	for _, author := range entry.Authors {
		if author != nil && oneLine(author.Name) != "" {
			names = append(names, oneLine(author.Name))
		}
	}
	return sources.Cut(strings.Join(names, ", "), 300)
}

// oneLine normalises a title to one line: unescaped HTML entities, collapsed white space, at most 300 characters.
func oneLine(s string) string {
	return sources.OneLine(html.UnescapeString(s), 300)
}

// hashOf returns 128 bits of SHA-256 in hexadecimal, enough to identify texts and keys of one feed.
func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}
