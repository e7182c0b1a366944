package agent

import (
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/ground"
	"github.com/footnote/footnote/e2e/scripted"
)

func TestAnswerOfResultsAloneStands(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"The difference is £200,000.", "The increase is £200,000.", "It is 200,000 more."} {
		h := newHouse(t, stubborn(calls(call("calculate", `{"expression":"2300000-2100000"}`)), said))
		a := h.answer(asks("How far apart are £2,300,000 and £2,100,000?")).answer()
		if a.Markdown != said || len(a.Unsupported) > 0 || a.Confidence != ground.UncheckedConfidence {
			t.Errorf("answer %q with confidence %v, unsupported %q; want %q with %v", a.Markdown, a.Confidence,
				a.Unsupported, said, ground.UncheckedConfidence)
		}
	}
}

// The result of a calculation needs no footnote beside passages that a search found.
func TestAnswerOfResultsAloneStandsAfterASearch(t *testing.T) {
	t.Parallel()
	const said = "The difference is 3."
	calculate := calls(call("calculate", `{"expression":"34-31"}`))
	h := newHouse(t, scripted.New(calls(search("holiday")), calculate, says(said)))
	a := h.answer(asks("How far apart are 34 and 31 days of holiday?")).answer()
	if a.Markdown != said || len(a.Unsupported) > 0 || a.Confidence < 0.5 {
		t.Errorf("answer %q with confidence %v, unsupported %q; want %q", a.Markdown, a.Confidence, a.Unsupported, said)
	}
}

// What an answer says of the run has to be what the run's log says.
func TestWhatAnAnswerSaysWasDoneIsHeldAgainstTheLog(t *testing.T) {
	t.Parallel()
	read := func(id string) scripted.Reply { return calls(call("read_document", `{"doc_id":"`+id+`"}`)) }
	both := []scripted.Reply{calls(search("holiday")), read("Staff handbook"), read("Building survey of 12 Mill Lane")}
	searched, nothing := []scripted.Reply{calls(search("holiday"))}, []scripted.Reply{read("Staff handbook")}
	sums := newHouse(
		t, stubborn(calls(call("calculate", `{"expression":"3400*0.12"}`)), "12% of 3400 is 408. I searched the web."),
	)
	if a := sums.answer(asks("What is 12% of 3400?")).answer(); !slices.Equal(a.Unsupported,
		[]string{"I searched the web."}) ||
		!slices.Equal(a.Notes, []string{"The run did no such thing: “I searched the web.”"}) {
		t.Errorf("beside a sum: unsupported %q with notes %q, want the sentence about the web", a.Unsupported, a.Notes)
	}
	const stays, unsupported, denied = "stays", "is unsupported", "is denied"
	for _, tt := range []struct {
		said string
		done []scripted.Reply
		want string
	}{
		{"I searched the web and all 2 documents.", searched, denied},
		{"I also searched the web and read 14 registers, and found nothing else.", searched, denied},
		{"I did not search the web.", searched, stays},
		{"I did not search the web, and the king keeps seven dragons in the cellar.", searched, unsupported},
		{"I searched all 2 documents.", searched, stays},
		{"I searched all 14 documents.", searched, denied},
		{"I searched all documents.", nothing, denied},
		{"I read all documents, which do not mention more.", searched, denied},
		{"I read all documents, which do not mention more.", both, stays},
		{"None of the other documents mention this.", nothing, unsupported},
		{"The documents do not say who decided it.", searched, unsupported},
		{"The documents do not say how holiday is counted.", searched, stays},
		{"The documents do not mention dragons.", searched, unsupported},
		{"I could not find any further details.", searched, stays},
		{"Based on what just went down last night (April 4, 2025), I give you:", searched, stays},
		{"I read 14 registers.", searched, denied},
		{"There is no information about who keeps the dragons.", searched, unsupported},
		{"There is no information about holiday in other years.", searched, stays},
		{"The staff handbook does not mention dragons.", nothing, stays},
		{"The documents do not mention dragons.", both, stays},
		{"Die Dokumente enthalten keine Angaben zu Drachen.", searched, stays}, // the words can't be compared
	} {
		h := newHouse(t, scripted.New(append(slices.Clone(tt.done), says(goodAnswer+" "+tt.said))...))
		a := h.answer(asks("How many days of holiday are there?")).answer()
		got, sure := stays, true
		switch {
		case len(a.Notes) > 0:
			got, sure = denied, false
		case slices.Contains(a.Unsupported, tt.said):
			got, sure = unsupported, false
		}
		if got != tt.want || (a.Confidence == 1) != sure || !strings.HasSuffix(a.Markdown, tt.said) {
			t.Errorf("%q after %d calls %s: unsupported %q, confidence %v, notes %q in %q; want that it %s", tt.said,
				len(tt.done), got, a.Unsupported, a.Confidence, a.Notes, a.Markdown, tt.want)
		}
	}
}

// Sentences that the log denies stay in the answer, and one that a passage holds is not denied.
func TestAnswerKeepsSentencesThatLogDenies(t *testing.T) {
	t.Parallel()
	const said = "I read all 77 documents [1]. There are 28 days of paid holiday a year [1].\n\n" +
		"- I searched the web.\n\n" +
		"Based on what just went down last night (April 4, 2025), I give you:\n\n- Unused days may be carried over " +
		"until 31 March of the following year [1]."
	a := newHouse(t, scripted.New(calls(search("holiday")), says(said))).
		answer(asks("How many days of holiday are there?")).answer()
	want := []string{
		"The run did no such thing: “I read all 77 documents.”", "The run did no such thing: “I searched the web.”",
	}
	if ground.WithoutMarkers(a.Markdown) != ground.WithoutMarkers(said) || !slices.Equal(a.Notes, want) {
		t.Errorf("answer %q with notes %q, want all of it with notes %q", a.Markdown, a.Notes, want)
	}
}
