package agent

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm/offline"
)

// Quotes of the offline model are in the documents, so none is marked as unsupported.
func TestQuotesOfTheOfflineModelAreSupported(t *testing.T) {
	t.Parallel()
	h := newHarness(t, offline.New(nil))
	h.add("diary.txt", "12 march\nBroad beans out under fleece. Mended the water butt.\n\n25 june\nNo rain for three "+
		"weeks. Carrying cans every second evening, the kohlrabi hates me.\n")
	h.add("wheel.md", "# Removing the sprocket\n\n1. Shift to the smallest sprocket.\n2. Open the *thru* axle of the "+
		"sprocket with a 6 mm key.\n3. Do not squeeze the lever while the sprocket is out.\n")
	h.add("prices.txt", "WHAT IT COSTS\nMonthly charge for the telephone plan ...... GBP 16.00\nTelephone connection "+
		"fee ........... GBP 20.00\n")
	for question, want := range map[string]string{
		"What hates the kohlrabi?":               "25 june No rain for three weeks.",
		"How do I remove the sprocket?":          "3. Do not squeeze",
		"What is the telephone connection fee? ": "Telephone connection fee ........... GBP 20.00",
	} {
		a := h.answer(asks(question)).answer()
		if !strings.Contains(a.Markdown, want) || len(a.Unsupported) != 0 {
			t.Errorf("%s: %q, unsupported %q; want %q in it and nothing unsupported", question, a.Markdown,
				a.Unsupported, want)
		}
	}
}
