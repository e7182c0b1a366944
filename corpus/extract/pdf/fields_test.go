package pdf_test

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
)

// annotated returns a PDF of one page with annotations, which are fields of a form unless they are of another kind.
// Each is a dictionary without its brackets and kind of field, which its subtype follows.
func annotated(content, form string, rotate int, annotations ...string) []byte {
	var m pdftest.Maker
	var all, fields strings.Builder
	for _, a := range annotations {
		if !strings.Contains(a, "/Subtype") {
			a += " /Subtype /Widget"
		}
		n := m.Add("<</Type /Annot %s>>", a)
		fmt.Fprintf(&all, "%d 0 R ", n)
		if strings.Contains(a, "/FT") {
			fmt.Fprintf(&fields, "%d 0 R ", n)
		}
	}
	return m.Document(fmt.Sprintf("/AcroForm <</Fields [%s] %s>>", &fields, form), pdftest.Sheet{
		Content: content, Rotate: rotate, Extra: fmt.Sprintf("/Annots [%s]", &all),
	})
}

func TestFieldsAndTypedTextBelongToLabels(t *testing.T) {
	reader := newReader(t, nil)
	text := func(rect, name, value string) string {
		return fmt.Sprintf("/FT /Tx /T (%s) /V (%s) /F 4 /Rect [%s]", name, value, rect)
	}
	box := func(rect, name, state string) string {
		return fmt.Sprintf("/FT /Btn /T (%s) /V /%s /AS /%s /F 4 /Rect [%s]", name, state, state, rect)
	}
	page := pdftest.At(50, 740, 18, "F", "Registration") + pdftest.At(50, 700, 11, "F", "Surname:") +
		pdftest.At(50, 670, 11, "F", "Born:") + pdftest.At(320, 670, 11, "F", "Nationality:") +
		pdftest.At(50, 640, 11, "F", "Room:") + pdftest.At(150, 640, 11, "F", "Single") +
		pdftest.At(250, 640, 11, "F", "Double")
	for _, tt := range []struct {
		name  string
		data  []byte
		want  []string // each is in one line of the text
		left  string   // in the document's notes
		other string   // not in the text
	}{
		{"values beside labels", annotated(page, "", 0, text("120 660 300 680", "born", "4 March 1988"),
			text("120 690 300 710", "surname", "Adebayo"), text("400 660 500 680", "nation", "Nigerian"),
			box("130 638 142 650", "single", "Off"), box("230 638 242 650", "double", "Yes")),
			[]string{"Surname: Adebayo", "Born: 4 March 1988 Nationality: Nigerian", "Room: ☐ Single ☒ Double"}, "",
			""},
		{"on a page shown on its side", annotated(page, "", 90, text("120 690 300 710", "surname", "Adebayo")),
			[]string{"Surname: Adebayo"}, "", ""},
		{"fields that the form doesn't list", bytes.Replace(annotated(page, "", 0,
			text("120 690 300 710", "surname", "Adebayo")), []byte("/Fields [1 0 R ]"), []byte("/Fields []"), 1),
			[]string{"Surname: Adebayo"}, "", ""},
		{"a label above its field, two in a row", annotated(
			pdftest.At(50, 700, 9, "F", "Customer number")+pdftest.At(300, 700, 9, "F", "Date of order")+
				pdftest.At(50, 640, 9, "F", "Delivery address"), "", 0,
			text("50 675 250 695", "number", "K-7741"), text("300 675 500 695", "date", "2 May 2026"),
			text("50 580 250 635", "address", "Mill Lane 4\\r\\nBath")),
			[]string{"Customer number Date of order K-7741 2 May 2026", "Delivery address Mill Lane 4 Bath"}, "", ""},
		{"options by their labels", annotated(page, "", 0,
			"/FT /Ch /Ff 131072 /T (a) /Opt [[(1) (Adebayo)] [(2) (Okafor)]] /V (2) /Rect [120 690 300 710]",
			"/FT /Ch /Ff 2097152 /T (b) /Opt [(red) (green) (blue)] /V [(red) (blue)] /Rect [120 660 300 680]"),
			[]string{"Surname: Okafor", "Born: red, blue"}, "", ""},
		{"text typed onto the page, notes and stamps", annotated(page, "", 0,
			"/Subtype /FreeText /Contents (Adebayo) /DA (/Helv 11 Tf) /Rect [118 692 240 708]",
			"/Subtype /Text /Contents (Ask her) /Rect [10 10 30 30]",
			"/Subtype /Highlight /Contents (important) /QuadPoints [50 700 90 700 50 710 90 710] /Rect [50 700 90 710]",
			"/Subtype /Stamp /Contents (RECEIVED 5 May) /Rect [400 720 560 780]",
			"/Subtype /Stamp /Rect [400 20 560 80]"),
			[]string{"Surname: Adebayo", "RECEIVED 5 May"}, "2 comments, 1 stamp", "Ask her"},
		{"a check box whose value is no state of its appearance", annotated(page, "", 0,
			"/FT /Btn /T (a) /V /Yes /Rect [130 638 142 650]", "/FT /Btn /T (b) /V /Off /Rect [230 638 242 650]"),
			[]string{"Room: ☒ Single ☐ Double"}, "", ""},
		{"hidden fields, passwords and buttons", annotated(page, "", 0, strings.Replace(
			text("120 690 300 710", "surname", "secret"), "/F 4", "/F 2", 1), text("120 660 300 680", "born", "secret")+
			" /Ff 8192", "/FT /Btn /Ff 65536 /T (send) /MK <</CA (Send)>> /Rect [50 20 90 40]"),
			[]string{"Surname:"}, "1 hidden annotation", "secret"},
		{"a flattened form has each value once", annotated(strings.Replace(page, "Surname:", "Surname: Adebayo", 1),
			"", 0,
			text("96 690 300 710", "surname", "Adebayo")), []string{"Surname: Adebayo"}, "", "Adebayo Adebayo"},
		{"an XFA form", annotated(page, "/XFA (<xdp/>)", 0), []string{"Surname:"}, "1 XFA form", ""},
		{"more text in fields than on the page", annotated(pdftest.At(50, 700, 11, "F", "Form"), "", 0,
			text("120 690 300 710", "a", strings.Repeat("Adebayo ", 12))), []string{"Form Adebayo Adebayo"}, "", ""},
		{"a page without text of its own", annotated("", "", 0, text("120 690 300 710", "surname", "Adebayo")),
			[]string{"Adebayo"}, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := mustExtract(t, reader, tt.data)
			flat := strings.Join(strings.Fields(strings.ReplaceAll(x.Text, "|", " ")), " ")
			for _, want := range tt.want {
				if !strings.Contains(flat, want) {
					t.Errorf("text = %q, want %q in it", flat, want)
				}
			}
			if tt.other != "" && strings.Contains(flat, tt.other) {
				t.Errorf("text = %q, want no %q in it", flat, tt.other)
			}
			if left, _ := x.Meta[corpus.MetaLeftOut].(string); left != tt.left {
				t.Errorf("left out: %q, want %q", left, tt.left)
			}
		})
	}
}

// Buttons of a group have their state, and a field its value, from the field that they belong to.
func TestFieldsOfSeveralAnnotations(t *testing.T) {
	var m pdftest.Maker
	m.Add("<</FT /Btn /Ff 49152 /T (pet) /V /dog /Kids [2 0 R 3 0 R]>>")
	m.Add("<</Type /Annot /Subtype /Widget /Parent 1 0 R /AS /Off /Rect [130 638 142 650]>>")
	m.Add("<</Type /Annot /Subtype /Widget /Parent 1 0 R /AS /dog /Rect [230 638 242 650]>>")
	m.Add("<</FT /Tx /T (name) /V 6 0 R /Kids [5 0 R]>>")
	m.Add("<</Type /Annot /Subtype /Widget /Parent 4 0 R /Rect [120 690 300 710]>>")
	m.Stream("", []byte("Adebayo"))
	x := mustExtract(t, newReader(t, nil), m.Document("/AcroForm <</Fields [1 0 R 4 0 R]>>", pdftest.Sheet{
		Content: pdftest.At(50, 700, 11, "F", "Surname:") + pdftest.At(50, 640, 11, "F", "Pet:") +
			pdftest.At(150, 640, 11, "F", "Cat") + pdftest.At(250, 640, 11, "F", "Dog"),
		Extra: "/Annots [2 0 R 3 0 R 5 0 R]"}))
	if want := "Surname: Adebayo\n\nPet: ☐ Cat ☒ Dog"; x.Text != want {
		t.Errorf("text = %q, want %q", x.Text, want)
	}
}

// Signatures, stamps and some fields have their text only in the form that draws them.
func TestTextOfAppearances(t *testing.T) {
	shape := func(m *pdftest.Maker, resources, content string) int {
		return m.Stream("/Type /XObject /Subtype /Form /BBox [0 0 180 40] /Resources "+resources, []byte(content))
	}
	for _, rotate := range []int{0, 90} {
		var m pdftest.Maker
		signed := shape(&m, pdftest.Fonts, pdftest.At(2, 25, 9, "F", "Signed by Ada Moss")+
			pdftest.At(2, 13, 9, "F", "on 4 May 2026"))
		nested := shape(&m, fmt.Sprintf("<</XObject <</X %d 0 R>> >>", signed), "q /X Do Q")
		var all []string
		for i, a := range []struct {
			entries, rect, content string
		}{
			{"/Subtype /Widget /FT /Sig /T (s)", "120 600 300 640", ""},
			{"/Subtype /Widget /FT /Tx /T (f)", "120 685 300 725", pdftest.At(2, 15, 11, "F", "Adebayo")},
			{"/Subtype /Widget /FT /Tx /Ff 8192 /T (p)", "320 500 500 540", pdftest.At(2, 15, 11, "F", "secret")},
			{"/Subtype /Stamp", "400 740 580 780", pdftest.At(2, 15, 11, "F", "APPROVED")},
			{"/Subtype /Stamp", "400 20 580 60", "0 0 180 40 re f"},
		} {
			form := nested
			if i > 0 {
				form = shape(&m, pdftest.Fonts, a.content)
			}
			n := m.Add("<</Type /Annot %s /F 4 /AP <</N %d 0 R>> /Rect [%s]>>", a.entries, form, a.rect)
			all = append(all, fmt.Sprintf("%d 0 R", n))
		}
		x := mustExtract(t, newReader(t, nil), m.Document(
			fmt.Sprintf("/AcroForm <</Fields [%s]>>", strings.Join(all[:3], " ")), pdftest.Sheet{Rotate: rotate,
				Content: pdftest.At(50, 700, 11, "F", "Surname:") + pdftest.At(50, 620, 11, "F", "Signature:") +
					pdftest.At(50, 500, 11, "F", "The lease ends in May."),
				Extra: "/Annots [" + strings.Join(all, " ") + "]"}))
		flat := strings.Join(strings.Fields(x.Text), " ")
		want := "APPROVED Surname: Adebayo Signature: Signed by Ada Moss on 4 May 2026 The lease ends in May."
		if flat != want {
			t.Errorf("turned by %d: text = %q, want %q", rotate, flat, want)
		}
		if left := x.Meta[corpus.MetaLeftOut]; left != "1 stamp" {
			t.Errorf("turned by %d: left out: %v, want 1 stamp", rotate, left)
		}
	}
}

// The mark of a quote lies on its field.
func TestWordBoxesOfFieldsLieInTheirFields(t *testing.T) {
	for _, rotate := range []int{0, 90} {
		x := mustExtract(t, newReader(t, nil), annotated(pdftest.At(50, 700, 11, "F", "Surname:"), "", rotate,
			"/FT /Tx /T (surname) /V (van der Merwe) /Rect [120 690 300 710]"))
		words, boxes := wordsOf(t, x)
		if diff := cmp.Diff([]string{"Surname:", "van", "der", "Merwe"}, words); diff != "" {
			t.Fatalf("words (-want +got):\n%s", diff)
		}
		for i, b := range boxes[1:] {
			x0, y0, x1, y1 := b[1]*600, b[2]*800, b[3]*600, b[4]*800
			if rotate == 90 { // the page's left edge is at the top
				x0, y0, x1, y1 = b[2]*600, 800-b[3]*800, b[4]*600, 800-b[1]*800
			}
			if x0 < 119 || x1 > 301 || y0 < 85 || y1 > 115 {
				t.Errorf("%q stands at [%.0f %.0f %.0f %.0f], want it in its field", words[i+1], x0, y0, x1, y1)
			}
		}
	}
}

// Text typed onto a scan stays, whether or not OCR recognised it in the picture.
func TestTextTypedOntoScans(t *testing.T) {
	var picture bytes.Buffer
	if err := jpeg.Encode(&picture, image.NewGray(image.Rect(0, 0, 60, 80)), nil); err != nil {
		t.Fatal(err)
	}
	var m pdftest.Maker
	m.Add("<</Type /Annot /Subtype /FreeText /Contents (27 of 30) /Rect [150 690 300 710]>>")
	m.Add("<</Type /Annot /Subtype /Stamp /AP <</N 3 0 R>> /Rect [400 20 580 60]>>")
	m.Stream("/Type /XObject /Subtype /Form /BBox [0 0 180 40] /Resources "+pdftest.Fonts,
		[]byte(pdftest.At(2, 15, 11, "F", "PAID")))
	file := pdftest.Write(t, m.Document("", pdftest.Sheet{Picture: picture.Bytes(), Extra: "/Annots [1 0 R 2 0 R]"}))
	read := func(words ...corpus.ReadWord) string {
		f := file
		if words != nil {
			f.Read = []corpus.ReadPage{{Number: 1, Width: 600, Height: 800, Lines: []corpus.ReadLine{
				{Words: words, Size: 12},
			}}}
		}
		x, err := newReader(t, nil).Extract(t.Context(), f, nil)
		if err != nil {
			t.Fatal(err)
		}
		if words == nil && len(x.Scans) != 1 {
			t.Errorf("scans = %v, want the page", x.Scans)
		}
		return strings.Join(strings.Fields(strings.ReplaceAll(x.Text, "|", " ")), " ")
	}
	pallets := corpus.ReadWord{Text: "Pallets:", X0: 50, Y0: 92, X1: 110, Y1: 106}
	number := corpus.ReadWord{Text: "27of30", X0: 155, Y0: 92, X1: 200, Y1: 106}
	for _, tt := range []struct{ name, got, want string }{
		{"before OCR", read(), "27 of 30 PAID"},
		{"beside what OCR recognised", read(pallets), "Pallets: 27 of 30 PAID"},
		{"recognised by OCR as well", read(pallets, number), "Pallets: 27of30 PAID"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: text = %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}

// A stamp that draws itself a million times costs its own text, not that of the document.
func TestTextIsReadBesideEndlessStamp(t *testing.T) {
	t.Parallel()
	x := mustExtract(t, newReader(t, nil), pdftest.Stamped(12, 10))
	if left := x.Meta[corpus.MetaLeftOut]; !strings.Contains(x.Text, "The text of this page.") || left != "1 stamp" {
		t.Errorf("text %q without %v, want the page's text without 1 stamp", x.Text, left)
	}
}
