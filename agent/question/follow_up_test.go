package question

import (
	"strings"
	"testing"
)

// TestQuestionsThatLeanOnTheLastAnswer reads questions with whether a person takes them for one about the last answer.
// None of the others may be taken for one, and no question at all where nothing was said before.
func TestQuestionsThatLeanOnTheLastAnswer(t *testing.T) {
	t.Parallel()
	missed := 0
	for line := range strings.Lines(readTestdata(t, "follow_ups.tsv")) {
		field := strings.Split(strings.TrimSpace(line), "\t")
		question := field[2]
		a := Analyse(question, true)
		leans := a.Type == FollowUp || a.Reference == Rework
		switch want := field[1] == "yes"; {
		case leans && !want:
			t.Errorf("analyse(%q) = %s, reference %d: it stands by itself", question, a.Type, a.Reference)
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

func TestAPointingQuestionIsStillSearchedFor(t *testing.T) {
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

func TestTalkIsNotAboutTheLastAnswer(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"What can you do?", "Who are you?", "Thank you very much!"} {
		if a := Analyse(said, true); a.Type != General || a.Reference != byItself {
			t.Errorf("analyse(%q) = %s, reference %d; want %s and %d", said, a.Type, a.Reference, General, byItself)
		}
	}
}

func TestWhatALaterQuestionCanGoOnFrom(t *testing.T) {
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
