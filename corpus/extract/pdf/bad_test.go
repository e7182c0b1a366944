package pdf

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"footnote/corpus"
	"footnote/corpus/extract/canon"
)

func wantFailure(t *testing.T, err error, code string) {
	t.Helper()
	f, ok := errors.AsType[*corpus.Failure](err)
	if !ok {
		t.Fatalf("error = %v, want a *corpus.Failure", err)
	}
	if f.Code != code || !strings.HasSuffix(f.Detail, ".") {
		t.Errorf("failure = %s: %s, want %s and a sentence", f.Code, f.Detail, code)
	}
}

func many(n int) []byte {
	sheets := make([]sheet, n)
	for i := range sheets {
		sheets[i].content = para(50, 600, fmt.Sprintf("This is page %d of a long document, and it", i), "has as many words as it needs to have.")
	}
	return document("", sheets...)
}

func TestBadFilesFailWithTheirReason(t *testing.T) {
	reader := newReader(t, nil)
	good := document("", sheet{content: para(50, 700, "Some words that can be read by everyone.")})
	picture := "q 500 0 0 700 50 50 cm BI /W 2 /H 2 /BPC 8 /CS /G ID \x00\xff\xff\x00 EI Q"
	for _, tt := range []struct {
		name, code string
		data       []byte
	}{
		{"encrypted", "encrypted", encrypted()},
		{"a scan", "no_text", document("", sheet{content: picture}, sheet{content: picture})},
		{"no text at all", "no_text", document("", sheet{})},
		{"6,000 pages", "too_many_pages", many(6000)},
		{"cut off after its head", "broken", good[:40]},
		{"not a PDF", "broken", []byte("PK\x03\x04 something else")},
		{"empty", "broken", nil},
		{"no pages", "broken", document("")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := reader.Extract(t.Context(), write(t, tt.data), nil)
			wantFailure(t, err, tt.code)
		})
	}
}

func TestHostileFilesHurtOnlyThemselves(t *testing.T) {
	reader := newReader(t, nil)
	var cycle maker // a page tree whose branch is its own root
	cycle.add("<</Type /Pages /Count 9 /Kids [1 0 R 1 0 R]>>")
	root := cycle.add("<</Type /Catalog /Pages 1 0 R>>")
	var bomb maker
	spaces := deflate(blanks(200))
	bomb.stream("/Filter [/FlateDecode /FlateDecode]", spaces)
	bomb.add("<</Type /Page /Parent 3 0 R /MediaBox [0 0 600 800] /Resources %s /Contents [%s]>>", fonts, strings.Repeat("1 0 R ", 50))
	bomb.add("<</Type /Pages /Count 1 /Kids [2 0 R]>>")
	bombRoot := bomb.add("<</Type /Catalog /Pages 3 0 R>>")
	for _, tt := range []struct {
		name string
		data []byte
	}{
		{"a page tree in circles", cycle.bytes(root)},
		{"a stream that unpacks to gigabytes", bomb.bytes(bombRoot)},
		{"a page of a billion points", []byte(strings.Replace(string(many(1)), "[0 0 600 800]", "[0 0 9e9 9e9]", 1))},
		{"deeply nested arrays", []byte(strings.Replace(string(many(1)), "/Rotate 0", "/X "+strings.Repeat("[", 100_000), 1))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := write(t, tt.data)
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
			mustExtract(t, reader, many(2))
		})
	}
}

func TestDamagedFilesAreAnsweredOrRefused(t *testing.T) {
	reader := newReader(t, func(c *Config) { c.BatchLimit = 10 * time.Second })
	base := document("", sheet{content: para(50, 700, "Some words that can be read.", "And more of them.")}, sheet{content: at(50, 700, 30, "B", "Title")})
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
		x, err := reader.Extract(t.Context(), write(t, data), nil)
		if err == nil {
			if err := canon.Check(x); err != nil {
				t.Fatalf("extracted text breaks a promise: %v", err)
			}
		} else if _, ok := errors.AsType[*corpus.Failure](err); !ok {
			t.Fatalf("error = %v, want a *corpus.Failure", err)
		}
	}
}

func TestAWorkerKilledInTheMiddleFailsOnlyItsFile(t *testing.T) {
	reader := newReader(t, nil)
	killed := false
	_, err := reader.Extract(t.Context(), write(t, many(500)), func(done, total int) {
		if done < 100 || killed {
			return
		}
		killed = true
		reader.reading.mu.Lock()
		defer reader.reading.mu.Unlock()
		for p := range reader.reading.busy {
			if err := p.cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
	})
	wantFailure(t, err, "internal")
	mustExtract(t, reader, many(2))
}

func TestAWorkerThatDiedWhileIdleIsReplaced(t *testing.T) {
	reader := newReader(t, nil)
	mustExtract(t, reader, many(2))
	reader.reading.mu.Lock()
	dead := reader.reading.waiting[0]
	reader.reading.mu.Unlock()
	dead.kill()
	mustExtract(t, reader, many(2))
}

func TestAnIdleWorkerEnds(t *testing.T) {
	reader := newReader(t, nil)
	mustExtract(t, reader, many(2))
	reader.reading.mu.Lock()
	p := reader.reading.waiting[0]
	reader.reading.mu.Unlock()
	reader.reading.retire(p)
	reader.reading.ending.Wait()
	if p.cmd.ProcessState == nil || !p.cmd.ProcessState.Success() {
		t.Errorf("the idle worker ended with %v, want success", p.cmd.ProcessState)
	}
	mustExtract(t, reader, many(2))
}

func TestASlowFileIsGivenUp(t *testing.T) {
	reader := newReader(t, func(c *Config) { c.BatchLimit = time.Millisecond })
	_, err := reader.Extract(t.Context(), write(t, many(2000)), nil)
	wantFailure(t, err, "timeout")
}

func TestCancellingEndsTheWork(t *testing.T) {
	reader := newReader(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := reader.Extract(ctx, write(t, many(2000)), func(done, _ int) {
		if done == 100 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", err)
	}
}

func TestDrawingDoesNotWaitForReading(t *testing.T) {
	reader := newReader(t, nil)
	file := write(t, many(100))
	drawn := false
	_, err := reader.Extract(t.Context(), file, func(done, total int) {
		if done < total && !drawn {
			drawn = true
			drawPage(t, reader, file, 1, 400) // reading stands still until the picture is there
		}
	})
	if err != nil || !drawn {
		t.Errorf("error %v, drawn %v", err, drawn)
	}
}

func TestTheWorkerSeesNoSecrets(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "canary")
	p, err := start([]string{os.Args[0], "pdf-worker"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.kill()
	if env := strings.Join(p.cmd.Environ(), "\n"); strings.Contains(env, "canary") {
		t.Errorf("the worker's environment holds a key: %s", env)
	}
}

func TestTheWorkerEndsWithItsParent(t *testing.T) {
	cmd := exec.Command(os.Args[0], "pdf-worker")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the worker ended with %v", err)
	}
}

func BenchmarkExtract(b *testing.B) {
	reader := newReader(b, nil)
	var lines []string
	for i := range 45 {
		lines = append(lines, fmt.Sprintf("Line %d of a page full of words that stand close to each other, as in a book", i))
	}
	sheets := make([]sheet, 300)
	for i := range sheets {
		sheets[i].content = para(40, 740, lines...)
	}
	file := write(b, document("", sheets...))
	for b.Loop() {
		if _, err := reader.Extract(b.Context(), file, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(300*b.N)/b.Elapsed().Seconds(), "pages/s")
}

func BenchmarkRender(b *testing.B) {
	reader := newReader(b, nil)
	file := write(b, many(20))
	n := 0
	for b.Loop() {
		n++
		if _, err := reader.Render(b.Context(), file, n%20+1, 1600); err != nil {
			b.Fatal(err)
		}
	}
}
