package pdf_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
	"github.com/footnote/footnote/corpus/extract/worker"
	"github.com/footnote/footnote/corpus/extract/worker/workertest"
)

// manual returns the pages of a document with every kind of content whose position matters.
func manual() (pages []string) {
	row := func(y int, font string, cells ...string) string {
		var b strings.Builder
		for i, c := range cells {
			b.WriteString(pdftest.At(50+120*i, y, 12, font, c))
		}
		return b.String()
	}
	for i, name := range names {
		pages = append(pages, pdftest.At(50, 770, 9, "F", "Survey of the house")+
			pdftest.At(540, 770, 9, "F", fmt.Sprint(i+1))+
			pdftest.At(50, 720, 20, "F", "The "+name+" part")+
			pdftest.Para(50, 680, "This page says what is to be said about the "+name+" part of",
				"the house, and goes on for a line.")+
			row(620, "B", "Room", "Width", "Height")+row(604, "F", "Hall", "4.20", "2.60")+
			row(588, "F", "Cellar", "", "1.90")+row(572, "F", "Attic", "3.10", "2.20")+
			pdftest.At(50, 530, 12, "B", "Findings")+
			pdftest.At(50, 510, 12, "F", "1. The roof, which is new and")+pdftest.At(65, 496, 12, "F", "has no holes")+
			pdftest.At(50, 482, 12, "F", "2. The walls")+
			pdftest.At(50, 440, 10, "C", "for x in a:")+pdftest.At(74, 428, 10, "C", "print x")+
			raised(380, "It was measured in 1921", "1", " by a firm that is very")+
			pdftest.Para(50, 366, "well known for its sophisti-"))
	}
	return pages
}

// outlined returns a document of pages with an outline of their headings.
func outlined(pages []pdftest.Sheet) []byte {
	var m pdftest.Maker
	outline := m.Add("<</Type /Outlines /First 2 0 R /Last %d 0 R /Count %d>>", len(pages)+1, len(pages))
	for i := range pages {
		next := ""
		if i+1 < len(pages) {
			next = fmt.Sprintf("/Next %d 0 R", i+3)
		}
		m.Add("<</Title (The %s part) /Parent 1 0 R %s /Dest [%d 0 R /XYZ %s 0]>>", names[i], next,
			len(pages)+3+2*i, map[bool]string{false: "0 735", true: "65 0"}[pages[i].Box != ""])
	}
	return m.Document(fmt.Sprintf("/Outlines %d 0 R", outline), pages...)
}

// The text of a page is the same for every turn: by its rotation entry or in its content, on one page or all.
func TestRotatedPagesReadLikeUprightOnes(t *testing.T) {
	reader := newReader(t, nil)
	for _, document := range []struct {
		name string
		of   func([]pdftest.Sheet) []byte
	}{
		{"headings by their letters", func(pages []pdftest.Sheet) []byte { return pdftest.Document("", pages...) }},
		{"headings by the outline", outlined},
	} {
		sheets := func(turned func(i int, content string) pdftest.Sheet) (all []pdftest.Sheet) {
			for i, content := range manual() {
				all = append(all, turned(i, content))
			}
			return all
		}
		upright := mustExtract(t, reader, document.of(sheets(func(_ int, content string) pdftest.Sheet {
			return pdftest.Sheet{Content: content}
		})))
		if text := strings.Join(outlineOf(upright), "\n"); !strings.Contains(text, "heading1: The oldest part") ||
			!strings.Contains(text, "table: Room | Width | Height\nHall | 4.20 | 2.60\nCellar |  | 1.90") ||
			strings.Count(text, "Survey of the house") != 1 {
			t.Fatalf("text of the upright document = %s", text)
		}
		for _, tt := range []struct {
			name string
			turn func(i int, content string) pdftest.Sheet
		}{
			{"by 90°", func(_ int, c string) pdftest.Sheet { return pdftest.Sheet{Content: c, Rotate: 90} }},
			{"by 180°", func(_ int, c string) pdftest.Sheet { return pdftest.Sheet{Content: c, Rotate: 180} }},
			{"by 270°", func(_ int, c string) pdftest.Sheet { return pdftest.Sheet{Content: c, Rotate: 270} }},
			{"some of them", func(i int, c string) pdftest.Sheet {
				return pdftest.Sheet{Content: c, Rotate: []int{0, 90, 0, 0, 270, 180}[i%6]}
			}},
			{"their content", func(_ int, c string) pdftest.Sheet {
				return pdftest.Sheet{Content: pdftest.Turned(1, 800, 0, c), Box: "0 0 800 600"}
			}},
			{"their content, and back by an entry", func(_ int, c string) pdftest.Sheet {
				return pdftest.Sheet{Content: pdftest.Turned(1, 800, 0, c), Box: "0 0 800 600", Rotate: 90}
			}},
		} {
			t.Run(document.name+", "+tt.name, func(t *testing.T) {
				x := mustExtract(t, reader, document.of(sheets(tt.turn)))
				if diff := cmp.Diff(outlineOf(upright), outlineOf(x)); diff != "" {
					t.Fatalf("blocks (-upright +rotated):\n%s", diff)
				}
				for i := range upright.Blocks {
					if diff := cmp.Diff(upright.Blocks[i].Headings, x.Blocks[i].Headings); diff != "" {
						t.Errorf("headings of block %d (-upright +rotated):\n%s", i, diff)
					}
				}
				if x.Title != upright.Title {
					t.Errorf("title = %q, want %q", x.Title, upright.Title)
				}
			})
		}
	}
}

// Text that is turned on its page is read upright and separately from the other text.
func TestRotatedTextOnPage(t *testing.T) {
	reader := newReader(t, nil)
	table := pdftest.At(0, 40, 12, "F", "Pier") + pdftest.At(110, 40, 12, "F", "Depth") +
		pdftest.At(220, 40, 12, "F", "Stone") + pdftest.At(0, 22, 12, "F", "North") +
		pdftest.At(110, 22, 12, "F", "4.20") + pdftest.At(220, 22, 12, "F", "granite") +
		pdftest.At(0, 4, 12, "F", "South") + pdftest.At(220, 4, 12, "F", "limestone")
	const rows = "table: Pier | Depth | Stone\nNorth | 4.20 | granite\nSouth |  | limestone"
	above := pdftest.At(50, 740, 18, "F", "The bridge") + pdftest.Para(50, 710, "The survey of the bridge was made in",
		"the spring of the year 1921.")
	below := pdftest.Para(50, 100, "All of the stone is from the quarry at", "the river, and it was cut there with the")
	next := pdftest.Para(50, 740, "tools of the time, as it was usual.", "Nothing else is known.")
	whole := "paragraph: All of the stone is from the quarry at the river, and it was cut there with the tools of " +
		"the " +
		"time, as it was usual. Nothing else is known."
	for _, tt := range []struct {
		name  string
		pages []string
		want  []string
	}{
		{"a table with its head to the left", []string{above + pdftest.Turned(1, 260, 300, table) + below, next},
			[]string{"heading1: The bridge",
				"paragraph: The survey of the bridge was made in the spring of the year 1921.", rows, whole}},
		{"a table with its head to the right", []string{above + pdftest.Turned(3, 200, 620, table) + below, next},
			[]string{"heading1: The bridge",
				"paragraph: The survey of the bridge was made in the spring of the year 1921.", rows, whole}},
		{"a table on its head", []string{above + pdftest.Turned(2, 400, 400, table) + below, next},
			[]string{"heading1: The bridge",
				"paragraph: The survey of the bridge was made in the spring of the year 1921.", rows, whole}},
		{"a stamp in the margin beside a table",
			[]string{pdftest.Turned(1, 30, 250, pdftest.At(0, 0, 20, "F", "arXiv:1706.03762v7 2 Aug 2023")) + above +
				pdftest.Turned(1, 260, 300, table) + below, next},
			[]string{"heading1: The bridge",
				"paragraph: The survey of the bridge was made in the spring of the year 1921.", rows,
				"paragraph: arXiv:1706.03762v7 2 Aug 2023", whole}},
		{"letters that stand in the file one by one",
			[]string{above + pdftest.Turned(1, 300, 300, pdftest.At(0, 0, 12, "C", "s")+
				"BT /C 12 Tf 1 0 0 1 7.2 0 Tm (t) Tj ET BT /C 12 Tf 1 0 0 1 14.4 0 Tm (o) Tj ET "+
				"BT /C 12 Tf 1 0 0 1 21.6 0 Tm (n) Tj ET BT /C 12 Tf 1 0 0 1 28.8 0 Tm (e) Tj ET\n") + below, next},
			[]string{"heading1: The bridge",
				"paragraph: The survey of the bridge was made in the spring of the year 1921.", "code: stone", whole}},
		{"a heading over a paragraph", []string{above + pdftest.Turned(1, 200, 300,
			pdftest.At(0, 40, 18, "F", "The piers")+pdftest.Para(0, 20, "There are three of them.")) + below},
			[]string{"heading1: The bridge",
				"paragraph: The survey of the bridge was made in the spring of the year 1921.", "heading1: The piers",
				"paragraph: There are three of them.",
				"paragraph: All of the stone is from the quarry at the river, and it was cut there with the"}},
		{"a stamp in the margin is no heading, and comes last",
			[]string{pdftest.Turned(1, 30, 250, pdftest.At(0, 0, 20, "F", "arXiv:1706.03762v7 2 Aug 2023")) + above +
				below, next},
			[]string{"heading1: The bridge",
				"paragraph: The survey of the bridge was made in the spring of the year 1921.",
				"paragraph: arXiv:1706.03762v7 2 Aug 2023", whole}},
		{"the labels of axes are no headings", []string{above + pdftest.Turned(1, 60, 400,
			pdftest.At(0, 0, 18, "B", "Depth in metres")) + pdftest.Turned(1, 200, 400,
			pdftest.At(0, 0, 18, "B", "Length in metres")) + below},
			[]string{"heading1: The bridge",
				"paragraph: The survey of the bridge was made in the spring of the year 1921.",
				"paragraph: Depth in metres", "paragraph: Length in metres",
				"paragraph: All of the stone is from the quarry at the river, and it was cut there with the"}},
		{"a watermark does not cut the line that it crosses",
			[]string{above + pdftest.At(50, 600, 12, "F", "The stone of the piers was ") +
				"q 0.7 0.7 -0.7 0.7 120 400 cm " + pdftest.At(0, 0, 60, "F", "DRAFT COPY") + "Q\n" +
				pdftest.At(193, 600, 12, "F", "cut by hand.") +
				"q 0.7 0.7 -0.7 0.7 120 300 cm " + pdftest.At(0, 0, 60, "F", "BY ME") + "Q\n"},
			[]string{"heading1: The bridge",
				"paragraph: The survey of the bridge was made in the spring of the year 1921.",
				"paragraph: The stone of the piers was cut by hand.", "paragraph: DRAFT COPY\nBY ME"}},
		{"a font of negative size that is turned twice", []string{
			"BT /F -12 Tf -1 0 0 -1 50 700 Tm (The walls are dry.) Tj ET\n"}, []string{"paragraph: The walls are " +
			"dry."}},
		{"a page whose content can't be turned keeps its text",
			[]string{"Q Q Q " + pdftest.Turned(1, 300, 300, pdftest.At(0, 0, 12, "F", "The walls are dry."))},
			[]string{"paragraph: The walls are dry."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var sheets []pdftest.Sheet
			for _, content := range tt.pages {
				sheets = append(sheets, pdftest.Sheet{Content: content})
			}
			if diff := cmp.Diff(
				tt.want,
				outlineOf(mustExtract(t, reader, pdftest.Document("", sheets...))),
			); diff != "" {
				t.Errorf("blocks (-want +got):\n%s", diff)
			}
		})
	}
}

// Text that recurs on all pages stays once, in every direction.
func TestRecurringRotatedTextStaysOnce(t *testing.T) {
	var pages []pdftest.Sheet
	var want []string
	for i, name := range names {
		text := "What is to be said about the " + name + " part of the house."
		pages = append(pages, pdftest.Sheet{Content: pdftest.Para(80, 700, text) +
			pdftest.Turned(
				1,
				30,
				200,
				pdftest.At(0, 0, 9, "F", fmt.Sprintf("Downloaded from the archive, page %d", i+1)),
			) +
			"q 0.7 0.7 -0.7 0.7 120 300 cm " + pdftest.At(0, 0, 60, "F", "DRAFT COPY") + "Q\n"})
		want = append(want, "paragraph: "+text)
	}
	want = slices.Insert(want, 1, "paragraph: Downloaded from the archive, page 1", "paragraph: DRAFT COPY")
	x := mustExtract(t, newReader(t, nil), pdftest.Document("", pages...))
	if diff := cmp.Diff(want, outlineOf(x)); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}

// In vertical text, words of other scripts are turned, and keep their position in the text.
func TestVerticalTextKeepsWords(t *testing.T) {
	var m pdftest.Maker
	signs := []rune("この橋は春に測られた次の版は月出る")
	var names strings.Builder
	for i, r := range signs {
		fmt.Fprintf(&names, "<%02X> <%04X> ", 'a'+i, r)
	}
	unicode := m.Stream("", []byte("/CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 "+
		"begincodespacerange <00> <FF> endcodespacerange "+fmt.Sprint(len(signs))+" beginbfchar "+names.String()+
		"endbfchar endcmap end end"))
	font := m.Add("<</Type /Font /Subtype /Type1 /BaseFont /Courier /ToUnicode %d 0 R>>", unicode)
	column := func(x, y int, from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			b.WriteString(pdftest.At(x, y-14*(i-from), 14, "U", string(rune('a'+i))))
		}
		return b.String()
	}
	for _, turn := range []int{0, 90} {
		x := mustExtract(t, newReader(t, nil), m.Document("", pdftest.Sheet{
			Content: column(500, 700, 0, 10) + column(476, 700, 10, 14) +
				pdftest.Turned(3, 476, 655, pdftest.At(0, 0, 14, "F", "May 2027")) + column(476, 580, 14, 17),
			Fonts: fmt.Sprintf("/U %d 0 R ", font), Rotate: turn,
		}))
		if text := strings.Join(strings.Fields(x.Text), ""); !strings.Contains(text, "次の版はMay2027月出る") {
			t.Errorf("rotated by %d: text = %q, want the words in their order", turn, x.Text)
		}
	}
}

// The boxes of turned words match them on the rendered page.
func TestRotatedWordBoxes(t *testing.T) {
	reader := newReader(t, nil)
	page := pdftest.Para(60, 700, "Upright words stand at the top,", "and these as well.") +
		pdftest.Turned(1, 200, 200, pdftest.Para(0, 0, "Words that are read from below", "have boxes there.")) +
		pdftest.Turned(3, 400, 500, pdftest.Para(0, 0, "Words that are read from above", "do as well.")) +
		pdftest.Turned(2, 500, 100, pdftest.Para(0, 0, "And some stand on their heads.")) +
		"q 0.7 0.7 -0.7 0.7 250 250 cm " + pdftest.At(0, 0, 30, "F", "DRAFT") + "Q\n"
	for _, turn := range []int{0, 90, 180, 270} {
		for _, crop := range []string{"", "40 50 560 760"} {
			data := pdftest.Document("", pdftest.Sheet{Content: page, Rotate: turn, Crop: crop})
			x := mustExtract(t, reader, data)
			words, boxes := wordsOf(t, x)
			if len(words) != 35 {
				t.Fatalf("turned by %d: %d words, want 35: %q", turn, len(words), words)
			}
			turns := map[string]int{"Upright": 0, "above": 1, "heads.": 2, "below": 3}
			for _, w := range wordBoxesOf(t, x) {
				if of, ok := turns[w.text]; ok && w.Turn != (of+turn/90)%4 {
					t.Errorf("%q is turned by %d quarters on a page turned by %d, want %d", w.text, w.Turn, turn,
						(of+turn/90)%4)
				}
			}
			inside, outside := dark(drawPage(t, reader, pdftest.Write(t, data), 1, 1200), boxes)
			for i, share := range inside {
				if share < 0.05 {
					t.Errorf("rotated by %d, cropped to %q: %.1f %% of the box %v of %q is dark", turn, crop, share*100,
						boxes[i], words[i])
				}
			}
			if outside > 60 {
				t.Errorf("turned by %d, cut to %q: %d dark pixels lie outside of all boxes, want at most 60", turn,
					crop, outside)
			}
		}
	}
}

// A page that the file references twice is turned equally both times.
func TestDuplicatePageReference(t *testing.T) {
	var m pdftest.Maker
	content := m.Stream("", []byte(pdftest.Para(50, 700, "Upright words stand at the top.")+
		pdftest.Turned(1, 200, 200, pdftest.Para(0, 0, "Words that are read from below."))))
	page := m.Add("<</Type /Page /Parent 3 0 R /MediaBox [0 0 600 800] /Resources %s /Contents [%d 0 R]>>",
		pdftest.Fonts, content)
	m.Add("<</Type /Pages /Count 2 /Kids [%d 0 R %d 0 R]>>", page, page)
	x := mustExtract(t, newReader(t, nil), m.Bytes(m.Add("<</Type /Catalog /Pages 3 0 R>>")))
	words, boxes := wordsOf(t, x)
	if len(words) != 24 {
		t.Fatalf("%d words, want 24: %q", len(words), words)
	}
	for i, first := range boxes[:12] {
		if diff := cmp.Diff(first[1:], boxes[12+i][1:]); diff != "" {
			t.Errorf("box of %q on page 1 and 2 (-first +second):\n%s", words[i], diff)
		}
	}
}

// wordsOf returns the words of a document and their boxes.
func wordsOf(t *testing.T, x corpus.Extracted) (words []string, boxes []chat.Box) {
	t.Helper()
	for _, w := range wordBoxesOf(t, x) {
		words, boxes = append(words, w.text), append(boxes, w.Box)
	}
	return words, boxes
}

type wordBox struct {
	corpus.WordBox
	text string
}

func wordBoxesOf(t *testing.T, x corpus.Extracted) (words []wordBox) {
	t.Helper()
	runes := []rune(x.Text)
	for _, b := range x.Blocks {
		all, err := b.Words.Unpack()
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range all {
			words = append(words, wordBox{w, string(runes[w.Start:w.End])})
		}
	}
	return words
}

// drawPage renders a page and decodes the image.
func drawPage(t *testing.T, r *worker.Pool, f corpus.File, n, width int) image.Image {
	t.Helper()
	data, err := r.Render(t.Context(), f, n, width)
	if err != nil {
		t.Fatalf("Render: %v, want no error", err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("decode the picture: %v, want no error", err)
	}
	return img
}

// dark returns the share of dark pixels of img inside each box, and the number outside of all boxes.
func dark(img image.Image, boxes []chat.Box) (inside []float64, outside int) {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	covered := make([]bool, w*h)
	for _, b := range boxes {
		n, all := 0, 0
		for y := int(b[2] * float64(h)); y < min(h, int(b[4]*float64(h))+1); y++ {
			for x := int(b[1] * float64(w)); x < min(w, int(b[3]*float64(w))+1); x++ {
				covered[y*w+x] = true
				all++
				if r, _, _, _ := img.At(x, y).RGBA(); r < 0x8000 {
					n++
				}
			}
		}
		inside = append(inside, float64(n)/float64(max(all, 1)))
	}
	for i, c := range covered {
		if r, _, _, _ := img.At(i%w, i/w).RGBA(); !c && r < 0x8000 {
			outside++
		}
	}
	return inside, outside
}

func TestWordBoxesCoverWords(t *testing.T) {
	text := pdftest.Para(100, 600, "Words stand where their boxes are,", "in every turn of the page.") +
		pdftest.At(150, 500, 30, "B", "Large ones too") +
		pdftest.Para(100, 400, "Everything that the program keeps lies in one directory,") +
		pdftest.At(100, 386, 10, "C", "FOOTNOTE_DATA.")
	reader := newReader(t, nil)
	for _, turn := range []int{0, 90, 180, 270} {
		for _, crop := range []string{"", "40 100 500 700"} {
			t.Run(fmt.Sprintf("turned by %d, cut to %q", turn, crop), func(t *testing.T) {
				data := pdftest.Document("", pdftest.Sheet{Content: text, Rotate: turn, Crop: crop})
				x := mustExtract(t, reader, data)
				runes := []rune(x.Text)
				words, boxes := wordsOf(t, x)
				if len(boxes) != 25 {
					t.Fatalf("%d words, want 25: %q", len(boxes), words)
				}
				const joined = "Everything that the program keeps lies in one directory, FOOTNOTE_DATA."
				last := x.Blocks[len(x.Blocks)-1]
				if text := string(runes[last.Start:last.End]); last.Kind != corpus.BlockParagraph || text != joined {
					t.Errorf("line of code is not part of its paragraph: %s %q", last.Kind, text)
				}
				img := drawPage(t, reader, pdftest.Write(t, data), 1, 1200)
				if got, want := img.Bounds().Dy()*1000/img.Bounds().Dx(),
					int(x.Sizes[0][1]*1000/x.Sizes[0][0]); got < want-5 || got > want+5 {
					t.Errorf("size of the picture = %v, of the page %v", img.Bounds(), x.Sizes[0])
				}
				inside, outside := dark(img, boxes)
				for i, share := range inside {
					if share < 0.05 {
						t.Errorf("%.1f %% of the box %v of %q is dark, want 5 %%", share*100, boxes[i], words[i])
					}
				}
				if outside > 60 {
					t.Errorf("%d dark pixels lie outside of all boxes, want at most 60", outside)
				}
			})
		}
	}
}

func TestRenderRejectsInvalidPages(t *testing.T) {
	reader := newReader(t, nil)
	file := pdftest.Write(t, pdftest.Document("", pdftest.Sheet{Content: pdftest.At(50, 700, 12, "F", "One page")}))
	for _, tt := range []struct {
		name     string
		n, width int
		code     chat.Code
	}{
		{"page 0", 0, 800, chat.CodeInvalid}, {"a page behind the last", 2, 800, chat.CodeNotFound},
		{"a narrow picture", 1, 99, chat.CodeInvalid}, {"a wide picture", 1, 4001, chat.CodeInvalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := reader.Render(t.Context(), file, tt.n, tt.width); err == nil || chat.CodeOf(err) != tt.code {
				t.Errorf("error = %v, want %s", err, tt.code)
			}
		})
	}
	if got := drawPage(t, reader, file, 1, 700).Bounds(); got != image.Rect(0, 0, 700, 933) {
		t.Errorf("the picture is %v, want 700 × 933 pixels", got)
	}
}

// TestMain lets the test binary be its own worker.
func TestMain(m *testing.M) {
	workertest.BeWorker()
	os.Exit(m.Run())
}

func newReader(t testing.TB, change func(*worker.Config)) *worker.Pool {
	t.Helper()
	var cfg worker.Config
	if change != nil {
		change(&cfg)
	}
	return workertest.Open(t, cfg)
}

func mustExtract(t testing.TB, r *worker.Pool, data []byte) corpus.Extracted {
	t.Helper()
	x, err := r.Extract(t.Context(), pdftest.Write(t, data), nil)
	if err != nil {
		t.Fatalf("Extract: %v, want no error", err)
	}
	if err := doctext.Check(x); err != nil {
		t.Fatalf("extracted text breaks a promise: %v, want no error", err)
	}
	return x
}

// outlineOf formats the blocks: kind, level and text.
func outlineOf(x corpus.Extracted) []string {
	runes := []rune(x.Text)
	var out []string
	for _, b := range x.Blocks {
		kind := string(b.Kind)
		if b.Level > 0 {
			kind += fmt.Sprint(b.Level)
		}
		out = append(out, kind+": "+string(runes[b.Start:b.End]))
	}
	return out
}

// raised returns a line with small raised digits between two texts, such as a note's marker or an exponent.
func raised(y int, before, digits, after string) string {
	return fmt.Sprintf("BT /F 12 Tf 1 0 0 1 50 %d Tm (%s) Tj /F 7 Tf 4 Ts (%s) Tj /F 12 Tf 0 Ts (%s) Tj ET\n",
		y, before, digits, after)
}

// A raised digit is never part of the number before it, and a footnote never part of the text above it.
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

// Characters beyond U+FFFF, which PDFium returns as surrogate pairs, are decoded; a single surrogate is dropped.
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

// Running heads that change from section to section and page numbers in alternating corners are dropped. Titles of
// slides, which are at one height too, are kept.
func TestRunningHeadsStayWhereTheyAreNew(t *testing.T) {
	sections := []string{"The roof", "The cellar", "The garden", "The road", "The well", "The barn"}
	text := func(i int) string { return fmt.Sprintf("What is to be said about the %s part of the house.", names[i]) }
	head := func(isNew bool, s string) string {
		if isNew {
			return "paragraph: " + s + "\n"
		}
		return ""
	}
	for _, tt := range []struct {
		name string
		page func(i int) string
		want func(i int) string
	}{
		{"a head with the section and a foot with the page number", func(i int) string {
			x := 50 + 480*(i%2)
			return pdftest.At(200, 770, 9, "F", sections[i/2]) + pdftest.Para(50, 700, text(i)) +
				pdftest.At(x, 30, 9, "F", fmt.Sprint(i+3))
		}, func(i int) string { return head(i%2 == 0, sections[i/2]) + "paragraph: " + text(i) }},
		{"a head with a number that grows and the section's own title", func(i int) string {
			return pdftest.At(50, 770, 9, "F", fmt.Sprintf("%d   About the %s part", i+9, names[i])) +
				pdftest.Para(50, 700, text(i))
		}, func(i int) string { return "paragraph: " + text(i) }},
		{"a head of two lines", func(i int) string {
			return pdftest.At(50, 775, 9, "F", sections[i/3]) + pdftest.At(500, 775, 9, "F", names[i]) +
				pdftest.At(50, 750, 9, "F", sections[i/2]) + pdftest.Para(50, 700, text(i))
		}, func(i int) string {
			return head(i == 0, sections[0]+" "+names[0]) + head(i > 0 && i%2 == 0, sections[i/2]) +
				"paragraph: " + text(i)
		}},
		{"the heads of a small book on large paper, over paragraphs that go on", func(i int) string {
			return pdftest.At(100, 680, 9, "F", fmt.Sprintf("%d   %s", i+9, sections[i/3])) +
				pdftest.Para(100, 650, text(i))
		}, func(i int) string {
			return head(i%3 == 0, fmt.Sprintf("%d %s", i+9, sections[i/3])) + "paragraph: " + text(i)
		}},
		{"titles of slides", func(i int) string {
			return pdftest.At(50, 750, 12, "F", "On the "+names[i]+" part") + pdftest.Para(50, 700, text(i))
		}, func(i int) string { return "paragraph: On the " + names[i] + " part\nparagraph: " + text(i) }},
		{"text that begins at the margin", func(i int) string {
			return pdftest.Para(50, 770, text(i), "It goes on with the "+names[i]+" part.")
		}, func(i int) string { return "paragraph: " + text(i) + " It goes on with the " + names[i] + " part." }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var pages []pdftest.Sheet
			for i := range names {
				pages = append(pages, pdftest.Sheet{Content: tt.page(i)})
			}
			x := mustExtract(t, newReader(t, nil), pdftest.Document("", pages...))
			got := make([]string, len(names))
			for i, line := range outlineOf(x) {
				if at := x.Blocks[i].Page - 1; got[at] == "" {
					got[at] = line
				} else {
					got[at] += "\n" + line
				}
			}
			for i := range names {
				if diff := cmp.Diff(tt.want(i), got[i]); diff != "" {
					t.Errorf("page %d (-want +got):\n%s", i+1, diff)
				}
			}
		})
	}
}

var names = []string{
	"oldest", "newest", "largest", "smallest", "wettest", "driest", "darkest", "lightest", "northern", "southern",
	"eastern", "western",
}
