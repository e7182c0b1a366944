package agent

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/cite"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// A model that writes no footnotes, as small ones do, gets one where a passage supports its sentence.
func TestFootnotesAreAddedForModelWithoutFootnotes(t *testing.T) {
	t.Parallel()
	read := calls(call("read_document", `{"doc_id":"Staff handbook"}`))
	for _, tt := range []struct {
		name, says, want string // [N]: whichever passage it is
		unsupported      int
		citations        int
	}{
		{"a sentence", "There are 28 days of paid holiday a year.",
			"There are 28 days of paid holiday a year [N].", 0, 1},
		{"without a full stop", "There are 28 days of paid holiday a year",
			"There are 28 days of paid holiday a year [N]", 0, 1},
		{"what no passage holds stays without one",
			"There are 28 days of paid holiday a year. The canteen closes at noon on Fridays.",
			"There are 28 days of paid holiday a year [N]. The canteen closes at noon on Fridays.", 1, 1},
		{"a list that is led to",
			"The handbook says:\n\n- There are 28 days of paid holiday a year.\n- Unused days may be carried over " +
				"until 31 March.",
			"The handbook says:\n\n- There are 28 days of paid holiday a year [N].\n- Unused days may be carried " +
				"over until 31 March [N].", 0, 2},
		{"a heading, code and a table",
			"## Paid holiday a year\n\n```\nThere are 28 days of paid holiday a year.\n```\n\n| What | Days " +
				"|\n|---|---|\n| Paid holiday a year | 28 days |\n\nUnused days may be carried over until 31 March.",
			"## Paid holiday a year\n\n```\nThere are 28 days of paid holiday a year.\n```\n\n| What | Days " +
				"|\n|---|---|\n| Paid holiday a year | 28 days [N] |\n\nUnused days may be carried over until 31 " +
				"March [N].", 0, 2},
		{"a wrong number is put right", "There are 28 days of paid holiday a year [77].",
			"There are 28 days of paid holiday a year [N].", 0, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHarness(t, scripted.New(read, says(tt.says), says(tt.says)))
			got := h.answer(asks("How many days of holiday are there?"))
			a := got.answer()
			if plain := cite.Footnote().ReplaceAllString(a.Markdown, "[N]"); plain != tt.want ||
				got.text() != a.Markdown {
				t.Errorf("answer = %q\nshown %q\nwant %q", a.Markdown, got.text(), tt.want)
			}
			if len(a.Unsupported) != tt.unsupported || len(a.Citations) != tt.citations {
				t.Errorf("%d citations, unsupported %q; want %v and %d citations",
					len(a.Citations), a.Unsupported, tt.unsupported, tt.citations)
			}
			for _, c := range a.Citations {
				if c.Check != chat.CheckVerified {
					t.Errorf("%q is %s, want %s", c.Quote, c.Check, chat.CheckVerified)
				}
			}
			if step := got.step("review"); !strings.Contains(step.Message, "footnote") {
				t.Errorf("message of the step = %q, want %q in it", step.Message, "footnote")
			}
		})
	}
}

func TestMostlyUngroundedAnswerIsWithheld(t *testing.T) {
	t.Parallel()
	const mostly = "There are 28 days of paid holiday a year. The canteen closes at noon on Fridays. Ada Brown hid " +
		"900 gold coins below the kitchen floor."
	for _, says2 := range []string{
		mostly, "There are 29 days of paid holiday a year.",
		"Employees are not entitled to 28 days of paid holiday a year.",
		"A year has holiday weather in paid hotels.", "Holiday.",
	} {
		h := newHarness(t, scripted.New(calls(search("holiday")), says(says2), says(says2)))
		if got := h.answer(
			asks("How many days of holiday are there?"),
		); got.done().Status != chat.RunCitationValidationFailed || got.text() != "" {
			t.Errorf("%q ended as %s and shows %q; want %s and nothing",
				says2, got.done().Status, got.text(), chat.RunCitationValidationFailed)
		}
	}
}
