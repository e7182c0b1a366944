package main_test

import (
	"bytes"
	"image"
	"image/draw"
	"image/jpeg"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
)

// about allows a mark to be larger than its words, and widths to be estimates.
var about = cmpopts.EquateApprox(0, 5)

// marks are what the marks of a quote cover, in points from the top left corner of a page of 600 × 800 points.
type marks [][4]float64

// rectsOf returns the marks of a quote in the viewer.
func rectsOf(t *testing.T, page string) (all marks) {
	t.Helper()
	for n := range parsed(t, page).Descendants() {
		if n.Data != "rect" || !slices.Contains(strings.Fields(attr(n, "class")), "quote") {
			continue
		}
		var r [4]float64
		for i, name := range []string{"x", "y", "width", "height"} {
			v, err := strconv.ParseFloat(attr(n, name), 64)
			if err != nil {
				t.Fatal(err)
			}
			r[i] = v * []float64{600, 800}[i%2]
		}
		all = append(all, [4]float64{r[0], r[1], r[0] + r[2], r[1] + r[3]})
	}
	return all
}

// scan returns a picture of a page with lines of text.
func scan(t *testing.T, lines ...string) []byte {
	t.Helper()
	regular, err := opentype.Parse(goregular.TTF)
	if err != nil {
		t.Fatal(err)
	}
	face, err := opentype.NewFace(regular, &opentype.FaceOptions{Size: 26, DPI: 72})
	if err != nil {
		t.Fatal(err)
	}
	page := image.NewGray(image.Rect(0, 0, 1200, 1600))
	draw.Draw(page, page.Bounds(), image.White, image.Point{}, draw.Src)
	pen := font.Drawer{Dst: page, Src: image.Black, Face: face}
	for i, l := range lines {
		pen.Dot = fixed.P(100, 200+40*i)
		pen.DrawString(l)
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, page, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// realPDFs are PDFs whose layout or text differs from that of a plain page.
func realPDFs(t *testing.T) []realFile {
	t.Helper()
	at := pdftest.At
	one := func(name, content string) file {
		return file{name, string(pdftest.Document("", pdftest.Sheet{Content: content}))}
	}
	row := func(y int, cells ...string) (all string) {
		for i, x := range []int{60, 140, 330, 450} {
			all += at(x, y, 10, "F", cells[i])
		}
		return all
	}
	var form pdftest.Maker
	form.Add("<</Type /Annot /Subtype /Widget /FT /Tx /T (s) /V (Adebayo) /F 4 /Rect [120 690 300 710]>>")
	form.Add("<</Type /Annot /Subtype /FreeText /Contents (4 March 1988) /F 4 /Rect [120 662 240 678]>>")
	stock := at(60, 725, 8, "F", "Nordlicht Ltd - stock list - confidential") + at(480, 725, 8, "F", "Page 1 of 2") +
		row(700, "Part", "Name", "Stock", "Price") + row(682, "B-201", "bearing", "3", "1.50") +
		row(664, "B-202", "hinge", "6", "2.75")
	var cells string
	for i, r := range [][3]string{{"Flour", "Mill", "12"}, {"Yeast", "Shop", "7"}} {
		for j, x := range []int{320, 362, 392} {
			cells += at(x, 700-16*i, 10, "F", r[j]) + strconv.Itoa(x-2) + " " + strconv.Itoa(696-16*i) + " 1 14 re f\n"
		}
	}
	words := []string{
		"The warden of the mill keeps the water low in winter and",
		"lets it rise in spring when the snow melts on hills,",
		"so that the wheel can turn while the fields are sown and",
		"the carts are mended by the smith, who lives beside a",
		"bridge with his sons and a dog that barks at all who pass",
		"the gate on their way to the market in the town below.",
		"The miller pays a rent of 40 crowns on the first of May,",
		"and the abbot sends him two geese for it in November.",
	}
	var numbered strings.Builder
	for i, w := range words {
		y := 700 - 14*i - i/6*20 // the last two lines are another paragraph
		numbered.WriteString(at(60, y, 8, "F", strconv.Itoa(i+1)) + at(80, y, 12, "F", w))
	}
	cap := at(50, 668, 40, "F", "T") + at(80, 690, 12, "F", "he lighthouse was built in 1851 by a man from Bath,") +
		at(80, 676, 12, "F", "and its lamp is seen from the islands in clear nights.") +
		pdftest.Para(50, 662, "Its keeper has a boat.")
	var hebrew, japanese pdftest.Letters
	tide := hebrew.Leftward(440, 700, "המשרד נוסד") + hebrew.Leftward(398, 700, " בשנת ") +
		hebrew.Rightward(374, 700, "1995") + hebrew.Leftward(320, 700, " בעיר עכו") + hebrew.Leftward(314, 700, ".")
	var column string
	for i, text := range []string{"灯台は一八五一年に建てられ、番人", "は四十年間そこで暮らした。"} {
		for j, c := range []rune(text) {
			column += japanese.Show(500-20*i, 700-14*j, 14, string(c))
		}
	}
	garbled := "BT 3 Tr ET " + pdftest.Para(50, 700, "Tb3 r0*f w@s rep|ac3d 1n tl~e spr1ng 0f lasT yeAr.",
		"1t h@s a w4rr%nty 0f tHirTy y3ars, a^d tl-1e wa11s", "aR3 dr~, ^s tb3 su|2vey0r s4id.")
	return []realFile{
		{file{"form.pdf", string(form.Document("/AcroForm <</Fields [1 0 R]>>", pdftest.Sheet{
			Content: at(50, 740, 18, "F", "Registration") + at(50, 700, 11, "F", "Surname:") +
				at(50, 667, 11, "F", "Born:"), Extra: "/Annots [1 0 R 2 0 R]"}))},
			"What is the surname?", "Surname: | Adebayo", "Adebayo", "", marks{{50, 90, 161, 102}}},
		{one("stock.pdf", stock), "What is the price of the hinge?", "B-202 | hinge | 6 | 2.75", "2.75", "confidential",
			marks{{60, 127, 88, 138}, {140, 127, 166, 138}, {329, 127, 336, 138}, {449, 127, 470, 138}}},
		{one("order.pdf", pdftest.Para(320, 700, "the library opened in the old mill,", "as one would expect of it.")+
			pdftest.Para(50, 700, "There was a fire in the town, and", "eleven years after it in autumn")),
			"When did the library open?", "There was a fire in the town, and eleven years after it in autumn " +
				"the library opened in the old mill, as one would expect of it.", "eleven years", "",
			marks{{50, 88, 224, 104}, {50, 102, 211, 118}, {320, 88, 493, 104}, {320, 102, 455, 118}}},
		{one("hyphens.pdf", pdftest.Para(50, 700, "The survey asks for the price, and for what is determining it.",
			"The first survey of Bath had a price-", "determining method by Ada Moss.")),
			"Who made the price-determining method?", "The survey asks for the price, and for what is determining " +
				"it. The first survey of Bath had a price-determining method by Ada Moss.", "price-determining", "",
			marks{{50, 88, 367, 104}, {50, 102, 236, 118}, {50, 116, 232, 132}}},
		{one("cap.pdf", cap), "When was the lighthouse built?", "The lighthouse was built in 1851 by a man from " +
			"Bath, and its lamp is seen from the islands in clear nights. Its keeper has a boat.", "1851", "",
			marks{{50, 98, 355, 114}, {80, 112, 355, 128}, {50, 126, 165, 142}}},
		{one("spaced.pdf", at(50, 740, 18, "B", "S U R V E Y   O F   B A T H")+at(50, 700, 12, "F",
			"W A R R A N T Y :   T H I R T Y   Y E A R S")), "How long is the warranty?", "WARRANTY: THIRTY YEARS",
			"THIRTY", "", marks{{50, 88, 283, 104}}},
		{file{"office.pdf", string(hebrew.Document(tide))}, "באיזו שנה נוסד המשרד?", "המשרד נוסד בשנת 1995 בעיר עכו.",
			"1995", "", marks{{470, 90, 500, 103}, {440, 90, 464, 103}, {404, 90, 428, 103}, {374, 90, 398, 103},
				{344, 90, 368, 103}, {314, 90, 338, 103}}},
		{file{"tower.pdf", string(japanese.Document(column))}, "灯台はいつ建てられましたか？",
			"灯台は一八五一年に建てられ、番人は四十年間そこで暮らした。", "一八五一年", "",
			marks{{500, 86, 512, 314}, {480, 86, 489, 272}}},
		{file{"numbered.pdf", string(pdftest.Document("", pdftest.Sheet{Content: numbered.String()},
			pdftest.Sheet{Content: numbered.String()}))}, "What rent does the miller pay?",
			"The miller pays a rent of 40 crowns on the first of May, and the abbot sends him two geese for it " +
				"in November.", "40 crowns", "", marks{{80, 192, 369, 207}, {80, 206, 371, 221}}},
		{one("recipe.pdf", pdftest.Para(50, 740, "The left column has text that is", "not of the table at all.")+
			pdftest.Para(320, 740, "The right one has a table that is", "as small as it can be:")+cells+
			pdftest.Para(320, 660, "and then it goes on.")), "Where does the yeast come from?", "Yeast | Shop | 7",
			"Shop", "", marks{{320, 106, 398, 119}}},
		{file{"garbled.pdf", string(pdftest.Document("", pdftest.Sheet{Content: garbled, Picture: scan(t,
			"The roof was replaced in the spring of last year.", "It has a warranty of thirty years, and the walls",
			"are dry, as the surveyor said.")}))}, "How long is the warranty of the roof?",
			"The roof was replaced in the spring of last year. It has a warranty of thirty years, and the walls are " +
				"dry, as the surveyor said.", "thirty", "w4rr",
			marks{{50, 88, 325, 103}, {50, 108, 314, 123}, {50, 128, 218, 143}}},
	}
}
