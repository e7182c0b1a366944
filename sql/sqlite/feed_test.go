package sqlite

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/chat/chattest"
)

func TestFeed(t *testing.T) {
	t.Parallel()
	chattest.TestFeed(t, func(t *testing.T) chat.Store { return openNew(t).Chats() })
}

func TestALogIsByteEqualAfterReopening(t *testing.T) {
	t.Parallel()
	const events = 40
	path := filepath.Join(t.TempDir(), "footnote.db")
	db, err := Open(t.Context(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	run, _, err := db.Chats().StartRun(t.Context(), chat.LocalUser, chat.RunRequest{Message: "q"},
		chat.Lease{Owner: "server", Until: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	live := chat.NewFeed(db.Chats())
	for range events - 1 {
		if err := live.Append(t.Context(), "server", run.ID, chat.AnswerDelta{Text: "a\r\n\u2028<ü>"}); err != nil {
			t.Fatal(err)
		}
	}
	before, err := live.Read(t.Context(), chat.Local, run.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	chats := openAt(t, path).Chats()
	if _, err := chats.Append(t.Context(), "server", run.ID, chat.RunDone{Status: chat.RunInterrupted}); err != nil {
		t.Fatal(err)
	}
	for k := range events {
		after, err := chat.NewFeed(chats).Read(t.Context(), chat.Local, run.ID, int64(k))
		if err != nil || len(after.Entries) != events-k || !after.Over {
			t.Fatalf("after %d: %d entries, over %v, %v; want %d, over", k, len(after.Entries), after.Over,
				err, events-k)
		}
		for i, e := range after.Entries[:events-1-k] {
			if was := before.Entries[k+i]; !bytes.Equal(e.JSON, was.JSON) || !e.At.Equal(was.At) {
				t.Errorf("event %d was %s, is %s, want %s", e.Seq, was.JSON, e.JSON, was.JSON)
			}
		}
	}
}
