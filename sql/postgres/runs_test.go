package postgres

import (
	"log/slog"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

// TestRunOperationsAreSingleStatements checks that each of these operations is a single statement. Every question
// executes them, so an additional statement or a transaction slows down all replicas.
func TestRunOperationsAreSingleStatements(t *testing.T) {
	t.Parallel()
	count := &tally{}
	db, err := openTraced(t.Context(), server.Schema(t), slog.New(slog.DiscardHandler), count)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.group.telling = true // a timer would notify the replicas of the run's end, in a statement of its own
	chats, run := db.Chats(), chat.Run{}
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"StartRun", func() (err error) {
			run, _, err = chats.StartRun(t.Context(), chat.LocalUser, chat.RunRequest{Message: "q", SessionID: "s"},
				chat.Lease{Owner: "server", Until: time.Now().Add(time.Minute)})
			return err
		}},
		{"Run", func() (err error) {
			_, err = chats.Run(t.Context(), chat.Local, run.ID)
			return err
		}},
		{"Append", func() (err error) {
			_, err = chats.Append(t.Context(), "server", run.ID, chat.AnswerDelta{Text: "a"})
			return err
		}},
		{"Append of the end", func() (err error) {
			_, err = chats.Append(t.Context(), "server", run.ID, chat.RunDone{Status: chat.RunCancelled})
			return err
		}},
		{"TakeQueued where nothing waits", func() error {
			_, ok, err := chats.TakeQueued(t.Context(), chat.SessionKey{User: chat.LocalUser, ID: "s"})
			if ok {
				t.Error("TakeQueued found a question, want none")
			}
			return err
		}},
	} {
		count.n.Store(0)
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v, want no error", step.name, err)
		}
		if n := count.n.Load(); n != 1 {
			t.Errorf("%s takes %d statements, want 1", step.name, n)
		}
	}
}
