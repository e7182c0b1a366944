package bert

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// testdata/encoders.py writes the reference, an implementation of its own.
func TestVectorsOfOtherEncodersAreThoseOfTheReference(t *testing.T) {
	t.Parallel()
	var reference []struct {
		Model, Text string
		Vector      []float32
	}
	readTestdata(t, "encoders.json", &reference)
	for _, floats := range []bool{true, false} {
		models := map[string]*Embedder{}
		for _, r := range reference {
			if models[r.Model] == nil {
				models[r.Model] = open(t, Config{Dir: "testdata/" + r.Model, Float32: floats})
			}
			got, err := models[r.Model].Embed(t.Context(), []string{r.Text})
			if err != nil {
				t.Fatal(err)
			}
			least := 0.99
			if floats {
				least = 0.999999
			}
			if near := cosine(t, got[0], r.Vector); near < least {
				t.Errorf("%s, floats %v, %q: got a vector with cosine %.7f to the reference, want %g", r.Model, floats,
					r.Text, near, least)
			}
		}
		if len(models) != 2 {
			t.Errorf("got %d models in the reference, want 2", len(models))
		}
	}
}

func TestScoresOfPairsOfOtherEncodersAreTheReferences(t *testing.T) {
	t.Parallel()
	var pairs []struct {
		Model, Query, Passage string
		Score                 float64
	}
	readTestdata(t, "pairs.json", &pairs)
	for _, p := range pairs {
		for _, floats := range []bool{true, false} {
			r, err := OpenReranker("testdata/"+p.Model, floats)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = r.Close() })
			most := 0.02
			if floats {
				most = 1e-4
			}
			got, err := r.Scores(t.Context(), p.Query, []string{p.Passage})
			if err != nil || math.Abs(got[0]-p.Score) > most {
				t.Errorf("%s, floats %v: %q with %q: %v, %v; want %v within %v", p.Model, floats, p.Query, p.Passage,
					got, err, p.Score, most)
			}
			long := strings.Repeat("the roof is of slate ", 200) // many windows
			if _, err := r.Scores(t.Context(), long, []string{long}); err != nil {
				t.Errorf("%s: a long pair: %v", p.Model, err)
			}
		}
	}
	if len(pairs) != 8 {
		t.Errorf("got %d pairs in the reference, want 8", len(pairs))
	}
}

func TestPairsHaveTheFormOfTheTemplate(t *testing.T) {
	t.Parallel()
	token := func(name string) string { return `{"SpecialToken":{"id":"` + name + `"}},` }
	text := func(kind string) string { return `{"Sequence":{"id":"A","type_id":` + kind + `}},` }
	start, end := token("<s>"), token("</s>")
	for template, want := range map[string]pairForm{
		start + text("0") + end + text("1") + end:             {1, 1},
		start + text("0") + end + text("0") + end:             {1, 0},
		start + text("0") + end + end + text("0") + end:       {2, 0},
		start + text("0") + end + end + end + text("0") + end: {},
		start + text("0") + end + text("2") + end:             {},
		start + text("0") + text("0") + end:                   {},
		end + text("0") + end + text("1") + end:               {},
		start + text("0") + start + text("1") + end:           {},
		start + text("0") + end + text("1") + start:           {},
		start + end + text("0") + text("1") + end:             {},
		start + text("0") + end + text("1") + text("1") + end: {},
		"": {},
	} {
		var pair []templateItem
		if err := json.Unmarshal([]byte("["+strings.TrimSuffix(template, ",")+"]"), &pair); err != nil {
			t.Fatal(err)
		}
		if got := (marks{start: "<s>", end: "</s>"}).pairOf(pair); got != want {
			t.Errorf("%s: got the form %v, want %v", template, got, want)
		}
	}
}

func TestPositionsOfXLMRBeginBehindPadding(t *testing.T) {
	t.Parallel()
	if e := open(t, Config{Dir: "testdata/xlm-roberta"}); e.folder.window != 38 {
		t.Errorf("got a window of %d tokens with 40 positions, want 38", e.folder.window)
	}
}

// The kinds are those of MPNet: floor(8 + 8·log(d/8)/log(16)) from 8 on.
func TestDistancesOfMPNetHaveTheirKinds(t *testing.T) {
	t.Parallel()
	for distance, want := range map[int]int{
		0: 0, -1: 1, -7: 7, -8: 8, -11: 8, -12: 9, -15: 9, -16: 10, -22: 10, -23: 11, -31: 11, -32: 12, -45: 12,
		-46: 13, -63: 13, -64: 14, -90: 14, -91: 15, -128: 15, -500: 15, 1: 17, 7: 23, 8: 24, 64: 30, 91: 31, 30000: 31,
	} {
		if got := distanceBucket(distance); got != want {
			t.Errorf("got the kind %d for a distance of %d, want %d", got, distance, want)
		}
	}
}

// The network of testdata/xlm-roberta tells no kinds of texts apart.
func TestARerankerNeedsAPairThatItsNetworkReads(t *testing.T) {
	t.Parallel()
	const right = `"type": "RobertaProcessing"`
	for other, refused := range map[string]bool{
		right:                      false,
		`"type": "BertProcessing"`: true, // the second text has a kind of its own
		`"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {}},
			{"SpecialToken": {"id": "</s>"}}], "pair": []`: true,
	} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS("testdata/xlm-roberta")); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "tokenizer.json")
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.Replace(raw, []byte(right), []byte(other), 1), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := OpenReranker(dir, true)
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Scores(t.Context(), "roof", []string{"slate"})
		if got := strings.Contains(errorText(err), "joins two texts"); got != refused || !refused && err != nil {
			t.Errorf("%s: got %v, want an error: %v", other, err, refused)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
