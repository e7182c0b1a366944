package pdf

import (
	"github.com/footnote/footnote/corpus"
)

const (
	coversPage = 0.5    // the share of a page's area from which pictures on it cover it
	fewWords   = 0.01   // the share of a page's area below which its words are a stamp or a number
	maxObjects = 20_000 // of a page that are looked at
	maxInside  = 4      // forms inside forms
	// PDFium's numbers for kinds of objects, FPDF_PAGEOBJ_IMAGE and FPDF_PAGEOBJ_FORM.
	imageObject = 3
	formObject  = 5
)

// pages are the pages of a document on their way. Whether pages are scans is known only when all were read, as it
// depends on how much text there is in all.
type pages struct {
	m       *module
	doc     uint64
	read    []corpus.ReadPage // those left whose pictures were read, in the order of their numbers
	sheets  []sheet
	letters int
	garbage int
	covered []int // numbers of the pages, from 1, that pictures cover and that have next to no text
	drawn   []int // of those that show something and have no text
}

// readNext reads page i, from 0: what was read from its picture, if that was read, else what the file says. Pages are
// read in their order.
func (p *pages) readNext(i int) error {
	if len(p.read) > 0 && p.read[0].Number == i+1 {
		w, h, err := p.m.pageSize(p.doc, i, p.read[0].Turn)
		if err != nil {
			return err
		}
		s := sheetOfPicture(p.read[0], i, w, h)
		p.read, p.sheets, p.letters = p.read[1:], append(p.sheets, s), p.letters+s.letters
		return nil
	}
	sheets, shown, err := p.m.readPage(p.doc, i)
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

// scans are the pages whose text is only in a picture. In a document that has other text, they are those that pictures
// cover. Where no page has any, each that shows something may be one: there are programs that draw letters as curves.
// Where the fonts don't say which letters they show, all pages are as good as pictures. If scans come back, the text of
// the pages so far is dropped where it is of no use: it will be read from pictures. The failure is for a document in
// which there is nothing to read either way.
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
		return nil, why
	case len(p.covered) > len(p.drawn):
		p.drawn = p.covered
	}
	for i := range p.sheets {
		p.sheets[i].lines = nil
	}
	return p.drawn, nil
}

// shown describes the content of a page beside its text.
type shown struct {
	pictures float32 // the share of the page that pictures cover, about
	anything bool
}

// lookAround tells what a page shows beside its text, if it has next to none. Pictures may overlap, so that the share
// is only about right; it matters whether it is more than half. Counting stops when the page is covered.
func (p *openPage) lookAround(s *sheet) (out shown, err error) {
	area, words := s.width*s.height, float32(0)
	for _, l := range s.lines {
		for _, w := range l.words {
			words += (w.x1 - w.x0) * (w.y1 - w.y0)
		}
	}
	if words >= fewWords*area {
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
		at := uint64(p.m.scratch)
		var ok int
		if ok, err = p.m.callCount("FPDFPageObj_GetBounds", object, at, at+4, at+8, at+12); err != nil || ok == 0 {
			continue
		}
		b := p.m.readFloats(4) // left, bottom, right, top
		if box, inside := s.placed.toRect(b[0], b[3], b[2], b[1]); inside {
			out.pictures += (box.x1 - box.x0) * (box.y1 - box.y0) / area
		}
	}
	out.anything = n > 0 && len(s.lines) == 0
	return out, err
}

// isPicture reports whether an object is a picture, or holds one.
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

// pageSize returns width and height of page i, from 0, turned clockwise by so many quarters, in points. A page that
// can't be read has the size of a blank one, A4.
func (m *module) pageSize(doc uint64, i, turn int) (w, h float32, err error) {
	p := openPage{m: m, doc: doc, number: i, moved: unturned}
	w, h = blankWidth, blankHeight
	if err := p.load(); err != nil || p.at == 0 {
		return w, h, err
	}
	g, err := m.readGeometry(p.at)
	switch {
	case isCrash(err):
		return 0, 0, err
	case err == nil:
		w, h = float32(g.width), float32(g.height)
	}
	if turn%2 != 0 {
		w, h = h, w
	}
	return w, h, p.close()
}
