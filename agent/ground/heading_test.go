package ground

import (
	"slices"
	"testing"
)

func TestAHeadingStatesSomethingOrNamesATopic(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"The king keeps seven dragons in the cellar", "Seven dragons live in the cellar", "The roof leaks.", "2. The roof is in poor condition",
		"Seven Dragons Live In The Cellar", "Staff can carry over five days", "The mill was built in 1904", "Das Dach ist in schlechtem Zustand",
	} {
		if !statesMore(s) {
			t.Errorf("%q is taken for a topic, want a statement", s)
		}
	}
	for _, s := range []string{
		"Roof", "Holiday entitlement", "Condition of the roof", "Key findings and next steps", "What the survey says about the roof", "Work carried out in 1904",
		"Keep in mind", "Things that are missing from the house", "Payments due in May 2024", "How is holiday counted?", "Costs and repairs of the roof", "Summary:",
		"1.2 Terms used in this document", "Holiday for staff who live abroad", "Zustand des Daches", "History of the war in Europe",
	} {
		if statesMore(s) {
			t.Errorf("%q is taken for a statement, want a topic", s)
		}
	}
}

func TestAHeadingThatStatesSomethingIsAClaim(t *testing.T) {
	t.Parallel()
	const answer = "## Seven dragons live in the cellar\n\nThe cellar was built in 1904 [1].\n\n## History\n\nIt is old [2].\n\n**The king lives under the mill house**\n"
	var said []string
	all := claims(answer)
	for _, c := range all {
		said = append(said, c.Text)
	}
	want := []string{"Seven dragons live in the cellar", "The cellar was built in 1904.", "It is old.", "The king lives under the mill house"}
	if !slices.Equal(said, want) {
		t.Fatalf("claims = %q, want %q", said, want)
	}
	if got := all[0].Nearby; !slices.Equal(got, []int{2, 1}) {
		t.Errorf("the heading is covered by %v, want [2 1]", got)
	}
	if got := WithoutSentences(answer, want[:1]); got != "The cellar was built in 1904.\n\nIt is old.\n\nThe king lives under the mill house\n\nHistory" {
		t.Errorf("WithoutSentences = %q", got)
	}
}
