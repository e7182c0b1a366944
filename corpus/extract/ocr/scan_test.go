package ocr_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/llm/openai"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/ocr"
	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
	"github.com/footnote/footnote/corpus/extract/picture/picturetest"
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

// page is a scanned page at 200 pixels per inch, with its true words and their positions as shares of the page.
type page struct {
	name    string
	picture image.Image
	in      string // the language that tesseract chooses
	texts   []string
	boxes   [][4]float64
}

// truePages returns pages of manuals in two languages: one from a PDF, one rendered with a font.
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

// written returns a page of A4 with lines of text, ten and a half points high.
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

// turn turns a picture clockwise by quarters. Exif would declare the reverse turn as upright.
func turn(img image.Image, quarters int) image.Image {
	return turnedBack(img, [4]int{1, 8, 3, 6}[quarters&3])
}

// words returns the words of a page and their positions, as shares of the page.
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

// plain returns tesseract's plain text output for a picture.
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

// f1 returns the F1 score of two texts as bags of words: 1 means equal.
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

// withoutHyphens joins hyphenated words, as in a document's text.
func withoutHyphens(fields []string) []string {
	return strings.Fields(strings.ReplaceAll(strings.Join(fields, " "), "- ", ""))
}

// TestOCRMatchesTesseract reads pages of real manuals as pictures. It measures word F1 against
// tesseract's output for the upright page and against the true text, and the positions of words that are unique on
// the page.
func TestOCRMatchesTesseract(t *testing.T) {
	reader, pool := newReader(t, &ocr.Tesseract{})
	for i, p := range truePages(t, pool) {
		own := plain(t, p.picture, p.in)
		for quarters, kind := range []string{"png", "jpeg", "png", "jpeg"} {
			if quarters/2 != i { // each turn once: all turns of each page of a PDF are tested below
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

// checkPlaces checks that words that are unique in both texts have the same position.
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
		t.Errorf("%d of %d words are more than a hundredth of the page off, want at most one in fifty", off, compared)
	}
}

// turnedBack reverses an Exif orientation: a picture that is stored and declared so is upright.
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

// aPage is a page of text, as in PDFs.
const aPage = "This page has a text of its own, and a picture of a tree beside it."

// scans returns a PDF of five pages: one with text, and four that are pictures of pages in German. Each has another
// orientation, in the scanned picture or by the page's rotation. The first of them has a stamped number.
func scans(t *testing.T) (corpus.File, map[int]page) {
	t.Helper()
	made := map[int]page{}
	for n := 2; n <= 5; n++ { // each begins with another line: a line that recurs on all pages is dropped as a header
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

func TestOnlyScannedPDFPagesUseOCR(t *testing.T) {
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

// TestRotatedPageIsRenderedUpright compares pages rendered with a turn to their source pictures.
func TestRotatedPageIsRenderedUpright(t *testing.T) {
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
			t.Errorf("page %d, rotated by %d: %d of %d dark pixels match the ink of the page", n, quarters, both, ink)
		}
	}
}

func TestPicturesWaitWithoutTesseract(t *testing.T) {
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
		!strings.Contains(f.Detail.String(), "Install tesseract") {
		t.Errorf("error of a picture = %v, want %s and the next step", err, corpus.NeedsOCR)
	}
}

func TestTIFFPicturesArePages(t *testing.T) {
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

// server starts a fake model server that answers each picture with the next text, and with status 400 after the
// last. It records the widths of the pictures.
func server(t *testing.T, says ...string) (letters *ocr.Model, widths *[]int) {
	t.Helper()
	widths = new([]int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			Model    string `json:"model"`
			Messages []struct {
				Content []struct {
					Type     string `json:"type"`
					Text     string `json:"text"`
					ImageURL struct {
						URL string `json:"url"`
					} `json:"image_url"`
				} `json:"content"`
			} `json:"messages"`
		}
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil || len(request.Messages) != 1 ||
			len(request.Messages[0].Content) != 2 || request.Model != "sees" || r.URL.Path != "/v1/chat/completions" {
			t.Errorf("%s: %+v, %v; want one message with a text and a picture", r.URL, request, err)
		}
		data, ok := strings.CutPrefix(request.Messages[0].Content[1].ImageURL.URL, "data:image/png;base64,")
		raw, err := base64.StdEncoding.DecodeString(data)
		config, broken := png.DecodeConfig(bytes.NewReader(raw))
		if err := errors.Join(err, broken); err != nil || !ok {
			t.Errorf("got no PNG: %v", err)
		}
		*widths = append(*widths, config.Width)
		w.Header().Set("Content-Type", "application/json")
		if len(says) == 0 {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":{"message":"image input is not supported","type":"invalid_request_error"}}`)
			return
		}
		text, err := json.Marshal(says[0])
		if says = says[1:]; err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":%s},"finish_reason":"stop"}]}`, text)
	}))
	t.Cleanup(s.Close)
	model, err := openai.New(openai.Config{BaseURL: s.URL + "/v1", Model: "sees"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(model.Close)
	return &ocr.Model{See: model.ReadPicture, Blind: func(err error) bool {
		failure, ok := errors.AsType[*llm.Error](err)
		return ok && failure.Kind == llm.KindInvalid
	}}, widths
}

func TestModelReadsPicturePages(t *testing.T) {
	first := "Maintenance of the boiler\n\nThe boiler is checked before each winter by a firm of the trade. Its\n" +
		"burner is cleaned and its nozzle is changed.\n\n- pressure: 1.2 to 1.8 bar\n- water: twice a year\n"
	letters, widths := server(t, first, "```\nThe second page, in a fence.\n```", "NOTHING", "The last page.")
	reader, _ := newReader(t, letters)
	file, _ := scans(t)
	x, err := reader.Extract(t.Context(), file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := doctext.Check(x); err != nil {
		t.Fatal(err)
	}
	runes := []rune(x.Text)
	var got []string
	for _, b := range x.Blocks {
		if b.Page > 1 {
			got = append(got, fmt.Sprintf("%d %s: %s", b.Page, b.Kind, string(runes[b.Start:b.End])))
			if len(b.Words) > 0 || !slices.Equal((*b.Box)[1:], []float64{0, 0, 1, 1}) {
				t.Errorf("%q has words at %d bytes of places, and the box %v: want none, and the whole page",
					string(runes[b.Start:b.End]), len(b.Words), *b.Box)
			}
		}
	}
	want := []string{
		"2 paragraph: Maintenance of the boiler",
		"2 paragraph: The boiler is checked before each winter by a firm of the trade. Its burner is cleaned and its " +
			"nozzle is changed.",
		"2 list: pressure: 1.2 to 1.8 bar", "2 list: water: twice a year", "3 paragraph: The second page, in a fence.",
		"5 paragraph: The last page.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{2479, 3508, 2479, 3508}, *widths); diff != "" {
		t.Errorf("widths of the pictures (-want +got):\n%s", diff)
	}
}

func TestModelWithoutVisionIsReported(t *testing.T) {
	letters, _ := server(t)
	reader, _ := newReader(t, letters)
	file := store(t, "image/png", asPNG(t, written(t, "", "", german).picture))
	_, err := reader.Extract(t.Context(), file, nil)
	if f, ok := errors.AsType[*corpus.Failure](err); !ok || f.Code != corpus.NeedsOCR ||
		!strings.Contains(f.Detail.String(), "images, which the model doesn't support") {
		t.Errorf("error = %v, want %s and that the model doesn't support images", err, corpus.NeedsOCR)
	}
}

func TestModelReadsPicture(t *testing.T) {
	letters, _ := server(t, "A heading\n\nOne line of text.")
	reader, _ := newReader(t, letters)
	x, err := reader.Extract(t.Context(), store(t, "image/png", asPNG(t, written(t, "", "", german).picture)), nil)
	if err != nil || x.Text != "A heading\n\nOne line of text." || x.Pages != 1 || x.Sizes[0][0] > x.Sizes[0][1] {
		t.Errorf("%v: %q on %d pages of %v; want two paragraphs on one upright page", err, x.Text, x.Pages, x.Sizes)
	}
}

// heldLetters is a recogniser whose pages block until the test releases them. The first two documents are of one
// user, and the third of another.
type heldLetters struct {
	count atomic.Int64
	begun chan int      // documents whose page begins
	goOn  chan struct{} // releases one page
}

// Begin implements ocr.Recogniser.
func (l *heldLetters) Begin(context.Context) (ocr.Document, error) {
	return heldDocument{l, int(l.count.Add(1))}, nil
}

type heldDocument struct {
	*heldLetters
	number int
}

// Page implements ocr.Document.
func (d heldDocument) Page(context.Context, func(int) ([]byte, error)) (corpus.ReadPage, error) {
	d.begun <- d.number
	<-d.goOn
	return corpus.ReadPage{}, nil
}

func TestScannedPagesAlternateWithOtherUsers(t *testing.T) {
	l := &heldLetters{begun: make(chan int), goOn: make(chan struct{})}
	reader, _ := newReader(t, l)
	picture := asJPEG(t, written(t, "a page in German", "deu", german).picture)
	sheets := slices.Repeat([]pdftest.Sheet{{Box: "0 0 595 842", Picture: picture}}, 6)
	scan, single := pdftest.Write(t, pdftest.Document("", sheets...)), pdftest.Write(t, pdftest.Document("", sheets[0]))
	scan.User, single.User = "many", "one"
	var all sync.WaitGroup
	read := func(f corpus.File) {
		all.Go(func() { _, _ = reader.Extract(t.Context(), f, nil) }) // the pages have no text
	}
	read(scan)
	read(scan)
	order := []int{<-l.begun, <-l.begun} // both slots are in use
	read(single)
	untilOneWaits(t)
	for range 11 {
		l.goOn <- struct{}{}
		order = append(order, <-l.begun)
	}
	l.goOn <- struct{}{}
	l.goOn <- struct{}{}
	all.Wait()
	if at := slices.Index(order, 3); at < 0 || at > 4 {
		t.Errorf("pages were read of documents %v, want the third one's among the next three", order)
	}
}

// untilOneWaits returns when a page waits for a slot, which only the goroutine stacks show.
func untilOneWaits(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		var stacks bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&stacks, 2); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(stacks.String(), "fair.(*Slots).Acquire(") {
			return
		}
	}
	t.Fatal("no page is queued")
}
