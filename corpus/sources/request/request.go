// Package request is the HTTP client for kinds of places. Every request ends: responses have a timeout and a limit
// in bytes, also after decompression. Retry-After is respected up to a limit. Errors have a user-facing message
// without text from the server.
//
// request.go has the client, its redirects and its limits, parts.go limits a parser's memory, failure.go has the
// errors. Credentials are sent to one origin only. A redirect never changes the method. Bodies are decompressed
// here, so that the limit applies to the decompressed bytes.
package request

import (
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
)

// Limits of a request. graceTime and slowest together give a response's timeout: two minutes, plus one second for
// each 64 KiB of its limit. The values are estimates.
const (
	MaxURL       = 2000 // bytes of an address
	maxRedirects = 5
	tries        = 3               // attempts of a rate-limited request
	longestWait  = 2 * time.Minute // maximum delay before a retry
	graceTime    = 2 * time.Minute // base timeout of a response
	slowest      = 64 << 10        // bytes per second beyond it
	leastRate    = 1 << 10         // minimum bytes per second in each interval of CallTime
	agent        = "Footnote (reads what a person asked it to follow)"
)

// Client sends one request at a time. It has no cookies.
type Client struct {
	http          *http.Client
	authorization string
	host          string // the only origin that gets it
}

// New returns a client, without connecting. It follows at most maxRedirects redirects, with the same method, without
// a Referer, and without credentials for another origin. Each redirect's address is validated.
func New(n sources.Net) *Client {
	copied := *n.HTTP
	c := &Client{http: &copied}
	copied.Jar = nil
	copied.CheckRedirect = func(next *http.Request, before []*http.Request) error {
		if len(before) > maxRedirects {
			return &chat.Error{
				Code: chat.CodeInvalid, Message: "This URL redirects too many times.",
			}
		}
		if next.Method != before[0].Method { // the redirect changed the method to GET
			return http.ErrUseLastResponse
		}
		next.Header.Del("Referer")
		if c.host != next.URL.Scheme+"://"+next.URL.Host {
			next.Header.Del("Authorization")
		}
		_, err := Address(next.URL.String())
		return err
	}
	return c
}

// NewWithPassword is like New with Basic authentication, whose credentials are sent to this server only.
func NewWithPassword(n sources.Net, server *url.URL, username, password string) *Client {
	return NewWithToken(n, server, "Basic "+base64.StdEncoding.EncodeToString([]byte(username+":"+password)))
}

// NewWithToken is like New with an Authorization header, such as "Bearer 123", which is sent to this server only.
func NewWithToken(n sources.Net, server *url.URL, authorization string) *Client {
	c := New(n)
	c.authorization, c.host = authorization, server.Scheme+"://"+server.Host
	return c
}

// Address parses a web address. It returns chat.CodeInvalid for an invalid one. The fragment is dropped, as it is
// never sent to a server.
func Address(address string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	switch {
	case err != nil || len(address) > MaxURL || u.Opaque != "" || u.Hostname() == "" ||
		u.Scheme != "http" && u.Scheme != "https":
		return nil, &chat.Error{
			Code:    chat.CodeInvalid,
			Message: "Enter a URL of up to 2,000 characters that begins with https:// or http://.",
		}
	case u.User != nil:
		return nil, &chat.Error{
			Code:    chat.CodeInvalid,
			Message: "URLs with a username are not supported. Remove the username.",
		}
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// Response is a response with a decompressed and limited Body. Reads return chat.CodeTooLarge beyond the limit, and
// chat.CodeTimeout after a timeout. It must be closed. URL is its address after all redirects.
type Response struct {
	Status int
	Header http.Header
	URL    *url.URL
	Body   io.ReadCloser
}

// Do sends a request and returns its response with any status. The request's body must be nil or repeatable
// (GetBody). The response's body has at most limit bytes. Status 429, and 503 with Retry-After, are retried after a
// delay (RFC 9110 §10.2.3, RFC 6585 §4). A delay beyond longestWait, or the last attempt, returns Failed.
func (c *Client) Do(ctx context.Context, req *http.Request, limit int64) (*Response, error) {
	for try := 1; ; try++ {
		resp, err := c.send(ctx, req, limit)
		if err != nil {
			return nil, err
		}
		if resp.Status != http.StatusTooManyRequests && resp.Status != http.StatusServiceUnavailable {
			return resp, nil
		}
		wait, asked := retryAfter(resp.Header.Get("Retry-After"), time.Now())
		_ = resp.Body.Close()
		if !asked && resp.Status == http.StatusServiceUnavailable || try == tries || wait > longestWait {
			return nil, Failed(resp.Status)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}

// Get is Do for a GET request with additional headers.
func (c *Client) Get(ctx context.Context, address string, header http.Header, limit int64) (*Response, error) {
	req, err := http.NewRequest(http.MethodGet, address, nil) //nolint:noctx // Do sets the context
	if err != nil {
		return nil, err
	}
	maps.Copy(req.Header, header)
	return c.Do(ctx, req, limit)
}

// retryAfter parses a Retry-After header: seconds or a date. Without one the delay is five seconds. A date in the
// past means no delay.
func retryAfter(header string, now time.Time) (wait time.Duration, asked bool) {
	if seconds, err := strconv.ParseInt(header, 10, 32); err == nil && seconds >= 0 {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(at.Sub(now), 0), true
	}
	return 5 * time.Second, false
}

// errSilent is returned after a timeout.
var errSilent = &chat.Error{
	Code: chat.CodeTimeout, Message: sources.Retried("The server timed out."),
}

// send sends the request once, within the limits of Guard, and returns the response with any status.
func (c *Client) send(ctx context.Context, req *http.Request, limit int64) (*Response, error) {
	send := func(ctx context.Context) (*http.Response, error) { return c.sendOnce(ctx, req) }
	resp, err := Guard(ctx, limit, send) //nolint:bodyclose // closed by the Response
	if err != nil {
		return nil, err
	}
	return &Response{resp.StatusCode, resp.Header, resp.Request.URL, resp.Body}, nil
}

// Guard calls do to send a request and returns its response with a decompressed and limited body, as in Response.
// Two timers cancel do's context: an idle timeout, which each read resets, and a total timeout. A gzip response is
// decompressed whatever the request accepts.
func Guard(
	ctx context.Context, limit int64, do func(context.Context) (*http.Response, error),
) (*http.Response, error) {
	reading, cancel := context.WithCancelCause(ctx)
	end := func() { cancel(errSilent) }
	b := &body{
		ctx: reading, cancel: cancel, left: limit,
		idle:  time.AfterFunc(sources.CallTime, end),
		total: time.AfterFunc(graceTime+time.Duration(limit/slowest)*time.Second, end),
	}
	resp, err := do(reading)
	if err != nil {
		err = explain(reading, ctx, err)
		b.stop()
		return nil, err
	}
	b.idle.Stop()
	b.sent, b.from = resp.Body, resp.Body
	if strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		b.from = &unpacker{sent: resp.Body}
	}
	resp.Body = b
	return resp, nil
}

// sendOnce sends a request with an explicit Accept-Encoding. That disables decompression in net/http, which would
// hide the compressed size.
func (c *Client) sendOnce(ctx context.Context, req *http.Request) (*http.Response, error) {
	req = req.Clone(ctx)
	if req.GetBody != nil {
		again, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		req.Body = again
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", agent)
	}
	req.Header.Set("Accept-Encoding", "gzip")
	if c.host != "" && c.host == req.URL.Scheme+"://"+req.URL.Host {
		req.Header.Set("Authorization", c.authorization)
	}
	return c.http.Do(req)
}

// unpacker decompresses lazily. gzip.NewReader reads the header at once, which would block on a silent server, so it
// is created at the first read.
type unpacker struct {
	sent   io.Reader
	zipped *gzip.Reader
}

// Read implements io.Reader.
func (u *unpacker) Read(p []byte) (int, error) {
	if u.zipped == nil {
		zipped, err := gzip.NewReader(u.sent)
		if err != nil {
			return 0, err
		}
		u.zipped = zipped
	}
	return u.zipped.Read(p)
}

// Unpack decompresses a gzip stream.
func Unpack(r io.Reader) io.Reader { return &unpacker{sent: r} }

// body is a response's body with its limits. Reads request one byte beyond the limit, to distinguish a body that
// ends there from a larger one.
type body struct {
	ctx         context.Context
	cancel      context.CancelCauseFunc
	sent        io.Closer
	from        io.Reader
	left        int64
	got         int           // bytes since waited was 0
	waited      time.Duration // time in Read, of up to CallTime
	idle, total *time.Timer
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	began := time.Now()
	b.idle.Reset(sources.CallTime)
	n, err := b.from.Read(p)
	b.idle.Stop()
	b.got, b.waited = b.got+n, b.waited+time.Since(began)
	if err == nil && b.waited >= sources.CallTime {
		if b.got < leastRate*int(b.waited/time.Second) {
			return n, errSilent
		}
		b.got, b.waited = 0, 0
	}
	if int64(n) > b.left {
		return int(b.left), &chat.Error{
			Code: chat.CodeTooLarge, Message: "This file exceeds the size limit.",
		}
	}
	b.left -= int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		err = explain(b.ctx, nil, err)
	}
	return n, err
}

// Close implements io.Closer.
func (b *body) Close() error {
	b.stop()
	return b.sent.Close()
}

// stop stops both timers and cancels the request's context. It is idempotent.
func (b *body) stop() {
	b.idle.Stop()
	b.total.Stop()
	b.cancel(nil)
}

// ReadAll reads and closes a body.
func (r *Response) ReadAll() ([]byte, error) {
	defer r.Body.Close()
	return io.ReadAll(r.Body)
}
