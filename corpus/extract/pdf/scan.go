package pdf

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/footnote/footnote/corpus"
)

// FromPictures makes the text of pages that are pictures by themselves, in the order of their numbers. A scanned book
// is treated like a PDF of text from here on, with headers and paragraphs.
func FromPictures(pages []corpus.ReadPage) corpus.Extracted {
	sheets := make([]sheet, 0, len(pages))
	for i, p := range pages {
		w, h := PageOf(p.Width, p.Height)
		sheets = append(sheets, sheetOfPicture(p, i, float32(w), float32(h)))
	}
	levelSizes(sheets)
	dropRunning(sheets, len(sheets))
	dropRepeated(sheets, len(sheets))
	return assembleText(sheets, nil)
}

// PageOf is the page that a picture of so many pixels makes, in points: one of 300 pixels to an inch, or of fewer where
// that would be a small page. A picture of at most 2000 pixels counts three times as large, as it came from a screen or
// a camera and not from a scanner.
func PageOf(width, height int) (w, h float64) {
	const full = 2000
	points := 72. / 300 * float64(min(max((full-1)/max(width, height, 1)+1, 1), 3))
	return float64(width) * points, float64(height) * points
}

// sheetOfPicture makes a sheet of what was read from the picture of page i, from 0, which is so large, upright. Boxes
// come in pixels of the picture and become points. Some recognisers give no boxes; then the whole sheet's places are
// made up, so that lines can be grouped, and no word has a place in the result.
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
			l.takeHyphen()
			s.lines = append(s.lines, l)
		}
	}
	return s
}

// The page of lines that have no place is made up: as if they were typed one below the other.
const (
	madeSize  = 10 // of their letters, in points
	blankRows = 3  // that an empty line takes more than another: no lines of a paragraph are so far apart
)

// madeUpBox is a box for the next word of the line in a row.
func (l *line) madeUpBox(row int, text string) rect {
	left, top := float32(0), 1.2*madeSize*float32(row)
	if len(l.words) > 0 {
		left = l.x1 + madeSize/2
	}
	return rect{left, top, left + madeSize/2*float32(utf8.RuneCountInString(text)), top + madeSize}
}

// takeHyphen takes the hyphen off the last word of a line, as PDFium does: the word may go on in the next one.
func (l *line) takeHyphen() {
	last := &l.words[len(l.words)-1]
	if cut, ok := strings.CutSuffix(last.text, "-"); ok && cut != "" {
		last.text, l.hyphen = cut, true
	}
}

// levelSizes gives the lines of pictures that are about as large as most of their document one size: a recogniser
// measures each line by itself, and a printer sets a paragraph in one size. Without this each line of a scan would be a
// heading or a paragraph of its own.
func levelSizes(sheets []sheet) {
	var sizes []float32 // one for each letter would be as good
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

// sameSize is the ratio of two measures of letters that may be of one size: what a line without tall letters, or
// without low ones, is measured wrong by.
const sameSize = 1.25
