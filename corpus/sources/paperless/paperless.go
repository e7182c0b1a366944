// Package paperless implements the kind of place that is a paperless-ngx server.
//
// read.go reads the pages of its REST API. walk.go makes a complete list from pages that may shift during the walk.
// It fetches a document's original instead of the archived PDF, as the original has the text that was uploaded.
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

// maxFile is the maximum size of a document in bytes.
const maxFile = 2 << 30

// Kind returns the kind of place for the documents that a user of a paperless-ngx server may read.
func Kind() sources.Kind {
	return sources.Kind{
		Name:  "paperless",
		Title: locale.T("paperless-ngx"),
		Help: locale.T("All documents that a paperless-ngx user can view, as originally uploaded, with " +
			"correspondent, date and tags."),
		Fields: []sources.Field{{
			Name: "url", Title: locale.T("paperless URL"), Required: true,
			Example: "https://paperless.example.org",
		}, {
			Name: "token", Title: locale.T("API token"), Required: true, Secret: true,
			Help: locale.T("Shown in paperless under My Profile."),
		}},
		Open: open,
	}
}

// server is a paperless-ngx server, with the access of a token's owner.
type server struct {
	root   *url.URL // its path ends in a slash
	client *request.Client
}

// open validates the settings without a request. It accepts an address that ends in /api. Tokens are plain ASCII.
func open(s sources.Settings, n sources.Net) (sources.Place, error) {
	root, err := request.Address(s["url"])
	if err != nil {
		return nil, &chat.Error{
			Code: chat.CodeInvalid, Err: err,
			Message: "paperless URL: enter a URL like https://paperless.example.org, without a username.",
		}
	}
	if s["token"] == "" || strings.ContainsFunc(s["token"], func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, &chat.Error{
			Code:    chat.CodeInvalid,
			Message: "API token: enter the token shown in paperless under My Profile.",
		}
	}
	before := strings.TrimSuffix(strings.TrimRight(root.Path, "/"), "/api")
	root = (&url.URL{Scheme: root.Scheme, Host: root.Host, Path: before}).JoinPath("/")
	return &server{root, request.NewWithToken(n, root, "Token "+s["token"])}, nil
}

// Check implements sources.Place. It requests one document with all fields, so a missing permission fails.
func (s *server) Check(ctx context.Context) error {
	_, err := ask[document](ctx, s, documents, 1, 1, allFields)
	return err
}

// List implements sources.Place. Documents are listed in the order of their IDs, the oldest first.
func (s *server) List(ctx context.Context) iter.Seq2[sources.Item, error] {
	return func(yield func(sources.Item, error) bool) {
		w := walk{server: s, yield: yield, yielded: map[int64]bool{}}
		if err := w.run(ctx); err != nil {
			yield(sources.Item{}, err)
		}
	}
}

// Fetch implements sources.Place. It checks the Content-Type, since a proxy that requires a login returns an HTML
// page with status 200.
func (s *server) Fetch(ctx context.Context, item sources.Item, known string) (sources.Content, error) {
	if item.Version != "" && item.Version == known {
		return sources.Content{}, sources.ErrSame
	}
	at := s.root.JoinPath("api/documents", item.Key, "download/")
	at.RawQuery = "original=true"
	resp, err := s.client.Get(ctx, at.String(), nil, maxFile)
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
			Message: sources.Retried("The server returned a web page instead of the document."),
		}
	case http.StatusNotFound, http.StatusGone:
		return sources.Content{}, sources.ErrGone
	}
	return sources.Content{}, failed(resp.Status)
}

// isLogin reports whether the response is an HTML page instead of the document, as from a proxy that requires a
// login.
func isLogin(resp *request.Response, name string) bool {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return kind == "text/html" && !strings.HasPrefix(strings.ToLower(path.Ext(name)), ".htm")
}

// failed converts an HTTP status of paperless into a user-facing error.
func failed(status int) error {
	switch status {
	case http.StatusUnauthorized:
		return &chat.Error{
			Code: chat.CodeUnauthorized, Message: "Invalid API token. Enter it again.",
		}
	case http.StatusForbidden:
		return &chat.Error{
			Code:    chat.CodeForbidden,
			Message: "Access denied by paperless. Give the token's user permission to view documents.",
		}
	}
	return request.Failed(status)
}
