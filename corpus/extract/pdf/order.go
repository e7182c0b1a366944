package pdf

const (
	maxRegions = 400 // regions of a page that are brought into order; a page with more is a drawing
	besideBy   = 0.5 // share of the lower region's height at which two regions are side by side
)

// region is a run of lines that were drawn one after the other in one place.
type region struct {
	rect
	lines []line
}

// orderLines brings the lines of a page into reading order: some programs draw the right column first, or a title
// last. A region comes before what is below it, and before what is to its right. Among the others the rest of a row
// is next, and then the order of drawing decides.
func orderLines(lines []line) []line {
	regions := regionsOf(lines)
	if len(regions) < 2 || len(regions) > maxRegions {
		return lines
	}
	before := make([][]bool, len(regions))
	waits := make([]int, len(regions)) // number of regions that come first
	drawnInOrder := true
	for i := range regions {
		before[i] = make([]bool, len(regions))
		for j := range regions {
			before[i][j] = i != j && regions[i].comesBefore(&regions[j])
			if before[i][j] {
				waits[j]++
				drawnInOrder = drawnInOrder && i < j
			}
		}
	}
	if drawnInOrder {
		return lines
	}
	out := make([]line, 0, len(lines))
	done := make([]bool, len(regions))
	last := -1
	for range regions {
		next := -1
		for i := range regions {
			if done[i] || waits[i] > 0 {
				continue
			}
			if row := last >= 0 && regions[last].isBesideRow(&regions[i]); next < 0 || row {
				next = i
			}
		}
		if next < 0 {
			return lines // regions around one another
		}
		done[next], last = true, next
		for j := range regions {
			if before[next][j] {
				waits[j]--
			}
		}
		out = append(out, regions[next].lines...)
	}
	return out
}

// regionsOf splits lines where the next one is above the one before, or a line or more below it. The pieces of a
// formula stay together.
func regionsOf(lines []line) (all []region) {
	for i := range lines {
		l := &lines[i]
		if n := len(all); n > 0 {
			r := &all[n-1]
			last := r.lines[len(r.lines)-1]
			low := min(l.boxHeight(), last.boxHeight())
			if l.y1 > last.y0+0.2*low && l.y0-last.y1 < max(l.boxHeight(), last.boxHeight()) {
				r.lines = append(r.lines, *l)
				r.joinBox(l.rect)
				continue
			}
		}
		all = append(all, region{rect: l.rect, lines: lines[i : i+1 : i+1]})
	}
	return all
}

// isBesideRow reports whether another region of one line is to the right in the row of this one.
func (r *region) isBesideRow(o *region) bool {
	return len(r.lines) == 1 && len(o.lines) == 1 && r.x1 <= o.x0 && r.lines[0].sharesLine(&o.lines[0])
}

// comesBefore reports whether another region is below this one, or to its right.
func (r *region) comesBefore(o *region) bool {
	shared := min(r.y1, o.y1) - max(r.y0, o.y0)
	if doOverlap(r.x0, r.x1, o.x0, o.x1) {
		return shared <= 0 && r.y0 < o.y0
	}
	return r.x0 < o.x0 && shared > besideBy*min(r.boxHeight(), o.boxHeight())
}
