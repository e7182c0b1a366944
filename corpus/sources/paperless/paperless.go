// Package paperless is the kind of place that is a paperless-ngx server.
//
// read.go reads the pages of its REST API, walk.go makes a whole list of pages that may shift while they are read. The
// original of a document is fetched, not the archived PDF, as it is the one with the words that somebody added.
package paperless

import (
	"context"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/request"
	"github.com/footnote/footnote/text/locale"
)

// maxFile is how many bytes a document may have.
const maxFile = 2 << 30

// Kind is the documents of a server that one user may see.
func Kind() sources.Kind {
	return sources.Kind{
		Name:  "paperless",
		Title: locale.T("paperless-ngx"),
		Help: locale.T("All documents that a user of paperless-ngx may see, as they were added there, with " +
			"correspondent, date and tags."),
		Fields: []sources.Field{{
			Name: "url", Title: locale.T("Address of paperless"), Required: true,
			Example: "https://paperless.example.org",
		}, {
			Name: "token", Title: locale.T("API token"), Required: true, Secret: true,
			Help: locale.T("paperless shows it under My Profile."),
		}},
		Open: open,
	}
}

// server is one server, as the owner of a token sees it.
type server struct {
	root   *url.URL // its path ends in a slash
	client *request.Client
}

// open checks what an owner entered, and reaches nothing. An address that ends in /api is understood as well. Tokens
// are plain ASCII.
func open(s sources.Settings, n sources.Net) (sources.Place, error) {
	root, err := request.Address(s["url"])
	if err != nil {
		return nil, &chat.Error{
			Code: chat.CodeInvalid, Err: err,
			Message: "Address of paperless: enter one like https://paperless.example.org, without user name.",
		}
	}
	if s["token"] == "" || strings.ContainsFunc(s["token"], func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, &chat.Error{
			Code:    chat.CodeInvalid,
			Message: "API token: enter the letters and digits that paperless shows under My Profile.",
		}
	}
	before := strings.TrimSuffix(strings.TrimRight(root.Path, "/"), "/api")
	root = (&url.URL{Scheme: root.Scheme, Host: root.Host, Path: before}).JoinPath("/")
	return &server{root, request.NewWithToken(n, root, "Token "+s["token"])}, nil
}

// Check implements sources.Place. One document is asked for with all fields, so a right that is missing shows.
func (s *server) Check(ctx context.Context) error {
	_, err := ask[document](ctx, s, documents, 1, 1, allFields)
	return err
}

// List implements sources.Place. Documents come by their ids, the oldest first.
func (s *server) List(ctx context.Context) iter.Seq2[sources.Item, error] {
	return func(yield func(sources.Item, error) bool) {
		w := walk{server: s, yield: yield, yielded: map[int64]bool{}}
		if err := w.run(ctx); err != nil {
			yield(sources.Item{}, err)
		}
	}
}

// Fetch implements sources.Place. The type of the reply is looked at, since proxies that want a log-in send a page with
// 200.
func (s *server) Fetch(ctx context.Context, item sources.Item, known string) (sources.Content, error) {
	if item.Version != "" && item.Version == known {
		return sources.Content{}, sources.ErrSame
	}
	at := s.root.JoinPath("api/documents", item.Key, "download/")
	at.RawQuery = "original=true"
	req, err := http.NewRequest(http.MethodGet, at.String(), nil) //nolint:noctx // Do takes it
	if err != nil {
		return sources.Content{}, err
	}
	resp, err := s.client.Do(ctx, req, maxFile)
	if err != nil {
		return sources.Content{}, err
	}
	if resp.Status == http.StatusOK && !isLogin(resp, item.Name) {
		return sources.Content{Body: resp.Body}, nil
	}
	_ = resp.Body.Close()
	switch resp.Status {
	case http.StatusOK:
		return sources.Content{}, &chat.Error{
			Code:    chat.CodeUnavailable,
			Message: "The server sent a page in the place of the document. It is asked again later.",
		}
	case http.StatusNotFound, http.StatusGone:
		return sources.Content{}, sources.ErrGone
	}
	return sources.Content{}, failed(resp.Status)
}

// isLogin reports whether a page was sent that is not a document: a proxy that wants a log-in sends one.
func isLogin(resp *request.Response, name string) bool {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return kind == "text/html" && !strings.HasPrefix(strings.ToLower(path.Ext(name)), ".htm")
}

// failed is the error for a status of paperless.
func failed(status int) error {
	switch status {
	case http.StatusUnauthorized:
		return &chat.Error{
			Code: chat.CodeUnauthorized, Message: "paperless does not take this token. Enter it again.",
		}
	case http.StatusForbidden:
		return &chat.Error{
			Code:    chat.CodeForbidden,
			Message: "This token may not read the documents. Give its user the right to view them.",
		}
	}
	return request.Failed(status)
}
