package offline

import (
	"strings"
	"testing"

	"footnote/corpus/text"
	"footnote/llm"
)

func TestNearMissesAreRefused(t *testing.T) {
	for _, question := range []string{
		"What colour is the roof covering?",
		"How many chimneys does the roof have?",
		"When was the roof renewed by Maria Keller in 1999?",
		"Who serviced the gutter?",
		"How much does the boiler cost?",
		"How many days of parental leave does an employee get?",
		"What is the name of the line manager?",
		"Was kostet die Kündigung?",
		"In which month was the roof renewed?",
		"On which date is the flashing replaced?",
		"When was the flashing cracked?",
		"How many employees carry unused days over?",
		"How much memory does the boiler have?",
		"In which year was Maria Keller promoted?",
		"Wer hat die Miete bezahlt?",
		"Wie heißt der Mieter?",
	} {
		if got, _ := ask(t, question); !strings.HasPrefix(got, Refusal) {
			t.Errorf("%s: %q, want %q at its beginning", question, got, Refusal)
		}
	}
}

func TestATitleIsNoAnswerWhateverItsDigits(t *testing.T) {
	src := source{
		passage: passage{
			Section: "3.1 Roof › Cost in 2024",
			Text: "Building survey of 12 Mill Lane\n\n3.1 Roof\n\nCost in 2024\n\nThe roof of 12 Mill Lane costs " +
				"£3,400.\n\nDeposit £2,300",
		},
		document: document{Title: "Building survey of 12 Mill Lane"},
	}
	var said []string
	for _, s := range pileOf([]source{src}).sentences {
		if !s.heading {
			said = append(said, s.text)
		}
	}
	if got, want := strings.Join(said, " | "), "The roof of 12 Mill Lane costs £3,400. | Deposit £2,300"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func BenchmarkAnswer(b *testing.B) {
	d := &desk{numbers: map[string]int{}}
	var passages []passage
	for _, p := range library {
		for i, passage := range p.passages {
			passage.N, _ = d.show(p, i)["n"].(int)
			passages = append(passages, passage)
		}
	}
	t := newTurn(llm.Request{
		Messages: []llm.Message{{Role: llm.RoleUser, Text: "When was the roof renewed?"}}, Tools: tools,
	})
	t.results = []result{
		{tool: "read_document",
			out: output{document: document{DocID: "d1", Title: "Building survey", Passages: passages}}},
	}
	q := understand(t)
	for b.Loop() {
		if !compose(t, q, nil).supported {
			b.Fatal("refused")
		}
	}
}

func TestAMeasureIsMoreThanANumber(t *testing.T) {
	const question = "How large may a file be?"
	want := demanded(question)
	for sentence, met := range map[string]bool{
		"One file may have up to 50 MiB; a setting changes that.":         true,
		"A file may have at most fifty megabytes.":                        true,
		"The size of a file is unlimited.":                                true,
		"Each file goes through three stages: uploaded, parsed, indexed.": false,
		"A file that is on its way can be cancelled.":                     false,
		"A file is refused (with status 413).":                            false,
	} {
		if want.met(sentence, question) != met {
			t.Errorf("%q answers %q: want %v", sentence, question, met)
		}
	}
}

func TestWhatIsCountedStandsInTheSameClause(t *testing.T) {
	analyser := text.NewAnalyser("en")
	w := word{typed: "questions", worth: map[string]float64{analyser.Terms("questions")[0]: 1}}
	for sentence, counted := range map[string]bool{
		"Each user can ask 100 questions in 24 hours.":                         true,
		"Questions: 100 a day.":                                                true,
		"KEEP_DAYS | 30 | gone so many days after the last question; 0: never": false,
	} {
		if counts(sentence, w, analyser) != counted {
			t.Errorf("%q counts questions: want %v", sentence, counted)
		}
	}
}
