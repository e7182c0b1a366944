package pdf

import (
	"slices"

	"github.com/footnote/footnote/corpus"
)

const (
	coversPage = 0.5    // share of a page's area from which pictures cover the page
	fewWords   = 0.01   // share of a page's area below which its words are only a stamp or a number
	maxObjects = 20_000 // per page that are inspected
	maxInside  = 4      // nesting depth of forms
	// PDFium's numbers for kinds of objects, FPDF_PAGEOBJ_TEXT, _IMAGE and _FORM.
	textObject  = 1
	imageObject = 3
	formObject  = 5
)

// pages holds the pages of a document while they are read. Scans are detected when all pages were read, as it
// depends on the total amount of text.
type pages struct {
	m       *module
	doc     uint64
	read    []corpus.ReadPage // the remaining OCR results, ordered by page number
	sheets  []sheet
	letters int
	garbage int
	covered []int // page numbers, from 1, of pages covered by pictures, with hardly any text or garbled text
	drawn   []int // page numbers of pages with content and without text
	marks   *marks
}

// readNext reads page i, from 0: its OCR result if there is one, else its text. Pages must be read in order.
func (p *pages) readNext(i int) error {
	if len(p.read) > 0 && p.read[0].Number == i+1 {
		w, h, typed, err := p.m.pageSize(p.doc, i, p.read[0].Turn, p.marks)
		if err != nil {
			return err
		}
		s := sheetOfPicture(p.read[0], i, w, h)
		s.typed = typed
		p.read, p.sheets, p.letters = p.read[1:], append(p.sheets, s), p.letters+s.letters
		return nil
	}
	sheets, shown, err := p.m.readPage(p.doc, i, p.marks)
	if err != nil {
		return err
	}
	p.sheets = append(p.sheets, sheets...)
	p.letters += sheets[0].letters
	p.garbage += sheets[0].garbage
	if shown.pictures >= coversPage {
		p.covered = append(p.covered, i+1)
	}
	if shown.anything {
		p.drawn = append(p.drawn, i+1)
	}
	return nil
}

// scans returns the pages whose text is only in a picture. In a document with other text, these are the pages
// covered by pictures. Without any text, each page with content may be one, because some programs draw letters as
// curves. If the fonts have no mapping to characters, all pages count as pictures. In the latter two cases the text
// read so far is dropped, since OCR will replace it. The failure is for a document without text and pictures.
func (p *pages) scans() ([]int, *corpus.Failure) {
	total := p.sheets[len(p.sheets)-1].page + 1
	why := whyUnreadable(p.sheets, total, p.letters, p.garbage)
	switch {
	case why == nil:
		return p.covered, nil
	case why == noLetters:
		p.drawn = nil
		for i := range total {
			p.drawn = append(p.drawn, i+1)
		}
	case len(p.drawn) == 0 && len(p.covered) == 0:
		if slices.ContainsFunc(p.sheets, func(s sheet) bool { return len(s.typed) > 0 }) {
			why = nil
		}
		return nil, why
	case len(p.covered) > len(p.drawn):
		p.drawn = p.covered
	}
	for i := range p.sheets {
		p.sheets[i].lines = nil
	}
	return p.drawn, nil
}

// shown describes the content of a page besides its text.
type shown struct {
	pictures float32 // approximate share of the page covered by pictures
	anything bool
}

// inspectObjects inspects the objects of a page with hardly any words, or with garbled ones. The share of pictures
// is approximate, as they may overlap; only more than half matters. Counting stops when the page is covered.
func (p *openPage) inspectObjects(s *sheet) (out shown, err error) {
	area, words := s.width*s.height, float32(0)
	for _, l := range s.lines {
		for _, w := range l.words {
			words += (w.x1 - w.x0) * (w.y1 - w.y0)
		}
	}
	if words >= fewWords*area && !s.isGarbled() {
		return shown{}, nil
	}
	n, err := p.m.callCount("FPDFPage_CountObjects", p.at)
	for i := 0; err == nil && i < min(n, maxObjects) && out.pictures < 1; i++ {
		var object uint64
		if object, err = p.m.callFunction("FPDFPage_GetObject", p.at, uint64(i)); err != nil || object == 0 {
			continue
		}
		var pictured bool
		if pictured, err = p.m.isPicture(object, 0); err != nil || !pictured {
			continue
		}
		var box rect
		var inside bool
		if box, inside, err = p.m.objectBox(object, s.placed); err == nil && inside {
			out.pictures += (box.x1 - box.x0) * (box.y1 - box.y0) / area
		}
	}
	out.anything = n > 0 && len(s.lines) == 0
	return out, err
}

// objectBox returns the box of an object on a page of a geometry. inside is false if it has none, or none on the page.
func (m *module) objectBox(object uint64, g geometry) (box rect, inside bool, err error) {
	at := uint64(m.scratch)
	ok, err := m.callCount("FPDFPageObj_GetBounds", object, at, at+4, at+8, at+12)
	if err != nil || ok == 0 {
		return rect{}, false, err
	}
	b := m.readFloats(4) // left, bottom, right, top
	box, inside = g.toRect(b[0], b[3], b[2], b[1])
	return box, inside, nil
}

// isPicture reports whether an object is a picture, or a form that contains one.
func (m *module) isPicture(object uint64, depth int) (bool, error) {
	kind, err := m.callCount("FPDFPageObj_GetType", object)
	if err != nil || kind != formObject || depth >= maxInside {
		return kind == imageObject, err
	}
	n, err := m.callCount("FPDFFormObj_CountObjects", object)
	for i := 0; err == nil && i < min(n, maxObjects); i++ {
		inner, err := m.callFunction("FPDFFormObj_GetObject", object, uint64(i))
		if err != nil || inner == 0 {
			return false, err
		}
		if found, err := m.isPicture(inner, depth+1); found || err != nil {
			return found, err
		}
	}
	return false, err
}

// pageSize returns the width and height in points of page i, from 0, after turning it clockwise by quarters, and the
// text of its annotations. An unreadable page has the size of A4.
func (m *module) pageSize(doc uint64, i, turn int, r *marks) (w, h float32, typed []mark, err error) {
	p := openPage{m: m, doc: doc, number: i, moved: unturned}
	w, h = blankWidth, blankHeight
	if err := p.load(); err != nil || p.at == 0 {
		return w, h, nil, err
	}
	g, err := m.readGeometry(p.at)
	if err == nil {
		w, h = float32(g.width), float32(g.height)
		typed, err = r.read(p.at, g)
	}
	if err == nil {
		typed, err = p.readDrawn(typed, r)
	}
	if isCrash(err) {
		return 0, 0, nil, err
	}
	for k := range typed {
		t := &typed[k]
		t.x0, t.y0, t.x1, t.y1 = turnBox(t.x0, t.y0, t.x1, t.y1, w, h, turn)
	}
	if turn%2 != 0 {
		w, h = h, w
	}
	return w, h, typed, p.close()
}
