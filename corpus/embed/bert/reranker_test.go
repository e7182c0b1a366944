package bert

import (
	"context"
	"encoding/json"
	"errors"
	"github.com/footnote/footnote/corpus/corpustest"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// openSmall opens the cross-encoder in testdata.
func openSmall(t testing.TB) *Reranker {
	t.Helper()
	r, err := OpenReranker("testdata/reranker", true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// The reference is testdata/reranker.py, an independent implementation.
func TestPairScoresMatchReference(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/reranker.json")
	if err != nil {
		t.Fatal(err)
	}
	var pairs []struct {
		Query, Passage string
		Score          float64
	}
	if err := json.Unmarshal(raw, &pairs); err != nil {
		t.Fatal(err)
	}
	r := openSmall(t)
	for _, p := range pairs {
		got, err := r.Scores(t.Context(), p.Query, []string{p.Passage})
		if err != nil || math.Abs(got[0]-p.Score) > 1e-4 {
			t.Errorf("%q with %q: %v, %v; want %v within 1e-4", p.Query, p.Passage, got, err, p.Score)
		}
	}
}

func TestQuantizedScoresAreClose(t *testing.T) {
	t.Parallel()
	r, err := OpenReranker("testdata/reranker", false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	passages := []string{"the roof is of slate", "the rent is paid", "red garden wall"}
	want, err := openSmall(t).Scores(t.Context(), "who paid the rent", passages)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Scores(t.Context(), "who paid the rent", passages)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 5e-3 {
			t.Errorf("%q: %g, in floats %g, want within 5e-3", passages[i], got[i], want[i])
		}
	}
}

func TestCrossEncoderContract(t *testing.T) {
	t.Parallel()
	corpustest.TestReranker(t, openSmall(t))
}

func TestLongPassageScoresItsBestWindow(t *testing.T) {
	t.Parallel()
	r := openSmall(t)
	first, second := "the roof is of slate", "the rent is paid" // two windows beside the query
	got, err := r.Scores(t.Context(), "who paid the rent", []string{first + " and " + second, first, second, ""})
	if err != nil || len(got) != 4 {
		t.Fatalf("%v, %v; want four scores", got, err)
	}
	parts, err := r.Scores(t.Context(), "who paid the rent", []string{"the roof is of slate", "and the rent is paid"})
	if err != nil {
		t.Fatal(err)
	}
	if best := max(parts[0], parts[1]); math.Abs(got[0]-best) > 1e-6 {
		t.Errorf("the long passage has %v, its parts %v; want the best of them", got[0], parts)
	}
	long := strings.Repeat("who paid the rent ", 50)
	if _, err := r.Scores(t.Context(), long, []string{strings.Repeat(first+" ", 500)}); err != nil {
		t.Errorf("Scores of a long query and a long passage: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Scores(ctx, "roof", []string{first}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, want %v", err, context.Canceled)
	}
}

func TestFolderWithoutClassifierIsNotReranker(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"config.json", "vocab.txt", "model.safetensors"} {
		raw, err := os.ReadFile(filepath.Join("testdata/reranker", name))
		if err != nil {
			t.Fatal(err)
		}
		raw = []byte(strings.Replace(string(raw), `"classifier.weight"`, `"classifies.weight"`, 1))
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := OpenReranker(dir, false); err == nil || !strings.Contains(err.Error(), "classifier.weight") {
		t.Errorf("OpenReranker = %v, want an error that names classifier.weight", err)
	}
}

func BenchmarkScores(b *testing.B) {
	r := openSmall(b)
	passages := make([]string, 20)
	for i := range passages {
		passages[i] = "the roof is of slate and tin"
	}
	for b.Loop() {
		if _, err := r.Scores(b.Context(), "roof", passages); err != nil {
			b.Fatal(err)
		}
	}
}
