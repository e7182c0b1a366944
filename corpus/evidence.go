package corpus

import (
	"fmt"
	"sort"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/quote"
)

// CheckEvidence verifies a citation: whether the text with its hash has the quoted words at their offsets and page.
// found is false if the document no longer exists. Among several problems the most severe is reported. blocks are
// those of text, for the pages.
func CheckEvidence(c chat.EvidenceCitation, found bool, sha256, text string, blocks []Block) chat.EvidenceResult {
	r := chat.EvidenceResult{Number: c.Number, Title: c.Title, State: chat.EvidenceChanged}
	runes := []rune(text)
	switch {
	case c.Check == chat.CheckNotFound || c.Quote == "":
		r.State, r.Detail = chat.EvidenceMissing, "The quote was not found in the document when the answer was created."
	case !found:
		r.State, r.Detail = chat.EvidenceMissing, "No document found with this hash."
	case sha256 != c.SHA256:
		r.Detail = "The document has changed, or the hash was altered."
		if _, _, check := quote.Find(runes, c.Quote, 0, 0); check == chat.CheckVerified {
			r.Detail += " It still contains the quote."
		}
	case c.Start < 0 || c.End > len(runes) || c.Start >= c.End || string(runes[c.Start:c.End]) != c.Quote:
		r.Detail = "The quote doesn't match the text at its position."
	case !onPage(blocks, c.Start, c.Page):
		r.Detail = fmt.Sprintf("The quote is not on page %d.", c.Page)
	default:
		r.State = chat.EvidenceVerified
	}
	return r
}

// onPage reports whether an offset of the text is on a page: that of its block, up to that of the next block if it
// may continue there.
func onPage(blocks []Block, at, page int) bool {
	i := sort.Search(len(blocks), func(i int) bool { return blocks[i].End > at })
	if i == len(blocks) {
		return false
	}
	last := blocks[i].Page
	if i+1 < len(blocks) {
		last = max(last, blocks[i+1].Page)
	}
	return blocks[i].Page <= page && page <= last
}
