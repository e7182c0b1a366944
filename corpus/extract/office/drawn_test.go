package office_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/corpus/extract/office"
	"github.com/footnote/footnote/corpus/extract/worker"
	"github.com/footnote/footnote/corpus/extract/worker/workertest"
	"github.com/footnote/footnote/sql/librarytest"
	"github.com/footnote/footnote/sql/sqlite"
)

// folded returns the letters and digits of a text, in lower case.
func folded(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// TestPageHighlightsMatchQuotes takes random quotes from real manuals that LibreOffice saved as Office files.
// The highlighted words on the pages must be the words of the quote in order: all of them for 95 in 100, and never
// others.
func TestPageHighlightsMatchQuotes(t *testing.T) {
	needOffice(t)
	manual := filepath.Join("..", "..", "..", ".cache", "documents", "choosing.en.html")
	if _, err := os.Stat(manual); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("manuals are missing: %v", err)
		}
		t.Skip("no manuals: make documents fetches them")
	}
	table := filepath.Join(t.TempDir(), "invoices.csv")
	if err := os.WriteFile(table, []byte(invoices()), 0o600); err != nil {
		t.Fatal(err)
	}
	slides := filepath.Join(t.TempDir(), "talk.fodp")
	if err := os.WriteFile(slides, []byte(talk()), 0o600); err != nil {
		t.Fatal(err)
	}
	paths := slices.Concat(converted(t, manual, "HTML (StarWriter)", "docx", "odt", "rtf"),
		converted(t, table, "", "xlsx", "ods"), converted(t, slides, "", "pptx", "odp"))
	l, docs := openLibrary(t, paths...)
	random := rand.New(rand.NewPCG(1, 2))
	for _, d := range docs {
		drawn, err := l.Drawn(t.Context(), chat.Local, d.ID)
		if err != nil {
			t.Fatalf("%s: %v", d.Filename, err)
		}
		text, err := l.Text(t.Context(), chat.Local, d.ID)
		if err != nil {
			t.Fatal(err)
		}
		own, pages := []rune(text), []rune(drawn.Text)
		const quotes = 200
		placed, whole := 0, 0
		for range quotes {
			start := random.IntN(len(own) - 80)
			for start > 0 && !unicode.IsSpace(own[start-1]) {
				start--
			}
			end := start + 20 + random.IntN(60)
			for end < len(own) && !unicode.IsSpace(own[end]) {
				end++
			}
			quote := folded(string(own[start:end]))
			var marked strings.Builder
			for _, piece := range drawn.Place(start, end) {
				if len(drawn.Lines(piece[0], piece[1])) == 0 {
					t.Errorf("%s: %q lacks a position on a page", d.Filename, string(pages[piece[0]:piece[1]]))
				}
				marked.WriteString(folded(string(pages[piece[0]:piece[1]])))
			}
			if marked.Len() > 0 {
				placed++
			}
			if marked.String() == quote {
				whole++
			} else if !isWithin(marked.String(), quote) {
				t.Errorf("%s: %q has the highlights %q", d.Filename, quote, marked.String())
			}
		}
		t.Logf(
			"%s: %d pages, of %d quotes %d are placed, %d whole",
			d.Filename,
			len(drawn.Sizes),
			quotes,
			placed,
			whole,
		)
		if whole < quotes*95/100 {
			t.Errorf("%s: %d of %d quotes are marked whole, want 95 in 100", d.Filename, whole, quotes)
		}
	}
	png1, err := l.PageImage(t.Context(), chat.Local, docs[0].ID, 1, 600)
	if err != nil {
		t.Fatal(err)
	}
	if picture, err := png.Decode(bytes.NewReader(png1)); err != nil || picture.Bounds().Dx() != 600 {
		t.Errorf("page 1 is %v, %v; want a picture 600 wide", picture, err)
	}
	if _, err := l.PageImage(t.Context(), chat.Local, docs[0].ID, 9999, 600); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("page 9999: %v, want not found", err)
	}
}

// TestRenderContinuesWithoutCaller cancels a request for rendering a file: the next request finds the rendered
// pages.
func TestRenderContinuesWithoutCaller(t *testing.T) {
	needOffice(t)
	table := filepath.Join(t.TempDir(), "invoices.csv")
	if err := os.WriteFile(table, []byte(invoices()), 0o600); err != nil {
		t.Fatal(err)
	}
	l, docs := openLibrary(t, converted(t, table, "", "ods")...)
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := l.Drawn(gone, chat.Local, docs[0].ID); err == nil {
		t.Fatal("a caller that has left got an answer")
	}
	first, err := l.Drawn(t.Context(), chat.Local, docs[0].ID)
	if err != nil || len(first.Sizes) == 0 {
		t.Fatalf("Drawn: %v", err)
	}
	if again, err := l.Drawn(t.Context(), chat.Local, docs[0].ID); err != nil || again != first {
		t.Errorf("a second look: %p, %v; want the same drawing %p", again, err, first)
	}
	if err := l.Delete(t.Context(), chat.Local, docs[0].ID); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Drawn(t.Context(), chat.Local, docs[0].ID); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("a deleted document: %v, want not found", err)
	}
}

// BenchmarkPDF renders a Word file of a hundred pages.
func BenchmarkPDF(b *testing.B) {
	needOffice(b)
	random := rand.New(rand.NewPCG(7, 8))
	var body strings.Builder
	for range 100 {
		for range 5 {
			fmt.Fprintf(&body, `<w:p><w:r><w:t>%s</w:t></w:r></w:p>`, prose(random, 8))
		}
		body.WriteString(`<w:p><w:r><w:br w:type="page"/></w:r></w:p>`)
	}
	f, to := wordFile(b, body.String(), ""), filepath.Join(b.TempDir(), "drawn.pdf")
	for b.Loop() {
		if err := newOffice(b).PDF(b.Context(), f, to); err != nil {
			b.Fatal(err)
		}
	}
}

// isWithin reports whether part is a subsequence of whole.
func isWithin(part, whole string) bool {
	rest := []rune(whole)
	for _, r := range part {
		at := 0
		for at < len(rest) && rest[at] != r {
			at++
		}
		if at == len(rest) {
			return false
		}
		rest = rest[at+1:]
	}
	return true
}

// invoices returns a table whose cells repeat.
func invoices() string {
	var b strings.Builder
	b.WriteString("Number,Customer,City,Amount,Paid\n")
	customers := []string{"Harrow Ltd", "Alder and Sons", "Mill Street Bakery"}
	for i := range 60 {
		paid := "no"
		if i%3 == 0 {
			paid = "yes"
		}
		number := "INV-" + string(rune('A'+i%26)) + string(rune('A'+i/26))
		amount := "1" + strings.Repeat("7", i%4)
		b.WriteString(strings.Join([]string{number, customers[i%3], "Alderton", amount, paid}, ",") + "\n")
	}
	return b.String()
}

// prose returns sentences that partly repeat each other, as in reports.
func prose(random *rand.Rand, n int) string {
	var b strings.Builder
	subjects := []string{"The roof of the northern hall", "A tenant on the second floor", "The surveyor", "The boiler",
		"Our insurer in Köln", "The “old” gutter"}
	verbs := []string{"was inspected and found to be", "has for years been", "is, by the report of spring,", "will be"}
	ends := []string{"in need of repair", "dry, though not warm", "insured for 12,500 €", "as good as new",
		"replaced before the winter of 2027"}
	for range n {
		fmt.Fprintf(&b, "%s %s %s. ", subjects[random.IntN(6)], verbs[random.IntN(4)], ends[random.IntN(5)])
	}
	return b.String()
}

// talk returns slides as flat OpenDocument.
func talk() string {
	var b strings.Builder
	random := rand.New(rand.NewPCG(5, 6))
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?><office:document
 xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"
 xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0"
 xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" office:version="1.2"
 office:mimetype="application/vnd.oasis.opendocument.presentation"><office:body><office:presentation>`)
	for slide := 1; slide <= 12; slide++ {
		fmt.Fprintf(&b, `<draw:page draw:name="p%d">`+
			`<draw:frame svg:x="2cm" svg:y="1cm" svg:width="22cm" svg:height="2cm">`+
			`<draw:text-box><text:p>Roof, part %d</text:p></draw:text-box></draw:frame>`+
			`<draw:frame svg:x="2cm" svg:y="4cm" svg:width="22cm" svg:height="12cm"><draw:text-box>`, slide, slide)
		for range 4 {
			fmt.Fprintf(&b, `<text:p>%s</text:p>`, prose(random, 1+slide%3))
		}
		b.WriteString(`</draw:text-box></draw:frame></draw:page>`)
	}
	return b.String() + `</office:presentation></office:body></office:document>`
}

// TestMain lets the test binary be its own worker.
func TestMain(m *testing.M) {
	workertest.BeWorker()
	os.Exit(m.Run())
}

// needOffice skips a test if LibreOffice is not installed; in CI it fails.
func needOffice(t testing.TB) {
	t.Helper()
	if _, err := office.Program(); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("no LibreOffice: make soffice installs it")
	}
}

// newOffice returns a confined LibreOffice.
func newOffice(t testing.TB) *office.LibreOffice {
	t.Helper()
	o, err := office.New()
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// openLibrary opens a library that renders Office files, and has ingested the files at paths.
func openLibrary(t *testing.T, paths ...string) (*librarytest.Library, []corpus.Document) {
	t.Helper()
	pool := workertest.Open(t, worker.Config{})
	l := librarytest.Open(t, t.TempDir(), func(c *corpus.Config, _ *sqlite.DB) {
		c.Extractor, c.Renderer, c.Office = pool, pool, newOffice(t)
	})
	l.Start(t)
	var added []corpus.Document
	for _, path := range paths {
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		added = append(added, l.Put(t, filepath.Base(path), string(body)))
	}
	l.WaitRead(t)
	for i, d := range added {
		read, err := l.Document(t.Context(), chat.Local, d.ID)
		if err != nil || read.State != corpus.StateReady {
			t.Fatalf("%s: %+v, %v", d.Filename, read.Error, err)
		}
		added[i] = read
	}
	return l, added
}

// converted converts a file with LibreOffice, once for each extension.
func converted(t *testing.T, from, filter string, endings ...string) (paths []string) {
	t.Helper()
	dir := t.TempDir()
	for _, ending := range endings {
		args := []string{"-env:UserInstallation=file://" + filepath.Join(dir, "profile"), "--headless"}
		if filter != "" {
			args = append(args, "--infilter="+filter)
		}
		args = append(args, "--convert-to", ending, "--outdir", dir, from)
		out, err := exec.CommandContext(t.Context(), "soffice", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("soffice: %v\n%s", err, out)
		}
		name := strings.TrimSuffix(filepath.Base(from), filepath.Ext(from)) + "." + ending
		paths = append(paths, filepath.Join(dir, name))
	}
	return paths
}

// lure is content of the server that a rendering could expose: a picture of one colour, or a file with one word.
type lure struct {
	colour color.NRGBA
	word   string
}

// lures creates the files that tricks try to expose, and a server that records its requests.
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

// add creates the files of a trick, and returns the replacements for its markup.
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
	// The copy of the document is three folders below the root.
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

// shown returns the lures that are visible in a PDF.
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

// TestRenderCannotReadOutsideFile renders files that try to expose files of the server, or to send requests to a
// server. Without both layers some succeed, which validates the test; with either of them none does.
func TestRenderCannotReadOutsideFile(t *testing.T) {
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
					t.Errorf("%s: nothing is shown, so the test has no effect", layers.name)
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
