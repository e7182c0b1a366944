package reader_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus/embed/bert"
	"github.com/footnote/footnote/corpus/reader"
)

// fetched is the folder that make embedding fills.
const fetched = "../../.cache/embedding/all-MiniLM-L6-v2"

func open(t testing.TB, floats bool) *reader.Reader {
	t.Helper()
	if _, err := os.Stat(fetched + "/model.safetensors"); err != nil {
		t.Skip("no sentence model: make embedding")
	}
	r, err := reader.Open(fetched, floats)
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

// testdata/reference.json has the outputs of PyTorch in float32, as train.py writes them. 8 bits are less exact.
func TestOutputsMatchReference(t *testing.T) {
	t.Parallel()
	var pairs []struct {
		Question, Text string
		Outputs        [2]float64
	}
	raw, err := os.ReadFile("testdata/reference.json")
	if err == nil {
		err = json.Unmarshal(raw, &pairs)
	}
	if err != nil || len(pairs) == 0 {
		t.Fatal(len(pairs), err)
	}
	for _, precision := range []struct {
		floats bool
		within float64
	}{{true, 1e-3}, {false, 0.3}} {
		r := open(t, precision.floats)
		for _, p := range pairs {
			got, err := r.Read(t.Context(), p.Question, []string{p.Text})
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range p.Outputs {
				if math.Abs(got[0][i]-want) > precision.within {
					t.Errorf("%q, output %d: %v; want %v within %v", p.Question, i, got[0][i], want, precision.within)
				}
			}
		}
	}
}

func TestAnsweringTextScoresHigher(t *testing.T) {
	t.Parallel()
	r := open(t, false)
	for question, texts := range map[string][2]string{
		"Who repairs the roof?": {
			"House rules\nThe landlord repairs the roof, the gutters and the outer walls.",
			"House rules\nThe roof may be entered only with permission. Tenants keep the stairs clean.",
		},
		"How long is the notice period?": {
			"Lease › Ending\nEither party may end this lease. The notice period is three months to the end of a month.",
			"Lease › Deposit\nThe deposit is two months' rent. It is returned within six weeks.",
		},
	} {
		got, err := r.Scores(t.Context(), question, texts[:])
		if err != nil || got[0] <= got[1] || got[0] > 1 || got[1] < 0 {
			t.Errorf("%q: %v, %v; want the first higher, in 0–1", question, got, err)
		}
	}
}

func TestOtherModelIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := reader.Open("../embed/bert/testdata/reranker", false); !errors.Is(err, bert.ErrOtherModel) {
		t.Errorf("got %v, want %v", err, bert.ErrOtherModel)
	}
}

// 40 windows of 100 words, none from the cache.
func BenchmarkScores(b *testing.B) {
	r := open(b, false)
	texts := make([]string, 40)
	for i := range texts {
		texts[i] = "Lease › Ending\n" + strings.Repeat("Either party may end this lease by written notice. ", 11)
	}
	for b.Loop() {
		if _, err := r.Read(b.Context(), "How long is the notice period?", texts); err != nil {
			b.Fatal(err)
		}
	}
}

// Scores of texts that were read for the question before come from a cache, beside those of new texts.
func TestScoresAreInOrderOfTexts(t *testing.T) {
	t.Parallel()
	r := open(t, false)
	read := func(texts ...string) []float64 {
		scores, err := r.Scores(t.Context(), "Who repairs the roof?", texts)
		if err != nil {
			t.Fatal(err)
		}
		return scores
	}
	const roof, stairs = "Lease\nThe landlord repairs the roof.", "Lease\nTenants keep the stairs clean."
	first := read(roof)
	if got := read(stairs, roof); got[1] != first[0] || got[0] >= got[1] {
		t.Errorf("scores %v, want that of the roof, %v, second and higher", got, first[0])
	}
	if err := r.Close(); err != nil { // the cache needs no model
		t.Fatal(err)
	}
	if got := read(roof); got[0] != first[0] {
		t.Errorf("score %v, want %v from the cache", got[0], first[0])
	}
}
