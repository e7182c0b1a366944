package agent

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
)

func TestASessionAtItsLimitOffersANewOne(t *testing.T) {
	t.Parallel()
	h := newHouse(t, offline.New(nil), func(c *Config) { c.MaxQuestions = 2 })
	ask := func(req chat.RunRequest) (chat.Run, error) {
		t.Helper()
		run, _, err := h.runs.Start(t.Context(), chat.LocalUser, req)
		if err == nil {
			h.wait(run.ID).done()
		}
		return run, err
	}
	first, err := ask(chat.RunRequest{SessionID: "talk", Message: "How many days of paid holiday are there?"})
	if err != nil {
		t.Fatal(err)
	}
	again := chat.RunRequest{SessionID: "talk", Message: "And who renewed the roof?", IdempotencyKey: "k"}
	second, err := ask(again)
	if err != nil {
		t.Fatal(err)
	}
	_, err = ask(chat.RunRequest{SessionID: "talk", Message: "A third question"})
	if err == nil || chat.CodeOf(err) != chat.CodeTurnLimit ||
		!strings.Contains(chat.MessageOf(err), "limit of 2 questions. Ask in a new one: a request without session_id") {
		t.Errorf("the third question = %v, want %v", err, chat.CodeTurnLimit)
	}
	if _, err := ask(chat.RunRequest{
		SessionID: "talk", Message: "Another third question", IdempotencyKey: "other",
	}); err == nil {
		t.Error("a key opened the session again")
	}
	if run, err := ask(again); err != nil || run.ID != second.ID {
		t.Errorf("the last question sent again = %s, %v; want %s", run.ID, err, second.ID)
	}
	if _, err := ask(chat.RunRequest{
		SessionID: "talk", Message: "How many days of leave?", Sibling: first.ID,
	}); err != nil {
		t.Errorf("an edited question = %v, want no error", err)
	}
	if _, err := ask(chat.RunRequest{Message: "How many days of leave?"}); err != nil {
		t.Errorf("a new session = %v, want no error", err)
	}
}

func TestTheLimitOfQuestionsByToolset(t *testing.T) {
	t.Parallel()
	box, err := tools.NewRegistry(tools.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name          string
		set           string
		setting, want int
	}{
		{"the default", "cursor", 0, 200},
		{"documentation is for short conversations", "documentation", 0, 20},
		{"a setting", "react", 50, 50},
		{"a setting may raise the limit", "react", 500, 500},
		{"but not that of documentation", "documentation", 500, 20},
		{"which it may lower", "documentation", 5, 5},
	} {
		r := &Runs{engine: &run.Engine{Registry: box}, cfg: Config{MaxQuestions: tt.setting}}
		if got := r.questionLimit(box.Toolsets[tt.set]); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}
