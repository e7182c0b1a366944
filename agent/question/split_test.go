package question

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/text"
)

// inShort formats parts as "query <- prerequisites".
func inShort(parts []chat.PlanPart) []string {
	var out []string
	for _, p := range parts {
		s := p.Query
		if len(p.DependsOn) > 0 {
			s += fmt.Sprintf(" <- %v", p.DependsOn)
		}
		out = append(out, s)
	}
	return out
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		question string
		want     []string // nil: the question itself
	}{
		{"Compare holidays and roofs", []string{"holidays", "roofs"}},
		{"Compare the valuations of 2023 and 2024", []string{"the valuations of 2023", "the valuations of 2024"}},
		{"Please compare the rent of the flat with the house",
			[]string{"the rent of the flat", "the rent of the house"}},
		{"What is the difference between leave and sickness in the handbook?",
			[]string{"leave in the handbook", "sickness in the handbook"}},
		{"Compare the boiler, the roof and the walls", []string{"the boiler", "the roof", "the walls"}},
		{"Slate versus lead?", []string{"Slate", "lead"}},
		{"How does slate differ from lead?", []string{"slate", "lead"}},
		{"Who renewed the roof and when did they finish it?",
			[]string{"Who renewed the roof", "when did they finish it <- [0]"}},
		{"Who renewed the roof and when did they do it?", nil}, // “when did they do it” says nothing by itself
		{"How many days of leave are there? What must I do when sick?",
			[]string{"How many days of leave are there", "What must I do when sick"}},
		// "why" alone has no subject
		{"How many days of leave are there; who grants them; and why?",
			[]string{"How many days of leave are there", "who grants them; and why <- [0]"}},
		{"Is the roof slate or tile and who checked it in 2020?",
			[]string{"Is the roof slate or tile", "who checked it in 2020 <- [0]"}},
		{"Compare the old and the new tariff", nil},                       // “the old” of what?
		{"Find a flat with a balcony and which costs less than 500", nil}, // a relative clause
		{"Is there a tenant who signed and who paid?", nil},               // clauses of the same kind
		{"How many days of paid holiday are there?", nil},
		{"What are slates and tiles?", nil},
		{"Which of both is better?", nil},
		{"Compare it with that", nil},
		{"Compare them", nil},
		{"What? Why? How? When? Who? Where?", nil},
		{"???", nil},
	} {
		want := tt.want
		if want == nil {
			want = []string{tt.question}
		}
		got := Split(tt.question, Analyse(tt.question, false))
		if diff := cmp.Diff(want, inShort(got)); diff != "" {
			t.Errorf("split(%q) (-want +got):\n%s", tt.question, diff)
		}
	}
	long := "Compare " + strings.Repeat("this and ", 1000) + "that"
	if got := Split(long, Analyse(long, false)); len(got) != 1 || len(got[0].Query) > 1100 {
		t.Errorf("a long question = %d parts, want 1", len(got))
	}
}

// TestQuestionsSplitIntoQuestions parses questions labelled with their number of parts. An undivided
// question is searched for as a whole; a wrong part retrieves irrelevant passages.
func TestQuestionsSplitIntoQuestions(t *testing.T) {
	t.Parallel()
	divided, whole := 0, 0
	for line := range strings.Lines(readTestdata(t, "compound_questions.tsv")) {
		field := strings.Split(strings.TrimSpace(line), "\t")
		question := field[2]
		want, err := strconv.Atoi(field[1])
		if err != nil {
			t.Fatal(err)
		}
		parts := Split(question, Analyse(question, false))
		switch {
		case len(parts) == want && want > 1:
			divided++
		case len(parts) == 1:
			whole++
		default:
			t.Errorf("split(%q) = %q, want %d parts", question, inShort(parts), want)
		}
		for _, p := range parts {
			said := wordsAt(p.Query)
			if a := languageFrom(said); len(parts) > 1 &&
				(contentOf(p.Query) == 0 || slices.Contains(a.conjunctions, said[0].word) ||
					slices.Contains(a.conjunctions, said[len(said)-1].word)) {
				t.Errorf("split(%q): part %q is not a question", question, p.Query)
			}
		}
	}
	// of 28 and 32; the two undivided ones join verbs instead of question words, or have a single content word
	if divided < 26 || whole > 34 {
		t.Errorf("%d questions divided, %d whole; want 26 and 34", divided, whole)
	}
}

// TestQuestionPartsAreComplete joins many phrases with conjunctions: no part may end in a preposition, an article or a
// conjunction, or lack content words.
func TestQuestionPartsAreComplete(t *testing.T) {
	t.Parallel()
	lefts := []string{
		"What is the notice period", "Who signed it", "Why would the cellar of", "What is the",
		"Where does the rent for", "Who and", "How", "What is the roof made of", "When did the boiler fail in",
		"Which of the", "What do you know about the", "Compare the roof and",
	}
	rights := []string{
		"how does it", "why", "what is the", "which of", "who signed for the", "when was the roof renewed", "how much",
		"where is it", "in which year", "why would the",
	}
	divided := 0
	for _, left := range lefts {
		for _, right := range rights {
			for _, joint := range []string{" and ", ", and ", " but ", " or also ", ", "} {
				q := left + joint + right + "?"
				parts := Split(q, Analyse(q, false))
				divided += len(parts) - 1
				for _, p := range parts {
					last := p.Query[strings.LastIndexByte(p.Query, ' ')+1:]
					if len(parts) > 1 &&
						(contentOf(p.Query) == 0 || text.IsStop(last, "en") && !pronoun().MatchString(last)) {
						t.Errorf("split(%q): part %q is incomplete", q, p.Query)
					}
				}
			}
		}
	}
	if divided == 0 {
		t.Errorf("no question was divided: got %v, want other than 0", divided)
	}
}

func readTestdata(t *testing.T, name string) string {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// TestReferencesToLastAnswer parses questions labelled by whether they refer to the last answer. No other
// question may be recognised as a reference, and none at all without earlier questions as context.
func TestReferencesToLastAnswer(t *testing.T) {
	t.Parallel()
	missed := 0
	for line := range strings.Lines(readTestdata(t, "follow_ups.tsv")) {
		field := strings.Split(strings.TrimSpace(line), "\t")
		question := field[2]
		a := Analyse(question, true)
		leans := a.Type == FollowUp || a.Reference == Rework
		switch want := field[1] == "yes"; {
		case leans && !want:
			t.Errorf("analyse(%q) = %s, reference %d; want no reference", question, a.Type, a.Reference)
		case !leans && want:
			missed++
			t.Logf("missed: %q", question)
		}
		if first := Analyse(question, false); first.Reference != byItself || first.Type == FollowUp {
			t.Errorf("analyse(%q) as a first question = %s, reference %d; want %d and other than %s",
				question, first.Type, first.Reference, byItself, FollowUp)
		}
	}
	if missed > 0 {
		t.Errorf("%d questions about the last answer were missed, want at most 0", missed)
	}
}

func TestQuestionWithReferenceIsSearchedFor(t *testing.T) {
	t.Parallel()
	for _, question := range []string{
		"When was it built?", "Is it insulated?", "Does it leak?", "Who signed it?", "Is it in Berlin?",
		"Do you recommend it?", "Explain that boiler", "And in Berlin?",
		"for tenants", "Translate this: The roof is good", "Shorten this\nThe roof is good", "Tell me more about that",
		"Search for it", "Look for it in the survey", "Find it in the survey", "Wer hat es gemacht?",
		"¿Cuánto cuesta eso?", "Combien ça coûte ?",
	} {
		if a := Analyse(question, true); a.Reference == Rework || a.Reference == AsksWhy {
			t.Errorf("analyse(%q): reference = %d: it is not about the last answer alone; want other than %d and "+
				"other than %d",
				question, a.Reference, Rework, AsksWhy)
		}
	}
}

func TestSmallTalkIsNotReferenceToAnswer(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"What can you do?", "Who are you?", "Thank you very much!"} {
		if a := Analyse(said, true); a.Type != General || a.Reference != byItself {
			t.Errorf("analyse(%q) = %s, reference %d; want %s and %d", said, a.Type, a.Reference, General, byItself)
		}
	}
}

func TestHasSubject(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]bool{
		"How old is the mill?": true, "When was it built?": true, "Open questions of the survey": true,
		"Open the roof survey": true, "Which clause covers hail?": true,
		"Open the document h.md": false, "Open h.md": false, "Open citation 1": false,
		"Explain that in simple terms": false, "Thanks!": false, "What is 12 * 4?": false, "Why?": false,
		"Tell me more about it": false, "Is there anything else?": false, "Go on": false, "Erzähl mir mehr " +
			"davon": false,
		"And the damp?": true,
	} {
		if got := HasSubject(said); got != want {
			t.Errorf("%q has a subject: got %v, want %v", said, got, want)
		}
	}
}
