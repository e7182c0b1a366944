package relay

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConversationIsSplitIntoTurns(t *testing.T) {
	message := func(role, text string) chatMessage { return chatMessage{role: role, text: text} }
	for _, tt := range []struct {
		name string
		in   []chatMessage
		want [][2]string
	}{
		{"nothing", nil, nil},
		{"rules and results of tools are no turns",
			[]chatMessage{
				message("system", "x"), message("user", "a"), message("tool", "y"), message("assistant", "b [2]."),
			}, [][2]string{{"a", "b."}}},
		{"a question without an answer stays",
			[]chatMessage{message("user", "a"), message("user", "b"), message("assistant", "c")},
			[][2]string{{"a", unanswered}, {"b", "c"}}},
		{"two answers are one",
			[]chatMessage{
				message("user", "a"), message("assistant", "b"), message("assistant", ""), message("assistant", "c"),
			}, [][2]string{{"a", "b\n\nc"}}},
		{"a picture is noted, in a question alone",
			[]chatMessage{{role: "user", text: "a", other: "a file"}, {role: "assistant", text: "b", other: "a file"}},
			[][2]string{{"a\n\n" + unread, "b"}}},
		{"a greeting answers nothing", []chatMessage{message("assistant", "Hi!"), message("user", "a")},
			[][2]string{{"a", unanswered}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, questionPairs(tt.in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
