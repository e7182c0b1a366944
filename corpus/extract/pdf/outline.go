package pdf

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// outlineEntry is a bookmark of the outline.
type outlineEntry struct {
	title string
	page  int     // from 0; -1: without a destination
	depth int     // from 1
	x, y  float64 // position on the page in PDF user space; NaN: the page
}

// place is the index of a part, by page and part, both from 0.
type place struct{ page, part int }

// section is a section of the outline, beginning at a part.
type section struct {
	place
	title  string
	level  int  // heading level
	headed bool // the part is the section's title
}

// placeSections returns the sections of the outline at their parts, in reading order. It returns nil if fewer than
// two have different anchors: some programs export one bookmark for the whole document, which describes no
// structure. Entries whose title has no letter or digit are skipped.
func placeSections(sheets []sheet, grouped [][]part, outline []outlineEntry) []section {
	front := make([]*sheet, len(grouped)) // the first sheet of each page, which has most of its text
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

// near is the maximum distance of a title from its bookmark, as a share of the page's height.
const near = 0.15

// findAnchor returns the part that an entry points to: the nearest one with its title, else the first one below its
// position. s is the sheet with most of the page's text. Without a position, the whole page is searched. Without a
// part below it, the anchor is the next page with text. headed reports whether the part is the title.
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

// entryTop returns the vertical position of an entry on the sheet, in points from the top. ok is false without a
// position.
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

// maxNumber is the maximum length in bytes of a number before a title, such as "chapter12" or "a31".
const maxNumber = 12

// isTitle reports whether a line and a title are equal except for a number before one of them. Both are normalised
// by squeezeTitle. Outlines omit or add chapter numbers.
func isTitle(line, title string) bool {
	if line == "" {
		return false
	}
	if len(line) < len(title) {
		line, title = title, line
	}
	return strings.HasSuffix(line, title) && len(line)-len(title) <= maxNumber
}
