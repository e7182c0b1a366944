package doctext

import (
	"strings"

	"github.com/footnote/footnote/corpus"
)

// Section begins a section of an outline. After the first call, the heading path of blocks comes from the outline,
// and headings only mark where its sections begin. The outline of a PDF is more reliable than the size of its
// letters. level starts at 1.
func (w *Writer) Section(level int, title string) {
	w.End()
	w.outlined = true
	w.enterSection(level, title)
}

// LeaveHeadings clears the heading path for the following blocks. For example, a slide without a title does not
// belong to the slide before.
func (w *Writer) LeaveHeadings() {
	w.End()
	w.leaveSections(0)
	w.above = nil
}

// enterSection replaces the titles of its level and below on the path.
func (w *Writer) enterSection(level int, title string) {
	w.leaveSections(level)
	w.path = append(w.path, heading{level, shortenTitle(strings.Join(strings.Fields(title), " "))})
	w.above = w.pathTitles()
}

// leaveSections removes the titles of a level and below from the path; 0 removes all.
func (w *Writer) leaveSections(level int) {
	for len(w.path) > 0 && w.path[len(w.path)-1].level >= level {
		w.path = w.path[:len(w.path)-1]
	}
}

// headingsAbove returns the titles above b. A heading becomes the last title of the path for the next blocks. All
// blocks of a section share the returned slice. It is immutable: enterSection allocates a new one.
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

// shortenTitle cuts a title to maxTitle runes, since every block below repeats it.
func shortenTitle(title string) string {
	n := 0
	for i := range title {
		if n++; n > maxTitle {
			return strings.TrimSpace(title[:i]) + "…"
		}
	}
	return title
}
