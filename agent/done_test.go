package agent

import (
	"slices"
	"testing"

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
	if a := sums.answer(
		asks("What is 12% of 3400?"),
	).answer(); !slices.Equal(a.Unsupported, []string{"I searched the web."}) || a.Confidence != 0.4 {
		t.Errorf("beside a sum: unsupported %q, confidence %v, want the sentence and 0.4", a.Unsupported, a.Confidence)
	}
	for _, tt := range []struct {
		said   string
		done   []scripted.Reply
		denied bool
	}{
		{"I searched the web and all 2 documents.", searched, true},
		{"I searched all 2 documents.", searched, false},
		{"I searched all 14 documents.", searched, true},
		{"I searched all documents.", nothing, true},
		{"I read all documents, which do not mention more.", searched, true},
		{"I read all documents, which do not mention more.", both, false},
		{"None of the other documents mention this.", nothing, true},
		{"The documents do not say who decided it.", searched, true},
		{"The documents do not say how holiday is counted.", searched, false},
		{"The documents do not mention dragons.", searched, true},
		{"I could not find any further details.", searched, false},
		{"There is no information about who keeps the dragons.", searched, true},
		{"There is no information about holiday in other years.", searched, false},
		{"The staff handbook does not mention dragons.", nothing, false},
		{"The documents do not mention dragons.", both, false},
		{"Die Dokumente enthalten keine Angaben zu Drachen.", searched, false}, // the words can't be compared
	} {
		h := newHouse(t, scripted.New(append(slices.Clone(tt.done), says(goodAnswer+" "+tt.said))...))
		a := h.answer(asks("How many days of holiday are there?")).answer()
		if got := slices.Contains(a.Unsupported, tt.said); got != tt.denied || (a.Confidence == 1) == tt.denied {
			t.Errorf("%q after %d calls: unsupported %q, confidence %v in %q; want it unsupported: %v", tt.said,
				len(tt.done), a.Unsupported, a.Confidence, a.Markdown, tt.denied)
		}
	}
}
