package doctext

import (
	"strings"

	"github.com/footnote/footnote/corpus"
)

// Section begins a section of an outline. After the first one headings only show where sections begin: the path above
// blocks has the outline's titles. PDFs have outlines that know more than the size of letters does. level counts from
// 1.
func (w *Writer) Section(level int, title string) {
	w.End()
	w.outlined = true
	w.enterSection(level, title)
}

// LeaveHeadings says that what comes next stands below none of the headings so far. A slide without a title, for one,
// does not belong to the slide before.
func (w *Writer) LeaveHeadings() {
	w.End()
	w.leaveSections(0)
	w.above = nil
}

// enterSection puts a title on the path, in place of those of its level and below.
func (w *Writer) enterSection(level int, title string) {
	w.leaveSections(level)
	w.path = append(w.path, heading{level, shortenTitle(strings.Join(strings.Fields(title), " "))})
	w.above = w.pathTitles()
}

// leaveSections takes the titles of a level and below off the path; 0 takes all.
func (w *Writer) leaveSections(level int) {
	for len(w.path) > 0 && w.path[len(w.path)-1].level >= level {
		w.path = w.path[:len(w.path)-1]
	}
}

// headingsAbove returns the titles above b and, when b is a heading, makes it the one below which the next blocks
// stand. The slice that is returned is shared by all blocks of a section, and never changed afterwards: enterSection
// makes a new one.
func (w *Writer) headingsAbove(b corpus.Block, body string) []string {
	switch {
	case b.Kind != corpus.BlockHeading:
		return w.above
	case w.outlined:
		return w.above[:max(0, len(w.above)-1)] // its own title is the last
	}
	w.leaveSections(b.Level)
	titles := w.pathTitles()
	w.enterSection(b.Level, body)
	return titles
}

func (w *Writer) pathTitles() (titles []string) {
	for _, h := range w.path {
		titles = append(titles, h.title)
	}
	return titles
}

// shortenTitle cuts a title to what the blocks below it repeat.
func shortenTitle(title string) string {
	n := 0
	for i := range title {
		if n++; n > maxTitle {
			return strings.TrimSpace(title[:i]) + "…"
		}
	}
	return title
}
