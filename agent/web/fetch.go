package web

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/webtext"
)

// Limits of fetching a page.
const (
	MaxPage      = 5 << 20 // bytes, compressed and decompressed
	fetchTime    = 10 * time.Second
	maxRedirects = 5
	maxURL       = 2000
)

// fetcher fetches pages. It has no cookies, no connection pool and no proxy; a request contains only the URL and the
// User-Agent.
type fetcher struct{ client *http.Client }

// newFetcher returns a fetcher that dials only addresses that allowed accepts. Keep-alive is off, since a reused
// connection would skip the check. Decompression by the transport is off, since it has no limit.
func newFetcher(allowed control, resolver *net.Resolver) *fetcher {
	dialer := &net.Dialer{Timeout: fetchTime, Control: allowed, Resolver: resolver}
	return &fetcher{client: &http.Client{
		Transport: &http.Transport{
			DialContext: dialer.DialContext, ForceAttemptHTTP2: true, DisableKeepAlives: true, DisableCompression: true,
			TLSHandshakeTimeout: fetchTime, ResponseHeaderTimeout: fetchTime, MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(next *http.Request, before []*http.Request) error {
			if len(before) > maxRedirects {
				return errors.New("too many redirects")
			}
			next.Header.Del("Referer")
			_, err := checkURL(next.URL.String())
			return err
		},
	}}
}

// checkURL validates the URL of a web page. The resolved address is checked when it is dialled.
func checkURL(address string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	switch {
	case err != nil || len(address) > maxURL || u.Hostname() == "" || u.Opaque != "":
		return nil, failedWith(chat.CodeInvalid, "This is not the address of a web page.")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, failedWith(chat.CodeForbidden, "Only http and https addresses are read.")
	case u.User != nil:
		return nil, failedWith(chat.CodeForbidden, "An address with a user name is not read.")
	}
	return u, nil
}

// fetchPage fetches one page. The content type is checked before the body is read, the length as announced, as
// received and as decompressed.
func (f *fetcher) fetchPage(ctx context.Context, address string) (Page, error) {
	u, err := checkURL(address)
	if err != nil {
		return Page{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Page{}, failedWith(chat.CodeInvalid, "This is not the address of a web page.")
	}
	req.Header.Set("User-Agent", "Footnote (reads a page that a person asked about)")
	req.Header.Set("Accept", "text/html, application/xhtml+xml, text/plain, application/pdf;q=0.9")
	req.Header.Set("Accept-Encoding", "gzip")
	resp, err := f.client.Do(req)
	if err != nil {
		return Page{}, f.explainError(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return Page{}, failedWith(
			chat.CodeUnavailable, "The page could not be read: its server answered %d.", resp.StatusCode,
		)
	}
	page := Page{URL: resp.Request.URL.String(), FetchedAt: time.Now().UTC().Truncate(time.Second)}
	kind, params, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	extension := map[string]string{
		"text/html": ".html", "application/xhtml+xml": ".html", "text/plain": ".txt", "application/pdf": ".pdf",
	}[kind]
	if err != nil || extension == "" {
		return Page{}, failedWith(chat.CodeUnsupported, "The page is neither HTML nor text nor PDF, so it is not read.")
	}
	page.Filename = pageFilename(resp.Request.URL, extension)
	if resp.ContentLength > MaxPage {
		return Page{}, webtext.TooLarge(MaxPage)
	}
	body, err := readUnpacked(resp)
	if err != nil {
		return Page{}, f.explainError(err)
	}
	if extension != ".pdf" {
		body, err = webtext.InUTF8(body, params["charset"], MaxPage)
		if err != nil {
			return Page{}, f.explainError(err)
		}
	}
	page.Body = body
	return page, nil
}

// readUnpacked reads a body within its limits, before and after decompression, since a small file can decompress to
// gigabytes.
func readUnpacked(resp *http.Response) ([]byte, error) {
	sent := io.Reader(&io.LimitedReader{R: resp.Body, N: MaxPage + 1})
	switch strings.ToLower(resp.Header.Get("Content-Encoding")) {
	case "", "identity":
	case "gzip":
		zipped, err := gzip.NewReader(sent)
		if err != nil {
			return nil, err
		}
		sent = zipped
	default:
		return nil, failedWith(chat.CodeUnsupported, "The page is packed in a way that is not read.")
	}
	body, err := io.ReadAll(io.LimitReader(sent, MaxPage+1))
	if len(body) > MaxPage {
		return nil, webtext.TooLarge(MaxPage)
	}
	return body, err
}

// explainError converts an error to a message for the user without internal addresses.
func (f *fetcher) explainError(err error) error {
	var told *chat.Error
	var timeout net.Error
	switch {
	case errors.As(err, &told):
		return told
	case errors.Is(err, errNotPublic):
		return &chat.Error{
			Code: chat.CodeForbidden, Message: "This address is not on the public internet, so it is not read.",
			Err: err,
		}
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &timeout) && timeout.Timeout():
		return &chat.Error{Code: chat.CodeTimeout, Message: "The page took longer than 10 s.", Err: err}
	}
	return &chat.Error{Code: chat.CodeUnavailable, Message: "The page could not be read.", Err: err}
}

// pageFilename returns a file name made of the host and the last element of the path.
func pageFilename(u *url.URL, extension string) string {
	name := u.Hostname()
	if last := path.Base(u.Path); last != "/" && last != "." {
		name += "-" + last
	}
	if runes := []rune(name); len(runes) > 100 {
		name = string(runes[:100])
	}
	return strings.TrimSuffix(name, extension) + extension
}
