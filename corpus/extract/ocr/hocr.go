package ocr

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"github.com/footnote/footnote/corpus"
)

const (
	// A page of a newspaper has some thousands of words.
	maxWords = 100_000 // per page
	sureWord = 60      // confidence in percent from which a word is more likely right than wrong
)

// reading is the OCR result of one page. sure, words and good are only for comparing readings of the same page.
type reading struct {
	page  corpus.ReadPage
	sure  float64 // sum of the confidences of upright letters: larger for an upright page
	words int
	good  int // upright words with a confidence of at least sureWord
}

// doubtful reports whether most words of a page have a low confidence. That is typical of a page on its side, where
// tesseract reads strokes as letters.
func (r reading) doubtful() bool { return r.good*2 < r.words || r.words == 0 }

// text returns the recognised text, for language detection.
func (r reading) text() string {
	var b strings.Builder
	for _, line := range r.page.Lines {
		for _, w := range line.Words {
			b.WriteString(w.Text)
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// parseHOCR parses tesseract's output: hOCR, an HTML of lines and words with their boxes. Lines without a letter or
// a digit are specks and rules, and are dropped. The format is "hOCR – OCR Workflow and Output embedded in HTML";
// properties are in the attribute title. Sizes and numbers are validated, because the output is untrusted.
func parseHOCR(answer []byte) (reading, error) {
	dec := xml.NewDecoder(bytes.NewReader(answer))
	dec.Strict, dec.AutoClose, dec.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	p := hocr{}
	for {
		token, err := dec.Token()
		switch {
		case errors.Is(err, io.EOF):
			p.endLine()
			if p.got.page.Width <= 0 || p.got.page.Height <= 0 {
				return reading{}, errNoAnswer
			}
			return p.got, nil
		case err != nil:
			return reading{}, fmt.Errorf("%w: %w", errNoAnswer, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			p.start(token)
		case xml.CharData:
			if p.word != nil {
				p.letters.Write(token)
			}
		case xml.EndElement:
			if token.Name.Local == "span" {
				p.endWord()
			}
		}
	}
}

// hocr is the state of the parser.
type hocr struct {
	got     reading
	line    *corpus.ReadLine
	from    place // of the line
	word    *corpus.ReadWord
	sure    float64 // confidence of the word, in percent
	letters strings.Builder
}

// place holds the hOCR properties of a line: bbox, baseline, x_size and x_descenders. The baseline is a slope, and
// an offset from the box's lower left corner. size is the height of the line's letters, and below their extent below
// the baseline. A line on its side has no baseline.
type place struct {
	box           [4]float64
	upright       bool
	slope, offset float64
	size, below   float64
}

// start begins a page, a line or a word, by the element's class. A new line ends the previous one.
func (p *hocr) start(e xml.StartElement) {
	var class, title string
	for _, a := range e.Attr {
		switch a.Name.Local {
		case "class":
			class = a.Value
		case "title":
			title = a.Value
		}
	}
	switch class {
	case "ocr_page":
		box := numbers(title, "bbox", 4)
		p.got.page.Width, p.got.page.Height = int(box[2]), int(box[3])
	case "ocr_line", "ocr_textfloat", "ocr_header", "ocr_caption":
		p.endLine()
		base := numbers(title, "baseline", 2)
		p.from = place{
			box: [4]float64(numbers(title, "bbox", 4)), upright: strings.Contains(title, "baseline "), slope: base[0],
			offset: base[1],
			size:   numbers(title, "x_size", 1)[0], below: numbers(title, "x_descenders", 1)[0],
		}
		p.line = &corpus.ReadLine{Size: p.from.size}
	case "ocrx_word":
		p.endWord()
		box := numbers(title, "bbox", 4)
		p.word = &corpus.ReadWord{X0: box[0], X1: box[2], Y0: box[1], Y1: box[3]}
		p.sure = numbers(title, "x_wconf", 1)[0]
		p.letters.Reset()
	}
}

// numbers parses the n numbers of a property of a title, such as "bbox 1 2 3 4; x_wconf 96". Missing ones are 0.
func numbers(title, name string, n int) []float64 {
	out := make([]float64, n)
	for property := range strings.SplitSeq(title, ";") {
		fields := strings.Fields(property)
		if len(fields) == 0 || fields[0] != name {
			continue
		}
		for i := range min(n, len(fields)-1) {
			if v, err := strconv.ParseFloat(fields[i+1], 64); err == nil && v > -1e6 && v < 1e6 {
				out[i] = v
			}
		}
	}
	return out
}

// endWord appends the current word to its line, without any white space in it.
func (p *hocr) endWord() {
	if p.word == nil {
		return
	}
	w := *p.word
	p.word = nil
	w.Text = strings.Join(strings.Fields(p.letters.String()), "")
	if w.Text == "" || p.line == nil || p.got.words >= maxWords {
		return
	}
	p.got.words++
	if p.from.upright {
		if p.sure >= sureWord {
			p.got.good++
		}
		p.got.sure += p.sure * float64(len([]rune(w.Text)))
	}
	w.Y0, w.Y1 = p.from.heightAt(w)
	p.line.Words = append(p.line.Words, w)
}

// heightAt returns the vertical extent of the line at a word. It is the same for words with and without tall
// letters. Boxes of single words follow their letters, so that "ace" and "day" would have different heights. Without
// a measure of the line, the fallback is the word's box.
func (l place) heightAt(w corpus.ReadWord) (top, bottom float64) {
	if l.size <= 0 || !l.upright {
		return w.Y0, w.Y1
	}
	base := l.box[3] + l.offset + l.slope*((w.X0+w.X1)/2-l.box[0])
	return base + l.below - l.size, base + l.below
}

// endLine appends the current line to the page.
func (p *hocr) endLine() {
	p.endWord()
	if p.line != nil && hasLetters(p.line.Words) {
		p.got.page.Lines = append(p.got.page.Lines, *p.line)
	}
	p.line = nil
}

func hasLetters(words []corpus.ReadWord) bool {
	for _, w := range words {
		if strings.ContainsFunc(w.Text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			return true
		}
	}
	return false
}
