package office_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/corpus/extract/office"
	"github.com/footnote/footnote/corpus/extract/worker"
	"github.com/footnote/footnote/corpus/extract/worker/workertest"
)

// lure is what a drawing could show of the server: a picture of one colour, or a file with one word.
type lure struct {
	colour color.NRGBA
	word   string
}

// lures makes the files that tricks try to show, and a server that notes what it is asked for.
type lures struct {
	dir    string
	server string
	all    []lure

	mu    sync.Mutex
	asked []string
}

func newLures(t *testing.T) *lures {
	l := &lures{dir: t.TempDir()}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.asked = append(l.asked, r.URL.Path)
		http.ServeFile(w, r, filepath.Join(l.dir, filepath.Base(r.URL.Path)))
	}))
	t.Cleanup(server.Close)
	l.server = server.URL
	return l
}

// add makes the files of a trick, and returns what its markup is filled in with.
func (l *lures) add(t *testing.T) *strings.Replacer {
	t.Helper()
	n := len(l.all)
	level := func(i int) uint8 { return []uint8{30, 90, 150, 210}[i&3] }
	i := n + 1 + n/20 // without greys
	c := color.NRGBA{level(i), level(i >> 2), level(i >> 4), 255}
	word := fmt.Sprintf("CANARY%03d", n)
	l.all = append(l.all, lure{c, word})
	name := fmt.Sprintf("lure%03d", n)
	picture := image.NewNRGBA(image.Rect(0, 0, 64, 64))
	for i := range picture.Pix {
		picture.Pix[i] = []uint8{c.R, c.G, c.B, 255}[i&3]
	}
	var b bytes.Buffer
	if err := png.Encode(&b, picture); err != nil {
		t.Fatal(err)
	}
	hex := fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
	svg := `<svg xmlns="http://www.w3.org/2000/svg" width="64" height="64"><rect width="64" height="64" ` +
		`fill="` + hex +
		`"/></svg>`
	fodt := `<?xml version="1.0" encoding="UTF-8"?><office:document office:version="1.2"
		xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
		xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
		office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text><text:p>` + word +
		`</text:p></office:text></office:body></office:document>`
	for ending, content := range map[string]string{
		".png": b.String(), ".svg": svg, ".txt": word, ".fodt": fodt, ".html": "<p>" + word, ".csv": word + "\n",
	} {
		if err := os.WriteFile(filepath.Join(l.dir, name+ending), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(l.dir, name)
	// A copy of the document lies three folders below the root.
	fromRoot := "../../.." + path
	return strings.NewReplacer(
		"$SVGHEX", fmt.Sprintf("%x", `<svg xmlns="http://www.w3.org/2000/svg" `+
			`xmlns:xlink="http://www.w3.org/1999/xlink" `+
			`width="64" height="64"><image width="64" height="64" xlink:href="file://`+path+`.png"/></svg>`),
		"${N}", fmt.Sprint(n%10), "$FILE", "file://"+path,
		"$PATH", path, "$HTTP", l.server+"/"+name, "$N", fmt.Sprint(n), "$UP", fromRoot,
		"$MIXED", "FiLe://"+path, "$HOST", "file://localhost"+path, "$UNC", `\\localhost`+path,
		"$PERCENT", "file://"+strings.ReplaceAll(path, "l", "%6c"), "$ENTITY", "&#102;ile&#x3a;//"+path,
		"$INNER", "vnd.sun.star.zip://file%3A%2F%2F"+strings.ReplaceAll(path, "/", "%2F"),
		"$EXPAND", "vnd.sun.star.expand:file://"+path, "$TEL", "vnd.sun.star.tdoc:/1"+path,
	)
}

// shown returns the lures that a PDF shows.
func (l *lures) shown(t *testing.T, pool *worker.Pool, pdf string) (seen []int) {
	t.Helper()
	info, err := os.Stat(pdf)
	if err != nil {
		t.Fatal(err)
	}
	f := corpus.File{Path: pdf, Filename: "drawn.pdf", MIME: "application/pdf", Bytes: info.Size(), Printed: true}
	x, err := pool.Extract(t.Context(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	pixels := make([]int, len(l.all))
	for page := range x.Sizes {
		drawn, err := pool.Render(t.Context(), f, page+1, 500)
		if err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(bytes.NewReader(drawn))
		if err != nil {
			t.Fatal(err)
		}
		bounds := picture.Bounds()
		for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
			for x := bounds.Min.X; x < bounds.Max.X; x++ {
				c := color.NRGBAModel.Convert(picture.At(x, y)).(color.NRGBA)
				for i, lure := range l.all {
					if near(c.R, lure.colour.R) && near(c.G, lure.colour.G) && near(c.B, lure.colour.B) {
						pixels[i]++
					}
				}
			}
		}
	}
	for i, lure := range l.all {
		if pixels[i] >= 12 || strings.Contains(x.Text, lure.word) {
			seen = append(seen, i)
		}
	}
	return seen
}

func near(a, b uint8) bool { return max(a, b)-min(a, b) <= 8 }

// TestNothingOutsideAFileIsDrawn draws files that try to show what lies on the server's disk, or have a server asked.
// Without both layers some succeed, which shows that the test sees it; with either of them none does.
func TestNothingOutsideAFileIsDrawn(t *testing.T) {
	needOffice(t)
	if testing.Short() {
		t.Skip("LibreOffice is started 30 times")
	}
	pool := workertest.Open(t, worker.Config{})
	tricks := 0
	for _, kind := range []string{"odt", "ods", "odp", "docx", "xlsx", "pptx", "rtf"} {
		tricks += len(tricksOf(kind))
		t.Run(kind, func(t *testing.T) {
			for _, layers := range []struct {
				name string
				o    *office.LibreOffice
				open bool
			}{
				{"neither layer", newOffice(t).Attached().Unconfined(), true},
				{"confined", newOffice(t).Attached(), false},
				{"detached", newOffice(t).Unconfined(), false},
				{"both layers", newOffice(t), false},
			} {
				l := newLures(t)
				path := trickFile(t, l, kind)
				format, _ := extract.Formats.ByName(kind)
				to := filepath.Join(t.TempDir(), "drawn.pdf")
				f := corpus.File{Path: path, Filename: filepath.Base(path), MIME: format.MIME}
				if err := layers.o.PDF(t.Context(), f, to); err != nil {
					t.Fatalf("%s: %v", layers.name, err)
				}
				var shown []string
				for _, i := range l.shown(t, pool, to) {
					shown = append(shown, tricksOf(kind)[i].name)
				}
				l.mu.Lock()
				asked := l.asked
				l.mu.Unlock()
				switch {
				case layers.open && len(shown) == 0:
					t.Errorf("%s: nothing is shown, so that the test sees nothing", layers.name)
				case layers.open:
					t.Logf("%s: %d of %d are shown: %q; asked for %q", layers.name, len(shown),
						len(tricksOf(kind)), shown, asked)
				case len(shown) > 0 || len(asked) > 0:
					t.Errorf("%s: %q are shown and %q asked for, want nothing", layers.name, shown, asked)
				}
			}
		})
	}
	t.Logf("%d tricks", tricks)
}
