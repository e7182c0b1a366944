package server

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/sources/follow"
	"github.com/footnote/footnote/sql/sqlite"
)

func TestWhileItDrainsNothingNewBeginsAndStreamsEndWithAHint(t *testing.T) {
	b := newBench(t)
	run := b.begin("Is the roof sound?")
	b.append(run.ID, script()[:3]...)
	_, r := b.open("/agent/runs/" + run.ID + "/events")
	take(t, r, 3)
	b.Drain()
	if events := r.All(t); len(events) != 0 || r.Retry == "" {
		t.Errorf("at the end: events %q, retry %q; want no events and something", events, r.Retry)
	}
	for path, want := range map[string]int{"/readyz": 503, "/agent/runs/" + run.ID: 200} {
		if got := b.send("GET", path, ""); got.status != want {
			t.Errorf("%s = %d, want %d", path, got.status, want)
		}
	}
	for _, path := range []string{"/chat", "/agent/chat"} {
		got := b.send("POST", path, `{"message":"Is the roof sound?"}`)
		if got.status != 503 || got.header.Get("Retry-After") == "" {
			t.Errorf("%s = %d %s, want 503", path, got.status, got.body)
		}
	}
}

func TestARequestThatWaitsForAnAnswerIsToldOfTheRestart(t *testing.T) {
	b := newBench(t)
	answered := make(chan reply)
	go func() {
		defer close(answered)
		answered <- b.send("POST", "/agent/chat", `{"message":"Is the roof sound?","session_id":"s1"}`)
	}()
	for { // until the run is stored, the request may be refused instead of waiting
		if runs, err := b.store.Runs(t.Context(), chat.Local, "s1"); err == nil && len(runs) == 1 {
			break
		}
	}
	b.Drain()
	if got := <-answered; got.status != 503 {
		t.Errorf("got %d %s, want 503", got.status, got.body)
	}
}

// A reader that had k events when the server stopped gets the others from the next one, and from the same file.
func TestAStreamGoesOnAfterARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "footnote.db")
	all := script()
	begin := func() (*bench, func()) {
		db, err := sqlite.Open(t.Context(), path, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		store := db.Chats()
		feed := chat.NewFeed(store)
		runs := &stage{store: store, feed: feed}
		s, err := New(Config{
			Store: store, Feed: feed, Library: new(corpus.Library), Runs: runs, Places: follow.New(follow.Config{}),
		})
		if err != nil {
			t.Fatal(err)
		}
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan error, 1)
		go func() { served <- s.Serve(ln) }()
		return &bench{
				Server: s, t: t, url: "http://" + ln.Addr().String(), stage: runs, store: store, feed: feed,
			}, func() {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				if err := s.Shutdown(ctx); err != nil {
					t.Errorf("shutdown: %v, want no error", err)
				}
				if err := <-served; err != nil {
					t.Errorf("serve: %v, want no error", err)
				}
				if _, err := http.Get("http://" + ln.Addr().String() + "/readyz"); err == nil {
					t.Error("a server that is shut down still answers")
				}
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			}
	}
	b, stop := begin()
	run := b.begin("Is the roof sound?")
	b.append(run.ID, all[:5]...)
	_, r := b.open("/agent/runs/" + run.ID + "/events")
	before := take(t, r, 5)
	stop()

	b, stop = begin()
	b.append(run.ID, all[5:]...)
	_, r = b.open("/agent/runs/"+run.ID+"/events", "Last-Event-ID", strconv.Itoa(len(before)))
	after := r.All(t)
	if diff := cmp.Diff(b.logged(run.ID), append(before, after...)); diff != "" {
		t.Error(diff)
	}
	stop()
}
