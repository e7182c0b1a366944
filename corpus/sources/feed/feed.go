// Package feed is the kind of place that is an RSS or Atom feed. bounds.go holds a feed to limits before it is parsed.
//
// gofeed parses RSS, Atom (RFC 4287) and JSON Feed. An entry's key is its id (guid), else its link; its text is what
// the feed holds of it, else the page that it links to. Entries stay when the feed forgets them, as feeds name only
// their latest.
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

// maxBytes is how large a feed may be. A feed is read whole, since gofeed parses from a buffer.
const maxBytes = 16 << 20

// Kind is a feed. Its entries stay when it does not name them any more.
//
// Keeps is true, so an entry that is not named any more is not removed from the library.
func Kind() sources.Kind {
	return sources.Kind{
		Name:   "feed",
		Title:  locale.T("RSS or Atom feed"),
		Help:   locale.T("Entries of a feed as they come. They stay when the feed does not name them any more."),
		Public: true,
		Fields: []sources.Field{{
			Name: "url", Title: locale.T("Address of the feed"), Required: true,
			Example: "https://example.org/feed.xml",
		}},
		Keeps: true,
		Open:  open,
	}
}

// feed is one feed. texts are the entries that it holds itself, by key, as they were listed last. texts lives from one
// List to the next, so that a Fetch of what the feed holds whole needs no request. A feed is used by one goroutine, as
// texts has no lock.
type feed struct {
	address *url.URL
	client  *request.Client
	reader  webpage.Reader
	texts   map[string][]byte
}

// open checks the address and connects to nothing. Feeds come with robots.txt in force: the pages that entries link to
// were named by no person, and other sites' servers may not want programs.
func open(s sources.Settings, n sources.Net) (sources.Place, error) {
	address, err := request.Address(s["url"])
	if err != nil {
		return nil, &chat.Error{
			Code:    chat.CodeInvalid,
			Message: "Address of the feed: enter one like https://example.org/feed.xml.",
			Err:     err,
		}
	}
	client := request.New(n)
	return &feed{
		address: address, client: client, reader: webpage.Reader{Client: client, Robots: robots.New(client)},
	}, nil
}

// Check implements sources.Place. It reads the whole feed, so what is no feed is told as that. One without entries is
// fine.
func (f *feed) Check(ctx context.Context) error {
	_, _, err := f.read(ctx)
	return err
}

// List implements sources.Place. Entries come in the order of the feed.
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

// Fetch implements sources.Place: an entry that the feed holds whole is not asked for anywhere else. A Fetch without a
// List before it, as after a restart, reads the feed once more.
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

// read reads the feed: its entries, and the texts of those that it holds whole. Servers that want a password are
// refused as forbidden: a feed has no field for one.
func (f *feed) read(ctx context.Context) ([]sources.Item, map[string][]byte, error) {
	req, err := http.NewRequest(http.MethodGet, f.address.String(), nil) //nolint:noctx // Do takes it
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Accept", "application/atom+xml, application/rss+xml, application/xml;q=0.9, */*;q=0.5")
	resp, err := f.client.Do(ctx, req, maxBytes)
	if err != nil {
		return nil, nil, err
	}
	switch resp.Status {
	case http.StatusOK:
	case http.StatusNotFound, http.StatusGone:
		_ = resp.Body.Close()
		return nil, nil, &chat.Error{Code: chat.CodeInvalid, Message: "There is no feed at this address. Check it."}
	case http.StatusUnauthorized: // there is no password that could be another
		_ = resp.Body.Close()
		return nil, nil, request.Failed(http.StatusForbidden)
	default:
		_ = resp.Body.Close()
		return nil, nil, request.Failed(resp.Status)
	}
	raw, err := resp.ReadAll()
	if err != nil {
		return nil, nil, err
	}
	if raw, err = bounded(raw); err != nil {
		return nil, nil, err
	}
	parsed, err := parse(raw)
	if err != nil {
		return nil, nil, &chat.Error{
			Code: chat.CodeInvalid, Message: "This is not an RSS or Atom feed. Check the address.", Err: err,
		}
	}
	items, texts := entries(parsed, resp.URL, time.Now())
	return items, texts, nil
}

// parse runs other people's code on other people's feeds: if it fails, there is no feed. It panics on some damaged
// feeds.
func parse(raw []byte) (parsed *gofeed.Feed, err error) {
	defer func() {
		if r := recover(); r != nil {
			parsed, err = nil, fmt.Errorf("parse a feed: %v", r)
		}
	}()
	return gofeed.NewParser().Parse(bytes.NewReader(raw))
}

// entries makes items of a feed's entries, each once. Keys that are too long become a hash; a date more than two days
// ahead is a mistake of the feed's, two days being for time zones and clocks. Names begin with the date, so they sort
// by it.
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
		if at != nil && at.Year() > 1 && at.Before(now.AddDate(0, 0, 2)) { // of the future nothing can be known
			date = at.Format(time.DateOnly)
			item.Meta["date"] = date
		}
		item.Name = strings.TrimSpace(date+" "+clip(strings.ReplaceAll(cmp.Or(title, key), "/", "-"), 120)) + ".html"
		if strings.TrimSpace(entry.Content) != "" {
			texts[key] = pageOf(title, entry.Content)
			item.Version, item.Size = hashOf(texts[key]), int64(len(texts[key]))
		} else if link == "" { // all there is
			texts[key] = pageOf(title, entry.Description)
			item.Version, item.Size = hashOf(texts[key]), int64(len(texts[key]))
		}
		seen[key] = true
		items = append(items, item)
	}
	return items, texts
}

// pageOf makes a page of an entry's own HTML. The title is escaped, as it is text; the content is HTML and stays as it
// is, for the library's reader to take apart.
func pageOf(title, content string) []byte {
	title = html.EscapeString(title)
	return []byte(`<!doctype html><html><head><meta charset="utf-8"><title>` + title +
		"</title></head><body><article><h1>" + title + "</h1>\n" + strings.ToValidUTF8(content, "\ufffd") +
		"</article></body></html>")
}

// authorsOf joins the names of an entry's authors, in their order, and leaves out those that have only an address.
func authorsOf(entry *gofeed.Item) string {
	var names []string
	for _, author := range entry.Authors {
		if author != nil && oneLine(author.Name) != "" {
			names = append(names, oneLine(author.Name))
		}
	}
	return clip(strings.Join(names, ", "), 300)
}

// oneLine is a text without line breaks and markup's entities, as far as a title goes.
func oneLine(s string) string {
	return clip(strings.Join(strings.Fields(html.UnescapeString(strings.ToValidUTF8(s, "\ufffd"))), " "), 300)
}

// clip cuts a text to n characters, without an ellipsis: it may become part of a file's name.
func clip(s string, n int) string {
	runes := []rune(s)
	return string(runes[:min(n, len(runes))])
}

// hashOf is 128 bits of SHA-256 in hexadecimal, enough to tell texts and keys of one feed apart.
func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}
