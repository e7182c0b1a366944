package httpio

import (
	"context"
	"io"
	"net/http"
	"strings"
	"time"
)

// SecurityHeaders are set on every response; a handler may only tighten them.
//
// They are for browsers: scripts and styles only from this server, no framing by other sites, and no MIME sniffing.
var SecurityHeaders = [][2]string{
	{
		"Content-Security-Policy",
		"default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; " +
			"frame-ancestors 'none'",
	},
	{"X-Content-Type-Options", "nosniff"},
	{"X-Frame-Options", "DENY"},
	{"Referrer-Policy", "same-origin"},
	{"Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
}

// headKey is the context key that marks a HEAD request.
type headKey struct{}

// IsHead reports whether a request routed as GET was sent as HEAD: a stream then sends its headers only.
func IsHead(r *http.Request) bool { return r.Context().Value(headKey{}) != nil }

// Wrap is the outermost handler, before Echo: security headers, deadlines for reads and writes, and HEAD handled as
// GET (net/http drops the body).
func Wrap(limits Limits, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, h := range SecurityHeaders {
			w.Header().Set(h[0], h[1])
		}
		control := http.NewResponseController(w)
		out := &pacedWriter{ResponseWriter: w, control: control, pace: pace{timeout: limits.WriteTimeout}}
		if r.Body != nil && r.Body != http.NoBody {
			out.body = &pacedBody{ReadCloser: r.Body, control: control, pace: pace{timeout: limits.ReadTimeout}}
			r.Body = out.body
		}
		if r.Method == http.MethodHead {
			r = r.WithContext(context.WithValue(r.Context(), headKey{}, true))
			r.Method = http.MethodGet
		}
		next.ServeHTTP(out, r)
		out.extendDeadline() // for data that net/http has yet to flush
		out.body.boundRest()
	})
}

// leastRate is the minimum rate of a transfer in bytes per second, beyond its timeout: a client that sends a byte a
// second could otherwise hold a connection indefinitely. Slow connections are faster.
const leastRate = 1 << 10

// pace limits the total time that a body or a response waits for its client: timeout, plus the time for its bytes at
// leastRate. The server's own processing time does not count.
type pace struct {
	timeout time.Duration // of each single wait
	waited  time.Duration
	bytes   int64
}

// waitDeadline returns the deadline of a wait that starts now.
func (p *pace) waitDeadline(now time.Time) time.Time {
	left := p.timeout + time.Duration(p.bytes)*time.Second/leastRate - p.waited
	return now.Add(min(p.timeout, left))
}

// addWait adds a finished wait.
func (p *pace) addWait(began time.Time, n int) {
	p.waited += time.Since(began)
	p.bytes += int64(n)
}

// pacedWriter sets a deadline for each write: a response may take the time that its bytes need, but a stalled or
// very slow reader is disconnected. A stream lasts as long as its run, so only its single writes are limited. If
// deadlines are not supported (a recorder in a test), it writes without.
type pacedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	pace    pace
	stream  bool
	body    *pacedBody // of the request; nil: none
}

// pacedPiece is the size of a write in bytes: small enough to detect a slow reader early, and large enough for few
// writes.
const pacedPiece = 64 << 10

// extendDeadline sets the deadline of the next write; each write of a stream gets a new budget.
func (w *pacedWriter) extendDeadline() {
	p := w.pace
	if w.stream {
		p = pace{timeout: p.timeout}
	}
	_ = w.control.SetWriteDeadline(p.waitDeadline(time.Now()))
}

// WriteHeader detects whether the response is a stream.
func (w *pacedWriter) WriteHeader(status int) {
	w.stream = strings.HasPrefix(w.Header().Get("Content-Type"), "text/event-stream")
	w.body.boundRest()
	w.ResponseWriter.WriteHeader(status)
}

// Write sends blocks of pacedPiece bytes, so that a slow reader is detected after one of them.
func (w *pacedWriter) Write(p []byte) (written int, err error) {
	w.body.boundRest()
	for {
		piece := p[:min(len(p), pacedPiece)]
		w.extendDeadline()
		began := time.Now()
		n, err := w.ResponseWriter.Write(piece)
		w.pace.addWait(began, n)
		written += n
		p = p[n:]
		if err != nil || len(p) == 0 {
			return written, err
		}
	}
}

// Unwrap lets http.ResponseController reach the connection.
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// pacedBody sets a deadline for each read. It stays set after a failed read: net/http would otherwise wait for the
// rest of the body before it responds. After the end of the body net/http clears it.
type pacedBody struct {
	io.ReadCloser
	control *http.ResponseController
	pace    pace
	ended   bool // the body is read to its end, or has its last deadline
}

// boundRest sets a read deadline for the unread rest of a body. Before a response, net/http drains up to 256 KiB by
// itself: without a deadline, a client that sends a byte a second could hold the connection without a key. It is
// safe for nil.
func (b *pacedBody) boundRest() {
	if b != nil && !b.ended {
		_ = b.control.SetReadDeadline(b.pace.waitDeadline(time.Now()))
	}
}

// Read adds the time waited for the client to its budget.
func (b *pacedBody) Read(p []byte) (int, error) {
	began := time.Now()
	_ = b.control.SetReadDeadline(b.pace.waitDeadline(began))
	n, err := b.ReadCloser.Read(p)
	b.pace.addWait(began, n)
	b.ended = b.ended || err == io.EOF
	return n, err
}
