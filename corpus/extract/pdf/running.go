package pdf

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	slotShare = 0.2 // of the pages: minimum with their outermost line at the same height
	clearOf   = 0.6 // of that line's height: minimum distance between a running head and the text
	mostApart = 0.8 // of a slot's lines: minimum with that distance
	mostTold  = 0.6 // of a slot's lines: minimum that recur or count the pages
	slotSteps = 100 // of the page's height: lines at one step, or the next, are at the same height
	maxRounds = 3   // lines of a running head

	// of the page's height, within which running heads are: small books printed on A4 have wide margins
	headMargin = 0.2
)

// findRunning marks running heads and feet that change from section to section. They are the outermost lines at
// one height in the margin, on many pages, apart from the text on nearly all of them. Most of them recur on another
// page or hold a number that grows with the pages. The titles of slides have the same position, but differ. After a
// line is marked, the next one is the outermost and may belong to the same head, so that up to three rounds are
// run. Head and foot are checked separately. Three adjacent heights count as one.
func findRunning(sheets []sheet, pages int) {
	for range maxRounds {
		found := false
		for _, foot := range []bool{false, true} {
			edges := make([]edge, len(sheets))
			slots := map[slot][]int{} // indexes of sheets by the height of their edge
			for i := range sheets {
				if edges[i] = edgeOf(&sheets[i], foot); len(edges[i].pieces) > 0 {
					slots[edges[i].slot] = append(slots[edges[i].slot], i)
				}
			}
			for s := range slots {
				near := []slot{{s.side, s.at - 1}, s, {s.side, s.at + 1}}
				here := slices.Concat(slots[near[0]], slots[s], slots[near[2]])
				if !isRunning(edges, here, pages) {
					continue
				}
				found = true
				for _, i := range here {
					for j := range sheets[i].lines {
						if l := &sheets[i].lines[j]; edges[i].holdsLine(l) {
							l.running = true
						}
					}
				}
				for _, s := range near {
					delete(slots, s)
				}
			}
		}
		if !found {
			return
		}
	}
}

// slot is a height on pages.
type slot struct {
	side int // the side of the rendered page that is its top; 0 for the main direction of a page
	at   int // in steps
}

// edge is the outermost line of a page's margin. Its box is that of the outermost line; others may be beside it.
type edge struct {
	rect
	pieces []string // from left to right; empty: no such line
	slot
	page  int
	apart bool // the text keeps its distance
}

// holdsLine reports whether a line is at the edge's height.
func (e *edge) holdsLine(l *line) bool {
	mid := (l.y0 + l.y1) / 2
	return mid > e.y0 && mid < e.y1
}

// edgeOf returns the outermost line of a page at its top or foot, the pieces beside it, and whether the text keeps
// its distance. An outermost line outside the margin returns an edge without pieces.
func edgeOf(p *sheet, foot bool) edge {
	e := edge{page: p.page}
	out := -1
	for i := range p.lines {
		if p.lines[i].running {
			continue
		}
		if out < 0 || !foot && p.lines[i].y0 < p.lines[out].y0 || foot && p.lines[i].y1 > p.lines[out].y1 {
			out = i
		}
	}
	if out < 0 {
		return e
	}
	e.rect = p.lines[out].rect
	mid := (e.y0 + e.y1) / 2 / p.height
	if !foot && mid > headMargin || foot && mid < 1-headMargin {
		return e
	}
	gap := float32(math.MaxFloat32)
	var head, next []*line
	for i := range p.lines {
		l := &p.lines[i]
		if l.running {
			continue
		}
		if e.holdsLine(l) {
			e.pieces, head = append(e.pieces, l.widePieces()...), append(head, l)
			continue
		}
		d := l.y0 - e.y1
		if foot {
			d = e.y0 - l.y1
		}
		switch {
		case len(next) > 0 && next[0].sharesLine(l):
			next = append(next, l)
		case d < gap:
			next = []*line{l}
		}
		gap = min(gap, d)
	}
	if len(e.pieces) > 1 && len(next) > 0 && !areApart(head, next) {
		gap = 0
	}
	e.apart, e.at = gap > clearOf*e.boxHeight(), int(math.Round(float64(mid)*slotSteps))
	if p.aside {
		e.side = p.shown
	}
	return e
}

// widePieces splits a line at wide gaps. A running head often has a title at the left and a number at the right,
// which recur separately.
func (l *line) widePieces() (all []string) {
	from := 0
	for i := range l.words {
		if i+1 == len(l.words) || l.words[i+1].x0-l.words[i].x1 > wideGap*l.size {
			piece := line{words: l.words[from : i+1]}
			all, from = append(all, piece.joinWords()), i+1
		}
	}
	return all
}

// pieceEdges returns the left and right edges of the pieces of a line.
func (l *line) pieceEdges() (all [][2]float32) {
	from := 0
	for i := range l.words {
		if i+1 == len(l.words) || l.hasGapBefore(i+1) {
			all, from = append(all, [2]float32{l.words[from].x0, l.words[i].x1}), i+1
		}
	}
	return all
}

// isRunning reports whether the edges of some pages are a running head or foot. here holds indexes of edges. The
// minimum is a fifth of the pages, and at least repeatMin.
func isRunning(edges []edge, here []int, pages int) bool {
	if len(here) < max(repeatMin, int(math.Ceil(slotShare*float64(pages)))) {
		return false
	}
	shapes, offsets := map[string]int{}, map[int]int{}
	for _, i := range here {
		for _, piece := range edges[i].pieces {
			shapes[lineShape(piece)]++
		}
		for _, o := range edges[i].numberOffsets() {
			offsets[o]++
		}
	}
	apart, told := 0, 0
	for _, i := range here {
		if edges[i].apart {
			apart++
		}
		counts := slices.ContainsFunc(edges[i].numberOffsets(), func(o int) bool { return offsets[o] >= repeatMin })
		recurs := func(piece string) bool { return shapes[lineShape(piece)] > 1 }
		if counts || slices.ContainsFunc(edges[i].pieces, recurs) {
			told++
		}
	}
	all := float64(len(here))
	return float64(apart) >= mostApart*all && float64(told) >= mostTold*all
}

// numberOffsets returns the differences between the numbers at the start and end of an edge and its page index. The
// difference of a page number is the same on all pages.
func (e *edge) numberOffsets() (all []int) {
	words := strings.Fields(strings.Join(e.pieces, " "))
	for _, i := range []int{0, len(words) - 1} {
		if n, err := strconv.Atoi(words[i]); err == nil {
			all = append(all, n-e.page)
		}
	}
	return slices.Compact(all)
}
