package agent

import (
	"strings"
	"testing"

	"footnote/llm"
	"footnote/llm/scripted"
)

func TestAFailureOfTheModelIsOneSentenceThatSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for kind, want := range map[llm.ErrorKind]string{
		llm.KindServer: "The model scripted can't answer, because its server failed: ask again in a moment.",
		llm.KindAuth:   "The model scripted can't answer, because its server refused this server's key: tell whoever runs this server.",
	} {
		h := newHouse(t, scripted.New(scripted.Reply{Err: &llm.Error{Kind: kind, Message: "The model provider refused the key. Check OPENAI_API_KEY."}}))
		got := h.answer(question("How many days of holiday are there?"))
		if d := got.done(); d.Error == nil || d.Error.Message != want {
			t.Errorf("%s: %+v", kind, d.Error)
		}
	}
	h := newHouse(t, scripted.New(scripted.Reply{Err: &llm.Error{Kind: llm.KindAuth, Message: "Check OPENAI_API_KEY."}}), withFallback)
	s := h.answer(question("How many days of holiday are there?")).step("fallback")
	if s.Error == nil || strings.Contains(s.Message+s.Error.Message, "OPENAI") || !strings.Contains(s.Message, "refused this server's key: going on with") {
		t.Errorf("the step says %q, %+v", s.Message, s.Error)
	}
}
