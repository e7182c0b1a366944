package run

import (
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

func TestAFailureOfTheModelIsOneSentenceThatSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, user string
		kind       llm.ErrorKind
		want       string
	}{
		{"one of many users", "alice", llm.KindServer,
			"The model scripted can't answer, because its server failed: ask again in a moment."},
		{"one of many users, who can't set the key", "alice", llm.KindAuth,
			"The model scripted can't answer, because its server refused this server's key: tell whoever runs this " +
				"server."},
		{"who runs the server too", chat.LocalUser, llm.KindAuth,
			"The model scripted can't answer, because its server refused this server's key: “footnote doctor” and " +
				"the server's log say more."},
		{"who runs the server too, and can wait", chat.LocalUser, llm.KindUnreachable,
			"The model scripted can't answer, because its server can't be reached: ask again in a moment; “footnote " +
				"doctor” and the server's log say more."},
	} {
		m := &modelCaller{state: &state{knowledge: knowledge{run: chat.Run{User: tt.user}}}, model: scripted.New()}
		if got := m.explainFor(&llm.Error{
			Kind: tt.kind, Message: "The provider refused the key. Check OPENAI_API_KEY.",
		}); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
