package ocr_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ocr"
	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
	"github.com/footnote/footnote/corpus/extract/picture/picturetest"
)

// aPage is a page of text, as PDFs have it.
const aPage = "This page has a text of its own, and a picture of a tree beside it."

// scans is a PDF of five pages: one with text, and four that are pictures of pages in German, each lying another way,
// by how the picture was scanned or by how the page is turned in the file. The first of them is stamped with a number.
func scans(t *testing.T) (corpus.File, map[int]page) {
	t.Helper()
	made := map[int]page{}
	for n := 2; n <= 5; n++ { // each begins with another line: what all pages begin with is left out of the text
		lines := slices.Concat(german[n:], german[:n])
		made[n] = written(t, "a page in German", "deu", lines)
	}
	picture := func(n, quarters int) []byte { return asJPEG(t, turn(made[n].picture, quarters)) }
	const upright, side = "0 0 595 842", "0 0 842 595"
	return pdftest.Write(t, pdftest.Document("",
		pdftest.Sheet{Content: pdftest.Para(50, 700, aPage, "It is read as it stands in the file.")},
		pdftest.Sheet{Box: upright, Picture: picture(2, 0), Content: pdftest.At(500, 20, 8, "F", "Scan 17")},
		pdftest.Sheet{Box: side, Picture: picture(3, 1)},
		pdftest.Sheet{Box: upright, Picture: picture(4, 2)},
		pdftest.Sheet{Box: upright, Picture: picture(5, 0), Rotate: 90},
	)), made
}

func TestOfAPDFOnlyScannedPagesAreReadFromPictures(t *testing.T) {
	reader, pool := newReader(t, &ocr.Tesseract{})
	file, made := scans(t)
	asItIs, err := pool.Extract(t.Context(), file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{2, 3, 4, 5}, asItIs.Scans); diff != "" {
		t.Errorf("pages that are pictures (-want +got):\n%s", diff)
	}
	var seen []int
	x, err := reader.Extract(t.Context(), file, func(done, total int) { seen = append(seen, done) })
	if err != nil {
		t.Fatal(err)
	}
	if err := doctext.Check(x); err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(seen[1:]) || len(seen) < 4 {
		t.Errorf("progress %v: want a report for each picture", seen)
	}
	if !strings.HasPrefix(x.Text, aPage) || x.Pages != 5 {
		t.Errorf("%d pages, text %.100q: want the first page's own text first", x.Pages, x.Text)
	}
	if diff := cmp.Diff(map[string]any{"3": 3., "4": 2., "5": 3.}, x.Meta[corpus.MetaTurned]); diff != "" {
		t.Errorf("turned pages (-want +got):\n%s", diff)
	}
	for n := 2; n <= 5; n++ {
		p := made[n]
		texts, boxes := words(t, x, n)
		if alike := f1(p.texts, texts); alike < 0.97 {
			t.Errorf("page %d: word F1 %.3f with its text, want 0.97: %q", n, alike, texts)
		}
		checkPlaces(t, p.texts, p.boxes, texts, boxes)
		if size := x.Sizes[n-1]; size[0] > size[1] {
			t.Errorf("page %d is %v points: want it upright", n, size)
		}
	}
}

func dark(img image.Image, x, y int) bool {
	return color.GrayModel.Convert(img.At(x, y)).(color.Gray).Y < 160
}

// TestATurnedPageIsDrawnUpright compares pages that are drawn turned with the pictures that they were made of.
func TestATurnedPageIsDrawnUpright(t *testing.T) {
	_, pool := newReader(t, &ocr.Tesseract{})
	file, made := scans(t)
	for n, quarters := range map[int]int{2: 0, 3: 3, 4: 2, 5: 3} {
		file.Turn = quarters
		drawn, err := pool.Render(t.Context(), file, n, 827)
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(bytes.NewReader(drawn))
		if err != nil {
			t.Fatal(err)
		}
		ink, both := 0, 0
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				if dark(img, x, y) {
					ink++
					if p := made[n].picture; dark(p, 2*x, 2*y) || dark(p, 2*x+1, 2*y) || dark(p, 2*x, 2*y+1) ||
						dark(p, 2*x+1, 2*y+1) {
						both++
					}
				}
			}
		}
		if ink < 1000 || float64(both) < 0.9*float64(ink) {
			t.Errorf("page %d, turned by %d: %d of %d dark pixels are where the page has ink", n, quarters, both, ink)
		}
	}
}

func TestWithoutTesseractPicturesWait(t *testing.T) {
	reader, _ := newReader(t, &ocr.Tesseract{})
	mixed, made := scans(t)
	picture := store(t, "image/jpeg", asJPEG(t, made[2].picture))
	t.Setenv("PATH", t.TempDir())
	x, err := reader.Extract(t.Context(), mixed, nil)
	if err != nil || x.Meta[corpus.MetaUnread] != "pages 2, 3, 4, 5" || !strings.HasPrefix(x.Text, aPage) {
		t.Errorf("%v, unread %v, text %.100q; want the pages with text, and the others named", err,
			x.Meta[corpus.MetaUnread], x.Text)
	}
	_, err = reader.Extract(t.Context(), picture, nil)
	if f, ok := errors.AsType[*corpus.Failure](err); !ok || f.Code != corpus.NeedsOCR ||
		!strings.Contains(f.Detail, "Install tesseract") {
		t.Errorf("error of a picture = %v, want %s and what to do", err, corpus.NeedsOCR)
	}
}

func TestEachPictureOfATIFFIsAPage(t *testing.T) {
	reader, _ := newReader(t, &ocr.Tesseract{})
	first, second := written(t, "", "deu", german[:6]), written(t, "", "deu", german[7:])
	var frames []picturetest.Frame
	for _, p := range []page{first, second} {
		grey, ok := p.picture.(*image.Gray)
		if !ok {
			t.Fatalf("the page is %T, want a grey picture", p.picture)
		}
		frames = append(frames, picturetest.Frame{Picture: grey})
	}
	file := store(t, "image/tiff", picturetest.TIFF(0, frames...))
	x, err := reader.Extract(t.Context(), file, nil)
	if err != nil || x.Pages != 2 {
		t.Fatalf("%v, %d pages; want 2", err, x.Pages)
	}
	for n, p := range []page{first, second} {
		texts, _ := words(t, x, n+1)
		if alike := f1(p.texts, texts); alike < 0.97 {
			t.Errorf("page %d: word F1 %.3f with its text, want 0.97: %q", n+1, alike, texts)
		}
	}
}
