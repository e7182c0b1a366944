package agent

import (
	"testing"

	"footnote/agent/tools"
	"footnote/chat"
	"footnote/e2e/scripted"
	"footnote/llm"
)

func TestAFailureOfTheModelIsOneSentenceThatSaysWhatToDo(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New())
	for _, tt := range []struct {
		name, user string
		kind       llm.ErrorKind
		want       string
	}{
		{"one of many users", "alice", llm.KindServer, "The model scripted can't answer, because its server failed: ask again in a moment."},
		{"one of many users, who can't set the key", "alice", llm.KindAuth, "The model scripted can't answer, because its server refused this server's key: tell whoever runs this server."},
		{"who runs the server too", chat.LocalUser, llm.KindAuth, "The model scripted can't answer: The provider refused the key. Check OPENAI_API_KEY."},
	} {
		w := newRunner(t, h.runs.engine, chat.Run{ID: "r", User: tt.user, Request: asks("How many days?")}, h.runs.engine.registry.Toolsets[tools.DefaultToolset])
		if got := w.failureOf(&llm.Error{Kind: tt.kind, Message: "The provider refused the key. Check OPENAI_API_KEY."}); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
