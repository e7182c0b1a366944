package run

import (
	"testing"

	"footnote/chat"
	"footnote/e2e/scripted"
	"footnote/llm"
)

func TestAFailureOfTheModelIsOneSentenceThatSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, user string
		kind       llm.ErrorKind
		want       string
	}{
		{"one of many users", "alice", llm.KindServer, "The model scripted can't answer, because its server failed: ask again in a moment."},
		{"one of many users, who can't set the key", "alice", llm.KindAuth, "The model scripted can't answer, because its server refused this server's key: tell whoever runs this server."},
		{"who runs the server too", chat.LocalUser, llm.KindAuth, "The model scripted can't answer: The provider refused the key. Check OPENAI_API_KEY."},
	} {
		m := &modelCaller{task: &task{run: chat.Run{User: tt.user}}, model: scripted.New()}
		if got := m.explainFor(&llm.Error{Kind: tt.kind, Message: "The provider refused the key. Check OPENAI_API_KEY."}); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
