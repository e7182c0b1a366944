package pdf

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/corpus/extract/doctext"
)

const (
	maxMarks    = 2000    // annotations of a page that are read
	maxValue    = 1 << 20 // bytes of one value
	maxTyped    = 8 << 20 // bytes of all values of a document
	hiddenFlags = 2 | 32  // annotation flags Hidden and NoView (PDF 32000-1:2008 §12.5.3)
	secretField = 1 << 13 // field flag of a password
	// Numbers of PDFium for kinds of annotations; those of mark-up, which have comments, are up to inkMark.
	linkMark, typedMark, stampMark, inkMark, widgetMark = 2, 3, 13, 15, 20
	// Numbers of PDFium for kinds of fields.
	checkBox, radioButton, comboBox, listBox, textField, signature = 2, 3, 4, 5, 6, 7

	isChecked, isUnchecked = "☒", "☐"
)

// mark is text that an annotation shows: the value of a form field, or text typed onto the page.
type mark struct {
	rect  // on the rendered page
	lines []string
	field bool // it belongs to a label
	drawn bool // its text is only in its appearance
	stamp bool
}

// openForm prepares the fields of a document for reading, and reports whether it has an XFA form, which isn't read.
// form is 0 without fields. PDFium's FPDF_FORMFILLINFO has a version and callbacks, which are not used.
func (m *module) openForm(doc uint64) (form uint64, xfa bool, err error) {
	kind, err := m.callCount("FPDF_GetFormType", doc)
	if err != nil || kind <= 0 {
		return 0, false, err
	}
	const size = 256
	p, err := m.allocate(size)
	if err != nil {
		return 0, false, err
	}
	info := make([]byte, size)
	info[0] = 2
	if !m.mod.Memory().Write(p, info) {
		return 0, false, errors.New("PDFium returned an address outside its memory")
	}
	form, err = m.callFunction("FPDFDOC_InitFormFillEnvironment", doc, uint64(p))
	return form, kind > 1, err
}

// marks reads the annotations of pages.
type marks struct {
	m        *module
	form     uint64 // 0: the document has no fields
	left     int    // bytes of values that may still be read
	comments int    // left out
	stamps   int    // left out: they only draw something
	hidden   int    // left out
	further  int    // left out: beyond the limits
	undrawn  bool   // appearances are not read
	drawn    bool   // an appearance was read
}

// countLeftOut adds what was left out. xfa: the document has an XFA form.
func (r *marks) countLeftOut(left *leftOut, xfa bool) {
	left.count(r.comments, "comment")
	left.count(r.stamps, "stamp")
	left.count(r.hidden, "hidden annotation")
	left.count(r.further, "annotation")
	if xfa {
		left.count(1, "XFA form")
	}
}

// read reads the annotations of a page whose rendered geometry is g.
func (r *marks) read(page uint64, g geometry) (all []mark, err error) {
	n, err := r.m.callCount("FPDFPage_GetAnnotCount", page)
	if err != nil {
		return nil, err
	}
	r.further += max(n-maxMarks, 0)
	for i := range min(n, maxMarks) {
		at, err := r.m.callFunction("FPDFPage_GetAnnot", page, uint64(i))
		if err != nil {
			return nil, err
		}
		if at == 0 {
			continue
		}
		found, err := r.readMark(at, g)
		if err != nil {
			return nil, err
		}
		if found.lines != nil || found.drawn {
			all = append(all, found)
		}
		if _, err := r.m.callFunction("FPDFPage_CloseAnnot", at); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// readMark reads one annotation. A mark without lines shows nothing, or is left out and counted.
func (r *marks) readMark(at uint64, g geometry) (found mark, err error) {
	kind, err := r.m.callCount("FPDFAnnot_GetSubtype", at)
	if err != nil || kind == linkMark || kind > inkMark && kind != widgetMark {
		return mark{}, err
	}
	flags, err := r.m.callCount("FPDFAnnot_GetFlags", at)
	if err != nil {
		return mark{}, err
	}
	text := ""
	if kind == widgetMark {
		found.field = true
		text, err = r.fieldText(at)
	} else {
		text, err = r.value("FPDFAnnot_GetStringValue", at, "Contents")
	}
	if err != nil {
		return mark{}, err
	}
	ok, err := r.m.callCount("FPDFAnnot_GetRect", at, uint64(r.m.scratch))
	if err != nil {
		return mark{}, err
	}
	b := r.m.readFloats(4) // left, top, right, bottom
	inside := false
	if ok != 0 {
		found.rect, inside = g.toRect(b[0], b[1], b[2], b[3])
	}
	shown := flags&hiddenFlags == 0 && inside && found.x1 > found.x0 && found.y1 > found.y0
	found.stamp = kind == stampMark
	switch {
	case text == "" && shown:
		if found.drawn, err = r.drawsText(at, kind); err == nil && found.stamp && !found.drawn {
			r.stamps++
		}
		return found, err
	case text == "":
	case kind != widgetMark && kind != typedMark && kind != stampMark:
		r.comments++
	case !shown && text != isUnchecked:
		r.hidden++
	case shown:
		found.lines = linesOfValue(text)
	}
	return found, nil
}

// linesOfValue returns the lines of a value that have text.
func linesOfValue(s string) (lines []string) {
	for l := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '\n' || r == '\r' || r == '\u2028' }) {
		if l = doctext.Line(strings.Map(func(r rune) rune {
			if doctext.Dropped(r) || unicode.Is(unicode.Co, r) {
				return ' '
			}
			return r
		}, l)); l != "" {
			lines = append(lines, l)
		}
	}
	return lines
}

// value reads a text of an annotation, up to the limits; a longer one is counted.
func (r *marks) value(function string, args ...any) (string, error) {
	words := make([]uint64, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case uint64:
			words[i] = a
		case string:
			p, err := r.m.key(a)
			if err != nil {
				return "", err
			}
			words[i] = uint64(p)
		}
	}
	limit := min(maxValue, r.left)
	n, err := r.m.callCount(function, append(slices.Clip(words), 0, 0)...)
	if err != nil || n <= 2 {
		return "", err
	}
	if n > limit {
		r.further++
		return "", nil
	}
	r.left -= n
	return r.m.readUTF16(limit, function, words...)
}

// fieldText returns the value of a form field as it is shown: the text, the chosen options, or a box. A field that
// the form doesn't list has its own value.
func (r *marks) fieldText(at uint64) (string, error) {
	if r.form == 0 {
		return r.value("FPDFAnnot_GetStringValue", at, "V")
	}
	kind, err := r.m.callCount("FPDFAnnot_GetFormFieldType", r.form, at)
	if err != nil {
		return "", err
	}
	switch kind {
	case checkBox, radioButton:
		// The appearance's state is what viewers show. Without one a radio button's own value is unknown.
		state, err := r.value("FPDFAnnot_GetStringValue", at, "AS")
		if err == nil && state == "" && kind == checkBox {
			state, err = r.value("FPDFAnnot_GetStringValue", at, "V")
		}
		if state == "" || state == "Off" {
			return isUnchecked, err
		}
		return isChecked, err
	case comboBox, listBox:
		chosen, err := r.chosenOptions(at)
		if err != nil || chosen != "" {
			return chosen, err
		}
	case textField:
		flags, err := r.m.callCount("FPDFAnnot_GetFormFieldFlags", r.form, at)
		if err != nil || flags&secretField != 0 {
			return "", err
		}
	case -1:
		return r.value("FPDFAnnot_GetStringValue", at, "V")
	default:
		return "", nil // a button or a signature
	}
	return r.value("FPDFAnnot_GetFormFieldValue", r.form, at)
}

// chosenOptions returns the labels of the chosen options of a field.
func (r *marks) chosenOptions(at uint64) (string, error) {
	n, err := r.m.callCount("FPDFAnnot_GetOptionCount", r.form, at)
	if err != nil {
		return "", err
	}
	r.further += max(n-maxMarks, 0)
	var labels []string
	for i := range min(max(n, 0), maxMarks) {
		on, err := r.m.callCount("FPDFAnnot_IsOptionSelected", r.form, at, uint64(i))
		if err != nil {
			return "", err
		}
		if on == 0 {
			continue
		}
		label, err := r.value("FPDFAnnot_GetOptionLabel", r.form, at, uint64(i))
		if err != nil {
			return "", err
		}
		labels = append(labels, label)
	}
	return strings.Join(labels, ", "), nil
}

// key returns the address of a dictionary key in PDFium's memory.
func (m *module) key(name string) (uint32, error) {
	if p, ok := m.keys[name]; ok {
		return p, nil
	}
	p, err := m.copyString(name)
	if m.keys == nil {
		m.keys = map[string]uint32{}
	}
	m.keys[name] = p
	return p, err
}

// addMarks adds the text of its annotations to the sheet, in the order of their position. Text that the page shows
// at the same place is not repeated: a flattened form has both.
func (s *sheet) addMarks() {
	all := s.typed
	slices.SortStableFunc(all, func(a, b mark) int { return cmp.Compare(a.y0, b.y0) })
	for _, k := range all {
		if k.rect = s.fromDrawn(k.rect); s.shows(&k) {
			continue
		}
		if len(k.lines) == 1 {
			if l, i := s.labelOf(&k); l >= 0 {
				s.lines[l].insertWords(i, k.setWords(k.lines[0], s.lines[l].size, s.lines[l].rect))
				continue
			}
		}
		s.insertMark(&k)
	}
}

// shows reports whether the page's own text has the words of a mark at its place.
func (s *sheet) shows(k *mark) bool {
	if k.lines[0] == isChecked || k.lines[0] == isUnchecked {
		return false
	}
	var here strings.Builder
	for i := range s.lines {
		if l := &s.lines[i]; l.y1 < k.y0 || l.y0 > k.y1 {
			continue
		}
		for _, w := range s.lines[i].words {
			if x, y := (w.x0+w.x1)/2, (w.y0+w.y1)/2; x > k.x0 && x < k.x1 && y > k.y0 && y < k.y1 {
				here.WriteString(w.text)
			}
		}
	}
	return strings.Contains(squeezeTitle(here.String()), squeezeTitle(strings.Join(k.lines, ""))) && here.Len() > 0
}

// labelOf returns the line in the row of a mark, and the index of its word after the mark. A label above the
// mark takes precedence over a row's word that is far from it. l is -1 without a row.
func (s *sheet) labelOf(k *mark) (l, word int) {
	l = -1
	least := float32(0)
	for i := range s.lines {
		line := &s.lines[i]
		if min(line.y1, k.y1)-max(line.y0, k.y0) < 0.5*min(line.boxHeight(), k.boxHeight()) ||
			!k.field && k.boxHeight() > 2.5*line.boxHeight() {
			continue
		}
		for j, w := range line.words {
			gap := max(k.x0-w.x1, w.x0-k.x1, 0)
			if w.x0 > k.x0 && l >= 0 && s.lines[l].words[word].x0 < k.x0 {
				continue // a word to its left is its label, if there is one
			}
			if left := w.x0 <= k.x0; l < 0 || gap < least || left && s.lines[l].words[word].x0 > k.x0 {
				l, word, least = i, j, gap
			}
		}
	}
	if l < 0 {
		return -1, 0
	}
	if size := s.lines[l].size; least > 3*size && s.lineAbove(k, size) >= 0 {
		return -1, 0
	}
	if s.lines[l].words[word].x0 <= k.x0 {
		word++
	}
	return l, word
}

// lineAbove returns the index of the nearest line with a word above a mark, at most at a distance, -1 without one.
func (s *sheet) lineAbove(k *mark, most float32) int {
	best := -1
	for i, l := range s.lines {
		if l.y1 < k.y0+0.5*l.boxHeight() && k.y0-l.y1 < most && (best < 0 || l.y1 > s.lines[best].y1) &&
			slices.ContainsFunc(l.words, func(w word) bool { return doOverlap(w.x0, w.x1, k.x0, k.x1) }) {
			best = i
		}
	}
	return best
}

// insertWords inserts words before word i.
func (l *line) insertWords(i int, words []word) {
	l.words = slices.Insert(slices.Clone(l.words), i, words...)
	if next := i + len(words); next < len(l.words) {
		l.words[next].glued = false
	}
	for _, w := range words {
		l.joinBox(w.rect)
	}
}

// setWords returns the words of one line of a mark, set in letters of a size between its edges, with the height of a
// line. Widths are estimates: a letter is half as wide as high, and the box holds all of them. A word extends to the
// next one, so that no column of a table ends between them.
func (k *mark) setWords(text string, size float32, row rect) (words []word) {
	step := min(size/2, (k.x1-k.x0)/float32(utf8.RuneCountInString(text)))
	x := k.x0
	if text == isChecked || text == isUnchecked {
		step = k.x1 - k.x0
	}
	for w := range strings.FieldsSeq(text) {
		end := x + step*float32(utf8.RuneCountInString(w)+1)
		words = append(words, word{rect: rect{x, row.y0, end, row.y1}, text: w, size: size})
		x = end
	}
	words[len(words)-1].x1 -= step * float32(min(len(words)-1, 1))
	return words
}

// insertMark adds a mark as lines of its own: below the label above it, or after the text above it.
func (s *sheet) insertMark(k *mark) {
	size := float32(10)
	at := s.lineAbove(k, 1.5*k.boxHeight())
	if at < 0 {
		for i := range s.lines {
			if s.lines[i].y1 <= k.y0+0.5*s.lines[i].boxHeight() && (at < 0 || s.lines[i].y1 >= s.lines[at].y1) {
				at = i
			}
		}
	}
	if at >= 0 {
		size = s.lines[at].size
	} else if len(s.lines) > 0 {
		size = s.lines[0].size
	}
	var lines []string
	for _, l := range k.lines {
		lines = append(lines, wrapText(l, int((k.x1-k.x0)/(size/2)))...)
	}
	step := min(1.2*size, k.boxHeight()/float32(len(lines)))
	var set []line
	for i, l := range lines {
		y := k.y0 + step*float32(i)
		box := rect{k.x0, y, k.x1, y + min(step, size)}
		placed := line{rect: box, words: k.setWords(l, size, box), size: size}
		placed.x1 = placed.words[len(placed.words)-1].x1
		set = append(set, placed)
	}
	for ; at >= 0 && at+1 < len(s.lines); at++ { // after the text to its left
		l := &s.lines[at+1]
		if l.x0 >= set[0].x0 || !l.sharesLine(&set[0]) && (l.x1 > k.x0 || l.y0+l.y1 > 2*k.y1) {
			break
		}
	}
	s.lines = slices.Insert(s.lines, at+1, set...)
}

// wrapText breaks a text between words into lines of at most width letters, or of one word.
func wrapText(s string, width int) (lines []string) {
	var b strings.Builder
	n := 0
	for w := range strings.FieldsSeq(s) {
		m := utf8.RuneCountInString(w)
		if n > 0 && n+1+m > width {
			lines = append(lines, b.String())
			b.Reset()
			n = 0
		} else if n > 0 {
			b.WriteByte(' ')
			n++
		}
		b.WriteString(w)
		n += m
	}
	return append(lines, b.String())
}
