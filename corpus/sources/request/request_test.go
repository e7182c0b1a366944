package request_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/request"
)

// pipes is an in-memory listener, for use in a synctest bubble.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.IPAddr{} }

// ask sends one request to a server in a synctest bubble, and returns its result and duration.
func ask(t *testing.T, limit int64, h http.HandlerFunc) (text string, took time.Duration, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		listener := &pipes{make(chan net.Conn), make(chan struct{})}
		server := &http.Server{Handler: h}
		go func() { _ = server.Serve(listener) }()
		transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			select {
			case listener.conns <- theirs:
				return ours, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}}
		began := time.Now()
		req, e := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://server.example/", nil)
		if e != nil {
			t.Fatal(e)
		}
		var resp *request.Response
		resp, err = request.New(sources.Net{HTTP: &http.Client{Transport: transport}}).Do(t.Context(), req, limit)
		if err == nil {
			var raw []byte
			raw, err = resp.ReadAll()
			text = string(raw)
		}
		took = time.Since(began)
		transport.CloseIdleConnections()
		if e := server.Close(); e != nil {
			t.Error(e)
		}
		synctest.Wait()
	})
	return text, took, err
}

// rest waits, and reports whether the request was not cancelled meanwhile.
func rest(r *http.Request, d time.Duration) bool {
	select {
	case <-r.Context().Done():
		return false
	case <-time.After(d):
		return true
	}
}

func TestSilentAndSlowServersTimeOut(t *testing.T) {
	drip := func(pause time.Duration) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			for {
				if _, err := io.WriteString(w, "x"); err != nil || http.NewResponseController(w).Flush() != nil {
					return
				}
				if !rest(r, pause) {
					return
				}
			}
		}
	}
	for name, test := range map[string]struct {
		handler http.HandlerFunc
		most    time.Duration
	}{
		"no answer":       {func(_ http.ResponseWriter, r *http.Request) { rest(r, time.Hour) }, sources.CallTime},
		"an end too soon": {drip(time.Hour), 2 * sources.CallTime},
		"a slow drip":     {drip(sources.CallTime - time.Second), 3 * time.Minute},
	} {
		_, took, err := ask(t, 1<<20, test.handler)
		if err == nil || chat.CodeOf(err) != chat.CodeTimeout || took > test.most {
			t.Errorf("%s: %v after %s, want a timeout within %s", name, err, took, test.most)
		}
	}
}

func TestRetryAfterIsRespected(t *testing.T) {
	calls := 0
	text, took, err := ask(t, 100, func(w http.ResponseWriter, _ *http.Request) {
		if calls++; calls < 3 {
			w.Header().Set("Retry-After", "60")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		_, _ = io.WriteString(w, "words")
	})
	if err != nil || text != "words" || took != 2*time.Minute {
		t.Errorf("answer = %q, %v after %s, want words after two minutes", text, err, took)
	}
	for _, wait := range []string{"86400", "Fri, 01 Jan 2999 00:00:00 GMT", "60", "never"} {
		_, took, err := ask(t, 100, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", wait)
			w.WriteHeader(http.StatusTooManyRequests)
		})
		if chat.CodeOf(err) != chat.CodeUnavailable || took > 4*time.Minute {
			t.Errorf("Retry-After: %s: %v after %s, want an error that it is asked later", wait, err, took)
		}
	}
}

func TestErrorsOmitAddress(t *testing.T) {
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, io.ErrUnexpectedEOF
	}}
	address := "http://server.example/feed?token=s3cr3t"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = request.New(sources.Net{HTTP: &http.Client{Transport: transport}}).Do(t.Context(), req, 1)
	if chat.CodeOf(err) != chat.CodeUnavailable || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("the error is %v, want it without the address", err)
	}
}

func TestBodyLimit(t *testing.T) {
	for size, want := range map[int]error{100: nil, 101: &chat.Error{Code: chat.CodeTooLarge}} {
		text, _, err := ask(t, 100, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, size)) })
		if (err == nil) != (want == nil) || err != nil && chat.CodeOf(err) != chat.CodeTooLarge || len(text) > 100 {
			t.Errorf("%d bytes: %d of them, %v, want %v", size, len(text), err, want)
		}
	}
}

func TestPartsAreBounded(t *testing.T) {
	spaces := strings.NewReader(strings.Repeat(" ", 100))
	p := request.NewParts(spaces, 10)
	for range 3 {
		n, err := io.ReadFull(p, make([]byte, 10))
		if n != 10 || err != nil {
			t.Fatalf("a part has %d bytes, %v; want 10", n, err)
		}
		p.Next()
	}
	if rest, err := io.ReadAll(p); len(rest) != 10 || !errors.Is(err, sources.ErrTooLarge) {
		t.Errorf("the last part has %d bytes, %v; want 10 and %v", len(rest), err, sources.ErrTooLarge)
	}
	for range 10 * sources.MaxItems {
		p.Next()
	}
	if n, err := p.Read(make([]byte, 10)); n != 0 || !errors.Is(err, sources.ErrTooLarge) {
		t.Errorf("a part after a million has %d bytes, %v; want %v", n, err, sources.ErrTooLarge)
	}
}

func TestStreamErrorsAreReported(t *testing.T) {
	wrong := &chat.Error{Code: chat.CodeInvalid, Message: "This is no list."}
	own := errors.New("the caller's own")
	for _, test := range []struct {
		body string
		fail error
		code chat.Code
	}{
		{`[{"a":1},{"a":2}]`, nil, ""},
		{`null`, nil, ""},
		{` [] `, nil, ""},
		{`[{"a":1},{"a"`, nil, chat.CodeUnavailable},
		{`[{"a":1}`, nil, chat.CodeUnavailable},
		{`[{"a":1} {"a":2}]`, nil, chat.CodeUnavailable},
		{`{"a":1}`, nil, chat.CodeInvalid},
		{`[{"a":"text"}]`, nil, chat.CodeInvalid},
		{`<html>`, nil, chat.CodeInvalid},
		{``, nil, chat.CodeInvalid},
		{`[] []`, nil, chat.CodeInvalid},
		{`[{"a":1}]`, own, ""},
		{`[{"b":"` + strings.Repeat("b", 2*request.MaxPart) + `"}]`, nil, chat.CodeTooLarge},
		{`[` + strings.Repeat("[", request.MaxPart), nil, chat.CodeUnavailable},
	} {
		resp := request.Response{Status: http.StatusOK, Body: io.NopCloser(strings.NewReader(test.body))}
		err := resp.ReadStream(func(s *request.Stream) error {
			return s.Array(func() error {
				var v struct{ A int }
				if err := s.Value(&v); err != nil {
					return err
				}
				return test.fail
			})
		}, wrong)
		switch {
		case test.code == "" && !errors.Is(err, test.fail),
			test.code != "" && (err == nil || chat.CodeOf(err) != test.code):
			t.Errorf("%.60s: error = %v, want %q %v", test.body, err, test.code, test.fail)
		}
	}
}
