package pdf

import (
	"slices"
	"strings"
	"unicode"

	"footnote/corpus"
)

// FromPictures makes the text of pages that are pictures by themselves, in the order of their numbers.
func FromPictures(pages []corpus.ReadPage) corpus.Extracted {
	sheets := make([]sheet, 0, len(pages))
	for i, p := range pages {
		w, h := PageOf(p.Width, p.Height)
		sheets = append(sheets, sheetOfPicture(p, i, float32(w), float32(h)))
	}
	levelSizes(sheets)
	return assembleText(sheets, nil)
}

// PageOf is the page that a picture of so many pixels makes, in points: one of 300 pixels to an inch, or of fewer where
// that would be a small page.
func PageOf(width, height int) (w, h float64) {
	const full = 2000
	points := 72. / 300 * float64(min(max((full-1)/max(width, height, 1)+1, 1), 3))
	return float64(width) * points, float64(height) * points
}

// sheetOfPicture makes a sheet of what was read from the picture of page i, from 0, which is so large, upright.
func sheetOfPicture(p corpus.ReadPage, i int, width, height float32) sheet {
	s := sheet{page: i, width: width, height: height, picture: true}
	sx, sy := width/float32(max(p.Width, 1)), height/float32(max(p.Height, 1))
	for n, read := range p.Lines {
		l := line{size: float32(read.Size) * sy}
		for _, w := range read.Words {
			if w.X1 <= w.X0 || w.Y1 <= w.Y0 { // it has no place: below the line before
				w.X0, w.X1, w.Y0, w.Y1 = 0, float64(p.Width), float64(n), float64(n+1)
				s.unplaced = true
			}
			box := rect{float32(w.X0) * sx, float32(w.Y0) * sy, float32(w.X1) * sx, float32(w.Y1) * sy}
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

// takeHyphen takes the hyphen off the last word of a line, as PDFium does: the word may go on in the next one.
func (l *line) takeHyphen() {
	last := &l.words[len(l.words)-1]
	if cut, ok := strings.CutSuffix(last.text, "-"); ok && cut != "" {
		last.text, l.hyphen = cut, true
	}
}

// levelSizes gives the lines of pictures that are about as large as most of their document one size: a recogniser
// measures each line by itself, and a printer sets a paragraph in one size.
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
