package pdf

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/corpus"
)

// FromPictures builds the text of picture files from OCR results, ordered by page number. A scanned book is handled
// like a PDF with text from here on, including headers and paragraphs.
func FromPictures(pages []corpus.ReadPage) corpus.Extracted {
	sheets := make([]sheet, 0, len(pages))
	for i, p := range pages {
		w, h := PageOf(p.Width, p.Height)
		sheets = append(sheets, sheetOfPicture(p, i, float32(w), float32(h)))
	}
	levelSizes(sheets)
	var left leftOut
	left.findRecurring(sheets, len(sheets))
	x := assembleText(sheets, nil)
	left.note(&x)
	return x
}

// PageOf returns the page size in points of a picture in pixels, at 300 pixels per inch. A picture with a longer
// side below 2000 pixels comes from a screen or a camera and not from a scanner. It is scaled up by two, and below
// 1000 pixels by three.
func PageOf(width, height int) (w, h float64) {
	const full = 2000
	points := 72. / 300 * float64(min(max((full-1)/max(width, height, 1)+1, 1), 3))
	return float64(width) * points, float64(height) * points
}

// sheetOfPicture converts the OCR result of page i, from 0, to a sheet of that size, upright. Boxes are converted
// from pixels to points. Some recognisers return no boxes. Then positions are synthesised for the whole sheet, so
// that lines can be grouped, and the result has no word boxes.
func sheetOfPicture(p corpus.ReadPage, i int, width, height float32) sheet {
	s := sheet{page: i, width: width, height: height, picture: true}
	sx, sy := width/float32(max(p.Width, 1)), height/float32(max(p.Height, 1))
	row := 0
	for _, read := range p.Lines {
		if row++; len(read.Words) == 0 {
			row += blankRows
		}
		l := line{size: float32(read.Size) * sy}
		for _, w := range read.Words {
			box := rect{float32(w.X0) * sx, float32(w.Y0) * sy, float32(w.X1) * sx, float32(w.Y1) * sy}
			if w.X1 <= w.X0 || w.Y1 <= w.Y0 {
				s.unplaced, l.size = true, madeSize
				box = l.madeUpBox(row, w.Text)
			}
			l.words = append(l.words, word{rect: box, text: w.Text, size: l.size})
			l.joinBox(box)
			for _, r := range w.Text {
				if unicode.IsLetter(r) || unicode.IsDigit(r) {
					s.letters++
				}
			}
		}
		if len(l.words) > 0 {
			l.takeHyphen("-")
			s.lines = append(s.lines, l)
		}
	}
	if right := lettersToTheLeft(s.lines); right*2 > s.letters && !s.unplaced {
		s.mirror()
	}
	return s
}

// Layout of synthesised positions: lines below each other, as if typed.
const (
	madeSize  = 10 // font size in points
	blankRows = 3  // further rows of an empty line: more than the line distance in any paragraph
)

// madeUpBox returns a synthesised box for the next word of a line.
func (l *line) madeUpBox(row int, text string) rect {
	left, top := float32(0), 1.2*madeSize*float32(row)
	if len(l.words) > 0 {
		left = l.x1 + madeSize/2
	}
	return rect{left, top, left + madeSize/2*float32(utf8.RuneCountInString(text)), top + madeSize}
}

// takeHyphen removes a hyphen of a line's last word, as PDFium does: the word may continue in the next line.
func (l *line) takeHyphen(hyphen string) {
	last := &l.words[len(l.words)-1]
	if cut, ok := strings.CutSuffix(last.text, hyphen); ok && cut != "" {
		last.text, l.hyphen = cut, true
	}
}

// levelSizes normalises the font sizes of OCR lines: sizes close to the document's median become the median. A
// recogniser measures each line separately, while a paragraph has one size. Without this each line of a scan would
// be a separate heading or paragraph.
func levelSizes(sheets []sheet) {
	var sizes []float32 // per word, which approximates per letter
	for _, s := range sheets {
		for i := range s.lines {
			if s.picture {
				for range s.lines[i].words {
					sizes = append(sizes, s.lines[i].size)
				}
			}
		}
	}
	if len(sizes) == 0 {
		return
	}
	slices.Sort(sizes)
	most := sizes[len(sizes)/2]
	for i := range sheets {
		for j := range sheets[i].lines {
			l := &sheets[i].lines[j]
			if sheets[i].picture && l.size > most/sameSize && l.size < most*sameSize {
				l.size = most
				for k := range l.words {
					l.words[k].size = most
				}
			}
		}
	}
}

// sameSize is the maximum ratio of two measurements of one font size: the error of a line without tall letters, or
// without descenders.
const sameSize = 1.25
