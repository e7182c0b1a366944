package agent

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/footnote/footnote/agent/ground"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

func TestAConversationGoesWhenItWasLeftAloneForThirtyDays(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t,
			scripted.NewScript(func(scripted.Request) scripted.Reply { return says(ground.RefusalSentence) }),
			func(c *Config) {
				c.KeepSessions, c.Lease = 30*day, 12*time.Hour
			})
		go h.runs.KeepLeases(t.Context())
		ask := func(session string) {
			h.answer(chat.RunRequest{SessionID: session, Message: "Hello!"})
		}
		there := func(session string) bool {
			_, err := h.store.Session(t.Context(), chat.Local, session)
			if err != nil && chat.CodeOf(err) != chat.CodeNotFound {
				t.Fatal(err)
			}
			return err == nil
		}
		ask("left")
		ask("used")
		time.Sleep(20 * day)
		ask("used")
		time.Sleep(9 * day)
		if !there("left") || !there("used") {
			t.Errorf("after 29 days: %v, %v", there("left"), there("used"))
		}
		time.Sleep(2 * day)
		if there("left") || !there("used") {
			t.Errorf("after 31 days: %v, %v", there("left"), there("used"))
		}
		time.Sleep(30 * day)
		if there("used") {
			t.Error("it is kept for ever")
		}
	})
}

func TestAHundredQuestionsInAnyTwentyFourHours(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, scripted.New())
		h.store.SetLimits(chat.Limits{chat.QuestionsPerDay: 100})
		ask := func() error {
			_, _, err := h.store.StartRun(t.Context(), "anna", asks("Why?"),
				chat.Lease{Owner: "one", Until: time.Now().Add(time.Minute)})
			return err
		}
		for i := range 100 {
			if err := ask(); err != nil {
				t.Fatalf("question %d: %v, want no error", i+1, err)
			}
			time.Sleep(time.Minute)
		}
		if err := ask(); err == nil || chat.CodeOf(err) != chat.CodeTooMany {
			t.Fatalf("one more: %v, want %v", err, chat.CodeTooMany)
		}
		// the first of them is a day old and makes room for one
		time.Sleep(24*time.Hour - 100*time.Minute + time.Second)
		if err := ask(); err != nil {
			t.Errorf("a day later: %v, want no error", err)
		}
		if err := ask(); err == nil || chat.CodeOf(err) != chat.CodeTooMany {
			t.Errorf("and another: %v, want %v", err, chat.CodeTooMany)
		}
	})
}
