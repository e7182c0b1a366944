package pdf_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
	"github.com/footnote/footnote/corpus/extract/worker"
)

func wantFailure(t *testing.T, err error, code string) {
	t.Helper()
	f, ok := errors.AsType[*corpus.Failure](err)
	if !ok {
		t.Fatalf("error = %v, want a *corpus.Failure", err)
	}
	if f.Code != code || !strings.HasSuffix(f.Detail.String(), ".") {
		t.Errorf("failure = %s: %s, want %s and a sentence", f.Code, f.Detail, code)
	}
}

func TestBadFilesFailWithReason(t *testing.T) {
	reader := newReader(t, nil)
	good := pdftest.Document("", pdftest.Sheet{
		Content: pdftest.Para(50, 700, "Some words that can be read by everyone."),
	})
	for _, tt := range []struct {
		name, code string
		data       []byte
	}{
		{"encrypted", "encrypted", pdftest.Encrypted()},
		{"no text at all", "no_text", pdftest.Document("", pdftest.Sheet{})},
		{"6,000 pages", "too_many_pages", pdftest.Many(6000)},
		{"cut off after its head", "broken", good[:40]},
		{"not a PDF", "unsupported", []byte("PK\x03\x04 something else")},
		{"empty", "no_text", nil},
		{"no pages", "broken", pdftest.Document("")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := reader.Extract(t.Context(), pdftest.Write(t, tt.data), nil)
			wantFailure(t, err, tt.code)
		})
	}
}

func TestHostileFilesAffectOnlyThemselves(t *testing.T) {
	reader := newReader(t, nil)
	var cycle pdftest.Maker // a page tree whose branch is its own root
	cycle.Add("<</Type /Pages /Count 9 /Kids [1 0 R 1 0 R]>>")
	root := cycle.Add("<</Type /Catalog /Pages 1 0 R>>")
	var bomb pdftest.Maker
	spaces := pdftest.Deflate(pdftest.Blanks(200))
	bomb.Stream("/Filter [/FlateDecode /FlateDecode]", spaces)
	bomb.Add("<</Type /Page /Parent 3 0 R /MediaBox [0 0 600 800] /Resources %s /Contents [%s]>>", pdftest.Fonts,
		strings.Repeat("1 0 R ", 50))
	bomb.Add("<</Type /Pages /Count 1 /Kids [2 0 R]>>")
	bombRoot := bomb.Add("<</Type /Catalog /Pages 3 0 R>>")
	for _, tt := range []struct {
		name string
		data []byte
	}{
		{"a page tree in circles", cycle.Bytes(root)},
		{"a stream that unpacks to gigabytes", bomb.Bytes(bombRoot)},
		{"a page of a billion points",
			[]byte(strings.Replace(string(pdftest.Many(1)), "[0 0 600 800]", "[0 0 9e9 9e9]", 1))},
		{"deeply nested arrays",
			[]byte(strings.Replace(string(pdftest.Many(1)), "/Rotate 0", "/X "+strings.Repeat("[", 100_000), 1))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := pdftest.Write(t, tt.data)
			if _, err := reader.Extract(t.Context(), file, nil); err != nil {
				if _, ok := errors.AsType[*corpus.Failure](err); !ok {
					t.Errorf("Extract: %v, want text or a *corpus.Failure", err)
				}
			}
			if _, err := reader.Render(t.Context(), file, 1, 800); err != nil {
				if _, ok := errors.AsType[*corpus.Failure](err); !ok {
					t.Errorf("Render: %v, want a picture or a *corpus.Failure", err)
				}
			}
			mustExtract(t, reader, pdftest.Many(2))
		})
	}
}

func TestDamagedFilesAreReadOrRejected(t *testing.T) {
	reader := newReader(t, func(c *worker.Config) { c.BatchLimit = 10 * time.Second })
	base := pdftest.Document(
		"", pdftest.Sheet{Content: pdftest.Para(50, 700, "Some words that can be read.", "And more of them.")},
		pdftest.Sheet{Content: pdftest.At(50, 700, 30, "B", "Title")},
	)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		data := append([]byte(nil), base...)
		switch rng.IntN(3) {
		case 0:
			data = data[:rng.IntN(len(data))]
		case 1:
			from := rng.IntN(len(data))
			data = append(data[:from:from], data[min(len(data), from+rng.IntN(200)):]...)
		default:
			for range 1 + rng.IntN(30) {
				data[rng.IntN(len(data))] = byte(rng.IntN(256))
			}
		}
		x, err := reader.Extract(t.Context(), pdftest.Write(t, data), nil)
		if err == nil {
			if err := doctext.Check(x); err != nil {
				t.Fatalf("extracted text breaks a promise: %v, want no error", err)
			}
		} else if _, ok := errors.AsType[*corpus.Failure](err); !ok {
			t.Fatalf("error = %v, want a *corpus.Failure", err)
		}
	}
}

func BenchmarkExtract(b *testing.B) {
	reader := newReader(b, nil)
	var lines []string
	for i := range 45 {
		lines = append(
			lines, fmt.Sprintf("Line %d of a page full of words that stand close to each other, as in a book", i),
		)
	}
	sheets := make([]pdftest.Sheet, 300)
	for i := range sheets {
		sheets[i].Content = pdftest.Para(40, 740, lines...)
	}
	file := pdftest.Write(b, pdftest.Document("", sheets...))
	for b.Loop() {
		if _, err := reader.Extract(b.Context(), file, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(300*b.N)/b.Elapsed().Seconds(), "pages/s")
}

func BenchmarkRender(b *testing.B) {
	reader := newReader(b, nil)
	file := pdftest.Write(b, pdftest.Many(20))
	n := 0
	for b.Loop() {
		n++
		if _, err := reader.Render(b.Context(), file, n%20+1, 1600); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAES256FileWithoutPasswordIsRead(t *testing.T) {
	reader := newReader(t, nil)
	content := pdftest.Para(50, 700, "Some words that can be read by everyone.")
	x := mustExtract(t, reader, pdftest.AES256("", content))
	if want := "Some words that can be read by everyone."; x.Text != want {
		t.Errorf("text = %q, want %q", x.Text, want)
	}
	_, err := reader.Extract(t.Context(), pdftest.Write(t, pdftest.AES256("secret", content)), nil)
	wantFailure(t, err, "encrypted")
}

// Zeros in a file, as disks and networks leave them, are no damage. The time to skip them is not tested here: on a
// busy machine it exceeds the timeout.
func TestZeroPaddingIsNotDamage(t *testing.T) {
	reader := newReader(t, func(c *worker.Config) { c.BatchLimit = 5 * time.Minute })
	good := pdftest.Document("", pdftest.Sheet{Content: pdftest.Para(50, 700, "Some words that can be read.")})
	zeros := make([]byte, 200<<20)
	for _, tt := range []struct {
		name string
		data []byte
	}{
		{"behind the end", append(bytes.Clone(good), zeros...)},
		{"inside", bytes.Replace(good, []byte("xref\n"), append(bytes.Clone(zeros), "xref\n"...), 1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, err := reader.Extract(t.Context(), pdftest.Write(t, tt.data), nil)
			if err != nil || !strings.Contains(x.Text, "can be read") {
				t.Errorf("Extract = %q, %v; want the text", x.Text, err)
			}
		})
	}
}
