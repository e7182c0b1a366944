package server

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/text/locale"
)

func TestCodesHaveStatus(t *testing.T) {
	b := newHarness(t)
	var next error
	b.router.GET("/test/fail", func(httpio.Context) error { return next })
	for _, tt := range []struct {
		name   string
		err    error
		status int
		code   chat.Code
		detail string
	}{
		{"a wrapped error keeps its code and sentence",
			fmt.Errorf("read run: %w", &chat.Error{
				Code: chat.CodeNotFound, Message: "Gone.", Err: errors.New("secret"),
			}), 404, chat.CodeNotFound, "Gone."},
		{"a conflict", &chat.Error{Code: chat.CodeConflict, Message: "Over."}, 409, chat.CodeConflict, "Over."},
		{"a reused key", &chat.Error{Code: chat.CodeKeyReused, Message: "Used."}, 422, chat.CodeKeyReused, "Used."},
		{"a full disk", &chat.Error{Code: chat.CodeDiskFull, Message: "Full."}, 507, chat.CodeDiskFull, "Full."},
		{"a store that is down", &chat.Error{Code: chat.CodeUnavailable, Message: "Down."}, 503,
			chat.CodeUnavailable, "Down."},
		{"a cap", &chat.Error{Code: chat.CodeTooMany, Message: "Full."}, 429, chat.CodeTooMany, "Full."},
		{"a failed model is our 500", &chat.Error{Code: chat.CodeModelFailed, Message: "No."}, 500,
			chat.CodeModelFailed, "No."},
		{"anything else is 500 and shows nothing", errors.New("secret: disk /dev/sda1"), 500, chat.CodeInternal,
			chat.MessageOf(errors.New("x")).String()},
		{"Echo's default 422 of a bind is 400", httpio.StatusError(422), 400, chat.CodeInvalid,
			"Invalid request. Check its format and try again."},
		{"Echo's 415", httpio.StatusError(http.StatusUnsupportedMediaType), 415, chat.CodeUnsupported,
			"Unsupported media type. Send JSON with the header Content-Type: application/json."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			next = tt.err
			got := b.send("GET", "/test/fail", "")
			p := got.problem(t)
			want := httpio.Problem{
				Type: "about:blank", Title: http.StatusText(tt.status), Status: tt.status, Code: tt.code,
				Detail: locale.Message(tt.detail), RequestID: got.header.Get("X-Request-Id"),
			}
			if diff := cmp.Diff(want, p); diff != "" || got.status != tt.status {
				t.Errorf("status = %d, want %d; problem: %s", got.status, tt.status, diff)
			}
			if got.header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("Content-Type = %q, want %q", got.header.Get("Content-Type"), "application/problem+json")
			}
			if strings.Contains(got.body, "secret") {
				t.Errorf("the body shows something internal: %s, want no %q in it", got.body, "secret")
			}
			if retry := got.header.Get(
				"Retry-After",
			); (retry != "") != (tt.status == 429 || tt.status == 503 || tt.status == 507) {
				t.Errorf("Retry-After = %q", retry)
			}
		})
	}
}

func TestPanicReturnsErrorAndServerContinues(t *testing.T) {
	b := newHarness(t)
	b.router.GET("/test/panic", func(httpio.Context) error { panic("secret") })
	got := b.send("GET", "/test/panic", "")
	if p := got.problem(t); got.status != 500 || p.Code != chat.CodeInternal || strings.Contains(got.body, "secret") {
		t.Errorf("got %d %s; want 500 and no %q in it", got.status, got.body, "secret")
	}
	if got := b.send("GET", "/readyz", ""); got.status != 200 {
		t.Errorf("after a panic /readyz is %d, want 200", got.status)
	}
}

func TestPanicDuringResponseAbortsIt(t *testing.T) {
	b := newHarness(t)
	b.router.GET("/test/half", func(c httpio.Context) error {
		if _, err := c.Response().Write([]byte(strings.Repeat("x", 10<<10))); err != nil {
			return err
		}
		panic("half")
	})
	res, err := http.Get(b.url + "/test/half")
	if err != nil {
		return // truncated before the header: also no complete response
	}
	defer res.Body.Close()
	buf := make([]byte, 64<<10)
	for err == nil {
		_, err = res.Body.Read(buf)
	}
	if err.Error() == "EOF" {
		t.Error("client accepted a truncated answer")
	}
}

func TestErrorFormatFollowsAcceptHeader(t *testing.T) {
	b := newHarness(t)
	for _, tt := range []struct {
		name    string
		path    string
		headers []string
		kind    string
		empty   bool
	}{
		{"a program gets problem+json", "/nothing/here", nil, "application/problem+json", false},
		{"a browser gets a page", "/nothing/here", []string{"Accept", "text/html,application/xhtml+xml,*/*;q=0.8"},
			"text/html", false},
		{"htmx gets a fragment", "/nothing/here", []string{"HX-Request", "true"}, "text/html", false},
		{"an htmx stream gets no body, which would be swapped in", "/runs/" + chat.NewID() + "/stream",
			[]string{"HX-Request", "true", "Accept", "text/event-stream"}, "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := b.send("GET", tt.path, "", tt.headers...)
			if got.status != 404 || !strings.HasPrefix(got.header.Get("Content-Type"), tt.kind) ||
				(got.body == "") != tt.empty {
				t.Errorf("got %d %q %q; want 404 and %q at its beginning",
					got.status, got.header.Get("Content-Type"), got.body, tt.kind)
			}
		})
	}
}

func TestUnknownPathsShareMetricsLabel(t *testing.T) {
	b := newHarness(t)
	b.send("GET", "/nothing/a", "")
	b.send("GET", "/nothing/b", "")
	b.send("GET", "/agent/runs/x", "")
	b.send("MADEUP", "/nothing/c", "")
	got := b.send("GET", "/metrics", "").body
	for _, want := range []string{
		`footnote_http_requests_total{method="GET",route="none",status="404"} 2`,
		`footnote_http_requests_total{method="GET",route="/agent/runs/:id",status="404"} 1`,
		`footnote_http_requests_total{method="other",route="none",status="404"} 1`,
		`footnote_streams_open 0`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("metrics lack %q", want)
		}
	}
	for line := range strings.Lines(got) {
		if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "footnote_") {
			t.Errorf("metric without the prefix footnote_: %s", line)
		}
	}
}
