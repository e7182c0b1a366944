// Package addpage adds a single web page to the library as a document with a link to its source. Pages that are
// followed are places.
//
// The address comes from a person, so robots.txt is not requested. The Net reaches public addresses only. The page
// is parsed by webpage.Reader, like the pages of places. The document's path is derived from the address, so adding
// the same page again creates a new version of its document.
package addpage

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"math"
	"net"
	"path"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/fair"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/request"
	"github.com/footnote/footnote/corpus/sources/webpage"
)

// longest is the timeout for one page, including all waits. The user's request blocks for that time.
const longest = 2 * time.Minute

// Adder adds pages. It is safe for concurrent use.
type Adder struct {
	Library *corpus.Library
	Net     sources.Net // the only network access
	pages   *fair.Slots // requests in progress, by user
}

// New returns an Adder of pages to a library.
func New(l *corpus.Library, n sources.Net) *Adder {
	return &Adder{Library: l, Net: n, pages: fair.NewSlots(math.MaxInt, sources.ChecksAtOnce)}
}

// Page is a request to add a web page.
type Page struct {
	User      string
	Namespace string // empty: chat.DefaultNamespace
	Address   string
	Meta      map[string]any // for a new document; an existing one keeps its own
}

// Add fetches a page and adds it to the library. A page that was added before updates its document with a new
// version, or is returned as a duplicate if it is unchanged. Every error has a user-facing message. Errors of the
// page have chat.CodeInvalid, chat.CodeTooLarge or chat.CodeUnsupported, and those of its server
// chat.CodeUnavailable. A read error of the body (body.Err) is the page's; any other error is the library's.
func (a *Adder) Add(ctx context.Context, p Page) (d corpus.Document, duplicate bool, err error) {
	u, err := request.Address(p.Address)
	if err != nil {
		return d, false, err
	}
	if _, ok := a.pages.TryAcquire([]string{p.User}); !ok {
		return d, false, &chat.Error{
			Code: chat.CodeTooMany, Message: "You are already adding four pages. Try again when one is done.",
		}
	}
	defer a.pages.Release(p.User)
	slow, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	reader := webpage.Reader{Client: request.New(a.Net), Alone: true}
	content, err := reader.Fetch(slow, sources.Item{Key: u.String()}, "")
	if err != nil {
		return d, false, explain(ctx, slow, err)
	}
	defer content.Body.Close() //nolint:errcheck // read-only
	body := &sources.Reading{From: content.Body}
	d, duplicate, err = a.put(ctx, p, content, body)
	if body.Err != nil {
		return d, false, explain(ctx, slow, body.Err)
	}
	return d, duplicate, err
}

// put adds the fetched content at the path of the page's document, or at a free path. A document that a folder or a
// place maintains is not overwritten, since its next sync would restore it. The new document then gets a name with a
// hash of its address.
func (a *Adder) put(
	ctx context.Context, p Page, content sources.Content, body io.Reader,
) (corpus.Document, bool, error) {
	link := chat.WebLink(content.Link)
	namespace := p.Namespace
	if namespace == "" {
		namespace = chat.DefaultNamespace
	}
	where := corpus.CleanPath(content.Name)
	there, err := a.Library.AtPath(ctx, chat.Scope{User: p.User}.In(namespace), where)
	switch {
	case err != nil && chat.CodeOf(err) != chat.CodeNotFound:
		return corpus.Document{}, false, err
	case err == nil && (there.SourceURL() != link || isKept(there)): // the path is taken by another document
		sum := sha256.Sum256([]byte(link))
		ext := path.Ext(where)
		where = strings.TrimSuffix(where, ext) + " (" + hex.EncodeToString(sum[:6]) + ")" + ext
	}
	meta := maps.Clone(p.Meta)
	if meta == nil {
		meta = map[string]any{}
	}
	maps.DeleteFunc(meta, func(name string, _ any) bool { return corpus.IsOwnMeta(name) })
	meta[corpus.MetaSourceURL] = link
	return a.Library.Add(ctx, corpus.Upload{
		User: p.User, Namespace: namespace, Path: where, Filename: path.Base(where), Meta: meta, MetaIfFresh: true,
		Body: body,
	})
}

// isKept reports whether a folder or a place maintains the document. Its meta then has the key of the place or of
// the folder.
func isKept(d corpus.Document) bool {
	return d.MetaText(corpus.MetaPlace) != "" || d.Meta[corpus.MetaWatched] != nil
}

// explain returns a user-facing error for a page that was not fetched. There is no automatic retry, unlike for a
// place. The codes describe this server's response: a page that requires a login is no missing permission of this
// user, and a host that does not exist is a permanent error.
func explain(ctx, slow context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case slow.Err() != nil:
		return &chat.Error{
			Code: chat.CodeUnavailable, Message: "The page timed out. Try again later.", Err: err,
		}
	case errors.Is(err, sources.ErrGone):
		return &chat.Error{Code: chat.CodeInvalid, Message: "No page found at this URL. Check the URL.", Err: err}
	}
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	told, ok := errors.AsType[*chat.Error](err)
	switch {
	case ok && (told.Code == chat.CodeForbidden || told.Code == chat.CodeUnauthorized):
		return &chat.Error{Code: chat.CodeInvalid, Message: told.Message, Err: err}
	case ok && (told.Code == chat.CodeInvalid || told.Code == chat.CodeTooLarge || told.Code == chat.CodeUnsupported):
		return told
	case ok && (errors.As(err, &name) && name.IsNotFound || errors.As(err, &certificate)):
		return &chat.Error{Code: chat.CodeInvalid, Message: told.Message, Err: err} // permanent
	}
	return &chat.Error{
		Code: chat.CodeUnavailable, Message: "The page could not be loaded. Try again later.",
		Err: err,
	}
}
