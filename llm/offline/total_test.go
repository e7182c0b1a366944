package offline

import (
	"strings"
	"testing"
)

func TestATotalIsOfTwoQuotedAmounts(t *testing.T) {
	got, calls := ask(t, "What do the gutter clearing and the rewiring of the garage cost together?")
	last := calls[len(calls)-1]
	if last.Name != "calculate" || !strings.Contains(string(last.Arguments), `"180 + 2,150"`) {
		t.Errorf("calculated %s %s", last.Name, last.Arguments)
	}
	for _, words := range []string{"Gutter clearing £180 [", "Rewiring of the garage £2,150 [", "£180 + £2,150 = £187.5"} { // the desk has one result for all
		if !strings.Contains(got, words) {
			t.Errorf("%q is not in %q", words, got)
		}
	}
	for _, question := range []string{
		"What do the gutter clearing and the carpet cost together?",          // only one is there
		"What do the gutter clearing and the monthly Miete cost altogether?", // no amount of one currency
	} {
		if got, calls := ask(t, question); !strings.HasPrefix(got, Refusal) || calls[len(calls)-1].Name == "calculate" {
			t.Errorf("%s: %q", question, got)
		}
	}
}
