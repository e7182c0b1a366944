package offline

import (
	"strings"
	"testing"
)

func TestAComparisonNeedsBothHalves(t *testing.T) {
	for _, c := range []struct{ question, missing string }{
		{"Compare the cost of the flashing with that of the windows.", "windows"},
		{"Which is more expensive, the flashing or the carpet?", "carpet"},
		{"What is the difference between remote work and overtime?", "overtime"},
		{"Is the expected life of the boiler longer than that of the carpet?", "carpet"},
	} {
		got, _ := ask(t, c.question)
		if !strings.HasPrefix(got, Refusal) ||
			!strings.HasSuffix(
				got, "Nothing that I found is about “"+c.missing+"”, so there is nothing to compare with.",
			) {
			t.Errorf("%s: %q, want %q at its beginning", c.question, got, Refusal)
		}
	}
	for _, question := range []string{"Who won the cup, Brazil or Italy?", "Compare the carpet with the curtains."} {
		if got, _ := ask(t, question); !strings.HasPrefix(got, Refusal) || strings.Contains(got, "to compare with") {
			t.Errorf("nothing of it is there: %s: %q; want %q at its beginning and no %q in it",
				question, got, Refusal, "to compare with")
		}
	}
}

func TestAComparisonQuotesBothHalves(t *testing.T) {
	for question, want := range map[string][]string{
		"Which costs more, the flashing or the gutter clearing?":                     {"£3,400", "£180"},
		"Compare the roof's condition with its history.":                             {"poor condition", "1987"},
		"What is the difference between remote work and the holiday of an employee?": {"three days a week", "28 days"},
	} {
		got, _ := ask(t, question)
		for _, words := range want {
			if !strings.Contains(got, words) {
				t.Errorf("%s: %q is not in %q, want %q in it", question, words, got, words)
			}
		}
	}
}
