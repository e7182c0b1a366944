package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/e2e/scripted"
)

func TestBookContentIsText(t *testing.T) {
	t.Parallel()
	model := scripted.New(calls(call("retrieve_book_content", `{"query":"paid holiday","top_k":2}`)), says(goodAnswer))
	h := newHarness(t, model)
	req := asks("How many days of paid holiday are there?")
	req.Toolset = "documentation"
	got := h.answer(req)
	if a := got.answer(); len(a.Citations) != 1 {
		t.Errorf("answered %q with %d citations, want 1", a.Markdown, len(a.Citations))
	}
	requests := model.Requests()
	messages := requests[len(requests)-1].Messages
	told := messages[len(messages)-1].Text
	for _, part := range []string{
		"\n[1] Staff handbook, Leave\nURL: /d/", "\nRelevance: ", "\nContent: ",
		"Every employee is entitled to 28 days",
	} {
		if !strings.Contains(told, part) {
			t.Errorf("prompt = %q, want %q in it", told, part)
		}
	}
	var out struct {
		Text    string
		Results []any
	}
	if err := json.Unmarshal(got.step("retrieve_book_content").ToolOutput, &out); err != nil || out.Text == "" ||
		len(out.Results) == 0 {
		t.Errorf("the step's output has the text %q and %d results (%v); want something and some results",
			out.Text, len(out.Results), err)
	}
}

func TestSourceURLIsWebLink(t *testing.T) {
	for given, want := range map[string]string{
		"https://example.org/book": "https://example.org/book", "javascript:alert(1)": "", "": "",
	} {
		doc := corpus.Document{
			Namespace: "default", Meta: map[string]any{
				corpus.MetaSourceURL: given, corpus.MetaURL: "https://elsewhere.example/",
			},
		}
		if got := doc.SourceURL(); got != want {
			t.Errorf("meta.source_url %q is given out as %q, want %q", given, got, want)
		}
	}
}

func TestRulesIncludeRunLimits(t *testing.T) {
	t.Parallel()
	h := newHarness(t, scripted.New())
	for budget, want := range map[chat.Budget]string{
		{Steps: 3, RetrievalCalls: 5}: "You have 3 turns and 5 calls",
		{}:                            "You have 10 turns and 10 calls",
	} {
		if rules := h.runs.Rules(budget); !strings.Contains(rules, want) {
			t.Errorf("the rules for %+v are %q, want %q in them", budget, rules, want)
		}
	}
}
