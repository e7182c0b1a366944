package pdf

import "slices"

// drawsText reports whether the appearance of an annotation without a value may have text, such as that of a
// signature.
func (r *marks) drawsText(at uint64, kind int) (bool, error) {
	if kind == widgetMark {
		if r.form == 0 {
			return false, nil
		}
		field, err := r.m.callCount("FPDFAnnot_GetFormFieldType", r.form, at)
		if err != nil || field != signature && field != textField {
			return false, err
		}
		flags, err := r.m.callCount("FPDFAnnot_GetFormFieldFlags", r.form, at)
		if err != nil || flags&secretField != 0 {
			return false, err
		}
	} else if kind != typedMark && kind != stampMark {
		return false, nil
	}
	if r.undrawn {
		return false, nil
	}
	r.drawn = true
	n, err := r.m.callCount("FPDFAnnot_GetObjectCount", at)
	if err != nil {
		return false, err
	}
	for i := range min(n, maxMarks) {
		object, err := r.m.callFunction("FPDFAnnot_GetObject", at, uint64(i))
		if err != nil || object == 0 {
			return false, err
		}
		kind, err := r.m.callCount("FPDFPageObj_GetType", object)
		if err != nil || kind == textObject || kind == formObject {
			return err == nil, err
		}
	}
	return false, nil
}

// readDrawn reads the text of annotations that have it only in their appearance, and returns the annotations with
// text. PDFium makes the appearances a part of the page, so that this is the last use of the page.
func (p *openPage) readDrawn(all []mark, r *marks) ([]mark, error) {
	if !slices.ContainsFunc(all, func(k mark) bool { return k.drawn }) {
		return all, nil
	}
	var sheets []sheet // none if PDFium can't load the page again
	err := p.load()
	if err == nil && p.at != 0 {
		if _, err = p.m.callFunction("FPDFPage_Flatten", p.at, 0); err == nil {
			err = p.load()
		}
	}
	if err == nil && p.at != 0 {
		sheets, err = p.readDirections()
	}
	if err != nil {
		return nil, err
	}
	var out []mark
	for _, k := range all {
		if k.drawn {
			for i := range sheets {
				k.lines = append(k.lines, sheets[i].linesIn(k.rect)...)
			}
		}
		if k.lines != nil {
			out = append(out, k)
		} else if k.stamp {
			r.stamps++
		}
	}
	return out, nil
}

// readDirections reads the text of the page, in a sheet for each direction.
func (p *openPage) readDirections() ([]sheet, error) {
	s, err := p.readSheet()
	if err != nil || s.isPlain() {
		return []sheet{s}, err
	}
	return p.readTurned(s)
}

// linesIn returns the text in a box of the rendered page.
func (s *sheet) linesIn(box rect) (lines []string) {
	for i := range s.lines {
		var part line
		for _, w := range s.lines[i].words {
			at := s.toDrawn(w.rect)
			if x, y := (at.x0+at.x1)/2, (at.y0+at.y1)/2; x > box.x0 && x < box.x1 && y > box.y0 && y < box.y1 {
				part.words = append(part.words, w)
			}
		}
		if len(part.words) > 0 {
			lines = append(lines, part.joinWords())
		}
	}
	return lines
}
