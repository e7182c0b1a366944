package zotero

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources/request"
)

// Limits of a list. A hundred is the most that zotero.org gives at once.
const (
	maxPage  = 128 << 20 // bytes; the program on this machine sends a whole list as one
	pageSize = 100
)

// Lists of a library.
const (
	attachments = "items?itemType=attachment"
	parents     = "items/top?itemType=-attachment"
)

// entry is what is read of an item. Fields whose type varies, such as parentItem, are read as any. Only what becomes
// an item, or the meta of one, is read.
type entry struct {
	Key     string `json:"key"`
	Version int64  `json:"version"`
	Links   struct {
		Alternate struct {
			Href string `json:"href"`
		} `json:"alternate"`
	} `json:"links"`
	Meta struct {
		ParsedDate string `json:"parsedDate"` // as much as is known of 2026-01-02
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

// page is one page of a list. total and state come from headers of the reply. total counts all entries of the list.
type page struct {
	reply *request.Response
	total int    // on all pages
	state string // of the library: another whenever anything in it has changed
}

// A user reads them, so each says what to do.
var (
	errNoZotero = &chat.Error{Code: chat.CodeInvalid, Message: "There is no Zotero at this address. Check it."}
	errEndless  = &chat.Error{
		Code: chat.CodeInvalid, Message: "The pages of the server's list do not follow each other to an end.",
	}
	errChanged = &chat.Error{
		Code:    chat.CodeUnavailable,
		Message: "The library was changed while its list was read. It is read again later.",
	}
	errMany = &chat.Error{
		Code: chat.CodeInvalid, Message: "The library has too many items. Choose a collection.",
	}
)

// ask asks for one page of a list, which the caller reads. A limit of 0 is for all, which only the program on this
// machine sends. The state is the version of the whole library (Last-Modified-Version), by which a change between two
// pages is noticed. It fails with errNoZotero for what is no such list, so an address of something else is told as
// that.
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
	query.Set("sort", "dateAdded") // what is added while pages are read comes last
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

// read reads the page's entries, and closes it. It ends with the first error of do. Keys become parts of addresses and
// of ways to files, so their form is checked.
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
