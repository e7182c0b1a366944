package grid

import (
	"regexp"
	"strings"

	"github.com/footnote/footnote/chat"
)

// failed is a cell that could not be filled.
func failed(err error) chat.GridCell {
	return chat.GridCell{State: chat.CellFailed, Trouble: chat.MessageOf(err)}
}

// answerOf is what a run says, as a cell. Only what is cited was found. An answer without a quote is CellAbsent,
// whatever its words are: a value that stands in no document is no value. The offline mode's answers are quotes, of
// which a cell has room for one.
func answerOf(run chat.Run, log *chat.Transcript) chat.GridCell {
	cell := chat.GridCell{State: chat.CellAbsent, RunID: run.ID, Citations: []chat.Citation{}}
	switch {
	case run.Status != chat.RunCompleted || log.Answer == nil:
		cell.State, cell.Trouble = chat.CellFailed, log.Failure().Message
		return cell
	}
	for _, cite := range log.Answer.Citations {
		if cite.Quote != "" && len(cell.Citations) < maxQuotes {
			cell.Citations = append(cell.Citations, cite)
		}
	}
	// Nothing was cited, so nothing was found, whatever the words are.
	if len(cell.Citations) == 0 {
		return cell
	}
	cell.State = chat.CellFound
	if log.Answer.Finding == chat.FindingClosest {
		cell.State = chat.CellClosest
	}
	if log.Answer.Finding != "" { // an answer made of quotes: the first is the best
		cell.Citations = cell.Citations[:1]
		cell.Text = shorten(cell.Citations[0].Quote)
		return cell
	}
	cell.Text = shorten(plain(log.Answer.Markdown))
	return cell
}

// marks are footnotes, and signs of Markdown that a cell does without.
var marks = regexp.MustCompile(`\s*\[\d+\]|\*\*|^[#>\-*]+\s+`)

// plain is an answer's first paragraph without footnotes and signs of Markdown.
func plain(markdown string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(markdown), "\n\n")
	return marks.ReplaceAllString(first, "")
}

// shorten is a text on one line with at most maxText characters.
func shorten(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= maxText {
		return string(runes)
	}
	return string(runes[:maxText-1]) + "…"
}
