package agent

import (
	"slices"
	"strings"
	"testing"

	"footnote/llm"
	"footnote/llm/offline"
	"footnote/llm/scripted"
)

// TestQuestionsThatLeanOnTheLastAnswer reads questions with whether a person takes them for one about the last answer. None of the others
// may be taken for one, and no question at all where nothing was said before.
func TestQuestionsThatLeanOnTheLastAnswer(t *testing.T) {
	t.Parallel()
	missed := 0
	for line := range strings.Lines(readTestdata(t, "follow_ups.tsv")) {
		field := strings.Split(strings.TrimSpace(line), "\t")
		question := field[2]
		a := analyse(question, true)
		leans := a.Type == typeFollowUp || a.reference == rework
		switch want := field[1] == "yes"; {
		case leans && !want:
			t.Errorf("analyse(%q) = %s, reference %d: it stands by itself", question, a.Type, a.reference)
		case !leans && want:
			missed++
			t.Logf("missed: %q", question)
		}
		if first := analyse(question, false); first.reference != byItself || first.Type == typeFollowUp {
			t.Errorf("analyse(%q) as a first question = %s, reference %d", question, first.Type, first.reference)
		}
	}
	if missed > 0 {
		t.Errorf("%d questions about the last answer were missed", missed)
	}
}

func TestAPointingQuestionIsStillSearchedFor(t *testing.T) {
	t.Parallel()
	for _, question := range []string{
		"When was it built?", "Is it insulated?", "Does it leak?", "Who signed it?", "Is it in Berlin?", "Do you recommend it?", "Explain that boiler", "And in Berlin?",
		"for tenants", "Translate this: The roof is good", "Shorten this\nThe roof is good", "Tell me more about that", "Search for it", "Look for it in the survey", "Find it in the survey", "Wer hat es gemacht?", "¿Cuánto cuesta eso?", "Combien ça coûte ?",
	} {
		if a := analyse(question, true); a.reference == rework || a.reference == asksWhy {
			t.Errorf("analyse(%q): reference = %d: it is not about the last answer alone", question, a.reference)
		}
	}
}

func TestWithoutAModelTheLastAnswersQuotesAreSaidAgain(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New())
	session := readBefore(h)
	const quote = "Every employee is entitled to 28 days of paid holiday a year, including public holidays."
	for _, message := range []string{"Explain that in simple terms", "shorter please", "as a list", "say that in German", "why?", "what do you mean by that?", "Shorten your last answer"} {
		h.hire(offline.New())
		req := question(message)
		req.SessionID = session
		got := h.answer(req)
		a := got.answer()
		if want := onlyQuotes + "\n\n- " + quote + " [1]"; a.Markdown != want || len(a.Citations) != 1 || a.Citations[0].Quote != quote || len(a.Unsupported) != 0 {
			t.Errorf("%s: answer = %q with %d citations, unsupported %q; want %q", message, a.Markdown, len(a.Citations), a.Unsupported, want)
		}
		if tools := got.tools(); len(tools) != 0 {
			t.Errorf("%s: %q were called", message, tools)
		}
	}
	h.hire(offline.New())
	for _, message := range []string{"shorter please", "why?"} {
		if a := h.answer(question(message)).answer(); strings.Contains(a.Markdown, onlyQuotes) {
			t.Errorf("%s, as a first question: %q", message, a.Markdown)
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
		{"Explain that in simple terms", []scripted.Reply{says("You get 28 days of paid holiday a year [501].")}, "You get 28 days of paid holiday a year [1].", nil},
		{"say that in German", []scripted.Reply{says("Es gibt 28 Tage bezahlten Urlaub im Jahr [501].")}, "Es gibt 28 Tage bezahlten Urlaub im Jahr [1].", nil},
		{"why?", []scripted.Reply{says("Every employee is entitled to it [501].")}, "Every employee is entitled to it [1].", nil},
		{"Explain that in simple terms", []scripted.Reply{says(Refusal), calls(search("paid holiday")), says(goodAnswer)}, goodAnswer, []string{"search_documents"}},
	} {
		h := newHouse(t, scripted.New())
		session := readBefore(h)
		model := scripted.New(tt.replies...)
		h.hire(model)
		req := question(tt.message)
		req.SessionID = session
		got := h.answer(req)
		a := got.answer()
		if a.Markdown != tt.want || len(a.Citations) != 1 || !slices.Equal(got.tools(), tt.tools) {
			t.Errorf("%s: answer = %q with %d citations after %q, want %q after %q", tt.message, a.Markdown, len(a.Citations), got.tools(), tt.want, tt.tools)
		}
		if first := model.Requests()[0].Messages[0]; first.Role != llm.RoleSystem || !strings.Contains(first.Text, "[501] (Staff handbook") {
			t.Errorf("%s: the model was not told the passages:\n%s", tt.message, first.Text)
		}
	}
}
