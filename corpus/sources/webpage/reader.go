package webpage

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/request"
	"github.com/footnote/footnote/corpus/sources/robots"
	"github.com/footnote/footnote/corpus/webtext"
	"github.com/footnote/footnote/text/locale"
)

// Limits of a page.
//
// The values are estimates. maxHash equals maxHTML, so no file buffers more memory than a page.
const (
	maxHTML = 16 << 20  // bytes of HTML or text, as sent and in UTF-8
	maxFile = 512 << 20 // bytes of other files
	maxHash = 16 << 20  // bytes of files that are buffered and hashed to detect changes
)

// Reader fetches pages for several kinds of places. It is copied by value with shared fields, and as safe for
// concurrent use as they are.
type Reader struct {
	Client *request.Client
	// Alone is set if all pages are from one server: its failure is then the place's.
	Alone bool
	// Robots checks robots.txt for pages that no person entered; nil: no check.
	Robots *robots.Checker
}

// Fetch fetches the page at item.Key or, if that is no address, at item.Link; see sources.Place. With pages of
// several servers, a server's failure is one of its item.
func (r Reader) Fetch(ctx context.Context, item sources.Item, known string) (sources.Content, error) {
	content, err := r.fetch(ctx, item, known)
	if code := chat.CodeOf(err); err != nil && !r.Alone && (code == chat.CodeUnavailable || code == chat.CodeTimeout) {
		// continue with the other servers
		return content, &chat.Error{Code: chat.CodeInvalid, Message: chat.MessageOf(err), Err: err}
	}
	return content, err
}

// fetch fetches a page with a conditional request for its known version (ETag, Last-Modified). robots.txt is checked
// again for the address after redirects.
//
// For an unchanged page the server answers 304 without a body, or the hash of the words is equal.
func (r Reader) fetch(ctx context.Context, item sources.Item, known string) (sources.Content, error) {
	u, err := request.Address(item.Key)
	if err != nil {
		if u, err = request.Address(item.Link); err != nil {
			return sources.Content{}, err
		}
	}
	if err := r.mayRead(ctx, u); err != nil {
		return sources.Content{}, err
	}
	header := http.Header{"Accept": {"text/html, application/xhtml+xml, text/plain;q=0.9, */*;q=0.8"}}
	before := parseVersion(known)
	before.ask(header)
	resp, err := r.Client.Get(ctx, u.String(), header, maxFile)
	if err != nil {
		return sources.Content{}, err
	}
	var content sources.Content
	if resp.URL.String() != u.String() { // the redirect's target was not checked
		err = r.mayRead(ctx, resp.URL)
	}
	if err == nil {
		content, err = read(resp, before)
	}
	if err != nil {
		_ = resp.Body.Close()
		return sources.Content{}, err
	}
	return content, nil
}

// mayRead returns an error for a page that robots.txt forbids.
func (r Reader) mayRead(ctx context.Context, page *url.URL) error {
	// A person entered the page's address.
	if r.Robots == nil {
		return nil
	}
	return r.Robots.Check(ctx, page)
}

// read converts a response into a document. It closes the body unless it returns an error. Without a valid
// Content-Type the first 512 bytes decide, as in browsers (http.DetectContentType implements
// mimesniff.spec.whatwg.org).
//
// A status concerns the version (304), the page (404, 410, 401, 403, 451), or the server (502, 503, 504), which is
// retried later.
func read(resp *request.Response, before version) (sources.Content, error) {
	switch status := resp.Status; {
	case status == http.StatusOK:
	case status == http.StatusNotModified && before != version{}:
		return sources.Content{}, sources.ErrSame
	case status == http.StatusNotFound, status == http.StatusGone:
		return sources.Content{}, sources.ErrGone
	case status == http.StatusUnauthorized, status == http.StatusForbidden,
		status == http.StatusUnavailableForLegalReasons:
		return sources.Content{}, &chat.Error{
			Code:    chat.CodeForbidden,
			Message: "This page is not public, so it is not imported. Save it in your browser and add the file.",
		}
	// Errors of the server, not of the page.
	case status == http.StatusBadGateway, status == http.StatusServiceUnavailable, status == http.StatusGatewayTimeout:
		return sources.Content{}, request.Failed(status)
	default:
		return sources.Content{}, &chat.Error{
			Code:    chat.CodeInvalid,
			Message: locale.Say("The server returned status {1} for this page, so it is not imported.", status),
		}
	}
	kind, params, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil {
		start := bufio.NewReader(resp.Body)
		head, err := start.Peek(512)
		if err != nil && !errors.Is(err, io.EOF) {
			return sources.Content{}, err
		}
		kind, params, _ = mime.ParseMediaType(http.DetectContentType(head))
		delete(params, "charset") // a guess
		resp.Body = bodyOf(start, resp.Body)
	}
	if kind == "text/html" || kind == "application/xhtml+xml" || kind == "text/plain" {
		return readText(resp, kind, params["charset"], before)
	}
	return readFile(resp, kind, before)
}

// readText decodes HTML or text and converts it to UTF-8, so the library need not guess the encoding. The hash is of
// the words for HTML and of the bytes for text.
//
// A page of more than maxHTML is rejected instead of truncated, as half an article would be quoted as complete.
func readText(resp *request.Response, kind, encoding string, before version) (sources.Content, error) {
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxHTML+1))
	switch {
	case err != nil:
		return sources.Content{}, err
	case len(raw) > maxHTML:
		return sources.Content{}, webtext.TooLarge(maxHTML)
	}
	text, err := webtext.InUTF8(raw, encoding, maxHTML)
	switch {
	case chat.CodeOf(err) == chat.CodeTooLarge:
		return sources.Content{}, err
	case err != nil:
		return sources.Content{}, &chat.Error{
			Code: chat.CodeInvalid, Message: "The page doesn't match the text encoding that the server " +
				"declares.", Err: err,
		}
	}
	c := sources.Content{Link: resp.URL.String()}
	now := versionOf(resp.Header)
	if kind == "text/plain" {
		now.hash = hashOf(raw)
		extension := ".txt"
		if own := path.Ext(resp.URL.Path); own == ".md" || own == ".csv" {
			extension = own
		}
		c.Name = NameOf(resp.URL, extension)
	} else {
		page := readHead(text)
		now.hash = cmp.Or(page.hash, hashOf(raw))
		if canonical := page.canonicalOf(resp.URL); canonical != "" {
			c.Link = canonical
		}
		c.Name = NameOf(resp.URL, ".html")
	}
	if before.hash == now.hash {
		return sources.Content{}, sources.ErrSame
	}
	c.Version, c.Body = now.String(), bodyOf(bytes.NewReader(text), resp.Body)
	return c, nil
}

// readFile reads a file other than HTML or text. The library decides which formats it can parse. A file up to
// maxHash is buffered to detect a change by its hash; for a larger one only the server's headers count.
func readFile(resp *request.Response, kind string, before version) (sources.Content, error) {
	extension := strings.ToLower(path.Ext(resp.URL.Path))
	if extension == "" || len(extension) > 8 || kind == "application/pdf" {
		extension = map[string]string{
			"application/pdf": ".pdf", "application/epub+zip": ".epub", "text/markdown": ".md", "text/csv": ".csv",
		}[kind]
	}
	major, _, _ := strings.Cut(kind, "/")
	if extension == "" || major == "video" || major == "audio" || major == "font" {
		return sources.Content{}, &chat.Error{
			Code: chat.CodeUnsupported, Message: "This is neither a web page nor a document, so it is not imported.",
		}
	}
	var start bytes.Buffer
	_, err := io.CopyN(&start, resp.Body, maxHash)
	ended := errors.Is(err, io.EOF)
	if err != nil && !ended {
		return sources.Content{}, err
	}
	now := versionOf(resp.Header)
	if ended {
		now.hash = hashOf(start.Bytes())
		if before.hash == now.hash {
			return sources.Content{}, sources.ErrSame
		}
	}
	return sources.Content{
		Body: bodyOf(io.MultiReader(&start, resp.Body), resp.Body), Version: now.String(), Link: resp.URL.String(),
		Name: NameOf(resp.URL, extension),
	}, nil
}

// bodyOf combines a reader with the closer of its source.
func bodyOf(r io.Reader, c io.Closer) io.ReadCloser {
	return struct {
		io.Reader
		io.Closer
	}{r, c}
}

// NameOf returns the path of a page's document: host and path as folders. The query distinguishes pages of one path.
// Each part is truncated separately, so that a long query does not hide the path.
func NameOf(u *url.URL, extension string) string {
	parts := []string{u.Hostname()}
	for part := range strings.SplitSeq(strings.Trim(u.Path, "/"), "/") {
		if part != "" && part != "." && part != ".." {
			parts = append(parts, sources.Cut(part, 100))
		}
	}
	if len(parts) == 1 {
		parts = append(parts, "index")
	}
	last := &parts[len(parts)-1]
	if len(parts) > 1 {
		for _, end := range []string{extension, ".html", ".htm", ".php"} {
			*last = strings.TrimSuffix(*last, end)
		}
	}
	if u.RawQuery != "" {
		*last += " " + sources.Cut(u.RawQuery, 60)
	}
	return sources.Cut(strings.Join(parts, "/"), 500) + extension
}
