package agent

import (
	"slices"
	"strings"
	"testing"

	"footnote/agent/ground"
	"footnote/e2e/scripted"
)

// What an answer says of the run has to be what the run's log says.
func TestWhatAnAnswerSaysWasDoneIsHeldAgainstTheLog(t *testing.T) {
	t.Parallel()
	read := func(id string) scripted.Reply { return calls(call("read_document", `{"doc_id":"`+id+`"}`)) }
	both := []scripted.Reply{calls(search("holiday")), read("Staff handbook"), read("Building survey of 12 Mill Lane")}
	searched, nothing := []scripted.Reply{calls(search("holiday"))}, []scripted.Reply{read("Staff handbook")}
	sums := newHouse(
		t, stubborn(calls(call("calculate", `{"expression":"3400*0.12"}`)), "12% of 3400 is 408. I searched the web."),
	)
	if a := sums.answer(asks("What is 12% of 3400?")).answer(); a.Markdown != "12% of 3400 is 408." ||
		!slices.Equal(a.Notes, []string{"Left out, for the run did no such thing: “I searched the web.”"}) {
		t.Errorf("beside a sum: %q with notes %q, want the sum alone and a note", a.Markdown, a.Notes)
	}
	const stays, unsupported, leftOut = "stays", "is unsupported", "is left out"
	for _, tt := range []struct {
		said string
		done []scripted.Reply
		want string
	}{
		{"I searched the web and all 2 documents.", searched, leftOut},
		{"I also searched the web and read 14 registers, and found nothing else.", searched, leftOut},
		{"I did not search the web.", searched, stays},
		{"I did not search the web, and the king keeps seven dragons in the cellar.", searched, unsupported},
		{"I searched all 2 documents.", searched, stays},
		{"I searched all 14 documents.", searched, leftOut},
		{"I searched all documents.", nothing, leftOut},
		{"I read all documents, which do not mention more.", searched, leftOut},
		{"I read all documents, which do not mention more.", both, stays},
		{"None of the other documents mention this.", nothing, unsupported},
		{"The documents do not say who decided it.", searched, unsupported},
		{"The documents do not say how holiday is counted.", searched, stays},
		{"The documents do not mention dragons.", searched, unsupported},
		{"I could not find any further details.", searched, stays},
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
		case !strings.Contains(a.Markdown, tt.said):
			got = leftOut
		case slices.Contains(a.Unsupported, tt.said):
			got, sure = unsupported, false
		}
		if got != tt.want || (a.Confidence == 1) != sure || (len(a.Notes) > 0) != (got == leftOut) {
			t.Errorf("%q after %d calls %s: unsupported %q, confidence %v, notes %q in %q; want that it %s", tt.said,
				len(tt.done), got, a.Unsupported, a.Confidence, a.Notes, a.Markdown, tt.want)
		}
	}
}

// What is left of an answer keeps its form and its footnotes, and a sentence that a passage holds is never left out.
func TestOnlyTheSentencesThatTheLogDeniesAreLeftOut(t *testing.T) {
	t.Parallel()
	const fact = "There are 28 days of paid holiday a year"
	for _, tt := range []struct{ question, said, want string }{
		{"How many days of holiday are there?", "I read all 77 documents [1]. " + fact + " [1].\n\n- Unused days may " +
			"be carried over until 31 March of the following year [1]. I also searched the web.\n- I searched the " +
			"web.\n\n| I searched the web |\n|-|\n| " + fact + " [1] |",
			fact + " [1].\n\n- Unused days may be carried " +
				"over until 31 March of the following year [2].\n\n| I searched the web |\n|-|\n| " + fact + " [1] |"},
		{"Hello!", "I searched the web.", ground.RefusalSentence + " I searched for: holiday. The nearest " +
			"headings are “Leave” in Handbook.md and “Sickness” in Handbook.md. If the document that says it is " +
			"missing " +
			"here, add it and ask again."},
	} {
		a := newHouse(t, scripted.New(calls(search("holiday")), says(tt.said))).answer(asks(tt.question)).answer()
		if a.Markdown != tt.want {
			t.Errorf("of %q is left\n%q, want\n%q", tt.said, a.Markdown, tt.want)
		}
	}
}
