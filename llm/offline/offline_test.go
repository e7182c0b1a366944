package offline

import (
	"regexp"
	"strings"
	"testing"
)

func TestTryAll(t *testing.T) {
	for _, qs := range [][]string{
		{"What is the condition of the roof?"}, {"How much does the flashing cost?"}, {"When was the boiler installed?"}, {"When was the roof renewed?"},
		{"How many days of holiday do I get?"}, {"How much vacation do employees have?"}, {"Who must agree when I work from abroad?"}, {"How do I claim expenses?"}, {"Why is the kitchen wall damp?"},
		{"Wie hoch ist die Miete?"}, {"Wann muss ich die Miete zahlen?"}, {"Welche Kündigungsfrist gilt?"}, {"富士山の標高は？"},
		{"What is the capital of France?"}, {"What is the warranty of the Berlin roof?"}, {"How tall is the Eiffel Tower?"}, {"What does the handbook say about parental leave?"}, {"Who won the 2018 world cup?"},
		{"What is 15% of 1,250?"}, {"12 * (3+4)"}, {"Summarise Survey.pdf"}, {"Summarize the staff handbook"}, {"Which documents do I have?"}, {"hello"}, {"thanks!"},
		{"What is the condition of the roof?", "When was it last renewed?"}, {"How do I claim expenses?", "Tell me more about the second one"}, {"When was the boiler installed?", "How long does it last?"},
		{"What is the gutter clearing cost?"}, {"Compare the cost of flashing and rewiring"}, {"Summarise my documents"}, {"what is the handbook about?"}, {"Is remote work allowed?"}, {"When do I need a doctor's certificate?"},
	} {
		a, calls := ask(t, qs...)
		t.Logf("Q %s\n", strings.Join(qs, " → "))
		for _, c := range calls {
			t.Logf("    %s %s", c.Name, c.Arguments)
		}
		t.Logf("  A %s", regexp.MustCompile(`\n`).ReplaceAllString(a, "\n    "))
	}
}
