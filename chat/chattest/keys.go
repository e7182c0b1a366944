package chattest

import (
	"strings"
	"sync"
	"testing"

	"github.com/footnote/footnote/chat"
)

// testKeys checks Idempotency-Keys: a hundred concurrent posts start one run, and a key used for another request is
// refused instead of answered with the wrong run.
func testKeys(t *testing.T, open func(*testing.T) chat.Store) {
	request := func(message string) chat.RunRequest { return chat.RunRequest{Message: message, IdempotencyKey: "key"} }
	parallel(t, open, "100 parallel posts with one key make one run", func(t *testing.T, b suite) {
		var mu sync.Mutex
		var wg sync.WaitGroup
		found, started := map[string]int{}, 0
		for range 100 {
			wg.Go(func() {
				run, fresh, err := b.StartRun(t.Context(), anna.User, request("q"), lease())
				if err != nil {
					t.Errorf("StartRun: %v", err)
				}
				mu.Lock()
				defer mu.Unlock()
				found[run.ID+" in "+run.SessionID]++
				if fresh {
					started++
				}
			})
		}
		wg.Wait()
		sessions, _ := b.mustSessions(chat.SessionQuery{})
		if len(found) != 1 || started != 1 || len(sessions) != 1 {
			t.Errorf("runs %v, %d of them fresh, in %d sessions; want one", found, started, len(sessions))
		}
	})
	parallel(t, open, "repeat returns the current run", func(t *testing.T, b suite) {
		run, _, err := b.StartRun(t.Context(), anna.User, request("q"), lease())
		if err != nil {
			t.Fatal(err)
		}
		b.mustAppend(run.ID, chat.Answer{Markdown: "a"}, chat.RunDone{Status: chat.RunCompleted})
		again, fresh, err := b.StartRun(t.Context(), anna.User, request("q"), lease())
		if err != nil || fresh || again.ID != run.ID || again.Status != chat.RunCompleted || again.Answer != "a" {
			t.Errorf("StartRun again = %+v, fresh %v, %v; want the finished run %s", again, fresh, err, run.ID)
		}
	})
	parallel(t, open, "other request under the key is rejected", func(t *testing.T, b suite) {
		if _, _, err := b.StartRun(t.Context(), anna.User, request("q"), lease()); err != nil {
			t.Fatal(err)
		}
		_, _, err := b.StartRun(t.Context(), anna.User, request("other"), lease())
		wantCode(t, "another message", err, chat.CodeKeyReused)
		inSession := request("q")
		inSession.SessionID = "s"
		_, _, err = b.StartRun(t.Context(), anna.User, inSession, lease())
		wantCode(t, "another session", err, chat.CodeKeyReused)
		if sessions, _ := b.mustSessions(chat.SessionQuery{}); len(sessions) != 1 {
			t.Errorf("%d sessions, want the first one only", len(sessions))
		}
	})
	parallel(t, open, "lookup by key starts no run", func(t *testing.T, b suite) {
		_, err := b.Repeated(t.Context(), anna.User, request("q"))
		wantCode(t, "before the first", err, chat.CodeNotFound)
		run, _, err := b.StartRun(t.Context(), anna.User, request("q"), lease())
		if err != nil {
			t.Fatal(err)
		}
		again, err := b.Repeated(t.Context(), anna.User, request("q"))
		if err != nil || again.ID != run.ID || again.SessionID != run.SessionID {
			t.Errorf("Repeated = %+v, %v; want the run %s", again, err, run.ID)
		}
		_, err = b.Repeated(t.Context(), anna.User, request("other"))
		wantCode(t, "another request", err, chat.CodeKeyReused)
		_, err = b.Repeated(t.Context(), bert.User, request("q"))
		wantCode(t, "another user", err, chat.CodeNotFound)
	})
	parallel(t, open, "keys are user-specific", func(t *testing.T, b suite) {
		mine, _, err := b.StartRun(t.Context(), anna.User, request("q"), lease())
		if err != nil {
			t.Fatal(err)
		}
		his, fresh, err := b.StartRun(t.Context(), bert.User, request("q"), lease())
		if err != nil || !fresh || his.ID == mine.ID || his.User != bert.User {
			t.Errorf("StartRun = %+v, fresh %v, %v; want a run of its own", his, fresh, err)
		}
	})
	parallel(t, open, "empty keys differ", func(t *testing.T, b suite) {
		if b.ask("s", "q").ID == b.ask("s", "q").ID {
			t.Error("two runs without a key have the same id")
		}
	})
	parallel(t, open, "key has at most 255 bytes", func(t *testing.T, b suite) {
		_, _, err := b.StartRun(
			t.Context(), anna.User, chat.RunRequest{IdempotencyKey: strings.Repeat("k", 256)}, lease(),
		)
		wantCode(t, "256 bytes", err, chat.CodeInvalid)
		if _, _, err := b.StartRun(
			t.Context(), anna.User, chat.RunRequest{IdempotencyKey: strings.Repeat("k", 255)}, lease(),
		); err != nil {
			t.Errorf("255 bytes: %v", err)
		}
	})
}
