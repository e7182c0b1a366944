package postgres

import (
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

func TestPurgeHidesWhatTheRunsRead(t *testing.T) {
	t.Parallel()
	db := openNew(t)
	chats, docs := db.Chats(), db.Documents()
	run, _, err := chats.StartRun(t.Context(), chat.LocalUser, chat.RunRequest{Message: "q"},
		chat.Lease{Owner: "server"})
	if err != nil {
		t.Fatal(err)
	}
	put := func(namespace string) corpus.Document {
		d, _, err := docs.Put(t.Context(), corpus.Document{
			ID: chat.NewID(), User: chat.LocalUser, Namespace: namespace, Path: "p.html", Filename: "p.html",
			Title: "p", SHA256: "ff", State: corpus.StateReady,
		})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	mine, other := put(chat.WebNamespace(run.ID)), put(chat.WebNamespace("another"))
	if err := chats.DeleteSession(t.Context(), chat.Local, run.SessionID); err != nil {
		t.Fatal(err)
	}
	if n, err := chats.Purge(t.Context(), time.Now().Add(time.Minute), time.Time{}); n != 1 || err != nil {
		t.Fatalf("Purge = %d, %v; want 1", n, err)
	}
	if err := docs.Purge(t.Context(), time.Now().Add(time.Minute)); err != nil {
		t.Fatalf("Purge: %v, want no error", err)
	}
	gone, err := docs.Removals(t.Context(), time.Now())
	if err != nil || len(gone) != 1 || gone[0].DocumentID != mine.ID {
		t.Errorf("removed %+v, %v; want %s and not %s", gone, err, mine.ID, other.ID)
	}
}
