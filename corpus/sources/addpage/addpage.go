// Package addpage adds one page of the web to the library, once: a document that leads back to where it was read. Pages
// that are followed are places.
//
// What comes in is an address that a person named, so robots.txt is not asked, and the Net reaches public addresses
// only. It uses webpage.Reader like the kinds of places that read pages, and the document's path is made of the
// address, so the same page comes back as a new version of its document.
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

// longest is how long a page may take, with all waiting. It holds up its user's request for so long.
const longest = 2 * time.Minute

// Adder adds pages. It is safe for concurrent use.
type Adder struct {
	Library *corpus.Library
	Net     sources.Net // the only way to pages
	pages   *fair.Slots // under way
}

// New returns an Adder of pages to a library.
func New(l *corpus.Library, n sources.Net) *Adder {
	return &Adder{Library: l, Net: n, pages: fair.NewSlots(math.MaxInt, sources.ChecksAtOnce)}
}

// Page is a page that somebody wants to have.
type Page struct {
	User      string
	Namespace string // empty: chat.DefaultNamespace
	Address   string
	Meta      map[string]any // of a new document; one that is there keeps its own
}

// Add fetches a page and puts it into the library. A page that was added before is that document: with another version
// when it has changed, else as a duplicate. Every error has a sentence; what is wrong with the page is
// chat.CodeInvalid, chat.CodeTooLarge or chat.CodeUnsupported, and a server that can't serve chat.CodeUnavailable. The
// two reasons for failing are told apart by who met them: the body's own error is the page's, any other the library's.
func (a *Adder) Add(ctx context.Context, p Page) (d corpus.Document, duplicate bool, err error) {
	u, err := request.Address(p.Address)
	if err != nil {
		return d, false, err
	}
	if _, ok := a.pages.Take([]string{p.User}); !ok {
		return d, false, &chat.Error{
			Code: chat.CodeTooMany, Message: "Four pages are being added for you. Add the next when one is done.",
		}
	}
	defer a.pages.Leave(p.User)
	slow, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	reader := webpage.Reader{Client: request.New(a.Net), Alone: true}
	content, err := reader.Fetch(slow, sources.Item{Key: u.String()}, "")
	if err != nil {
		return d, false, explain(ctx, slow, err)
	}
	defer content.Body.Close() //nolint:errcheck // it was only read
	body := &sources.Reading{From: content.Body}
	d, duplicate, err = a.put(ctx, p, content, body)
	if body.Err != nil {
		return d, false, explain(ctx, slow, body.Err)
	}
	return d, duplicate, err
}

// put puts what was fetched where the page's document is, or where nothing is. A document that a folder or a place
// keeps is left to it, since its next look would put it back: this one gets a name with a hash of its address.
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
	case err == nil && (there.SourceURL() != link || isKept(there)): // something else has the name
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

// isKept reports whether a folder or a place keeps a document like what it has. Their meta names the place or the
// folder.
func isKept(d corpus.Document) bool {
	return d.MetaText(corpus.MetaPlace) != "" || d.Meta[corpus.MetaWatched] != nil
}

// explain says what became of a page that was not fetched. Nobody asks for it again by itself, as a place would. Codes
// are those of this server's answer: a page that wants a login is not this user's missing right, and a host that is not
// there will not be there later either.
func explain(ctx, slow context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case slow.Err() != nil:
		return &chat.Error{
			Code: chat.CodeUnavailable, Message: "The page takes too long to come. Try again later.", Err: err,
		}
	case errors.Is(err, sources.ErrGone):
		return &chat.Error{Code: chat.CodeInvalid, Message: "There is no page at this address. Check it.", Err: err}
	}
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	told, ok := errors.AsType[*chat.Error](err)
	switch {
	case ok && (told.Code == chat.CodeForbidden || told.Code == chat.CodeUnauthorized):
		// it is not this server that refuses
		return &chat.Error{Code: chat.CodeInvalid, Message: told.Message, Err: err}
	case ok && (told.Code == chat.CodeInvalid || told.Code == chat.CodeTooLarge || told.Code == chat.CodeUnsupported):
		return told
	case ok && (errors.As(err, &name) && name.IsNotFound || errors.As(err, &certificate)):
		return &chat.Error{Code: chat.CodeInvalid, Message: told.Message, Err: err} // as it will be later
	}
	return &chat.Error{
		Code: chat.CodeUnavailable, Message: "The server of this page does not answer as it should. Try again later.",
		Err: err,
	}
}
