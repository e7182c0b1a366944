package ask

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAConversationBecomesTurns(t *testing.T) {
	message := func(role, text string) Said { return Said{Role: role, Text: text} }
	for _, tt := range []struct {
		name string
		in   []Said
		want [][2]string
	}{
		{"nothing", nil, nil},
		{"rules and results of tools are no turns",
			[]Said{
				message("system", "x"), message("user", "a"), message("tool", "y"), message("assistant", "b [2]."),
			}, [][2]string{{"a", "b."}}},
		{"a question without an answer stays",
			[]Said{message("user", "a"), message("user", "b"), message("assistant", "c")},
			[][2]string{{"a", unanswered}, {"b", "c"}}},
		{"two answers are one",
			[]Said{
				message("user", "a"), message("assistant", "b"), message("assistant", ""), message("assistant", "c"),
			}, [][2]string{{"a", "b\n\nc"}}},
		{"a greeting answers nothing", []Said{message("assistant", "Hi!"), message("user", "a")},
			[][2]string{{"a", unanswered}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, questionPairs(tt.in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
