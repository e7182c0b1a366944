package ocr_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ocr"
	"github.com/footnote/footnote/corpus/extract/worker"
)

const manual = "../pdf/testdata/manual.pdf"

// german is a page of a manual in German.
var german = []string{
	"Wartung der Heizungsanlage", "",
	"Die Anlage ist vor jeder Heizperiode durch einen Fachbetrieb zu überprüfen. Dabei",
	"werden der Brenner gereinigt, die Düse ausgewechselt und die Abgaswerte gemessen.",
	"Der Druck im kalten Zustand soll zwischen 1,2 und 1,8 bar liegen. Fällt er darunter,",
	"füllen Sie Wasser nach, bis der Zeiger wieder im grünen Bereich steht.", "",
	"Öffnen Sie niemals die Verkleidung, solange die Anlage am Netz hängt. Außer den",
	"beschriebenen Tätigkeiten dürfen Arbeiten nur von Fachkräften ausgeführt werden.",
	"Das Ausdehnungsgefäß ist alle zwei Jahre zu prüfen, die Umwälzpumpe nach 5000",
	"Betriebsstunden. Störungen zeigt das Gerät mit einer Nummer an; die Liste auf Seite",
	"42 erklärt, was zu tun ist und wann der Kundendienst gerufen werden muss.",
}

// page is a page as a scanner of 200 pixels to an inch sees it, with its words as it was made of them, and where these
// stand, as shares of the page.
type page struct {
	name    string
	picture image.Image
	in      string // the language that tesseract reads it in by itself
	texts   []string
	boxes   [][4]float64
}

// truePages are pages of manuals in two languages: one of a PDF, one drawn with a font.
func truePages(t *testing.T, pool *worker.Pool) []page {
	t.Helper()
	info, err := os.Stat(manual)
	if err != nil {
		t.Fatal(err)
	}
	const n = 4
	file := corpus.File{Path: manual, Filename: "h.pdf", MIME: "application/pdf", Bytes: info.Size()}
	x, err := pool.Extract(t.Context(), file, nil)
	if err != nil {
		t.Fatal(err)
	}
	drawn, err := pool.Render(t.Context(), file, n, int(x.Sizes[n-1][0]/72*200))
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(drawn))
	if err != nil {
		t.Fatal(err)
	}
	made := page{name: "a page of a PDF", in: "eng", picture: img}
	made.texts, made.boxes = words(t, x, n)
	return []page{made, written(t, "a page in German", "deu", german)}
}

// written is a page of A4 on which lines are written, ten and a half points high.
func written(t *testing.T, name, in string, lines []string) page {
	t.Helper()
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		t.Fatal(err)
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: 10.5, DPI: 200})
	if err != nil {
		t.Fatal(err)
	}
	img := image.NewGray(image.Rect(0, 0, 1654, 2339))
	draw.Draw(img, img.Rect, image.White, image.Point{}, draw.Src)
	p := page{name: name, in: in, picture: img}
	d := font.Drawer{Dst: img, Src: image.Black, Face: face}
	for i, line := range lines {
		d.Dot = fixed.P(190, 240+i*46)
		for word := range strings.FieldsSeq(line) {
			bounds, _ := d.BoundString(word)
			d.DrawString(word + " ")
			p.texts = append(p.texts, word)
			p.boxes = append(p.boxes, [4]float64{
				float64(bounds.Min.X.Floor()) / 1654, float64(bounds.Min.Y.Floor()) / 2339,
				float64(bounds.Max.X.Ceil()) / 1654, float64(bounds.Max.Y.Ceil()) / 2339,
			})
		}
	}
	return p
}

// turn turns a picture clockwise by so many quarters: as one that is stored so that Exif would set it upright.
func turn(img image.Image, quarters int) image.Image {
	return turnedBack(img, [4]int{1, 8, 3, 6}[quarters&3])
}

// words are the words of the page in text, and where each stands, as shares of the page.
func words(t *testing.T, x corpus.Extracted, n int) (texts []string, boxes [][4]float64) {
	t.Helper()
	runes := []rune(x.Text)
	for _, b := range x.Blocks {
		all, err := b.Words.Unpack()
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range all {
			if int(w.Box[0]) == n {
				texts = append(texts, string(runes[w.Start:w.End]))
				boxes = append(boxes, [4]float64(w.Box[1:]))
			}
		}
	}
	return texts, boxes
}

func asPNG(t *testing.T, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func asJPEG(t *testing.T, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 80}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// store writes a file of a MIME type.
func store(t *testing.T, mime string, data []byte) corpus.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "original")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return corpus.File{Path: path, Filename: "original", MIME: mime, Bytes: int64(len(data))}
}

// plain is what tesseract prints of a picture when it is asked for plain text.
func plain(t *testing.T, img image.Image, language string) []string {
	t.Helper()
	cmd := exec.Command("tesseract", "stdin", "stdout", "-l", language)
	cmd.Env = append(os.Environ(), "OMP_THREAD_LIMIT=1") // its threads wait for each other by spinning
	cmd.Stdin = bytes.NewReader(asPNG(t, img))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tesseract: %v", err)
	}
	return strings.Fields(string(out))
}

// f1 is how alike two texts are, as bags of words: 1 is the same.
func f1(a, b []string) float64 {
	left := map[string]int{}
	for _, w := range a {
		left[w]++
	}
	both := 0
	for _, w := range b {
		if left[w] > 0 {
			left[w]--
			both++
		}
	}
	return 2 * float64(both) / float64(max(len(a)+len(b), 1))
}

// withoutHyphens are the words of a text in which words that go on in the next line are one, as in a document's.
func withoutHyphens(fields []string) []string {
	return strings.Fields(strings.ReplaceAll(strings.Join(fields, " "), "- ", ""))
}

// TestPagesAreReadAsTesseractReadsThem reads pages of real manuals as pictures: word F1 with what tesseract itself
// prints of them upright, and with the page's true text; and where words that are on the page once stand.
func TestPagesAreReadAsTesseractReadsThem(t *testing.T) {
	reader, pool := newReader(t, &ocr.Tesseract{})
	for i, p := range truePages(t, pool) {
		own := plain(t, p.picture, p.in)
		for quarters, kind := range []string{"png", "jpeg", "png", "jpeg"} {
			if quarters/2 != i { // each way once: of the ways that each page can lie, a PDF's are read below
				continue
			}
			t.Run(fmt.Sprintf("%s, a %s, turned by %d", p.name, kind, quarters*90), func(t *testing.T) {
				picture := turn(p.picture, quarters)
				file := store(t, "image/png", asPNG(t, picture))
				if kind == "jpeg" {
					file = store(t, "image/jpeg", asJPEG(t, picture))
				}
				x, err := reader.Extract(t.Context(), file, nil)
				if err != nil {
					t.Fatal(err)
				}
				if err := doctext.Check(x); err != nil {
					t.Fatal(err)
				}
				got := strings.Fields(x.Text)
				alike, right := f1(withoutHyphens(own), withoutHyphens(got)), f1(p.texts, got)
				t.Logf("word F1 %.3f with tesseract's text, %.3f with the page's", alike, right)
				if alike < 0.97 || right < 0.9 {
					t.Errorf("word F1 %.3f with tesseract's text and %.3f with the page's, want 0.97 and 0.9:\n%s",
						alike, right, x.Text)
				}
				readTexts, readBoxes := words(t, x, 1)
				checkPlaces(t, p.texts, p.boxes, readTexts, readBoxes)
				if size := x.Sizes[0]; size[0] > size[1] {
					t.Errorf("the page is %v points: want it upright", size)
				}
			})
		}
	}
}

// checkPlaces wants words that are in both texts once at the same place of the page.
func checkPlaces(t *testing.T, texts []string, boxes [][4]float64, readTexts []string, readBoxes [][4]float64) {
	t.Helper()
	once := func(all []string) map[string]int {
		at := map[string]int{}
		for i, w := range all {
			if _, twice := at[w]; twice {
				i = -1
			}
			at[w] = i
		}
		return at
	}
	where, compared, off := once(readTexts), 0, 0
	for w, i := range once(texts) {
		j, ok := where[w]
		if !ok || i < 0 || j < 0 {
			continue
		}
		compared++
		for side := range 4 {
			if math.Abs(boxes[i][side]-readBoxes[j][side]) > 0.01 {
				t.Logf("%q stands at %.3v, was read at %.3v", w, boxes[i], readBoxes[j])
				off++
				break
			}
		}
	}
	if compared < 30 || off*50 > compared {
		t.Errorf("%d of %d words stand more than a hundredth of the page off, want one in fifty at most", off, compared)
	}
}

// turnedBack undoes an orientation by Exif: a picture that is stored so and declared so is upright.
func turnedBack(img image.Image, orientation int) image.Image {
	b := img.Bounds()
	w, h := b.Dx(), b.Dy()
	size := image.Rect(0, 0, w, h)
	if orientation >= 5 {
		size = image.Rect(0, 0, h, w)
	}
	out := image.NewRGBA(size)
	draw.Draw(out, size, image.White, image.Point{}, draw.Src)
	for y := range h {
		for x := range w {
			to := [9]image.Point{{}, {x, y}, {w - 1 - x, y}, {w - 1 - x, h - 1 - y}, {x, h - 1 - y}, {y, x},
				{y, w - 1 - x}, {h - 1 - y, w - 1 - x}, {h - 1 - y, x}}[orientation]
			out.Set(to.X, to.Y, color.RGBAModel.Convert(img.At(b.Min.X+x, b.Min.Y+y)))
		}
	}
	return out
}
