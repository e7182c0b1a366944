// Package zotero implements the kind of place that is a Zotero library: on zotero.org, or in the program on this
// machine.
//
// zotero.go has the kind and its client, read.go parses pages of the Web API (version 3,
// www.zotero.org/support/dev/web_api/v3), walk.go lists parents and files, fetch.go fetches a file from the server
// or, for the program on this machine, from its folder. A file is an item, and the metadata of its work is the
// item's meta.
package zotero

import (
	"cmp"
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/request"
	"github.com/footnote/footnote/text/host"
	"github.com/footnote/footnote/text/locale"
)

// web is the default server, zotero.org's API.
const web = "https://api.zotero.org"

// Kind returns the kind of place for a library or one of its collections. Its settings are the library, a
// collection, a key, and the address of another server.
func Kind() sources.Kind {
	return sources.Kind{
		Name:  "zotero",
		Title: locale.T("Zotero"),
		Help:  locale.T("Files in a Zotero library, with the title, authors and year of their items."),
		Fields: []sources.Field{{
			Name: "library", Title: locale.T("Zotero library"), Example: "users/123456", Required: true,
			Help: locale.T("users/ and your user ID, shown in the API key settings on zotero.org, or groups/ and the " +
				"number in the group's URL."),
		}, {
			Name: "key", Title: locale.T("API key"), Secret: true,
			Help: locale.T("Create a read-only key on zotero.org. Not required for public groups and Zotero on this " +
				"machine."),
		}, {
			Name: "collection", Title: locale.T("Collection"), Example: "ABCD2345",
			Help: locale.T("The eight letters and digits at the end of its URL. Leave empty for the whole library."),
		}, {
			Name: "url", Title: locale.T("Zotero URL"), Example: "http://localhost:23119/api",
			Help: locale.T("Leave empty for zotero.org. For Zotero on this machine, enter http://localhost:23119/api " +
				"and the library users/0."),
		}},
		Open: open,
	}
}

// library is a library or collection. pause is a field so that tests need not wait. It is used by one goroutine, as
// rest has no lock.
type library struct {
	root       *url.URL // of the library
	collection string   // its key; empty: the whole library
	local      bool     // the API is that of the program on this machine
	client     *request.Client
	rest       time.Time // backoff: no request is sent before
	pause      func(context.Context, time.Duration) error
}

// open validates the settings without a request. The key is never sent to the program on this machine, which
// requires none.
func open(s sources.Settings, n sources.Net) (sources.Place, error) {
	at, err := request.Address(cmp.Or(s["url"], web))
	if err != nil {
		return nil, &chat.Error{
			Code: chat.CodeInvalid, Err: err,
			Message: "Zotero URL: enter a URL like http://localhost:23119/api, or leave it empty for zotero.org.",
		}
	}
	way, ok := libraryPath(s["library"])
	if !ok {
		return nil, &chat.Error{
			Code: chat.CodeInvalid, Message: "Zotero library: enter an ID like users/123456 or groups/45.",
		}
	}
	if s["collection"] != "" && !isKey(s["collection"]) {
		return nil, &chat.Error{
			Code:    chat.CodeInvalid,
			Message: "Collection: enter the eight letters and digits at the end of its URL.",
		}
	}
	if strings.ContainsFunc(s["key"], func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, &chat.Error{
			Code: chat.CodeInvalid, Message: "API key: enter the key shown on zotero.org.",
		}
	}
	root := &url.URL{Scheme: at.Scheme, Host: at.Host, Path: strings.TrimRight(at.Path, "/")}
	l := &library{collection: s["collection"], client: request.New(n), pause: pause}
	// The program on this machine has its API at /api; another local server may have another path.
	l.local = host.IsHere(root.Hostname()) && root.Path == "/api"
	if s["key"] != "" && !l.local {
		l.client = request.NewWithToken(n, root, "Bearer "+s["key"])
	}
	l.root = root.JoinPath(way)
	return l, nil
}

// libraryPath returns a library's path in the API: "groups/45". It accepts a group's address on zotero.org. IDs have at
// most 18 digits, which fit into 64 bits. ok is false for any other text.
func libraryPath(s string) (string, bool) {
	s = strings.TrimPrefix(strings.TrimPrefix(s, "https://"), "www.")
	parts := strings.Split(strings.Trim(strings.TrimPrefix(s, "zotero.org/"), "/"), "/")
	if len(parts) < 2 || parts[0] != "users" && parts[0] != "groups" || parts[1] == "" || len(parts[1]) > 18 ||
		strings.Trim(parts[1], "0123456789") != "" {
		return "", false
	}
	return parts[0] + "/" + parts[1], true
}

// isKey reports whether a text is the key of an item or a collection: eight digits and capital letters.
func isKey(s string) bool {
	return len(s) == 8 && strings.Trim(s, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// pause waits for a duration, or returns the context's error when it is cancelled.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// longestRest is the maximum backoff that get waits for.
const longestRest = 2 * time.Minute

// get sends a request after the server's last backoff has passed. The Backoff header is specific to this API and
// comes with successful responses; package request handles Retry-After. limit is in bytes. A backoff beyond
// longestRest returns an error at once.
//
// The backoff is stored in rest, so it applies to the next request for any list or file.
func (l *library) get(ctx context.Context, at *url.URL, limit int64) (*request.Response, error) {
	if wait := time.Until(l.rest); wait > longestRest {
		return nil, request.Failed(http.StatusTooManyRequests)
	} else if wait > 0 {
		if err := l.pause(ctx, wait); err != nil {
			return nil, err
		}
	}
	l.rest = time.Time{}
	resp, err := l.client.Get(ctx, at.String(), http.Header{"Zotero-Api-Version": {"3"}}, limit)
	if err != nil {
		return nil, err
	}
	if wait, err := time.ParseDuration(resp.Header.Get("Backoff") + "s"); err == nil && wait > 0 {
		l.rest = time.Now().Add(wait)
	}
	return resp, nil
}

// failed converts an HTTP status of Zotero into an error. 403 means a wrong key at zotero.org, and a disabled API in
// the local program.
func (l *library) failed(status int) error {
	switch {
	case l.local && status == http.StatusForbidden:
		return &chat.Error{
			Code:    chat.CodeForbidden,
			Message: "Zotero doesn't allow access by other programs. Allow it in Zotero's settings, under Advanced.",
		}
	case status == http.StatusUnauthorized, status == http.StatusForbidden: // Zotero's status for a wrong key
		return &chat.Error{
			Code:    chat.CodeUnauthorized,
			Message: "Access to this library was denied by Zotero. Enter another API key.",
		}
	case status == http.StatusBadRequest, status == http.StatusNotFound, status == http.StatusGone:
		return &chat.Error{
			Code: chat.CodeInvalid, Message: "Library or collection not found in Zotero. Check both.",
		}
	case status >= 500 && status != http.StatusNotImplemented:
		return request.Failed(status)
	}
	return errNoZotero
}

// Check implements sources.Place. It requests one file; a library without files is valid.
func (l *library) Check(ctx context.Context) error {
	p, err := l.ask(ctx, attachments, 0, 1)
	if err != nil {
		return err
	}
	return p.read(func(entry) error { return nil })
}

// List implements sources.Place. Files are listed in the order in which they were added to the library.
func (l *library) List(ctx context.Context) iter.Seq2[sources.Item, error] {
	return func(yield func(sources.Item, error) bool) {
		w := walk{library: l, yield: yield, yielded: map[string]bool{}}
		if err := w.run(ctx); err != nil {
			yield(sources.Item{}, err)
		}
	}
}
