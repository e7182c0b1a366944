package grid

import (
	"regexp"
	"strings"

	"github.com/footnote/footnote/chat"
)

// failed returns the cell for an error.
func failed(err error) chat.GridCell {
	return chat.GridCell{State: chat.CellFailed, Trouble: chat.MessageOf(err)}
}

// answerOf converts a run's answer to a cell. An answer without a citation is CellAbsent, whatever its text, since
// only a value in a document counts as found. Answers of the offline mode are quotes; a cell shows the first.
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
	// Without a citation nothing was found, whatever the text.
	if len(cell.Citations) == 0 {
		return cell
	}
	cell.State = chat.CellFound
	if log.Answer.Finding == chat.FindingClosest {
		cell.State = chat.CellClosest
	}
	if log.Answer.Finding != "" { // an answer made of quotes, the best first
		cell.Citations = cell.Citations[:1]
		cell.Text = shorten(cell.Citations[0].Quote)
		return cell
	}
	cell.Text = shorten(plain(log.Answer.Markdown))
	return cell
}

// marks matches footnotes and Markdown syntax that a cell omits.
var marks = regexp.MustCompile(`\s*\[\d+\]|\*\*|^[#>\-*]+\s+`)

// plain returns an answer's first paragraph without footnotes and Markdown syntax.
func plain(markdown string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(markdown), "\n\n")
	return marks.ReplaceAllString(first, "")
}

// shorten normalises a text to one line and truncates it to maxText characters.
func shorten(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= maxText {
		return string(runes)
	}
	return string(runes[:maxText-1]) + "…"
}
