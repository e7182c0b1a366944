package offline

import (
	"slices"
	"strings"
	"testing"

	"footnote/llm"
)

func TestATotalIsOfTwoQuotedAmounts(t *testing.T) {
	got, calls := ask(t, "What do the gutter clearing and the rewiring of the garage cost together?")
	last := calls[len(calls)-1]
	if last.Name != "calculate" || !strings.Contains(string(last.Arguments), `"180 + 2,150"`) {
		t.Errorf("calculated %s %s, want %q", last.Name, last.Arguments, "calculate")
	}
	// the desk has one result for all
	for _, words := range []string{
		"Gutter clearing £180 [", "Rewiring of the garage £2,150 [", "£180 + £2,150 = £187.5",
	} {
		if !strings.Contains(got, words) {
			t.Errorf("%q is not in %q, want %q in it", words, got, words)
		}
	}
	for _, question := range []string{
		"What do the gutter clearing and the carpet cost together?",          // only one is there
		"What do the gutter clearing and the monthly Miete cost altogether?", // no amount of one currency
	} {
		if got, calls := ask(t, question); !strings.HasPrefix(got, Refusal) || calls[len(calls)-1].Name == "calculate" {
			t.Errorf("%s: %q, want %q at its beginning", question, got, Refusal)
		}
	}
}

// calculated asks a question about documents with one section each, and returns what was calculated for it.
func calculated(t *testing.T, question string, texts ...string) (expression, answer string) {
	t.Helper()
	var papers []paper
	for i, text := range texts {
		name := string(rune('a'+i)) + ".md"
		papers = append(papers, paper{name, name, "Notes", []passage{{Section: "Section " + name, Text: text}}})
	}
	answer, calls := askIn(t, papers, question)
	if i := slices.IndexFunc(calls, func(c llm.Call) bool { return c.Name == "calculate" }); i >= 0 {
		expression = string(calls[i].Arguments)
	}
	return expression, answer
}

func TestFiguresThatAreCalculatedWith(t *testing.T) {
	for _, tt := range []struct{ text, question, want string }{
		{"A lift with the crane costs €95.", "What do five lifts with the crane cost?", "5 * 95"},
		{"Each lift costs up to €95. The crane is red.", "What do five lifts cost?", "5 * 95"},
		{"The lift costs 1.5 million euros.", "What is 20% of the price of the lift?", "20% of 1500000"},
		{"The kitchen took £18,500, and the lights took £6,200.", "What is 10% of the price of the lights?",
			"10% of 6,200"},
		{"The kitchen took £18,500, and the lights took £6,200.", "How much more did the kitchen cost than the lights?",
			"18,500 - 6,200"},
		{"The kitchen took £18,500, and the lights took £6,200.", "How much less did the lights cost than the kitchen?",
			"18,500 - 6,200"},
		{"The mill was built in 1850 and was closed in 1911.", "How old was the mill when it was closed?",
			"1911 - 1850"},
		{"The mill was built on 2 May 1850. It was closed on 1 May 1911.", "How old was the mill when it was closed?",
			"years(1850-05-02, 1911-05-01)"},
		{"The lease begins on 1 May 2024 and runs for three years.", "In which year does the lease end?", "2024 + 3"},
		{"The monthly rent is £1,150.", "How much rent is paid in two years?", "24 * 1,150"},
		{"The oven bakes 48 loaves an hour.", "How many loaves does the oven bake in six hours?", "6 * 48"},
	} {
		if got, answer := calculated(t, tt.question, tt.text); !strings.Contains(got, `"`+tt.want+`"`) ||
			!strings.Contains(answer, "[1]") {
			t.Errorf("%s %s calculated %s, want %s: %s", tt.text, tt.question, got, tt.want, answer)
		}
	}
}

func TestFiguresThatAreNotCalculatedWith(t *testing.T) {
	const lifts, lights, end = "What do five lifts cost?", "What is 10% of the price of the lights?",
		"In which year does the guarantee of the slates end?"
	for _, tt := range []struct{ question, text string }{
		{lifts, "A lift costs about €95."},
		{lifts, "A lift costs €90–95."},
		{lifts, "A lift costs €90 to €95."},
		{lifts, "A lift costs from €95."},
		{lifts, "A lift costs more than €95."},
		{lifts, "A lift costs €1.250."},
		{lifts, "A lift costs €1 250."},
		{lifts, "A lift costs €2m."},
		{lifts, "A lift does not cost €95."},
		{lifts, "A lift used to cost €95."},
		{lifts, "A lift cost €80 in 2010 and costs €95 now."},
		{lifts, "A lift costs €95 (€114 with tax)."},
		{lifts, "A lift costs €95. A lift costs members €70."},
		{lifts, "If you are early, a lift costs €70."},
		{lifts, "Ten lifts cost €800."},
		{lifts, "The lifts cost €800."},
		{lifts, "A lift costs €95 a day."},
		{lifts, "A lift door costs €95."},
		{lifts, "The door of the lift costs €95."},
		{lifts, "The crane and a lift cost €95."},
		{lifts, "A lift costs €95 less for members."},
		{lifts, "A lift costs €95 for two people."},
		{lifts, "A lift was €95 last year."},
		{"What is 10% of the price of the oven?", "The oven has a discount of €300."},
		{"How many days lie between the start and the end of the fair?",
			"The start of the fair was moved from 1 May 2020 to 4 May 2020. The end of the fair was on 9 May 2020."},
		{"How much more did the hall cost than the barn?", "The hall cost €500 more than planned. The barn cost €300."},
		{lights, "The kitchen took £18,500, and the lights were free."},
		{lights, "The kitchen and the lights took £24,700."},
		{lights, "The lights | £80 | £95"},
		{end, "The maker guarantees the slates for 30 years. The inspection of the roof starts on 14 June 2023."},
		{end, "The maker guarantees the slates for 30 years. It starts on 1 January 2023."},
		{
			end,
			"The maker guarantees the slates for 30 years. It starts on 14 June 2023 and ends when they are moved: " +
				"the guarantee of the slates ends at the latest in 2040.",
		},
		{"How old was the mill when it was closed?",
			"The door of the mill was built in 1850. The mill was closed in 1911."},
		{"How many days lie between the opening and the closing of the mill?",
			"The opening of the mill was in May 1850. The closing of the mill was on 1 May 1911."},
		{"How much more does the kitchen cost than the rent?", "The kitchen costs £800. The rent is £1,150 a month."},
		{"How much heavier is the bell than the organ?", "The bell weighs 5 tonnes. The organ weighs 700 kilos."},
		{"What percentage of the rent is the deposit?", "The rent is £1,150. The deposit is £2,300 a year."},
		{"What is 20% of the grant used for?",
			"The county gave a grant of £48,000. 20% of the grant is used for fees."},
		{"How much higher is the tower than the roof?",
			"The tower is 40 metres high. The roof is 30 metres high. The tower is 8 metres higher than the roof."},
		{"What does a berth cost for a year?", "A berth costs €12 a week."},
		{"How many loaves does the oven bake in six days?", "The oven bakes 48 loaves an hour."},
	} {
		if got, answer := calculated(t, tt.question, tt.text); got != "" {
			t.Errorf("%s %s calculated %s: %s, want nothing", tt.text, tt.question, got, answer)
		}
	}
	if got, answer := calculated(t, lifts, "A lift costs €95. The crane is red.",
		"A lift costs €80. The crane is blue."); got != "" {
		t.Errorf("two documents that differ: %s: %s, want nothing", got, answer)
	}
}
