package paperless

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/request"
)

// Limits of a list. maxPages is a little more than MaxItems needs, for documents that are added meanwhile.
const (
	maxPage  = 32 << 20 // bytes of one page
	pageSize = 100
	maxPages = sources.MaxItems/pageSize + 100
)

// documents is the list of all documents.
const documents = "documents"

// page is one page of a list. Its shape is that of Django REST framework's pagination.
type page[T any] struct {
	Count   *int   // of all pages
	Next    string // address of the next page; empty: this is the last
	Results []T
	All     []int64 // ids on all pages; newer servers leave it out
}

// read decodes a page as it comes. It fails for more entries than a list may have.
func (p *page[T]) read(s *request.Stream) error {
	return s.Object(func(name string) error {
		switch name {
		case "count":
			return s.Value(&p.Count)
		case "next":
			return s.Value(&p.Next)
		case "results":
			return readAll(s, &p.Results)
		case "all":
			return readAll(s, &p.All)
		}
		return s.Value(new(json.RawMessage))
	})
}

// readAll reads an array of at most sources.MaxItems values.
func readAll[V any](s *request.Stream, into *[]V) error {
	return s.Array(func() error {
		if len(*into) == sources.MaxItems {
			return sources.ErrTooLarge
		}
		*into = append(*into, *new(V))
		return s.Value(&(*into)[len(*into)-1])
	})
}

// document is what the list says of a document.
type document struct {
	ID            int64   `json:"id"`
	Title         string  `json:"title"`
	Correspondent int64   `json:"correspondent"`
	DocumentType  int64   `json:"document_type"`
	Tags          []int64 `json:"tags"`
	Created       string  `json:"created"` // a date; of older servers with its time
	Modified      string  `json:"modified"`
	Original      string  `json:"original_file_name"`
	Checksum      string  `json:"checksum"`
	Versions      []struct {
		ID       int64  `json:"id"`
		Checksum string `json:"checksum"`
	} `json:"versions"`
}

// allFields are those of a document; without them, its whole text would come as well.
const allFields = "id,title,correspondent,document_type,tags,created,modified,original_file_name,checksum,versions"

var (
	errNoPaperless = &chat.Error{
		Code: chat.CodeInvalid, Message: "There is no paperless-ngx at this address. Check it.",
	}
	errEndless = &chat.Error{
		Code: chat.CodeInvalid, Message: "The pages of the server's list do not follow each other to an end.",
	}
	errChanged = &chat.Error{
		Code: chat.CodeUnavailable, Message: "Documents were removed while the list was read. It is read again later.",
	}
)

// ask reads one page of a list: all that is said of each, or some fields. Ordering by id puts new documents on the
// last page. A page that is not there any more means that documents were removed. T is what one entry is read as.
// number counts from 1.
//
// fields names what is wanted of each entry, so that a list of ids is small; without it all is sent. A status that
// says nothing about a list is errNoPaperless: the address is then of something else.
func ask[T any](ctx context.Context, s *server, list string, number, size int, fields string) (page[T], error) {
	var p page[T]
	at := s.root.JoinPath("api", list, "/")
	query := url.Values{"page": {strconv.Itoa(number)}, "page_size": {strconv.Itoa(size)}, "ordering": {"id"}}
	if fields != "" {
		query.Set("fields", fields)
	}
	at.RawQuery = query.Encode()
	req, err := http.NewRequest(http.MethodGet, at.String(), nil) //nolint:noctx // Do takes it
	if err != nil {
		return p, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := s.client.Do(ctx, req, maxPage)
	if err != nil {
		return p, err
	}
	switch status := resp.Status; {
	case status == http.StatusOK:
	case status == http.StatusNotFound && number > 1: // it was there when the page before was read
		_ = resp.Body.Close()
		return p, errChanged
	case status == http.StatusUnauthorized, status == http.StatusForbidden,
		status >= 500 && status != http.StatusNotImplemented:
		_ = resp.Body.Close()
		return p, failed(status)
	default:
		_ = resp.Body.Close()
		return p, errNoPaperless
	}
	if err := resp.ReadStream(p.read, errNoPaperless); err != nil {
		return p, err
	}
	if p.Count == nil {
		return p, errNoPaperless
	}
	return p, nil
}

// pages reads all pages of a list. Only the number of the next page is taken from what the server says. A server's
// address of the next page could lead anywhere, so only its number is believed, and it must be the next. It ends with
// the first error. More pages than there can be are an error as well.
//
// Each page costs a request. A server that always names a next page is left with errEndless after maxPages.
func pages[T any](ctx context.Context, s *server, list string) iter.Seq2[page[T], error] {
	fields := ""
	if list == documents {
		fields = allFields
	}
	return func(yield func(page[T], error) bool) {
		for number := 1; ; number++ {
			p, err := ask[T](ctx, s, list, number, pageSize, fields)
			if !yield(p, err) || err != nil || p.Next == "" {
				return
			}
			next, err := url.Parse(p.Next)
			if err != nil || next.Query().Get("page") != strconv.Itoa(number+1) || number == maxPages {
				yield(page[T]{}, errEndless)
				return
			}
		}
	}
}

// named is what a list of tags, correspondents or document types says of one. Newer servers name tags below another
// tag as its children. It may be used for all three, since they have the same fields.
type named struct {
	ID       int64   `json:"id"`
	Name     string  `json:"name"`
	Children []named `json:"children"`
}

// names reads the names in a list, by their ids. A list that may not be read has none. They may be nested to any
// depth; a queue goes through them. Whoever has an account without the right to see tags still gets documents.
func names(ctx context.Context, s *server, list string) (map[int64]string, error) {
	found, kept := map[int64]string{}, sources.Kept(0)
	for p, err := range pages[named](ctx, s, list) {
		if chat.CodeOf(err) == chat.CodeForbidden && err != nil {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		for queue := p.Results; len(queue) > 0; queue = queue[1:] {
			name := sources.OneLine(queue[0].Name, maxTitle)
			if err := kept.Add(name); err != nil {
				return nil, err
			}
			found[queue[0].ID] = name
			queue = append(queue, queue[0].Children...)
		}
		if len(found) > sources.MaxItems {
			return nil, errEndless
		}
	}
	return found, nil
}
