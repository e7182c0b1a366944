package chattest

import (
	"errors"
	"testing"
	"time"

	"footnote/chat"
)

func testDaily(t *testing.T, open func(*testing.T) chat.Store) {
	parallel(t, open, "a user can ask so often in a day, whichever server is asked", func(t *testing.T, b bench) {
		begun := time.Now()
		ask := func(user string, req chat.RunRequest) (chat.Run, error) {
			run, _, err := chat.NewDaily(b.Store, 3).StartRun(t.Context(), user, req, lease())
			return run, err
		}
		last := chat.RunRequest{SessionID: "s", Message: "q", IdempotencyKey: "key"}
		for _, req := range []chat.RunRequest{{Message: "q"}, {SessionID: "s", Message: "q"}, last} {
			if _, err := ask(anna.User, req); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.DeleteSession(t.Context(), anna, "s"); err != nil {
			t.Fatal(err)
		}
		_, err := ask(anna.User, chat.RunRequest{Message: "q"})
		spent, ok := errors.AsType[*chat.DaySpent](err)
		if chat.CodeOf(err) != chat.CodeTooMany || !ok {
			t.Fatalf("the fourth question: %v", err)
		}
		if wait := spent.Until.Sub(begun); wait < 24*time.Hour-time.Minute || spent.Until.After(time.Now().Add(24*time.Hour)) {
			t.Errorf("the next one in %v", wait)
		}
		if _, err := ask(anna.User, last); err != nil {
			t.Errorf("the third question sent again: %v", err)
		}
		if _, err := ask(bert.User, chat.RunRequest{Message: "q"}); err != nil {
			t.Errorf("another user's first: %v", err)
		}
		for range 4 {
			if _, err := ask(chat.LocalUser, chat.RunRequest{Message: "q"}); err != nil {
				t.Errorf("the local user: %v", err)
			}
		}
		if at, err := b.Asked(t.Context(), anna.User, "", time.Now().Add(time.Hour), 1); !at.IsZero() || err != nil {
			t.Errorf("runs of the future: %v, %v", at, err)
		}
	})
}
