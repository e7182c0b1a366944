package offline

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm"
)

func TestTheFirstQuoteAnswers(t *testing.T) {
	for _, tt := range []struct {
		name      string
		questions []string
		want      string // in the first quote
	}{
		{"a condition", []string{"What is the condition of the roof?"}, "The roof covering is in poor condition."},
		{"a row of a table, where others stand beside it", []string{"What is the gutter clearing cost?"},
			"Gutter clearing £180"},
		{"a year", []string{"When was the roof renewed?"}, "The roof was last renewed in 1987 by Harper & Sons."},
		{"a person", []string{"Who must agree when I work from abroad?"}, "Maria Keller."},
		{"a reason in the next sentence", []string{"Why is the kitchen wall damp?"},
			"The cause is most likely the blocked gutter above."},
		{"steps as a list", []string{"How do I claim expenses?"},
			"- Keep the original receipt. - Fill in form E-12 within 30 days."},
		{"German", []string{"Wann muss ich die Miete zahlen?"},
			"Sie ist bis zum dritten Werktag eines jeden Monats zu zahlen."},
		{"Japanese", []string{"富士山の標高は？"}, "標高は三千七百七十六メートルです。"},
		{"a follow-up with it", []string{"What is the condition of the roof?", "When was it last renewed?"},
			"The roof was last renewed in 1987"},
		{"a follow-up that names a section", []string{"What is the condition of the roof?", "What about sickness?"},
			"Tell your line manager before 9:30"},
		{"words with a typing error", []string{"When was the boiller serviced?"},
			"It was last serviced on 4 May 2023."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, _ := ask(t, tt.questions...)
			said, quotes := quotesOf(got)
			if len(quotes) == 0 || !strings.Contains(quotes[0], tt.want) ||
				said != string(answers) && said != string(closest) {
				t.Errorf("%s: said %q and quoted %q, want %q in the first", strings.Join(tt.questions, " → "), said,
					quotes, tt.want)
			}
		})
	}
}

func TestBothSidesOfAComparisonAreQuoted(t *testing.T) {
	_, quotes := quotesOf(first(ask(t, "Which costs more, replacing the flashing or clearing the gutter?")))
	for _, want := range []string{"£3,400", "£180"} {
		if !slices.ContainsFunc(quotes, func(q string) bool { return strings.Contains(q, want) }) {
			t.Errorf("quoted %q, want %q in one of them", quotes, want)
		}
	}
}

func TestWhatDoesNotAnswerIsNotCalledFound(t *testing.T) {
	for _, q := range []string{
		"What does the handbook say about parental leave?", "What is the warranty of the Berlin roof?",
		"Who is the landlord's lawyer?",
		"How many parking spaces are there?",
	} {
		if said, quotes := quotesOf(first(ask(t, q))); said == string(answers) {
			t.Errorf("%s: said %q over %q, want %q or a refusal", q, said, quotes, closest)
		}
	}
	if got, want := first(ask(t, "What is the capital of France?")),
		Refusal+" I searched for “What is the capital of France?” and"; !strings.HasPrefix(got, want) {
		t.Errorf("where nothing was found it says %q, want %q at its beginning", got, want)
	}
}

func TestWhatNeedsNoQuote(t *testing.T) {
	for question, want := range map[string]string{
		"What is 15% of 1,250?": "15 / 100 * 1250 = 187.5",
		// The calculator of this test knows one result.
		"What is 15 percent of 27,400 pounds?": "15 / 100 * 27400 = 187.5",
		"15% of £27,400":                       "15 / 100 * 27400 = 187.5",
		"Summarise Survey.pdf": keyHead +
			"\n\n> The roof covering is in poor condition. [1]\n\n" + written,
		"what is the Handbook.md about?": keyHead +
			"\n\n> Every employee is entitled to 28 days of paid holiday a year, including " +
			"public holidays. [1]\n\n" + written,
		"Which documents do I have?": "You have 4 documents:\n\n- Building survey of 12 Mill Lane\n- Staff " +
			"handbook\n- Mietvertrag Gartenstraße 5\n- 山の記録",
		"thanks!": "You're welcome. Ask another question about your documents whenever " +
			"you like.",
		"???": "Ask a question about your documents, and I will search them for the answer.",
	} {
		if got, _ := ask(t, question); got != want {
			t.Errorf("%s: %q, want %q", question, got, want)
		}
	}
}

func first(answer string, _ []llm.Call) string { return answer }

func TestSaysWhatItIs(t *testing.T) {
	got, calls := ask(t, "Hello there!")
	if !strings.Contains(got, "offline mode") || len(calls) > 0 {
		t.Errorf("a greeting is answered with %q and %d calls; want %q in it and no calls",
			got, len(calls), "offline mode")
	}
}

func TestSearchesAndReadsBeforeItAnswers(t *testing.T) {
	for _, q := range []string{
		"When was the boiler installed?", "How many days of holiday do I get?", "Is remote work allowed?",
	} {
		answer, calls := ask(t, q)
		if len(calls) < 2 || calls[0].Name != "search_documents" || calls[1].Name != "read_document" ||
			!strings.Contains(answer, "[") {
			t.Errorf("%s: answered %q after %v; want at least 2 calls, %q, %q, %q in it",
				q, answer, calls, "search_documents", "read_document", "[")
		}
	}
}

func TestClassify(t *testing.T) {
	for _, tt := range []struct {
		question string
		kind     kind
		about    string
	}{
		{"12 * (3+4)", kindArithmetic, "12 * (3+4)"},
		{"Calculate 2**3", kindArithmetic, "2**3"},
		{"what is 7 times 6?", kindArithmetic, "7 * 6"},
		{"sqrt(2) + 1", kindArithmetic, "sqrt(2) + 1"},
		{"2024-05-01", kindFind, ""},
		{"What was the profit in 2023-2024?", kindFind, ""},
		{"1999", kindFind, ""},
		{"Please summarize the document \"Lease.pdf\" in three sentences", kindSummary, "Lease.pdf"},
		{"Give me a summary of the lease", kindSummary, "lease"},
		{"summarise it", kindSummary, ""},
		{"Which documents mention the roof?", kindFind, ""},
		{"list all files", kindListing, ""},
		{"how many documents do I have?", kindListing, ""},
		{"Hello, what is the rent?", kindFind, ""},
	} {
		k, about := classify(tt.question)
		if k != tt.kind || about != tt.about {
			t.Errorf("classify(%q) = %d, %q, want %d, %q", tt.question, k, about, tt.kind, tt.about)
		}
	}
}

func TestWithoutToolsItAnswersFromWhatItHas(t *testing.T) {
	history := []llm.Message{
		{Role: llm.RoleUser, Text: "When was the boiler installed?"},
		{Role: llm.RoleAssistant,
			Calls: []llm.Call{{ID: "a", Name: "search_documents", Arguments: []byte(`{"query":"boiler"}`)}}},
		{Role: llm.RoleTool, CallID: "a",
			Text: `{"documents":[{"doc_id":"d1","filename":"S.pdf","passages":[{"n":4,` +
				`"text":"The boiler was installed in 2016. See [3] for details."}]}],"total_found":1}`},
	}
	var got string
	for part, err := range New(nil).Stream(t.Context(), llm.Request{Messages: history, Tools: tools, NoTools: true}) {
		if err != nil {
			t.Fatal(err)
		}
		switch part := part.(type) {
		case llm.Text:
			got += string(part)
		case llm.Quoted:
			got += part.Marker()
		}
	}
	if want := "> The boiler was installed in 2016. See \\[3] for details. [4]"; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFailedToolsEndInARefusal(t *testing.T) {
	for _, broken := range []string{`{"error":"The index is busy."}`, "no JSON", ""} {
		history := []llm.Message{{Role: llm.RoleUser, Text: "What is the rent?"}}
		var text string
		for range 6 {
			msg := oneReply(t, history)
			history, text = append(history, msg), msg.Text
			for _, c := range msg.Calls {
				history = append(history, llm.Message{Role: llm.RoleTool, CallID: c.ID, Text: broken})
			}
		}
		if !strings.HasPrefix(text, Refusal) || !strings.Contains(text, "failed, so they may still hold it") ||
			strings.Contains(text, "nothing that fits") {
			t.Errorf("after %q it says %q; want %q at its beginning, %q in it, no %q in it",
				broken, text, Refusal, "failed, so they may still hold it", "nothing that fits")
		}
	}
}

func TestAnEndedContextIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range New(nil).Stream(ctx, llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "hi"}}}) {
		if llm.KindOf(err) != llm.KindCancelled {
			t.Errorf("got %v, want a cancelled error", err)
		}
	}
}

func TestPointsBackToTheDocumentsOfTheLastAnswer(t *testing.T) {
	system := llm.Message{
		Role: llm.RoleSystem,
		Text: "The last answer rested on:\n1. Building survey (doc_id d1)\n2. Staff handbook (doc_id d2)\n",
	}
	for question, want := range map[string]string{"Summarise it": `{"doc_id":"d1"}`} {
		msg := oneReply(t, []llm.Message{
			system, {Role: llm.RoleUser, Text: "Who?"}, {Role: llm.RoleAssistant, Text: "Two."},
			{Role: llm.RoleUser, Text: question},
		})
		if len(msg.Calls) != 1 || msg.Calls[0].Name != "get_document_summary" ||
			string(msg.Calls[0].Arguments) != want {
			t.Errorf("%s: %+v; want 1 call, %q, %v", question, msg.Calls, "get_document_summary", want)
		}
	}
}

func TestAnAsideOfTheProgramIsNoQuestion(t *testing.T) {
	msg := oneReply(t, []llm.Message{
		{Role: llm.RoleUser, Text: "What is the rent?"}, {Role: llm.RoleAssistant, Text: "980."},
		{Role: llm.RoleUser, Text: "Search first.", Aside: true},
	})
	if len(msg.Calls) != 1 || string(msg.Calls[0].Arguments) != `{"query":"What is the rent?"}` {
		t.Errorf("got %+v; want 1 call and %q", msg, `{"query":"What is the rent?"}`)
	}
}
