package corpus_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/embed/embedtest"
	"github.com/footnote/footnote/corpus/extract"
	"github.com/footnote/footnote/sql/librarytest"
	"github.com/footnote/footnote/sql/sqlite"
)

// testLibrary is a library on a real database, with access for tests.
type testLibrary struct{ *librarytest.Library }

// openTestLibrary opens a library in dir; the test calls Run. change may adjust the configuration.
func openTestLibrary(t testing.TB, dir string, change func(*corpus.Config, *sqlite.DB)) *testLibrary {
	t.Helper()
	return &testLibrary{librarytest.Open(t, dir, func(c *corpus.Config, db *sqlite.DB) {
		reader := extract.New(paper{drawn: new(int)}, nil)
		c.Extractor, c.Renderer = reader, reader
		if change != nil {
			change(c, db)
		}
	})}
}

// start runs the background work until the test ends.
func (sh *testLibrary) start(t testing.TB) (stop func()) {
	t.Helper()
	return sh.Start(t)
}

func (sh *testLibrary) add(t testing.TB, name, body string) corpus.Document {
	t.Helper()
	return sh.Put(t, name, body)
}

func (sh *testLibrary) wait(t testing.TB) {
	t.Helper()
	sh.WaitRead(t)
}

// settled waits until a document is in a state.
func (sh *testLibrary) settled(t testing.TB, id string, state corpus.State) corpus.Document {
	t.Helper()
	for {
		d, changed, err := sh.Watch(t.Context(), chat.Local, id)
		if err != nil {
			t.Fatal(err)
		}
		if d.State == state {
			return d
		}
		select {
		case <-changed:
		case <-t.Context().Done():
			t.Fatalf("%s stayed %s", d.Filename, d.State)
		}
	}
}

func TestAddIngestsFile(t *testing.T) {
	sh := openTestLibrary(t, t.TempDir(), nil)
	d := sh.add(t, "survey.md", "# Roof survey\n\nThe slates are sound.\n")
	if d.State != corpus.StateQueued || d.MIME != "text/markdown" || d.Filename != "survey.md" {
		t.Errorf("added as %s %s %q; want %s, %q, %q",
			d.State, d.MIME, d.Filename, corpus.StateQueued, "text/markdown", "survey.md")
	}
	sh.start(t)
	d = sh.settled(t, d.ID, corpus.StateReady)
	if d.Title != "Roof survey" || d.Passages != 1 {
		t.Errorf("ready with title %q and %d passages; want %q and 1", d.Title, d.Passages, "Roof survey")
	}
	again, duplicate, err := sh.Add(t.Context(), corpus.Upload{User: chat.LocalUser, Filename: "copy.md",
		Body: strings.NewReader("# Roof survey\n\nThe slates are sound.\n")})
	if err != nil || !duplicate || again.ID != d.ID {
		t.Errorf("the same bytes: %s duplicate %v, %v; want %s", again.ID, duplicate, err, d.ID)
	}
	changed := sh.add(t, "survey.md", "# Roof survey\n\nThe slates are broken.\n")
	if changed.ID != d.ID {
		t.Errorf("a changed file is %s, want %s", changed.ID, d.ID)
	}
	sh.wait(t)
	text, err := sh.Text(t.Context(), chat.Local, d.ID)
	if err != nil || !strings.Contains(text, "broken") {
		t.Errorf("after the change the text is %q, %v; want %q in it", text, err, "broken")
	}
}

func TestAddRejectsFiles(t *testing.T) {
	sh := openTestLibrary(t, t.TempDir(), func(c *corpus.Config, _ *sqlite.DB) { c.MaxBytes = 5 << 10 })
	for _, tt := range []struct {
		name, file, body string
		code             chat.Code
		says             string
	}{
		{"an empty file", "a.txt", "", chat.CodeInvalid, "empty"},
		{"a zip named .pdf", "a.pdf", "PK\x03\x04rest of the archive", chat.CodeUnsupported, "not a PDF"},
		{"a picture of another kind", "a.md", "GIF89a\x01\x02\x00\x00", chat.CodeUnsupported,
			"is a GIF image, which is not supported. Save it"},
		{"a program", "a.txt", "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00", chat.CodeUnsupported,
			"is a program, which is not supported"},
		{"a file over the limit", "a.txt", strings.Repeat("long ", 2000), chat.CodeTooLarge, "5.0 KiB"},
		{"a file without a name", "..", "text", chat.CodeInvalid, "name"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := sh.Add(t.Context(), corpus.Upload{
				User: chat.LocalUser, Filename: tt.file, Body: strings.NewReader(tt.body),
			})
			if err == nil || chat.CodeOf(err) != tt.code || !strings.Contains(chat.MessageOf(err).String(), tt.says) {
				t.Errorf("Add = %v, want %s with %q", err, tt.code, tt.says)
			}
		})
	}
	if n, err := sh.Count(t.Context(), chat.Local); err != nil || n.Documents != 0 {
		t.Errorf("%d documents after refusals, %v; want 0", n.Documents, err)
	}
}

func TestAddDetectsTypeByContent(t *testing.T) {
	sh := openTestLibrary(t, t.TempDir(), nil)
	for _, tt := range []struct{ file, body, want string }{
		{"a.txt", "%PDF-1.7\nnot much of one", "application/pdf"},
		{"a", "plain words", "text/plain"},
		{"b.txt", "<!DOCTYPE html><p>x", "text/html"},
		{"c.MD", "# x", "text/markdown"},
		{"zeros.txt", "MZ\x00\x00 a text that goes on and on", ""},
		{"setup.exe", "MZ\x90 a text \x00 that goes on and on", ""},
		{"setup.md", "\x7fELF a text that goes on and on", ""},
		{"store.txt", "SQLite format 3\x00 and then a text that goes on", ""},
		{"save.txt", "GAME\x00 and then a text that goes on and on", ""},
		{"letters.txt", "MZ are two letters, and this is a text.\n", "text/plain"},
		{"wide.txt", "\xff\xfeM\x00Z\x00 \x00a\x00t\x00", "text/plain"},
		{"wide2.txt", "M\x00Z\x00 \x00i\x00s\x00 \x00w\x00i\x00d\x00e\x00", "text/plain"},
		{"stray.md", "# Roof\n\nThe slates\x00 are sound.\n", "text/markdown"},
		{"utf16.txt", "h\x00e\x00l\x00l\x00o\x00 \x00y\x00o\x00u\x00", "text/plain"},
		{"latin1.txt", "caf\xe9 cr\xe8me", "text/plain"},
		{"sjis.txt", "\x93\x8c\x8b\x9e", "text/plain"},
	} {
		if tt.want == "" {
			if _, _, err := sh.Add(t.Context(), corpus.Upload{
				User: chat.LocalUser, Filename: tt.file, Body: strings.NewReader(tt.body),
			}); err == nil || chat.CodeOf(err) != chat.CodeUnsupported {
				t.Errorf("%s is taken: %v, want %v", tt.file, err, chat.CodeUnsupported)
			}
			continue
		}
		if d := sh.add(t, tt.file, tt.body); d.MIME != tt.want {
			t.Errorf("%s is %s, want %s", tt.file, d.MIME, tt.want)
		}
	}
}

func TestFileNamesAreSanitized(t *testing.T) {
	sh := openTestLibrary(t, t.TempDir(), nil)
	for i, tt := range []struct{ filename, path, wantName, wantPath string }{
		{"../../etc/passwd", "", "passwd", "passwd"},
		{`C:\Users\me\plan.txt`, "", "plan.txt", "plan.txt"},
		{"a.txt", "../up/./there/a.txt", "a.txt", "up/there/a.txt"},
		{"a.txt", `/abs/C:/b\c.txt`, "a.txt", "abs/b/c.txt"},
		{"evil\u202etxt.exe\x00\r\n.md", "", "eviltxt.exe.md", "eviltxt.exe.md"},
		{strings.Repeat("é", 300) + ".md", "", strings.Repeat("é", 197) + ".md", strings.Repeat("é", 197) + ".md"},
		{" spaced . ", "", "spaced", "spaced"},
	} {
		d, _, err := sh.Add(t.Context(), corpus.Upload{User: chat.LocalUser, Filename: tt.filename, Path: tt.path,
			Body: strings.NewReader(strings.Repeat("x", i+1))})
		if err != nil || d.Filename != tt.wantName || d.Path != tt.wantPath {
			t.Errorf("Add(%q, %q) = %q at %q, %v; want %q at %q", tt.filename, tt.path, d.Filename, d.Path, err,
				tt.wantName, tt.wantPath)
		}
	}
}

// slow is an extractor that blocks until it is cancelled, or until its gate opens.
type slow struct {
	corpus.Extractor
	begun chan string
	gate  chan struct{}
}

func (s slow) Extract(ctx context.Context, f corpus.File, report func(done, total int)) (corpus.Extracted, error) {
	s.begun <- f.Filename
	select {
	case <-s.gate:
		return s.Extractor.Extract(ctx, f, report)
	case <-ctx.Done():
		return corpus.Extracted{}, ctx.Err()
	}
}

func newSlow() slow {
	reader := extract.New(paper{drawn: new(int)}, nil)
	return slow{Extractor: reader, begun: make(chan string, 8), gate: make(chan struct{})}
}

func TestCancelStopsIngest(t *testing.T) {
	s := newSlow()
	sh := openTestLibrary(t, t.TempDir(), func(c *corpus.Config, _ *sqlite.DB) { c.Extractor, c.Workers = s, 1 })
	sh.start(t)
	d := sh.add(t, "a.txt", "one")
	<-s.begun
	if err := sh.Cancel(t.Context(), chat.Local, d.ID); err != nil {
		t.Fatal(err)
	}
	sh.settled(t, d.ID, corpus.StateCancelled)
	sh.wait(t) // the job is gone
	close(s.gate)
	if err := sh.Retry(t.Context(), chat.Local, d.ID); err != nil {
		t.Fatal(err)
	}
	sh.settled(t, d.ID, corpus.StateReady)
	if err := sh.Retry(t.Context(), chat.Local, d.ID); chat.CodeOf(err) != chat.CodeConflict {
		t.Errorf("Retry of a ready document = %v, want a conflict", err)
	}
}

func TestInterruptedIngestResumes(t *testing.T) {
	dir := t.TempDir()
	s := newSlow()
	first := openTestLibrary(t, dir, func(c *corpus.Config, _ *sqlite.DB) { c.Extractor = s })
	stop := first.start(t)
	d := first.add(t, "a.txt", "one two")
	<-s.begun
	stop()
	second := openTestLibrary(t, dir, nil)
	second.start(t)
	second.settled(t, d.ID, corpus.StateReady)
}

// failing is an extractor that returns an error, or panics.
type failing struct{ err error }

func (f failing) Extract(context.Context, corpus.File, func(int, int)) (corpus.Extracted, error) {
	if f.err == nil {
		panic("index out of range")
	}
	return corpus.Extracted{}, f.err
}

func TestFailureKeepsReason(t *testing.T) {
	broken := &corpus.Failure{Code: "encrypted", Detail: "This PDF needs a password. Remove it and add the file again."}
	sh := openTestLibrary(t, t.TempDir(), func(c *corpus.Config, _ *sqlite.DB) { c.Extractor = failing{broken} })
	sh.start(t)
	d := sh.settled(t, sh.add(t, "a.pdf", "%PDF-1.4 x").ID, corpus.StateFailed)
	if d.Error == nil || *d.Error != *broken {
		t.Errorf("failed with %+v, want %+v", d.Error, broken)
	}
	_, err := sh.Read(t.Context(), chat.Local, corpus.ReadRequest{Document: d.ID})
	if chat.CodeOf(err) != chat.CodeConflict ||
		!strings.Contains(chat.MessageOf(err).String(), broken.Detail.String()) {
		t.Errorf("Read = %v, want a conflict with the reason", err)
	}
}

func TestDocumentsAreEmbedded(t *testing.T) {
	sh := openSemantic(t)
	d := sh.add(t, "a.md", "# Zebras\n\nZebras have stripes.")
	sh.wait(t)
	d, err := sh.Document(t.Context(), chat.Local, d.ID)
	if err != nil || d.Semantic != corpus.SemanticReady || d.State != corpus.StateReady {
		t.Fatalf("%s, vectors %s, %v; want %s and %s",
			d.State, d.Semantic, err, corpus.SemanticReady, corpus.StateReady)
	}
	found := sh.search(t, corpus.Query{Text: "striped zebra", Mode: corpus.ModeSemantic})
	if len(found.Results) != 1 || found.Results[0].Score <= 0 || found.Results[0].Score > 1 {
		t.Errorf("semantic search found %+v; want 1 result, more than 0, at most 1", found.Results)
	}
}

// openSemantic opens a running library with vectors.
func openSemantic(t testing.TB) *testLibrary {
	t.Helper()
	sh := openTestLibrary(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
		c.Embedder, c.Vectors = embedtest.Hashing{}, db.Vectors("hashing")
	})
	sh.start(t)
	return sh
}

func (sh *testLibrary) search(t testing.TB, q corpus.Query) corpus.Results {
	t.Helper()
	found, err := sh.Search(t.Context(), chat.Local, q)
	if err != nil {
		t.Fatalf("Search(%+v): %v, want no error", q, err)
	}
	return found
}

func titles(r corpus.Results) []string {
	var out []string
	for _, res := range r.Results {
		if !slices.Contains(out, res.Document.Filename) {
			out = append(out, res.Document.Filename)
		}
	}
	return out
}

func TestOriginalEqualsFile(t *testing.T) {
	sh := openTestLibrary(t, t.TempDir(), nil)
	d := sh.add(t, "a.txt", "caf\xe9")
	_, body, err := sh.Original(t.Context(), chat.Local, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer body.Close()
	if b, err := io.ReadAll(body); err != nil || !bytes.Equal(b, []byte("caf\xe9")) {
		t.Errorf("original = %q, %v; want %q", b, err, []byte("caf\xe9"))
	}
}

func TestCachedVersionMatchesDatabaseAfterNotification(t *testing.T) {
	t.Parallel()
	ctx, dir := t.Context(), t.TempDir()
	asked := 0
	sh := openTestLibrary(t, dir, func(cfg *corpus.Config, _ *sqlite.DB) {
		cfg.Documents = countedVersions{cfg.Documents, &asked}
	})
	versions := func() (known, stored int64) {
		t.Helper()
		known, err := sh.KnownVersion(ctx, chat.Local)
		if err == nil {
			stored, err = sh.DB.Documents().Version(ctx, chat.Local)
		}
		if err != nil {
			t.Fatal(err)
		}
		return known, stored
	}
	d, _, err := sh.Add(ctx, corpus.Upload{
		User: chat.LocalUser, Filename: "a.md", Body: strings.NewReader("# A\n\nThe roof is long.\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	versions()
	before := asked
	for range 10 {
		versions()
	}
	if asked != before {
		t.Errorf("got %d queries for an unchanged version, want none", asked-before)
	}
	if err := sh.Delete(ctx, chat.Local, d.ID); err != nil {
		t.Fatal(err)
	}
	if known, stored := versions(); known != stored {
		t.Errorf("after a delete here the known version is %d, the stored one %d, want %d", known, stored, stored)
	}
	// as another process would, bypassing the library
	if err := sh.DB.Documents().Restore(ctx, chat.Local, d.ID); err != nil {
		t.Fatal(err)
	}
	sh.Changed("*")
	if known, stored := versions(); known != stored {
		t.Errorf("after what another process did the known version is %d, the stored one %d, want %d",
			known, stored, stored)
	}
}

type countedVersions struct {
	corpus.Documents
	n *int
}

func (c countedVersions) Version(ctx context.Context, s chat.Scope) (int64, error) {
	*c.n++
	return c.Documents.Version(ctx, s)
}

// paper is a fake PDF reader: it extracts two pages of one line each from every file, and renders a page as a
// description of the request.
type paper struct {
	drawn *int
	draw  func() error // fails or blocks the next drawing; may be nil
}

func (paper) Extract(context.Context, corpus.File, func(int, int)) (corpus.Extracted, error) {
	word := func(start, end int, page, x float64) corpus.WordBox {
		return corpus.WordBox{Start: start, End: end, Box: chat.Box{page, x, 0.1, x + 0.1, 0.12}}
	}
	return corpus.Extracted{
		Text: "red door\n\nblue roof", Pages: 2, Sizes: [][2]float64{{595, 842}, {595, 842}}, Blocks: []corpus.Block{
			{ID: "b1", Kind: corpus.BlockParagraph, Page: 1, Start: 0, End: 8,
				Words: corpus.PackWords([]corpus.WordBox{word(0, 3, 1, 0.1), word(4, 8, 1, 0.21)})},
			{ID: "b2", Kind: corpus.BlockParagraph, Page: 2, Start: 10, End: 19,
				Words: corpus.PackWords([]corpus.WordBox{word(10, 14, 2, 0.1), word(15, 19, 2, 0.21)})},
		},
	}, nil
}

func (p paper) Render(_ context.Context, f corpus.File, n, width int) ([]byte, error) {
	if _, err := os.Stat(f.Path); err != nil {
		return nil, err
	}
	*p.drawn++
	if p.draw != nil {
		if err := p.draw(); err != nil {
			return nil, err
		}
	}
	return fmt.Appendf(nil, "page %d, %d wide", n, width), nil
}

func (paper) Expect() {}

func TestPagesOfAPDF(t *testing.T) {
	p := paper{drawn: new(int)}
	sh := openTestLibrary(t, t.TempDir(), func(c *corpus.Config, _ *sqlite.DB) { c.Extractor, c.Renderer = p, p })
	sh.start(t)
	d := sh.settled(t, sh.add(t, "a.pdf", "%PDF-1.7").ID, corpus.StateReady)
	if d.Pages != 2 {
		t.Fatalf("%d pages, want 2", d.Pages)
	}
	for range 2 {
		if png, err := sh.PageImage(t.Context(), chat.Local, d.ID, 2, 800); err != nil ||
			string(png) != "page 2, 800 wide" {
			t.Errorf("page image = %q, %v; want %q", png, err, "page 2, 800 wide")
		}
	}
	if *p.drawn != 1 {
		t.Errorf("drawn %d times, want once", *p.drawn)
	}
	for _, tt := range []struct {
		n, width int
		code     chat.Code
	}{
		{0, 800, chat.CodeNotFound}, {3, 800, chat.CodeNotFound}, {1, 99, chat.CodeInvalid},
		{1, 4001, chat.CodeInvalid},
	} {
		if _, err := sh.PageImage(t.Context(), chat.Local, d.ID, tt.n, tt.width); err == nil ||
			chat.CodeOf(err) != tt.code {
			t.Errorf("page %d at %d: %v, want %s", tt.n, tt.width, err, tt.code)
		}
	}
	boxes, err := sh.Boxes(t.Context(), chat.Local, d.ID, 0, 19)
	if err != nil || len(boxes) != 2 || boxes[0][0] != 1 || boxes[1][0] != 2 || boxes[0][3] < 0.3 {
		t.Errorf("boxes = %v, %v; want one line on each page", boxes, err)
	}
	found := sh.search(t, corpus.Query{Text: "blue roof"})
	if len(found.Results) != 1 {
		t.Fatalf("%d results, want 1 result", len(found.Results))
	}
}

func TestFailedPageRenderIsNotRetriedRepeatedly(t *testing.T) {
	tooComplex := &chat.Error{Code: chat.CodeUndrawable, Message: "This page is too complex."}
	p := paper{drawn: new(int), draw: func() error { return tooComplex }}
	sh := openTestLibrary(t, t.TempDir(), func(c *corpus.Config, _ *sqlite.DB) { c.Extractor, c.Renderer = p, p })
	sh.start(t)
	d := sh.settled(t, sh.add(t, "a.pdf", "%PDF-1.7").ID, corpus.StateReady)
	for i, tt := range []struct {
		page, width int
		drawn       int
	}{
		{1, 1000, 1}, {1, 1000, 1}, {1, 501, 1}, {1, 4000, 1}, // same or higher cost
		{1, 500, 2}, {1, 640, 2}, {2, 1000, 3}, // lower cost
	} {
		_, err := sh.PageImage(t.Context(), chat.Local, d.ID, tt.page, tt.width)
		if !errors.Is(err, tooComplex) || *p.drawn != tt.drawn {
			t.Errorf("picture %d (page %d, %d wide): %v after %d drawings, want %v after %d", i, tt.page, tt.width,
				err, *p.drawn, tooComplex, tt.drawn)
		}
	}
	if got := sh.Undrawable(d, 1, 1000); got != tooComplex.Message {
		t.Errorf("Undrawable = %q, want %q", got, tooComplex.Message)
	}
}

func TestOnePageRenderPerUser(t *testing.T) {
	at, goOn := make(chan struct{}), make(chan struct{})
	tooComplex := &chat.Error{Code: chat.CodeUndrawable, Message: "This page is too complex."}
	var drawn atomic.Int32
	p := paper{drawn: new(int), draw: func() error {
		if drawn.Add(1) == 1 {
			close(at)
			<-goOn
		}
		return tooComplex
	}}
	sh := openTestLibrary(t, t.TempDir(), func(c *corpus.Config, _ *sqlite.DB) { c.Extractor, c.Renderer = p, p })
	sh.start(t)
	d := sh.settled(t, sh.add(t, "a.pdf", "%PDF-1.7").ID, corpus.StateReady)
	got := make(chan error)
	for width := range 5 {
		go func() {
			_, err := sh.PageImage(t.Context(), chat.Local, d.ID, 1, 1000+width)
			got <- err
		}()
	}
	<-at
	late, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sh.PageImage(late, chat.Local, d.ID, 2, 800); !errors.Is(err, context.Canceled) {
		t.Errorf("a page whose reader left while it waited: %v, want %v", err, context.Canceled)
	}
	close(goOn)
	for range 5 {
		if err := <-got; !errors.Is(err, tooComplex) {
			t.Errorf("error = %v, want %v", err, tooComplex)
		}
	}
	if n := drawn.Load(); n != 1 {
		t.Errorf("rendered %d times, want once for all waiting callers", n)
	}
}

// fillLibrary fills a library with n passages of generated prose whose word frequencies follow Zipf's law.
func fillLibrary(b *testing.B, sh *testLibrary, n int) {
	b.Helper()
	rnd := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rnd, 1.07, 8, 60000)
	const perDocument = 100
	for doc := range n / perDocument {
		var s strings.Builder
		fmt.Fprintf(&s, "# Volume %d\n\n", doc)
		for section := range perDocument {
			fmt.Fprintf(&s, "## Part %d\n\n", section)
			for word := range 200 {
				s.WriteString(spelled(zipf.Uint64()))
				if word%12 == 11 {
					s.WriteString(". The ")
				} else {
					s.WriteByte(' ')
				}
			}
			s.WriteString("\n\n")
		}
		if _, _, err := sh.Add(b.Context(), corpus.Upload{User: chat.LocalUser, Filename: fmt.Sprintf("v%d.md", doc),
			Body: strings.NewReader(s.String())}); err != nil {
			b.Fatal(err)
		}
	}
	sh.wait(b)
}

// spelled converts a number to a word.
func spelled(n uint64) string {
	var s strings.Builder
	for ; n > 0 || s.Len() < 4; n /= 20 {
		s.WriteString(
			[]string{
				"ba", "ke", "li", "mo", "nu", "pra", "ste", "to", "rin", "sul", "dar", "fen", "gol", "hup", "jav",
				"vex", "wim", "yod", "zan", "cra",
			}[n%20],
		)
	}
	return s.String()
}

func passages() int {
	n, _ := strconv.Atoi(os.Getenv("FOOTNOTE_BENCH_PASSAGES"))
	return cmp.Or(n, 5000)
}

func BenchmarkIngest(b *testing.B) {
	for b.Loop() {
		sh := openTestLibrary(b, b.TempDir(), nil)
		stop := sh.start(b)
		fillLibrary(b, sh, passages())
		stop()
	}
	b.ReportMetric(float64(passages()*b.N)/b.Elapsed().Seconds(), "passages/s")
}

func BenchmarkSearch(b *testing.B) {
	sh := openSemantic(b)
	fillLibrary(b, sh, passages())
	rnd := rand.New(rand.NewPCG(3, 4))
	zipf := rand.NewZipf(rnd, 1.07, 30, 60000)
	var queries []string
	for i := range 200 {
		var words []string
		for range 2 + i%5 {
			words = append(words, spelled(zipf.Uint64()))
		}
		q := strings.Join(words, " ")
		if i%2 == 0 {
			q = "What is the " + q + " of the house?"
		}
		queries = append(queries, q)
	}
	for _, way := range []struct {
		name string
		corpus.Query
	}{
		{"lexical", corpus.Query{Mode: corpus.ModeLexical}},
		{"hybrid", corpus.Query{Mode: corpus.ModeHybrid}},
		{"typing", corpus.Query{Mode: corpus.ModeLexical, Typing: true}},
	} {
		b.Run(way.name, func(b *testing.B) {
			var took []time.Duration
			for i := 0; b.Loop(); i++ {
				q := way.Query
				q.Text = queries[i%len(queries)]
				if q.Typing { // the last word lacks some letters
					q.Text = strings.TrimSuffix(q.Text, " of the house?")
					q.Text = q.Text[:len(q.Text)-i%4]
				}
				begun := time.Now()
				sh.search(b, q)
				took = append(took, time.Since(begun))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
}

// macOS writes the marks of letters apart: such a name is the same as the composed one.
func TestFileNamesAreComposed(t *testing.T) {
	t.Parallel()
	l := openTestLibrary(t, t.TempDir(), nil)
	for _, name := range []string{"Ku\u0308ndigung.md", "K\u00fcndigung.md"} {
		d, _, err := l.Add(t.Context(), corpus.Upload{
			User: chat.LocalUser, Filename: name, Body: strings.NewReader("# A\n\nThe notice.\n"),
		})
		if err != nil || d.Filename != "K\u00fcndigung.md" || d.Path != d.Filename {
			t.Errorf("%q is stored as %q, %v", name, d.Filename, err)
		}
	}
}
