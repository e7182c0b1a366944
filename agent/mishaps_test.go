package agent

import (
	"errors"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// Rows 39 and 49: a call that the server could not read is asked for again with its error, then the model must answer.
func TestACallThatItsServerCouldNotReadIsMended(t *testing.T) {
	t.Parallel()
	bad := scripted.Reply{
		Err: &llm.Error{
			Kind: llm.KindBadCall, Message: "The model wrote a tool call that its server could not read.",
			Err: errors.New("unexpected <function"),
		},
	}
	t.Run("once", func(t *testing.T) {
		t.Parallel()
		model := scripted.New(bad, calls(search("holiday")), says(goodAnswer))
		h := newHouse(t, model)
		got := h.answer(asks("How many days of holiday are there?"))
		if a := got.answer(); a.Markdown != goodAnswer {
			t.Errorf("answer %q, want %q", a.Markdown, goodAnswer)
		}
		second := model.Requests()[1]
		if last := second.Messages[len(second.Messages)-1]; !last.Aside ||
			!strings.Contains(last.Text, "unexpected <function") || second.NoTools {
			t.Errorf("the second request ends with %+v; want Aside true and %q in it", last, "unexpected <function")
		}
		if s := got.step("review"); s.Status != chat.StatusError || s.Error == nil {
			t.Errorf("step = %+v, want Status %v", s, chat.StatusError)
		}
	})
	t.Run("twice", func(t *testing.T) {
		t.Parallel()
		model := scripted.New(calls(search("holiday")), bad, bad, says(goodAnswer))
		h := newHouse(t, model)
		if a := h.answer(asks("How many days of holiday are there?")).answer(); a.Markdown != goodAnswer ||
			len(a.Citations) != 1 {
			t.Errorf("answer %+v; want Markdown %v and 1 citation", a, goodAnswer)
		}
		if last := model.Requests()[3]; !last.NoTools {
			t.Error("the model could call tools a third time")
		}
	})
	t.Run("again and again", func(t *testing.T) {
		t.Parallel()
		h := newHouse(t, scripted.NewScript(func(scripted.Request) scripted.Reply { return bad }), withFallback)
		got := h.answer(asks("How many days of paid holiday are there?"))
		if a := got.answer(); !strings.Contains(a.Markdown, "28 days") {
			t.Errorf("answer %q, want %q in it", a.Markdown, "28 days")
		}
		got.step("fallback")
	})
}

// Row 48: a server that drops a part of the prompt without a word is found by its count.
func TestADroppedPromptIsNoticed(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("The mill stands by the river, and its wheel turns slowly. ", 800)
	for _, tt := range []struct {
		name  string
		usage llm.Usage
		want  int
	}{
		{"less than half", llm.Usage{In: 4096, Out: 5}, 1}, {"all of it", llm.Usage{In: 11_000, Out: 5}, 0},
		{"a count of the new part alone", llm.Usage{In: 40, Out: 5}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			reply := says("The wheel turns slowly.")
			reply.Usage = &tt.usage
			h := newHouse(t, scripted.NewScript(func(scripted.Request) scripted.Reply { return reply }))
			got := h.answer(chat.RunRequest{Message: "How does the wheel turn?", ContextText: long})
			got.answer()
			n := 0
			for _, s := range all[chat.Step](got) {
				if s.Step == "notice" {
					n++
					if !strings.Contains(s.Message, "4096") {
						t.Errorf("message %q, want %q in it", s.Message, "4096")
					}
				}
			}
			if n != tt.want {
				t.Errorf("%d notices, want %d", n, tt.want)
			}
		})
	}
}

// Row 47: a history that does not fit is shortened once, and the run goes on.
func TestAHistoryThatIsTooLongIsShortenedOnce(t *testing.T) {
	t.Parallel()
	long := scripted.Reply{
		Err: &llm.Error{Kind: llm.KindTooLong, Message: "The conversation is too long for the model."},
	}
	model := scripted.New(calls(search("holiday")), calls(search("notice period")), long, says(goodAnswer))
	h := newHouse(t, model, withFallback)
	got := h.answer(asks("How many days of paid holiday are there?"))
	if a := got.answer(); a.Markdown != goodAnswer {
		t.Errorf("answer %q, want %q", a.Markdown, goodAnswer)
	}
	before, after := size(model.Requests()[2]), size(model.Requests()[3])
	if after >= before {
		t.Errorf("%d runes before, %d after; want less than %d", before, after, before)
	}
}

func size(r llm.Request) (n int) {
	for _, m := range r.Messages {
		n += len(m.Text)
	}
	return n
}
