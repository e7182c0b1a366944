package agent

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
)

func TestWorkOfAUserWithoutAKeyEnds(t *testing.T) {
	t.Parallel()
	var revoked atomic.Bool
	h := newHouse(t, hanging{text: "So far "}, func(c *Config) {
		c.Revoked = func(user string) bool { return revoked.Load() && user == chat.LocalUser }
	})
	run := h.ask(chat.RunRequest{SessionID: "s", Message: "Wait"})
	h.follow(run.ID, func(p chat.Payload) bool { return p.Kind() == chat.KindRunStarted })
	h.queue("s", "one")
	h.queue("s", "two")
	h.runs.endRevoked()
	if now, err := h.store.Run(t.Context(), chat.Local, run.ID); err != nil || now.Status != chat.RunRunning {
		t.Fatalf("with a key: status = %s, %v; want running", now.Status, err)
	}
	revoked.Store(true)
	h.runs.endRevoked()
	done := h.wait(run.ID).done()
	if done.Status != chat.RunCancelled || done.Error == nil || done.Error.Code != chat.CodeUnauthorized ||
		done.Error.Message != "Your key was revoked before the answer was done." {
		t.Errorf("ended as %+v; want Status %v, Error.Code %v, Error.Message %q",
			done, chat.RunCancelled, chat.CodeUnauthorized, "Your key was revoked before the answer was done.")
	}
	h.left("s", func(list []chat.Queued) bool {
		return len(list) == 2 && list[0].Problem == "Your key was revoked before this question was asked." &&
			list[1].Problem == ""
	})
	h.runs.sendWaiting(t.Context())
	if runs, err := h.store.Runs(t.Context(), chat.Local, "s"); err != nil || len(runs) != 1 {
		t.Errorf("%d runs, %v; want 1", len(runs), err)
	}
	if _, _, err := h.runs.Start(t.Context(), chat.LocalUser,
		asks("Again?")); chat.CodeOf(err) != chat.CodeUnauthorized {
		t.Errorf("Start: %v, want unauthorized", err)
	}
}

// Work under a revoked key ends within five seconds: see keys.
func TestRunsOfUsersWhoLeftEndInTime(t *testing.T) {
	if most := 2 * time.Second; usersEvery > most {
		t.Errorf("users are looked at every %v, want every %v at least", usersEvery, most)
	}
}
