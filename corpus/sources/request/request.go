// Package request sends HTTP requests for kinds of places. Whatever a server does, a request ends: replies are limited
// in time and, unpacked as well, in bytes; a server that asks to wait is waited for a little. What goes wrong is a
// sentence without anything that the server said.
//
// request.go has the client, its redirects and its limits, parts.go bounds what a parser holds of a list, failure.go
// has the sentences. Credentials go to one origin only;
// redirects change neither method nor origin unnoticed; the body is unpacked here, so the limit counts what comes out.
package request

import (
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
)

// Limits of a request. graceTime and slowest together bound a reply: two minutes, and one second for each 64 KiB that
// it may have. They are choices.
const (
	MaxURL       = 2000 // bytes of an address
	maxRedirects = 5
	tries        = 3               // of a request that is told to wait
	longestWait  = 2 * time.Minute // that is waited for between two
	graceTime    = 2 * time.Minute // that any reply may take
	slowest      = 64 << 10        // bytes per second that a reply may take beyond that
	leastRate    = 1 << 10         // bytes per second, over each CallTime that is waited for a reply
	agent        = "Footnote (reads what a person asked it to follow)"
)

// Client sends requests, one at a time. It keeps no cookies.
type Client struct {
	http          *http.Client
	authorization string
	host          string // that alone gets it
}

// New returns a client. It connects to nothing. The rules of a redirect: at most maxRedirects, the same method, no
// Referer, and no credentials for another origin. Each new address is checked like the first.
func New(n sources.Net) *Client {
	copied := *n.HTTP
	c := &Client{http: &copied}
	copied.Jar = nil
	copied.CheckRedirect = func(next *http.Request, before []*http.Request) error {
		if len(before) > maxRedirects {
			return &chat.Error{
				Code: chat.CodeInvalid, Message: "This address leads from one address to the next without end.",
			}
		}
		if next.Method != before[0].Method { // a redirect makes another one a GET
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

// NewWithPassword is New for a server that wants a user name and a password. No other one gets them.
func NewWithPassword(n sources.Net, server *url.URL, username, password string) *Client {
	return NewWithToken(n, server, "Basic "+base64.StdEncoding.EncodeToString([]byte(username+":"+password)))
}

// NewWithToken is New for a server that wants this Authorization header, such as "Bearer 123". No other one gets it.
func NewWithToken(n sources.Net, server *url.URL, authorization string) *Client {
	c := New(n)
	c.authorization, c.host = authorization, server.Scheme+"://"+server.Host
	return c
}

// Address reads an address of a page. It fails with chat.CodeInvalid for what is none. The fragment is dropped, as it
// never reaches a server.
func Address(address string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	switch {
	case err != nil || len(address) > MaxURL || u.Opaque != "" || u.Hostname() == "" ||
		u.Scheme != "http" && u.Scheme != "https":
		return nil, &chat.Error{
			Code:    chat.CodeInvalid,
			Message: "An address begins with https:// or http:// and has at most 2,000 characters.",
		}
	case u.User != nil:
		return nil, &chat.Error{
			Code:    chat.CodeInvalid,
			Message: "An address with a user name in it is not followed. Take the name out of it.",
		}
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// Response is a reply whose Body is unpacked and limited: reading it fails with chat.CodeTooLarge beyond the limit, and
// with chat.CodeTimeout when nothing comes any more. It must be closed. URL is where it is from, after all redirects.
type Response struct {
	Status int
	Header http.Header
	URL    *url.URL
	Body   io.ReadCloser
}

// Do sends a request, whose body must be nil or one that can be sent again (GetBody), and returns what is answered,
// whatever its status, except when the server asks to wait for longer than a little. A body has at most limit bytes.
// Only 429 and 503 with Retry-After are waited for (RFC 9110 §10.2.3, RFC 6585 §4).
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

// retryAfter reads how long a server asks to wait: seconds or a moment. One that says nothing gets a few seconds. A
// time in the past is no wait.
func retryAfter(header string, now time.Time) (wait time.Duration, asked bool) {
	if seconds, err := strconv.ParseInt(header, 10, 32); err == nil && seconds >= 0 {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(at.Sub(now), 0), true
	}
	return 5 * time.Second, false
}

// errSilent ends a request whose server says nothing (more).
var errSilent = &chat.Error{
	Code: chat.CodeTimeout, Message: "The server takes too long to answer. It is asked again later.",
}

// send sends the request once, within the limits of Guard, and hands out the reply whatever its status.
func (c *Client) send(ctx context.Context, req *http.Request, limit int64) (*Response, error) {
	send := func(ctx context.Context) (*http.Response, error) { return c.sendOnce(ctx, req) }
	resp, err := Guard(ctx, limit, send) //nolint:bodyclose // the Response's own
	if err != nil {
		return nil, err
	}
	return &Response{resp.StatusCode, resp.Header, resp.Request.URL, resp.Body}, nil
}

// Guard sends a request by do, and returns a reply whose body is unpacked and limited as that of a Response. do gets a
// context that ends when the server is silent for too long. Two timers end it: one for silence, which each read resets,
// and one for all of it. A reply that says gzip is unpacked whatever the request asked for.
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

// Setting Accept-Encoding by hand keeps net/http from unpacking by itself, which would hide how much comes.
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

// unpacker begins to unpack when it is read. gzip.NewReader reads the head at once, which a server that is silent would
// hold up; so it waits for the first read.
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

// Unpack reads what is packed with gzip, however it came.
func Unpack(r io.Reader) io.Reader { return &unpacker{sent: r} }

// body is a reply's body within its limits. One byte more than the limit is asked for, to tell a body that ends there
// from one that goes on.
type body struct {
	ctx         context.Context
	cancel      context.CancelCauseFunc
	sent        io.Closer
	from        io.Reader
	left        int64
	got         int           // bytes since waited was 0
	waited      time.Duration // in Read, of up to CallTime
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
			Code: chat.CodeTooLarge, Message: "This is larger than what is read from a place.",
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

// stop ends both timers and the request's context. It may be called again.
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
