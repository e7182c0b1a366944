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

// Limits of a list. maxPages is somewhat more than MaxItems needs, for documents that are added during the walk.
const (
	maxPage  = 32 << 20 // bytes of one page
	pageSize = 100
	maxPages = sources.MaxItems/pageSize + 100
)

// documents is the API's list of all documents.
const documents = "documents"

// page is one page of a list, in the format of Django REST framework's pagination.
type page[T any] struct {
	Count   *int   // of all pages
	Next    string // URL of the next page; empty: this is the last
	Results []T
	All     []int64 // IDs on all pages; newer servers omit it
}

// read decodes a page as a stream. It fails for more entries than a list may have.
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

// readAll decodes an array of at most sources.MaxItems values.
func readAll[V any](s *request.Stream, into *[]V) error {
	return s.Array(func() error {
		if len(*into) == sources.MaxItems {
			return sources.ErrTooLarge
		}
		*into = append(*into, *new(V))
		return s.Value(&(*into)[len(*into)-1])
	})
}

// document is a document in the API's list.
type document struct {
	ID            int64   `json:"id"`
	Title         string  `json:"title"`
	Correspondent int64   `json:"correspondent"`
	DocumentType  int64   `json:"document_type"`
	Tags          []int64 `json:"tags"`
	Created       string  `json:"created"` // a date; older servers append the time
	Modified      string  `json:"modified"`
	Original      string  `json:"original_file_name"`
	Checksum      string  `json:"checksum"`
	Versions      []struct {
		ID       int64  `json:"id"`
		Checksum string `json:"checksum"`
	} `json:"versions"`
}

// allFields are the requested fields of a document. Without them, the response has the full text as well.
const allFields = "id,title,correspondent,document_type,tags,created,modified,original_file_name,checksum,versions"

var (
	errNoPaperless = &chat.Error{
		Code: chat.CodeInvalid, Message: "No paperless-ngx server found at this URL. Check the URL.",
	}
	errEndless = &chat.Error{
		Code: chat.CodeInvalid, Message: "The server's list is invalid: its pages never end.",
	}
	errChanged = &chat.Error{
		Code: chat.CodeUnavailable, Message: sources.Retried("Documents were removed during the sync."),
	}
)

// ask reads one page of a list. number starts at 1. T is the type of an entry. Ordering by ID puts new documents on
// the last page. A missing page means that documents were removed and returns errChanged.
//
// fields limits the fields of each entry, so that a list of IDs is small; empty requests all. A status without a
// meaning for a list returns errNoPaperless, as the address is then of another server.
func ask[T any](ctx context.Context, s *server, list string, number, size int, fields string) (page[T], error) {
	var p page[T]
	at := s.root.JoinPath("api", list, "/")
	query := url.Values{"page": {strconv.Itoa(number)}, "page_size": {strconv.Itoa(size)}, "ordering": {"id"}}
	if fields != "" {
		query.Set("fields", fields)
	}
	at.RawQuery = query.Encode()
	resp, err := s.client.Get(ctx, at.String(), http.Header{"Accept": {"application/json"}}, maxPage)
	if err != nil {
		return p, err
	}
	switch status := resp.Status; {
	case status == http.StatusOK:
	case status == http.StatusNotFound && number > 1: // it existed when the previous page was read
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

// pages reads all pages of a list. The server's next URL is untrusted: only its page number is used, and it must be
// the next one. The first error ends the sequence.
//
// Each page costs a request. A server that always returns a next page fails with errEndless after maxPages.
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

// named is an entry in the list of tags, correspondents or document types, which have the same fields. Newer servers
// nest tags as children.
type named struct {
	ID       int64   `json:"id"`
	Name     string  `json:"name"`
	Children []named `json:"children"`
}

// names reads the names of a list, by ID. It is empty without permission for the list, so a user without access to
// tags still gets documents. A queue handles nested tags of any depth.
func names(ctx context.Context, s *server, list string) (map[int64]string, error) {
	found, kept := map[int64]string{}, sources.ListBudget(0)
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
