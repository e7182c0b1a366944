package pdf

import (
	"strings"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text/english"
)

// leftOut lists the content of a document that its text doesn't have.
type leftOut []string

func (l *leftOut) count(n int, noun string) {
	if n > 0 {
		*l = append(*l, english.Count(n, noun))
	}
}

// note writes the list to the document's metadata.
func (l leftOut) note(x *corpus.Extracted) {
	if len(l) > 0 {
		x.Meta[corpus.MetaLeftOut] = strings.Join(l, ", ")
	}
}

// findRecurring marks running headers and footers, and drops their repeats and the numbers of lines.
func (l *leftOut) findRecurring(sheets []sheet, pages int) {
	findRunning(sheets, pages)
	findRepeated(sheets, pages)
	l.count(dropRepeats(sheets, pages), "repeated line")
	l.count(dropLineNumbers(sheets), "line number")
}
