package pdftest

import (
	"fmt"
	"slices"
	"strings"
)

// Letters is a font whose glyphs are any characters. A glyph may be several, as a ligature is.
type Letters struct {
	all []string
}

// Show returns an operator that shows glyphs from x on, each 0.6 of the size wide, from left to right.
func (f *Letters) Show(x, y, size int, glyphs ...string) string {
	var codes strings.Builder
	for _, g := range glyphs {
		at := slices.Index(f.all, g)
		if at < 0 {
			at, f.all = len(f.all), append(f.all, g)
		}
		fmt.Fprintf(&codes, "%02X", at+33)
	}
	return fmt.Sprintf("BT /U %d Tf 1 0 0 1 %d %d Tm <%s> Tj ET\n", size, x, y, &codes)
}

// Leftward shows a text from right to left. Its last letter is at x.
func (f *Letters) Leftward(x, y int, text string) string {
	glyphs := strings.Split(text, "")
	slices.Reverse(glyphs)
	return f.Show(x, y, 10, glyphs...)
}

// Rightward shows a text from left to right.
func (f *Letters) Rightward(x, y int, text string) string {
	return f.Show(x, y, 10, strings.Split(text, "")...)
}

// Document returns a PDF with the font.
func (f *Letters) Document(content string) []byte {
	var m Maker
	var names strings.Builder
	for i, g := range f.all {
		fmt.Fprintf(&names, "<%02X> <", i+33)
		for _, c := range g {
			fmt.Fprintf(&names, "%04X", c)
		}
		names.WriteString("> ")
	}
	unicode := m.Stream("", []byte("/CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 "+
		"begincodespacerange <00> <FF> endcodespacerange "+fmt.Sprint(len(f.all))+" beginbfchar "+names.String()+
		"endbfchar endcmap end end"))
	font := m.Add("<</Type /Font /Subtype /Type1 /BaseFont /Helvetica /FirstChar 33 /LastChar %d /Widths [%s] "+
		"/ToUnicode %d 0 R>>", 32+len(f.all), strings.Repeat("600 ", len(f.all)), unicode)
	return m.Document("", Sheet{Content: content, Fonts: fmt.Sprintf("/U %d 0 R ", font)})
}
