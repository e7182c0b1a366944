package agent

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

const (
	poorRoof = "The roof covering is in poor condition"
	renewed  = "The roof was last renewed in 1987 by Harper & Sons"
)

// roofPassage is where reading the survey shows the number of the passage about the roof.
var roofPassage = regexp.MustCompile(`\[(\d+)\] \(b3|"n":(\d+),"block_id":"b3"`)

func TestEachSentenceIsJudgedByItsOwnFootnotes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, says  string
		unsupported []string
		confidence  float64
	}{
		{"all is borne out", poorRoof + " [1]. " + renewed + ".[1]", nil, 1},
		{"an invention before the full stop", poorRoof + " [1]. The king keeps dragons in the cellar [1].",
			[]string{"The king keeps dragons in the cellar."}, 0.5},
		{"and behind it without a space", poorRoof + ".[1] The chimney was replaced in 1850.[1]",
			[]string{"The chimney was replaced in 1850."}, 0.5},
		{"and without a footnote", "The walls are fine. Pigs fly over the moon. Cows sing. " + poorRoof + " [1].",
			[]string{"The walls are fine.", "Pigs fly over the moon.", "Cows sing."}, 0.25},
		{"a footnote covers what stands before it in its paragraph",
			poorRoof + ". Several slates are missing on the north slope. The lead flashing is cracked [1].", nil, 1},
		{"but not in another", "The roof was last renewed in 1987.\n\n" + poorRoof + " [1].",
			[]string{"The roof was last renewed in 1987."}, 0.5},
		{"a sentence that is said again", poorRoof + " [1]. " + poorRoof + ".", nil, 1},
		{"nor behind it", poorRoof + " [1]. Dragons live in the cellar.", []string{"Dragons live in the cellar."}, 0.5},
		{"the line that leads to a list covers it",
			"The survey found this [1]:\n\n- the roof covering is in poor condition\n- several slates are missing on " +
				"the north slope\n- dragons in the cellar", []string{"dragons in the cellar"}, 0.75},
		{"each part by its own footnote", poorRoof + " [1] and the king keeps dragons in the cellar [1].",
			[]string{poorRoof + " and the king keeps dragons in the cellar."}, 0},
		{"what stands behind the last", poorRoof + " [1], and the king keeps seven dragons.",
			[]string{poorRoof + ", and the king keeps seven dragons."}, 0},
		{"a part that says nothing alone",
			"According to the survey [1], the roof was last renewed in 1987 [1].", nil, 1},
		{"what is missing", poorRoof + " [1]. The survey does not say who paid for it.", nil, 1},
		{"the opposite", poorRoof + " [1]. The roof was not renewed in 1987 by Harper & Sons [1].",
			[]string{"The roof was not renewed in 1987 by Harper & Sons."}, 0.5},
		{"another unit", poorRoof + " [1]. We recommend replacing the flashing within twelve years [1].",
			[]string{"We recommend replacing the flashing within twelve years."}, 0.5},
		{"words about documents alone say nothing", poorRoof + " [1]. The document states this [1].",
			[]string{"The document states this."}, 0.5},
		{"nor do they without a footnote", "The document states this. " + poorRoof + " [1].", nil, 1},
		{"beside others they need no passage",
			"According to the document [1], the roof was last renewed in 1987 [1].", nil, 1},
		{"a word that states nothing", "Yes [1]. " + poorRoof + " [1].", nil, 1},
		{"the title is known",
			"The building survey of 12 Mill Lane says that the roof covering is in poor condition [1].", nil, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, scripted.NewScript(func(r scripted.Request) scripted.Reply {
				for _, m := range r.Messages {
					if found := roofPassage.FindStringSubmatch(m.Text); found != nil {
						return says(strings.ReplaceAll(tt.says, "[1]", "["+found[1]+found[2]+"]"))
					}
				}
				if r.Turn() > 2 {
					return says("The passage about the roof was not shown.")
				}
				return calls(call("read_document", `{"doc_id":"Building survey of 12 Mill Lane"}`))
			}))
			got := h.answer(asks("What does the survey say about the roof?"))
			if tt.confidence == 0 { // nothing in it is sure, but a part of it is
				if got.done().Error != nil {
					t.Fatalf("it was held back: %+v, want none", got.done())
				}
			}
			if a := got.answer(); !slices.Equal(a.Unsupported, tt.unsupported) || a.Confidence != tt.confidence {
				t.Errorf("%q: unsupported %q, confidence %v: %s; want %q and %v",
					a.Markdown, a.Unsupported, a.Confidence, a.SelfEvaluation, tt.unsupported, tt.confidence)
			}
		})
	}
}

func TestAnAnswerThatOnlySpeaksOfDocumentsIsHeldBack(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"The documents say so [1].", "Yes, according to the sources [1].", "Yes [1]."} {
		model := scripted.New(calls(search("paid holiday entitlement")), says(said), says(said))
		h := newHouse(t, model)
		got := h.answer(asks("Are there 99 days of paid holiday?"))
		if done := got.done(); done.Status != chat.RunCitationValidationFailed {
			a := all[chat.Answer](got)
			t.Errorf("%q: status = %s, want %s; answers = %+v", said, done.Status, chat.RunCitationValidationFailed, a)
		}
	}
}
