package agent

import (
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/ground"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/offline"
	"github.com/footnote/footnote/e2e/scripted"
)

// quotesOnly leads to the quotes that are all the rules have to say about an answer.
const quotesOnly = "Without a language model I can't put it in other words, only quote again what the last answer " +
	"rests on:"

func TestWithoutAModelTheLastAnswersQuotesAreSaidAgain(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New())
	session := readBefore(h)
	const quote = "Every employee is entitled to 28 days of paid holiday a year, including public holidays."
	for _, message := range []string{
		"Explain that in simple terms", "shorter please", "as a list", "say that in German", "why?",
		"what do you mean by that?", "Shorten your last answer",
	} {
		h.hire(offline.New(nil))
		req := asks(message)
		req.SessionID = session
		got := h.answer(req)
		a := got.answer()
		if want := quotesOnly + "\n\n> " + quote + " [1]"; a.Markdown != want || len(a.Citations) != 1 ||
			a.Citations[0].Quote != quote || len(a.Unsupported) != 0 {
			t.Errorf("%s: answer = %q with %d citations, unsupported %q; want %q", message, a.Markdown,
				len(a.Citations), a.Unsupported, want)
		}
		if tools := got.tools(); len(tools) != 0 {
			t.Errorf("%s: %q were called, want none", message, tools)
		}
	}
	h.hire(offline.New(nil))
	for _, message := range []string{"shorter please", "why?"} {
		if a := h.answer(asks(message)).answer(); strings.Contains(a.Markdown, quotesOnly) {
			t.Errorf("%s, as a first question: %q, want no %q in it", message, a.Markdown, quotesOnly)
		}
	}
}

func TestAModelWorksOnItsLastAnswerWithoutSearching(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		message string
		replies []scripted.Reply
		want    string
		tools   []string
	}{
		{"Explain that in simple terms", []scripted.Reply{says("You get 28 days of paid holiday a year [501].")},
			"You get 28 days of paid holiday a year [1].", nil},
		{"Explain that in simple terms", []scripted.Reply{says("You get 28 days of paid holiday a year.")},
			"You get 28 days of paid holiday a year [1].", nil},
		{"say that in German", []scripted.Reply{says("Es gibt 28 Tage bezahlten Urlaub im Jahr [501].")},
			"Es gibt 28 Tage bezahlten Urlaub im Jahr [1].", nil},
		{"why?", []scripted.Reply{says("Every employee is entitled to it [501].")},
			"Every employee is entitled to it [1].", nil},
		{"Explain that in simple terms",
			[]scripted.Reply{says(ground.RefusalSentence), calls(search("paid holiday")), says(goodAnswer)}, goodAnswer,
			[]string{"search_documents"}},
	} {
		h := newHouse(t, scripted.New())
		session := readBefore(h)
		model := scripted.New(tt.replies...)
		h.hire(model)
		req := asks(tt.message)
		req.SessionID = session
		got := h.answer(req)
		a := got.answer()
		if a.Markdown != tt.want || len(a.Citations) != 1 || !slices.Equal(got.tools(), tt.tools) {
			t.Errorf("%s: answer = %q with %d citations after %q, want %q after %q", tt.message, a.Markdown,
				len(a.Citations), got.tools(), tt.want, tt.tools)
		}
		if first := model.Requests()[0].Messages[0]; first.Role != llm.RoleSystem ||
			!strings.Contains(first.Text, "[501] (Staff handbook") {
			t.Errorf("%s: the model was not told the passages:\n%s", tt.message, first.Text)
		}
	}
}
