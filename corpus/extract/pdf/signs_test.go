package pdf_test

import (
	"fmt"
	"testing"

	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
	"github.com/google/go-cmp/cmp"
)

// raised shows a small digit between two texts of one line, as the mark of a note or an exponent.
func raised(y int, before, digits, after string) string {
	return fmt.Sprintf("BT /F 12 Tf 1 0 0 1 50 %d Tm (%s) Tj /F 7 Tf 4 Ts (%s) Tj /F 12 Tf 0 Ts (%s) Tj ET\n",
		y, before, digits, after)
}

// A raised digit is never one of the number that it stands behind, and a footnote no part of the text above it.
func TestRaisedDigits(t *testing.T) {
	reader := newReader(t, nil)
	x := mustExtract(t, reader, pdftest.Document("", pdftest.Sheet{Content: "" +
		raised(700, "The chain was measured in 1921", "1", " by a surveyor, and then again in the spring") +
		raised(686, "of the next year, when it had 10", "12", " links more on an area of 40 m") +
		raised(672, "This line has a raised word", "th", " which stays as it is, whatever it means") +
		"BT /F 6 Tf 1 0 0 1 50 658 Tm 3 Ts (1) Tj 0 Ts /F 10 Tf (According to the parish book, folio 12.) Tj ET\n"}))
	want := []string{
		"paragraph: The chain was measured in 1921¹ by a surveyor, and then again in the spring " +
			"of the next year, when it had 10¹² links more on an area of 40 m " +
			"This line has a raised wordth which stays as it is, whatever it means",
		"paragraph: ¹According to the parish book, folio 12.",
	}
	if diff := cmp.Diff(want, outlineOf(x)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}

// Characters beyond U+FFFF, which come from PDFium in two halves, are whole; a half alone is none.
func TestCharactersBeyondTheBasicPlane(t *testing.T) {
	var m pdftest.Maker
	names := m.Stream("", []byte("/CIDInit /ProcSet findresource begin 12 dict begin begincmap "+
		"1 begincodespacerange <00> <FF> endcodespacerange "+
		"4 beginbfchar <41> <D842DFB7> <42> <91CE> <43> <D83DDE00> <44> <D842> endbfchar endcmap end end"))
	font := m.Add("<</Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode %d 0 R>>", names)
	x := mustExtract(t, newReader(t, nil), m.Document("", pdftest.Sheet{
		Content: pdftest.At(50, 700, 12, "U", "AB C D C"), Fonts: fmt.Sprintf("/U %d 0 R ", font),
	}))
	if diff := cmp.Diff([]string{"paragraph: 𠮷野 😀 😀"}, outlineOf(x)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}
