package agent

import (
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/ground"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

const askedInGerman = "Wie viele Tage bezahlten Urlaub bekommt eine Angestellte in jedem Jahr, und wann verfallen sie?"

// translates is the number of requests of a model that ask for a translation.
func translates(model *scripted.Model) (n int) {
	for _, r := range model.Requests() {
		if strings.HasPrefix(r.Messages[0].Text, "Translate what") {
			n++
		}
	}
	return n
}

func byRules(c *Config) { thinking(run.Features{Selection: tools.SelectRules})(c) }

// What the program searches for is translated once by the model, when the documents are in another language.
func TestASearchByRulesIsTranslatedOnce(t *testing.T) {
	t.Parallel()
	fails := scripted.Reply{Err: &llm.Error{Kind: llm.KindServer, Message: "it is out of order"}}
	for _, tt := range []struct {
		name, question string
		translation    scripted.Reply
		searched       string // empty: nothing is to be translated
		status         chat.Status
	}{
		{"another language", askedInGerman, says("days of paid\nholiday employee"), "days of paid holiday employee",
			chat.StatusComplete},
		{"the model fails", askedInGerman, fails, askedInGerman, chat.StatusError},
		{"it says nothing", askedInGerman, says(" "), askedInGerman, chat.StatusError},
		{"the same language", "How many days of paid holiday does an employee get?", says(goodAnswer), "", ""},
		{"too short to tell", "Urlaub?", says(goodAnswer), "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			model := scripted.New(tt.translation, says(goodAnswer), says(goodAnswer), says(goodAnswer))
			h := newHouse(t, model, byRules)
			got := h.answer(asks(tt.question))
			if tt.searched == "" {
				if n := translates(model); n != 0 || got.has("translate") {
					t.Errorf("it was translated %d times, want 0", n)
				}
				return
			}
			if n := translates(model); n != 1 {
				t.Errorf("it was translated %d times, want once", n)
			}
			step := got.step("translate")
			if step.Status != tt.status || !strings.Contains(step.Message, "English") ||
				(step.Summary == tt.searched) != (tt.status == chat.StatusComplete) {
				t.Errorf("step %+v, want it %s, with English and the translation", step, tt.status)
			}
			search := got.step("search_documents")
			if !strings.Contains(string(search.ToolInput), `"query":"`+tt.searched+`"`) {
				t.Errorf("searched for %s, want %q", search.ToolInput, tt.searched)
			}
		})
	}
}

// A model that searches by itself is told the language, which costs no call.
func TestAModelThatSearchesIsToldTheDocumentsLanguage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, question, added string
		told                  bool
	}{
		{"another language", askedInGerman, "", true},
		{"the same language", "How many days of paid holiday does an employee get?", "", false},
		{"one document is in it", askedInGerman,
			"Die monatliche Miete ist bis zum dritten Werktag eines jeden Monats zu " +
				"zahlen, und der Mieter kann den Vertrag kündigen.", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			model := scripted.New(calls(search("paid holiday")), says(goodAnswer))
			h := newHouse(t, model)
			if tt.added != "" {
				h.add("Mietvertrag.txt", tt.added)
			}
			h.answer(asks(tt.question))
			prompt := model.Requests()[0].Messages[0].Text
			if told := strings.Contains(prompt, "the documents in reach are in English"); told != tt.told {
				t.Errorf("told of the language: %v, want %v", told, tt.told)
			}
			if n := translates(model); n != 0 {
				t.Errorf("%d translations were asked for, want 0", n)
			}
		})
	}
}

// A refusal is never a bare sentence.
func TestARefusalSaysWhatWasSearchedAndWhatCameNearest(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New(calls(search("holiday lunch")), says(ground.RefusalSentence)))
	got := h.answer(asks("What is for lunch?"))
	a := got.answer()
	rest, ok := strings.CutPrefix(a.Markdown, ground.RefusalSentence+" I searched for: holiday lunch.")
	if !ok || !strings.Contains(rest, "nearest heading") || !strings.Contains(rest, "“Leave” in Handbook.md") ||
		!strings.HasSuffix(rest, "If the document that says it is missing here, add it and ask again.") {
		t.Errorf("refusal = %q; want what was searched, the nearest heading, and the file that may be missing",
			a.Markdown)
	}
	if got.text() != a.Markdown || a.StopReason != chat.StopRefused || len(a.Unsupported)+len(a.Citations) > 0 {
		t.Errorf("shown %q, answer %+v; want the same text, and nothing unsupported", got.text(), a)
	}
	if slices.ContainsFunc(got.ended(), func(s chat.Step) bool { return s.Step == "review" }) {
		t.Error("what the model wrote was taken back")
	}
}
