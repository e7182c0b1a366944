package offline

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"footnote/llm"
)

func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		name      string
		questions []string
		want      string
	}{
		{"a condition", []string{"What is the condition of the roof?"}, "The roof covering is in poor condition. [1]"},
		{"an amount, where others stand beside it", []string{"What is the gutter clearing cost?"},
			"- Gutter clearing £180 [3]"},
		{"a year", []string{"When was the roof renewed?"}, "The roof was last renewed in 1987 by Harper & Sons. [2]"},
		{"another word for the same", []string{"How much vacation do employees have?"},
			"Every employee is entitled to 28 days of paid holiday a year, including public holidays. [1]"},
		{"a person", []string{"Who must agree when I work from abroad?"},
			"Working from abroad needs the written consent of the head of human resources, Maria Keller. [2]"},
		{"a reason in the next sentence", []string{"Why is the kitchen wall damp?"},
			"High moisture readings were found in the rear wall of the kitchen. [1] The cause is most likely the " +
				"blocked gutter above. [1]"},
		{"steps as a list, but no orders from the document", []string{"How do I claim expenses?"},
			"To claim expenses, follow these steps: [1]\n\n- Keep the original receipt. [1]\n- Fill in form E-12 " +
				"within 30 days. [1]\n- Have it signed by your line manager. [1]\n- Send it to " +
				"accounts@example.org. [1]"},
		{"two things to compare", []string{"Compare the cost of flashing and rewiring"},
			"We recommend replacing the flashing within twelve months at an estimated cost of £3,400. [1]\n\n- " +
				"Flashing £3,400 [2]\n- Rewiring of the garage £2,150 [2]"},
		{"German, with the sentence that the answer leans on", []string{"Wann muss ich die Miete zahlen?"},
			"Die monatliche Miete beträgt 980 Euro. [1] Sie ist bis zum dritten Werktag eines jeden Monats zu " +
				"zahlen. [1]"},
		{"a German compound", []string{"Welche Kündigungsfrist gilt?"},
			"Der Mieter kann den Vertrag mit einer Frist von drei Monaten kündigen. [1]"},
		{"Japanese", []string{"富士山の標高は？"}, "富士山は日本で一番高い山です。 [1] 標高は三千七百七十六メートルです。 [1]"},
		{"a follow-up with it", []string{"What is the condition of the roof?", "When was it last renewed?"},
			"The roof was last renewed in 1987 by Harper & Sons. [2]"},
		{"a follow-up with the second one", []string{"How do I claim expenses?", "Tell me more about the second one"},
			"- Fill in form E-12 within 30 days. [9]"},
		{"arithmetic", []string{"What is 15% of 1,250?"}, "15 / 100 * 1250 = 187.5"},
		{"a summary by file name", []string{"Summarise Survey.pdf"}, "The roof covering is in poor condition. [1]"},
		{"a summary by title", []string{"what is the handbook about?"},
			"Every employee is entitled to 28 days of paid holiday a year, including public holidays. [1]"},
		{"all documents", []string{"Which documents do I have?"},
			"You have 4 documents:\n\n- Building survey of 12 Mill Lane (Survey.pdf)\n- Staff handbook " +
				"(handbook.md)\n- Mietvertrag Gartenstraße 5 (Mietvertrag.txt)\n- 山の記録 (山の記録.txt)"},
		{"thanks", []string{"thanks!"}, "You're welcome. Ask another question about your documents whenever you like."},
		{"no question at all", []string{"???"},
			"Ask a question about your documents, and I will search them for the answer."},
		{"nothing found", []string{"What is the capital of France?"},
			Refusal + " I searched for “capital France” and found nothing that fits."},
		{"a near miss is refused", []string{"What does the handbook say about parental leave?"},
			Refusal + " I searched for “handbook parental leave” and for “handbook parental leave holiday vacation” " +
				"and read handbook.md."},
		{"a name that stands nowhere is refused", []string{"What is the warranty of the Berlin roof?"},
			Refusal +
				" I searched for “warranty Berlin roof” and for “warranty guarantee Berlin roof” and read Survey.pdf."},
		{"a name alone refuses, though all the rest fits",
			[]string{"What is the estimated cost of replacing the flashing in Paris?"},
			Refusal + " I searched for “estimated cost replacing flashing Paris” and for “estimated cost price fee " +
				"charge amount replacing renew exchange flashing Paris” and read Survey.pdf."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, _ := ask(t, tt.questions...); got != tt.want {
				t.Errorf("%s\n got %q\nwant %q", strings.Join(tt.questions, " → "), got, tt.want)
			}
		})
	}
}

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

func TestEverySentenceStandsInItsPassage(t *testing.T) {
	said := regexp.MustCompile(`(?s)(.+?) \[\d+\]\s*`)
	var texts []string
	for _, p := range library {
		for _, passage := range p.passages {
			texts = append(texts, strings.Join(strings.Fields(passage.Text), " "))
		}
	}
	for _, q := range []string{
		"How much does the flashing cost?", "How do I claim expenses?", "When was the boiler last serviced?",
		"Who did the roof?",
	} {
		answer, _ := ask(t, q)
		for _, m := range said.FindAllStringSubmatch(answer, -1) {
			sentence := strings.TrimPrefix(strings.TrimSpace(m[1]), "- ")
			if !slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, sentence) }) {
				t.Errorf("%s: %q stands in no document", q, sentence)
			}
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
		{"2024-05-01", kindDocuments, ""},
		{"What was the profit in 2023-2024?", kindDocuments, ""},
		{"1999", kindDocuments, ""},
		{"Please summarize the document \"Lease.pdf\" in three sentences", kindSummary, "Lease.pdf"},
		{"Give me a summary of the lease", kindSummary, "lease"},
		{"summarise it", kindSummary, ""},
		{"Which documents mention the roof?", kindDocuments, ""},
		{"list all files", kindListing, ""},
		{"how many PDFs do I have?", kindListing, " do I have?"},
		{"Hello, what is the rent?", kindDocuments, ""},
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
	for part, err := range New().Stream(t.Context(), llm.Request{Messages: history, Tools: tools, NoTools: true}) {
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
	if want := "The boiler was installed in 2016. [4]"; got != want {
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
		if !strings.HasPrefix(text, Refusal) ||
			!strings.Contains(text, "“rent lease” failed, so they may still hold it") ||
			strings.Contains(text, "nothing that fits") {
			t.Errorf("after %q it says %q; want %q at its beginning, %q in it, no %q in it",
				broken, text, Refusal, "“rent lease” failed, so they may still hold it", "nothing that fits")
		}
	}
}

func TestAnEndedContextIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range New().Stream(ctx, llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "hi"}}}) {
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
	for question, want := range map[string]string{
		"Summarise it": `{"doc_id":"d1"}`, "Summarise the second document": `{"doc_id":"d2"}`,
	} {
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
	if len(msg.Calls) != 1 || string(msg.Calls[0].Arguments) != `{"query":"rent"}` {
		t.Errorf("got %+v; want 1 call and %q", msg, `{"query":"rent"}`)
	}
}
