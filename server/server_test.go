package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
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
	"github.com/footnote/footnote/corpus/sources"
	"github.com/footnote/footnote/corpus/sources/follow"
	"github.com/footnote/footnote/corpus/sources/placestore"
	"github.com/footnote/footnote/corpus/sources/registry"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/sql/sqlite"
)

const testOwner = "test-server"

// stage stores runs for real; the test plays the agent by appending to them.
type stage struct {
	store chat.Store
	feed  *chat.Feed
	play  []chat.Payload // appended to each fresh run at once

	decided []string // approvals and denials, as they came
}

func (r *stage) Start(ctx context.Context, user string, req chat.RunRequest) (chat.Run, bool, error) {
	run, fresh, err := r.store.StartRun(ctx, user, req, chat.Lease{Owner: testOwner, Until: time.Now().Add(time.Hour)})
	if err == nil && fresh {
		err = r.feed.Append(ctx, testOwner, run.ID, r.play...)
	}
	return run, fresh, err
}

func (r *stage) Cancel(ctx context.Context, _ chat.Scope, runID string) error {
	return r.feed.Append(ctx, testOwner, runID, chat.RunDone{Status: chat.RunCancelled})
}

func (r *stage) Approve(_ context.Context, _ chat.Scope, runID, callID string, input json.RawMessage) error {
	r.decided = append(r.decided, "approve "+runID+" "+callID+" "+string(input))
	return nil
}

func (r *stage) Deny(_ context.Context, _ chat.Scope, runID, callID string) error {
	r.decided = append(r.decided, "deny "+runID+" "+callID)
	return nil
}

func (r *stage) AnswerNow(ctx context.Context, _ chat.Scope, runID string) error {
	return r.feed.Append(ctx, testOwner, runID, chat.Answer{Markdown: "So far.", StopReason: chat.StopAnswerNow},
		chat.RunDone{Status: chat.RunCompleted})
}

func (r *stage) Rerun(
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

func (r *stage) Enqueue(ctx context.Context, s chat.Scope, req chat.RunRequest) (chat.Queued, error) {
	return r.store.Enqueue(ctx, s, req)
}

func (r *stage) SendNow(ctx context.Context, s chat.Scope, sessionID, id string, _ bool) error {
	return r.store.MoveQueuedFirst(ctx, s, sessionID, id)
}

func (r *stage) Resend(context.Context, chat.Scope, string) {}

// bench is a server on a loopback address over a real store.
type bench struct {
	*Server
	t       testing.TB
	url     string
	stage   *stage
	store   chat.Store
	feed    *chat.Feed
	library *corpus.Library
	places  placestore.Store
	keys    *keys.File
	path    string // of the database
}

func newBench(t testing.TB, adjust ...func(*Config)) *bench {
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
	runs := &stage{store: store, feed: feed}
	cfg := Config{Store: store, Feed: feed, Library: newLibrary(t, db), Runs: runs, Version: "test"}
	cfg.Keeper = standing.New(standing.Config{Store: store, Library: cfg.Library, Runs: runs})
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
		cfg.Grants = &grants.Book{Store: db.Grants(), Keys: cfg.Keys}
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
	return &bench{
		Server: s, t: t, url: ts.URL, stage: runs, store: store, feed: feed, library: cfg.Library,
		places: cfg.Places.Store, keys: cfg.Keys,
		path: path,
	}
}

// nowhere is a network in which no server answers.
type nowhere struct{}

var errNowhere = errors.New("no server answers")

// RoundTrip implements http.RoundTripper.
func (nowhere) RoundTrip(*http.Request) (*http.Response, error) { return nil, errNowhere }

func (nowhere) dial(context.Context, string, string) (net.Conn, error) { return nil, errNowhere }

// begin stores a run without asking over HTTP.
func (b *bench) begin(message string) chat.Run {
	b.t.Helper()
	run, _, err := b.stage.Start(b.t.Context(), chat.LocalUser, chat.RunRequest{Message: message})
	if err != nil {
		b.t.Fatal(err)
	}
	return run
}

func (b *bench) append(runID string, payloads ...chat.Payload) {
	b.t.Helper()
	if err := b.feed.Append(b.t.Context(), testOwner, runID, payloads...); err != nil {
		b.t.Fatal(err)
	}
}

// reply is a response that has been read.
type reply struct {
	status int
	header http.Header
	body   string
}

// send makes a request; headers are name, value, name, value, …
func (b *bench) send(method, path, body string, headers ...string) reply {
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
