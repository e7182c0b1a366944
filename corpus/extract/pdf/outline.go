package pdf

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// outlineEntry is a bookmark.
type outlineEntry struct {
	title string
	page  int     // from 0; -1: it leads nowhere
	depth int     // from 1
	x, y  float64 // where on the page, in the PDF's own measure; not a number: anywhere
}

// place is a part of a page, both from 0.
type place struct{ page, part int }

// section begins at a place.
type section struct {
	place
	title  string
	level  int  // of its heading
	headed bool // the part at its place is the section's title
}

// placeSections puts the outline's entries where they lead, in reading order. There are none if fewer than two lead to
// different places: such an outline says nothing about the document's structure. Entries whose title has no letter or
// digit are passed over. Such programs as export one bookmark for the whole document are the reason for the last rule.
func placeSections(sheets []sheet, grouped [][]part, outline []outlineEntry) []section {
	front := make([]*sheet, len(grouped)) // of each page, the one with most text
	for i := len(sheets) - 1; i >= 0; i-- {
		front[sheets[i].page] = &sheets[i]
	}
	var out []section
	for _, e := range outline {
		if e.page < 0 || e.page >= len(grouped) || squeezeTitle(e.title) == "" {
			continue
		}
		s := section{title: e.title, level: min(e.depth, 6)}
		s.place, s.headed = findAnchor(front[e.page], grouped, e)
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b section) int {
		return cmp.Or(cmp.Compare(a.page, b.page), cmp.Compare(a.part, b.part))
	})
	if len(out) == 0 || out[0].place == out[len(out)-1].place {
		return nil
	}
	return out
}

// near is how far from its bookmark a title may stand, as a share of the page.
const near = 0.15

// findAnchor returns the part that an entry leads to: the nearest one with its title, else the first one below. s is
// the sheet of the entry's page that has most text. An entry without a place on its page is looked for on all of it.
// Where nothing stands below it, it leads to the next page that has text. headed is true if the part says the title.
func findAnchor(s *sheet, grouped [][]part, e outlineEntry) (at place, headed bool) {
	y, placed := s.entryTop(e)
	parts, title := grouped[e.page], squeezeTitle(e.title)
	best, least := -1, near*float64(s.height)
	if !placed {
		least = math.Inf(1)
	}
	for i := range parts {
		if d := math.Abs(float64(parts[i].lines[0].y0) - y); d < least && parts[i].table == nil && !parts[i].aside &&
			isTitle(squeezeTitle(parts[i].joinLines()), title) {
			best, least = i, d
		}
	}
	if best >= 0 {
		return place{e.page, best}, true
	}
	for i := range parts {
		if !parts[i].aside && float64(parts[i].lastLine().y1) > y {
			return place{e.page, i}, false
		}
	}
	for next := e.page + 1; next < len(grouped); next++ {
		if len(grouped[next]) > 0 {
			return place{next, 0}, isTitle(squeezeTitle(grouped[next][0].joinLines()), title)
		}
	}
	return place{len(grouped), 0}, false
}

// entryTop is how far below the sheet's top an entry leads. ok is false if it leads to the page.
func (s *sheet) entryTop(e outlineEntry) (y float64, ok bool) {
	g := s.placed
	if !(g.top > g.bottom && g.right > g.left) {
		return 0, false
	}
	u, v := (e.x-g.left)/(g.right-g.left), (g.top-e.y)/(g.top-g.bottom)
	if _, v, _, _ = turnBox(u, v, u, v, 1, 1, g.turn); math.IsNaN(v) {
		return 0, false
	}
	return v * g.height, true
}

// maxNumber is how long the number before a title may be, such as "chapter12" or "a31".
const maxNumber = 12

// isTitle reports whether a line is a title that one of both has a number before. Both are squeezed, see squeezeTitle.
// Outlines leave numbers of chapters out, or add them.
func isTitle(line, title string) bool {
	if line == "" {
		return false
	}
	if len(line) < len(title) {
		line, title = title, line
	}
	return strings.HasSuffix(line, title) && len(line)-len(title) <= maxNumber
}
