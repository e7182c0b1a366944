package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/agent/grid"
	"github.com/footnote/footnote/agent/standing"
	"github.com/footnote/footnote/agent/standing/webhook"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/grants"
	"github.com/footnote/footnote/chat/keys"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/worker"
	"github.com/footnote/footnote/corpus/extract/worker/workertest"
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/follow"
	"github.com/footnote/footnote/corpus/sources/placestore"
	"github.com/footnote/footnote/corpus/sources/registry"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/httpio/ssetest"
	"github.com/footnote/footnote/sql/librarytest"
	"github.com/footnote/footnote/sql/sqlite"
)

const testOwner = "test-server"

// runStub stores runs in a real store; the test simulates the agent by appending to them.
type runStub struct {
	store  chat.Store
	feed   *chat.Feed
	events []chat.Payload // appended to each new run at once

	decided []string // approvals and denials, in order
}

func (r *runStub) Start(ctx context.Context, user string, req chat.RunRequest) (chat.Run, bool, error) {
	run, fresh, err := r.store.StartRun(ctx, user, req, chat.Lease{Owner: testOwner, Until: time.Now().Add(time.Hour)})
	if err == nil && fresh {
		err = r.feed.Append(ctx, testOwner, run.ID, r.events...)
	}
	return run, fresh, err
}

func (r *runStub) Cancel(ctx context.Context, _ chat.Scope, runID string) error {
	return r.feed.Append(ctx, testOwner, runID, chat.RunDone{Status: chat.RunCancelled})
}

func (r *runStub) Approve(_ context.Context, _ chat.Scope, runID, callID string, input json.RawMessage) error {
	r.decided = append(r.decided, "approve "+runID+" "+callID+" "+string(input))
	return nil
}

func (r *runStub) Deny(_ context.Context, _ chat.Scope, runID, callID string) error {
	r.decided = append(r.decided, "deny "+runID+" "+callID)
	return nil
}

func (r *runStub) AnswerNow(ctx context.Context, _ chat.Scope, runID string) error {
	return r.feed.Append(ctx, testOwner, runID, chat.Answer{Markdown: "So far.", StopReason: chat.StopAnswerNow},
		chat.RunDone{Status: chat.RunCompleted})
}

func (r *runStub) Rerun(
	ctx context.Context, s chat.Scope, runID, callID string, input json.RawMessage, key string,
) (chat.Run, bool, error) {
	old, err := r.store.Run(ctx, s, runID)
	if err != nil {
		return old, false, err
	}
	req := old.Request
	req.Sibling, req.IdempotencyKey, req.From = runID, key, &chat.From{RunID: runID, CallID: callID, Input: input}
	return r.Start(ctx, s.User, req)
}

func (r *runStub) Enqueue(ctx context.Context, s chat.Scope, req chat.RunRequest) (chat.Queued, error) {
	return r.store.Enqueue(ctx, s, req)
}

func (r *runStub) SendNow(ctx context.Context, s chat.Scope, sessionID, id string, _ bool) error {
	return r.store.MoveQueuedFirst(ctx, s, sessionID, id)
}

func (r *runStub) Resend(context.Context, chat.Scope, string) {}

// harness is a server on a loopback address over a real store.
type harness struct {
	*Server
	t       testing.TB
	url     string
	stage   *runStub
	store   chat.Store
	feed    *chat.Feed
	library *corpus.Library
	places  placestore.Store
	keys    *keys.File
	path    string // of the database
}

func newHarness(t testing.TB, adjust ...func(*Config)) *harness {
	t.Helper()
	path := filepath.Join(t.TempDir(), "footnote.db")
	db, err := sqlite.Open(t.Context(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	store := db.Chats()
	feed := chat.NewFeed(store)
	runs := &runStub{store: store, feed: feed}
	cfg := Config{Store: store, Feed: feed, Library: newLibrary(t, db), Runs: runs, Version: "test"}
	cfg.Scheduler = standing.New(standing.Config{Store: store, Library: cfg.Library, Runs: runs})
	cfg.Tables = grid.New(grid.Config{Store: store, Library: cfg.Library, Runs: runs})
	cfg.Webhooks = webhook.New(webhook.Config{
		Store: store, Client: func(bool) *http.Client { return &http.Client{Transport: nowhere{}} },
	})
	cfg.Places = follow.New(follow.Config{
		Store: db.Places(), Library: cfg.Library, Kinds: registry.Kinds(), Secrets: t.TempDir(), Alone: true,
		Net: func(sources.Kind, bool) sources.Net {
			return sources.Net{HTTP: &http.Client{Transport: nowhere{}}, Dial: nowhere{}.dial}
		},
	})
	cfg.Pages = sources.Net{HTTP: &http.Client{Transport: nowhere{}}, Dial: nowhere{}.dial}
	for _, change := range adjust {
		change(&cfg)
	}
	if cfg.Keys != nil {
		cfg.Grants = &grants.Issuer{Store: db.Grants(), Keys: cfg.Keys}
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewUnstartedServer(nil)
	ts.Config = s.http
	ts.Start()
	t.Cleanup(func() {
		s.Drain()
		ts.Close()
	})
	return &harness{
		Server: s, t: t, url: ts.URL, stage: runs, store: store, feed: feed, library: cfg.Library,
		places: cfg.Places.Store, keys: cfg.Keys,
		path: path,
	}
}

// nowhere is a network without servers.
type nowhere struct{}

var errNowhere = errors.New("no server answers")

// RoundTrip implements http.RoundTripper.
func (nowhere) RoundTrip(*http.Request) (*http.Response, error) { return nil, errNowhere }

func (nowhere) dial(context.Context, string, string) (net.Conn, error) { return nil, errNowhere }

// begin stores a run without a request.
func (b *harness) begin(message string) chat.Run {
	b.t.Helper()
	run, _, err := b.stage.Start(b.t.Context(), chat.LocalUser, chat.RunRequest{Message: message})
	if err != nil {
		b.t.Fatal(err)
	}
	return run
}

func (b *harness) append(runID string, payloads ...chat.Payload) {
	b.t.Helper()
	if err := b.feed.Append(b.t.Context(), testOwner, runID, payloads...); err != nil {
		b.t.Fatal(err)
	}
}

// reply is a response whose body was read.
type reply struct {
	status int
	header http.Header
	body   string
}

// send sends a request; headers are name, value, name, value, …
func (b *harness) send(method, path, body string, headers ...string) reply {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	if strings.HasPrefix(body, "{") {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, string(data)}
}

func (r reply) decode(t testing.TB, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.body), v); err != nil {
		t.Fatalf("body %q: %v, want no error", r.body, err)
	}
}

func (r reply) problem(t testing.TB) httpio.Problem {
	t.Helper()
	var p httpio.Problem
	r.decode(t, &p)
	return p
}

// dial opens a connection to a bench and sends the start of a request.
func (b *harness) dial(request string) net.Conn {
	b.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, request); err != nil {
		b.t.Fatal(err)
	}
	return conn
}

func TestSlowBodyTimesOut(t *testing.T) {
	b := newHarness(t, func(c *Config) { c.Limits.ReadTimeout = 100 * time.Millisecond })
	for name, head := range map[string]string{
		"with a length": "Content-Length: 1000000\r\n\r\n{",
		"in chunks":     "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			conn := b.dial("POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + head)
			drop := " "
			if strings.HasPrefix(head, "Transfer") {
				drop = "1\r\n \r\n"
			}
			done := make(chan struct{})
			go func() { // each write precedes the timeout of a single read
				tick := time.NewTicker(10 * time.Millisecond)
				defer tick.Stop()
				for range tick.C {
					select {
					case <-done:
						return
					default:
					}
					if _, err := io.WriteString(conn, drop); err != nil {
						return
					}
				}
			}()
			defer close(done)
			res, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatalf("no answer while the body drips: %v, want no error", err)
			}
			defer res.Body.Close()
			if res.StatusCode != http.StatusBadRequest {
				t.Errorf("status = %d, want 400", res.StatusCode)
			}
		})
	}
}

// TestMain lets the test binary act as its own worker.
func TestMain(m *testing.M) {
	workertest.BeWorker()
	os.Exit(m.Run())
}

// newLibrary returns a running library over a real database and real files, closed at the end of the test.
func newLibrary(t testing.TB, db *sqlite.DB) *corpus.Library {
	t.Helper()
	reader := workertest.Open(t, worker.Config{}) // closed after the library has stopped
	library := librarytest.Over(t, db, t.TempDir(), func(c *corpus.Config, _ *sqlite.DB) {
		c.Extractor, c.Renderer = reader, reader
	})
	library.Start(t)
	return library.Library
}

func TestStreamReportsAddedAndRemovedDocuments(t *testing.T) {
	b := newHarness(t)
	type news struct{ Seen, Documents string }
	next := func(reader *ssetest.Reader) (n news) {
		t.Helper()
		event, err := reader.Next()
		if err != nil || event.Name != "library" {
			t.Fatalf("event = %+v, %v, want one with the name library", event, err)
		}
		if err := json.Unmarshal([]byte(event.Data), &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	open := func(query string) *ssetest.Reader {
		t.Helper()
		res, err := http.Get(b.url + "/documents/events" + query)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = res.Body.Close() })
		return ssetest.NewReader(res.Body)
	}
	once := open("")
	empty := next(once)
	if empty.Documents != "0" {
		t.Errorf("documents of an empty library = %q, want 0", empty.Documents)
	}
	if event, err := once.Next(); err == nil {
		t.Errorf("without ?seen= there is another event: %+v; want the end", event)
	}
	page := open("?seen=" + empty.Seen)
	_, up := b.uploadFiles("@roof.md=" + survey)
	now := next(page)
	for now.Documents != "1" {
		now = next(page)
	}
	one := now.Seen
	if one == empty.Seen {
		t.Errorf("one document is seen as %q, as none was; want another word", one)
	}
	if got := b.send("DELETE", "/documents/"+up.Documents[0].ID, ""); got.status != http.StatusNoContent {
		t.Fatalf("delete: %d, want %d", got.status, http.StatusNoContent)
	}
	for now.Documents != "0" {
		now = next(page)
	}
	if missed := next(open("?seen=" + one)); missed.Documents != "0" {
		t.Errorf("documents after missed changes = %q, want 0", missed.Documents)
	}
}

func TestIntegersInBodiesMayHaveFraction(t *testing.T) {
	b := newHarness(t)
	for body, want := range map[string]int{
		`{"query":"roof","top_k":5.0}`: 200, `{"query":"roof","top_k":5.5}`: 400, `{"query":"roof","top_k":51e0}`: 400,
		`{"query":"roof","filters":{"document_ids":[null]}}`: 400,
	} {
		if got := b.send("POST", "/search", body); got.status != want {
			t.Errorf("%s: %d %s, want %d", body, got.status, got.body, want)
		}
	}
}

func TestLeavePageNamesAddressWithoutRedirect(t *testing.T) {
	b := newHarness(t)
	for _, tt := range []struct {
		name, to, host, link string
		status               int
	}{
		{"a page", "https://example.org/a?b=c&d#e", "example.org", "https://example.org/a?b=c&amp;d#e", 200},
		{"letters that look like others", "https://b\u0430nk.example/", "xn--bnk-6cd.example", `href="https://`, 200},
		{"a name before the host", "http://bank.example@evil.example/", "evil.example",
			"http://bank.example@evil.example/", 200},
		{"markup in it", `https://example.org/"><script>alert(1)</script>`, "example.org", "%22%3E%3Cscript%3E", 200},
		{"a script", "javascript:alert(1)", "", "", 400},
		{"data", "data:text/html,x", "", "", 400},
		{"a path of ours", "/documents", "", "", 400},
		{"without a scheme", "//evil.example/", "", "", 400},
		{"no host", "https:///x", "", "", 400},
		{"a host with a line end", "https://evil.example%0d%0aX: y/", "", "", 400},
		{"nothing", "", "", "", 400},
	} {
		got := b.send("GET", "/leave?to="+url.QueryEscape(tt.to), "", "Accept", "text/html")
		if got.status != tt.status || got.header.Get("Location") != "" || got.header.Get("Refresh") != "" {
			t.Errorf("%s: status %d, want %d, Location %q", tt.name, got.status, tt.status, got.header.Get("Location"))
		}
		if !strings.Contains(got.body, tt.host) || !strings.Contains(got.body, tt.link) ||
			strings.Contains(got.body, "<script>alert") || strings.Contains(got.body, `http-equiv="refresh"`) {
			t.Errorf("%s: the page does not name %q and %q, or does more: %s; want %q in it, %q in it, no %q in it, "+
				"no %q in it",
				tt.name, tt.host, tt.link, got.body, tt.host, tt.link, "<script>alert", `http-equiv="refresh"`)
		}
		if strings.Contains(got.header.Get("Content-Security-Policy"), "unsafe") {
			t.Errorf("%s: policy %s, want no %q in it", tt.name, got.header.Get("Content-Security-Policy"), "unsafe")
		}
	}
}
