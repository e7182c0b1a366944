package zotero

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/request"
)

// Limits of a list. A hundred is zotero.org's maximum page size.
const (
	maxPage  = 128 << 20 // bytes; the program on this machine sends a whole list as one page
	pageSize = 100
)

// Lists of a library.
const (
	attachments = "items?itemType=attachment"
	parents     = "items/top?itemType=-attachment"
)

// entry has the decoded fields of an API item: those that become an item or its meta. Fields with varying types,
// such as parentItem, are decoded as any.
type entry struct {
	Key     string `json:"key"`
	Version int64  `json:"version"`
	Links   struct {
		Alternate struct {
			Href string `json:"href"`
		} `json:"alternate"`
	} `json:"links"`
	Meta struct {
		ParsedDate string `json:"parsedDate"` // the known part of 2026-01-02
	} `json:"meta"`
	Data struct {
		Title    string `json:"title"`
		Creators []struct {
			Type  string `json:"creatorType"`
			First string `json:"firstName"`
			Last  string `json:"lastName"`
			Name  string `json:"name"`
		} `json:"creators"`
		DOI  string `json:"DOI"`
		URL  string `json:"url"`
		Tags []struct {
			Tag string `json:"tag"`
		} `json:"tags"`
		Parent   any    `json:"parentItem"` // a key, or false
		LinkMode string `json:"linkMode"`
		Filename string `json:"filename"`
		MD5      any    `json:"md5"`
		MTime    any    `json:"mtime"`
	} `json:"data"`
}

// page is one page of a list. total and state are from the response's headers; total counts all entries of the list.
type page struct {
	reply *request.Response
	total int    // on all pages
	state string // of the library: changes with each modification
}

// User-facing errors.
var (
	errNoZotero = &chat.Error{Code: chat.CodeInvalid, Message: "Zotero not found at this URL. Check the URL."}
	errEndless  = &chat.Error{
		Code: chat.CodeInvalid, Message: "The server's list is invalid: its pages never end.",
	}
	errChanged = &chat.Error{
		Code:    chat.CodeUnavailable,
		Message: sources.Retried("The library was changed during the sync."),
	}
	errMany = &chat.Error{
		Code: chat.CodeInvalid, Message: "The library has too many items. Choose a collection.",
	}
)

// ask requests one page of a list, which the caller reads. A limit of 0 requests all entries, which only the program
// on this machine supports. The state is the version of the whole library (Last-Modified-Version), which detects a
// change between two pages. It returns errNoZotero for a response that is no such list.
func (l *library) ask(ctx context.Context, list string, start, limit int) (page, error) {
	way, err := url.Parse(list)
	if err != nil {
		return page{}, err
	}
	at := l.root
	if l.collection != "" {
		at = at.JoinPath("collections", l.collection)
	}
	at = at.JoinPath(way.Path)
	query := way.Query()
	query.Set("sort", "dateAdded") // entries that are added during the walk are last
	query.Set("direction", "asc")
	if limit > 0 {
		query.Set("start", strconv.Itoa(start))
		query.Set("limit", strconv.Itoa(limit))
	}
	at.RawQuery = query.Encode()
	resp, err := l.get(ctx, at, maxPage)
	if err != nil {
		return page{}, err
	}
	if resp.Status != http.StatusOK {
		_ = resp.Body.Close()
		return page{}, l.failed(resp.Status)
	}
	p := page{reply: resp, state: resp.Header.Get("Last-Modified-Version")}
	if p.total, err = strconv.Atoi(resp.Header.Get("Total-Results")); err != nil || p.total < 0 {
		_ = resp.Body.Close()
		return page{}, errNoZotero
	}
	return p, nil
}

// read decodes the page's entries as a stream and closes it. It returns the first error of do. Keys become parts of
// URLs and file paths, so their format is validated.
func (p page) read(do func(entry) error) error {
	return p.reply.ReadStream(func(s *request.Stream) error {
		return s.Array(func() error {
			var e entry
			if err := s.Value(&e); err != nil {
				return err
			}
			if !isKey(e.Key) {
				return errNoZotero
			}
			return do(e)
		})
	}, errNoZotero)
}
