package httpio

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/footnote/footnote/chat"
)

func TestTransferRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		transfer := func(bytes int, pause time.Duration) (ended time.Duration, sent int) {
			p, began := pace{timeout: 30 * time.Second}, time.Now()
			for sent < 100<<10 {
				now := time.Now()
				if deadline := p.waitDeadline(now); !now.Add(pause).Before(deadline) {
					return deadline.Sub(began), sent
				}
				time.Sleep(pause)
				p.addWait(now, bytes)
				sent += bytes
			}
			return time.Since(began), sent
		}
		for _, tt := range []struct {
			name  string
			bytes int
			pause time.Duration
			ended time.Duration
			whole bool
		}{
			{"a byte a second ends after the timeout", 1, time.Second, 30 * time.Second, false},
			{"a slow line passes, however long it takes", 4 << 10, 3 * time.Second, 75 * time.Second, true},
			{"a pause as long as the timeout ends it", 4 << 10, 30 * time.Second, 30 * time.Second, false},
		} {
			ended, sent := transfer(tt.bytes, tt.pause)
			if ended.Round(time.Second) != tt.ended || (sent >= 100<<10) != tt.whole {
				t.Errorf("%s: ended after %v with %d bytes, want %v, whole: %v", tt.name, ended, sent,
					tt.ended, tt.whole)
			}
		}
	})
}

// slowConn is a response's connection that delays each write.
type slowConn struct {
	http.ResponseWriter
	pause    time.Duration
	deadline time.Time
	taken    int
}

func (w *slowConn) SetWriteDeadline(at time.Time) error { w.deadline = at; return nil }

func (w *slowConn) Write(p []byte) (int, error) {
	if !time.Now().Add(w.pause).Before(w.deadline) {
		return 0, http.ErrHandlerTimeout
	}
	time.Sleep(w.pause)
	w.taken += len(p)
	return len(p), nil
}

func TestSlowReaderIsDisconnectedUnlessStreaming(t *testing.T) {
	for kind, whole := range map[string]bool{"application/json": false, "text/event-stream": true} {
		synctest.Test(t, func(t *testing.T) {
			conn := &slowConn{
				ResponseWriter: discardResponse{http.Header{"Content-Type": {kind}}}, pause: 5 * time.Second,
			}
			w := &pacedWriter{
				ResponseWriter: conn, control: http.NewResponseController(conn), pace: pace{timeout: 20 * time.Second},
			}
			w.WriteHeader(http.StatusOK)
			var err error
			for range 100 {
				if _, err = w.Write([]byte("drop")); err != nil {
					break
				}
			}
			if (err == nil) != whole {
				t.Errorf("%s: %d bytes taken, error %v; want whole: %v", kind, conn.taken, err, whole)
			}
		})
	}
}

type discardResponse struct{ header http.Header }

func (w discardResponse) Header() http.Header         { return w.header }
func (w discardResponse) Write(p []byte) (int, error) { return len(p), nil }
func (w discardResponse) WriteHeader(int)             {}

func TestUnreadBodyReleasesConnection(t *testing.T) {
	t.Parallel()
	for name, handle := range map[string]http.HandlerFunc{
		"nothing is written": func(http.ResponseWriter, *http.Request) {},
		"a refusal is written": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "no key", http.StatusUnauthorized)
		},
		"much is written":       func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 100<<10)) },
		"a part of it was read": func(_ http.ResponseWriter, r *http.Request) { _, _ = r.Body.Read(make([]byte, 1)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limits := Limits{ReadTimeout: 50 * time.Millisecond}.WithDefaults()
			server := httptest.NewServer(Wrap(limits, handle))
			defer server.Close()
			conn, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Fprint(
				conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\nx",
			); err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(conn)
			if err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 ") {
				t.Errorf("read %.40q, %v, want an answer and the connection's end", got, err)
			}
		})
	}
}

// TestByLocalUser covers the only definition of a local request.
func TestByLocalUser(t *testing.T) {
	t.Parallel()
	request := func(name string) *http.Request {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		for _, sent := range []string{
			"Accept", "Accept-Language", "User-Agent", "Cookie", "Referer", "Origin", "Sec-Fetch-Site", "Sec-Ch-Ua",
			"Upgrade-Insecure-Requests", "Priority", "Hx-Request", "X-Api-Key", "Traceparent", "X-Request-Id",
		} {
			r.Header.Set(sent, "x")
		}
		if name != "" {
			r.Header[name] = []string{""} // the header alone identifies a forwarded request
		}
		return r
	}
	g, err := NewGuard(nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !g.ByLocalUser(request("")) {
		t.Error("a browser's request is not local, want it local")
	}
	for _, name := range []string{
		"Forwarded", "Via", "X-Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto",
		"X-Forwarded-Port", "X-Forwarded-Server", "X-Forwarded-Prefix", "X-Original-Forwarded-For", "Forwarded-For",
		"X-Real-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip",
		"Cf-Connecting-Ipv6", "Cf-Ray", "Fastly-Client-Ip", "Fly-Client-Ip", "Do-Connecting-Ip", "X-Azure-Clientip",
		"X-Azure-Socketip", "X-Appengine-User-Ip", "X-Envoy-External-Address", "X-Originating-Ip", "X-Remote-Ip",
		"X-Remote-Addr", "Wl-Proxy-Client-Ip", "Ali-Cdn-Real-Ip", "Cdn-Loop", "X-Amzn-Trace-Id", "X-Original-Host",
	} {
		if g.ByLocalUser(request(name)) {
			t.Errorf("a request with %s is local, want it passed on", name)
		}
	}
	for at, want := range map[string]bool{"127.0.0.1": true, "::1": true, "0.0.0.0": false, "192.0.2.1": false} {
		if g.ListenOn(&net.TCPAddr{IP: net.ParseIP(at)}); g.ByLocalUser(request("")) != want {
			t.Errorf("at %s a request is local: %v, want %v", at, !want, want)
		}
	}
	named, err := NewGuard([]string{"footnote.example"}, nil, nil)
	if err != nil || named.ByLocalUser(request("")) {
		t.Errorf("a server with another name: a request is local, %v; want it not", err)
	}
}

func TestRouterErrorsOmitDetails(t *testing.T) {
	got := AsError(echo.NewHTTPError(422, "secret"))
	if got.Code != chat.CodeInvalid || strings.Contains(got.Message.String(), "secret") {
		t.Errorf("%s: %s; want %s without the router's words", got.Code, got.Message, chat.CodeInvalid)
	}
}

func TestStreamSlotsAreReleased(t *testing.T) {
	s := NewStreams(Limits{Streams: 3}, chat.Limits{chat.StreamsAtOnce: 2})
	for _, user := range []string{"anna", "anna", "bert"} {
		if err := s.Acquire(user); err != nil {
			t.Fatalf("a stream of %s: %v, want no error", user, err)
		}
	}
	if err := s.Check("carl"); chat.CodeOf(err) != chat.CodeTooMany {
		t.Errorf("a fourth of three: %v, want %s", err, chat.CodeTooMany)
	}
	s.Release("bert")
	if err := s.Check("anna"); chat.CodeOf(err) != chat.CodeTooMany {
		t.Errorf("a third of a user who has two: %v, want %s", err, chat.CodeTooMany)
	}
	if err := s.Check("bert"); err != nil {
		t.Errorf("another user: %v, want a place", err)
	}
	s.Release("anna")
	s.Release("anna")
	if n := s.Count(); n != 0 || len(s.openOf) != 0 {
		t.Errorf("%d streams are open, places of %v are kept; want none", n, s.openOf)
	}
}
