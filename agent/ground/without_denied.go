package ground

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"footnote/corpus/text"
)

// itemMark is what begins an item of a list.
var itemMark = regexp.MustCompile(`^\s*(?:[-*+•]|\d{1,3}[.)])\s+`)

// WithoutDenied returns an answer without the sentences that say of the run what its log does not hold, and these
// sentences. Its footnotes stand in it as numbers of sources, for the Writer to read. Sentences that a footnote's
// passage holds stay: they quote somebody else's first person.
func (e *Evidence) WithoutDenied(answer string) (left string, denied []string) {
	if e.given != "" {
		return answer, nil
	}
	for _, c := range e.ClaimsOf(answer) {
		if !c.isCode && c.heading == 0 && e.deniesLog(c.Text) && !(len(c.Numbers) > 0 && e.IsSupported(c)) {
			denied = append(denied, c.Text)
		}
	}
	if len(denied) == 0 {
		return answer, nil
	}
	var b strings.Builder
	for _, piece := range splitBlocks(answer) {
		switch piece.kind {
		case textLine, itemLine, rowLine:
			b.WriteString(e.withoutSentences(piece.text, denied))
		default:
			b.WriteString(piece.text)
		}
	}
	return strings.TrimSpace(b.String()), denied
}

// withoutSentences returns a block without some of its sentences and their footnotes; nothing if no other sentence is
// in it. Footnotes of the sentences that stay are written as the numbers of their sources, since the citer gives them
// new numbers.
func (e *Evidence) withoutSentences(piece string, dropped []string) string {
	plain, marks := liftFootnotes(piece)
	runes := []rune(plain)
	spans := text.Sentences(plain)
	var b strings.Builder
	kept, from := false, 0
	for i, span := range spans {
		end := len(runes)
		if i+1 < len(spans) {
			end = spans[i+1][0]
		}
		var own []mark
		for len(marks) > 0 && (i == len(spans)-1 || marks[0].at <= end) {
			own, marks = append(own, marks[0]), marks[1:]
		}
		said := claimText(string(runes[span[0]:span[1]]))
		if slices.Contains(dropped, said) {
			if i == 0 {
				b.WriteString(itemMark.FindString(plain))
			}
			from = end
			continue
		}
		kept = kept || said != ""
		for _, m := range own {
			at := min(max(m.at, from), end)
			b.WriteString(string(runes[from:at]))
			if from = at; m.number <= len(e.citer.SourceNumbers) {
				b.WriteString(" [" + strconv.Itoa(e.citer.SourceNumbers[m.number-1]) + "]")
			}
		}
		b.WriteString(string(runes[from:end]))
		from = end
	}
	if !kept {
		return ""
	}
	out := b.String()
	if line := strings.TrimRight(piece, "\r\n"); !strings.HasSuffix(out, "\n") {
		out = strings.TrimRight(out, " \t") + piece[len(line):]
	}
	return out
}
