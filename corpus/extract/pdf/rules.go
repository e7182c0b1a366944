package pdf

const (
	maxDrawn   = 5000 // objects of a page that are inspected for the lines of tables
	maxRules   = 2000 // lines of tables on a page
	thickRule  = 3    // points; a wider shape is a frame, whose edges are lines
	shortRule  = 5    // points; anything shorter separates no cells
	pathObject = 2    // PDFium's number for shapes
	cellGap    = 0.1  // share of the font size; the least gap between words on both sides of a line
)

// rule is a vertical line that is drawn on a page.
type rule struct{ x, y0, y1 float32 }

// readRules marks the words that are separated from the word before them by a line of a table. Few pages have such
// lines, so that the shapes of a page are read only if gaps between words lie below each other.
func (p *openPage) readRules(s *sheet) error {
	if !s.hasAlignedGaps() {
		return nil
	}
	n, err := p.m.callCount("FPDFPage_CountObjects", p.at)
	if err != nil {
		return err
	}
	var rules []rule
	for i := 0; i < min(n, maxDrawn) && len(rules) < maxRules; i++ {
		object, err := p.m.callFunction("FPDFPage_GetObject", p.at, uint64(i))
		if err != nil || object == 0 {
			return err
		}
		kind, err := p.m.callCount("FPDFPageObj_GetType", object)
		if err != nil {
			return err
		}
		if kind != pathObject {
			continue
		}
		box, inside, err := p.m.objectBox(object, s.placed)
		if err != nil {
			return err
		}
		if !inside || box.boxHeight() < shortRule {
			continue
		}
		if box = s.fromDrawn(box); box.x1-box.x0 <= thickRule {
			rules = append(rules, rule{(box.x0 + box.x1) / 2, box.y0, box.y1})
		} else {
			rules = append(rules, rule{box.x0, box.y0, box.y1}, rule{box.x1, box.y0, box.y1})
		}
	}
	for i := range s.lines {
		s.lines[i].markRules(rules)
	}
	return nil
}

// hasAlignedGaps reports whether two lines that follow one another have gaps below each other that are wider than
// most between words.
func (s *sheet) hasAlignedGaps() bool {
	rows := mergeLines(s.lines)
	for i := 1; i < len(rows); i++ {
		a, b := &rows[i-1], &rows[i]
		if b.y0 < a.y0 || b.y0-a.y1 > 3*b.size {
			continue
		}
		for j, k := 1, 1; j < len(a.words) && k < len(b.words); {
			from := max(a.words[j-1].x1, b.words[k-1].x1)
			to := min(a.words[j].x0, b.words[k].x0)
			if to-from > narrowGap*b.size {
				return true
			}
			if a.words[j].x0 < b.words[k].x0 {
				j++
			} else {
				k++
			}
		}
	}
	return false
}

// markRules marks the words of a line with a rule between them and the word before. The first word may belong to a
// cell that is a line of its own.
func (l *line) markRules(rules []rule) {
	middle, slack := (l.y0+l.y1)/2, cellGap*l.size
	for _, r := range rules {
		if middle < r.y0 || middle > r.y1 {
			continue
		}
		for i := range l.words {
			w := &l.words[i]
			from := w.x0 - wideGap*l.size
			if i > 0 {
				from = l.words[i-1].x1
			}
			if r.x > from-slack && r.x < w.x0+slack {
				w.ruled = true
			}
		}
	}
}

// hasGapBefore reports whether a gap before word i, from 1, ends a cell.
func (l *line) hasGapBefore(i int) bool {
	gap := l.words[i].x0 - l.words[i-1].x1
	return gap > wideGap*l.size || l.words[i].ruled && gap > cellGap*l.size
}
