package bert

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/footnote/footnote/corpus/search"
)

func readTestdata(t *testing.T, name string, into any) {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	if err == nil {
		err = json.Unmarshal(raw, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// testdata/reference.py writes the reference.
func TestTokensMatchReference(t *testing.T) {
	t.Parallel()
	var reference []struct {
		Text string  `json:"text"`
		IDs  []int32 `json:"ids"`
	}
	readTestdata(t, "tokens.json", &reference)
	if len(reference) < 130 {
		t.Fatalf("got %d texts in the reference, want at least 130", len(reference))
	}
	open(t, Config{}) // reports a missing model
	fromJSON, err := readTokenizer(fetched)
	if err != nil {
		t.Fatal(err)
	}
	fromLines, err := readVocabulary(fetched)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reference {
		for name, tokenizer := range map[string]*tokenizer{"tokenizer.json": fromJSON, "vocab.txt": fromLines} {
			got := []int32{tokenizer.start}
			for _, token := range tokenizer.encodeText(r.Text) {
				got = append(got, token.id)
			}
			if got = append(got, tokenizer.end); !slices.Equal(got, r.IDs) {
				t.Errorf("%s: %q has the tokens\n got %v\nwant %v", name, r.Text, got, r.IDs)
			}
		}
	}
}

// testdata/tokens.py writes the reference: random texts from twenty scripts.
func TestRandomTextTokensMatchReference(t *testing.T) {
	t.Parallel()
	open(t, Config{}) // reports a missing model
	tokenizer, err := readTokenizer(fetched)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open("testdata/tokens.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	texts, differ := 0, 0
	for d := json.NewDecoder(lines); d.More(); texts++ {
		var text string
		var want []int32
		if err := d.Decode(&[]any{&text, &want}); err != nil {
			t.Fatal(err)
		}
		got := []int32{tokenizer.start}
		for _, token := range tokenizer.encodeText(text) {
			got = append(got, token.id)
		}
		if got = append(got, tokenizer.end); !slices.Equal(got, want) {
			if differ++; differ <= 20 {
				t.Errorf("%q has the tokens\n got %v\nwant %v", text, got, want)
			}
		}
	}
	if texts != 10_000 || differ > 0 {
		t.Errorf("of %d texts %d have other tokens, want none of 10,000", texts, differ)
	}
}

// A folder of older libraries has only vocab.txt, and names the special tokens in another file.
func TestVocabTxtNamesSpecialTokens(t *testing.T) {
	t.Parallel()
	for said, want := range map[string][]int32{
		`{"cls_token":"<s>","sep_token":{"content":"</s>","lstrip":false},"unk_token":"<unk>"}`: {0, 2, 1, 3},
		`{}`: {4, 6, 5, 3},
	} {
		dir := t.TempDir()
		for name, body := range map[string]string{
			"vocab.txt": "<s>\n<unk>\n</s>\nroof\n[CLS]\n[UNK]\n[SEP]\n", "tokenizer_config.json": said,
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		tokenizer, err := readTokenizer(dir)
		if err != nil {
			t.Fatal(err)
		}
		got := []int32{tokenizer.start, tokenizer.end}
		for _, token := range tokenizer.encodeText("slate roof") {
			got = append(got, token.id)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got the marks and tokens %v, want %v", said, got, want)
		}
	}
}

// fetched is the directory of the sentence model that make downloads.
const fetched = "../../../.cache/embedding/all-MiniLM-L6-v2"

// open opens the model for the tests; in CI it must exist.
func open(t testing.TB, cfg Config) *Embedder {
	t.Helper()
	if cfg.Dir == "" {
		cfg.Dir = fetched
	}
	if _, err := os.Stat(cfg.Dir); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("embedding model is missing: %v", err)
		}
		t.Skip("no embedding model: make embedding fetches it")
	}
	e, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// testdata/reference.py writes the reference.
func TestVectorsMatchReference(t *testing.T) {
	t.Parallel()
	var reference []struct {
		Text   string `json:"text"`
		Vector []byte `json:"vector"`
	}
	readTestdata(t, "vectors.json", &reference)
	texts := make([]string, len(reference))
	for i, r := range reference {
		texts[i] = r.Text
	}
	for name, tt := range map[string]struct {
		floats bool
		least  float64
	}{"float32": {true, 0.999999}, "8 bits": {false, 0.99}} {
		t.Run(name, func(t *testing.T) {
			e := open(t, Config{Float32: tt.floats})
			vectors, err := e.Embed(t.Context(), texts)
			if err != nil {
				t.Fatal(err)
			}
			for i, r := range reference {
				want := make([]float32, len(r.Vector)/4)
				for j := range want {
					want[j] = math.Float32frombits(binary.LittleEndian.Uint32(r.Vector[4*j:]))
				}
				query, err := e.EmbedQuery(t.Context(), r.Text)
				if err != nil {
					t.Fatal(err)
				}
				for side, got := range map[string][]float32{"passage": vectors[i], "query": query} {
					if near := cosine(t, got, want); near < tt.least {
						t.Errorf(
							"%q as a %s: got a vector with cosine %.7f to the reference, want %g",
							r.Text,
							side,
							near,
							tt.least,
						)
					}
					if length := cosine(t, got, got); math.Abs(length-1) > 1e-6 {
						t.Errorf("%q as a %s: got a vector of squared length %.7f, want 1", r.Text, side, length)
					}
				}
			}
		})
	}
}

func cosine(t *testing.T, a, b []float32) float64 {
	t.Helper()
	if len(a) != len(b) {
		t.Fatalf("got vectors of %d and %d dimensions, want as many", len(a), len(b))
	}
	var sum float64
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// testdata/encoders.py writes the reference with an independent implementation.
func TestVectorsOfOtherEncodersMatchReference(t *testing.T) {
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

func TestPairScoresOfOtherEncodersMatchReference(t *testing.T) {
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
				t.Errorf("%s: Scores of a long pair: %v", p.Model, err)
			}
		}
	}
	if len(pairs) != 8 {
		t.Errorf("got %d pairs in the reference, want 8", len(pairs))
	}
}

func TestPairsFollowTemplate(t *testing.T) {
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

func TestXLMRPositionsStartAfterPadding(t *testing.T) {
	t.Parallel()
	if e := open(t, Config{Dir: "testdata/xlm-roberta"}); e.folder.window != 38 {
		t.Errorf("got a window of %d tokens with 40 positions, want 38", e.folder.window)
	}
}

// The buckets are those of MPNet: floor(8 + 8·log(d/8)/log(16)) from 8 on.
func TestMPNetRelativePositionBuckets(t *testing.T) {
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

// The network of testdata/xlm-roberta has one token type.
func TestRerankerRejectsUnsupportedPairTemplate(t *testing.T) {
	t.Parallel()
	const right = `"type": "RobertaProcessing"`
	for other, refused := range map[string]bool{
		right:                      false,
		`"type": "BertProcessing"`: true, // the second text has another token type
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

const long = "The tenant keeps the garden in order. The landlord repairs the roof and the pipes within a month of a " +
	"notice. "

func TestLongPassageIsMeanOfWindows(t *testing.T) {
	t.Parallel()
	e := open(t, Config{})
	m, release, err := e.useModel()
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	text := strings.Repeat(long, 25)
	windows := m.cutWindows("", text, e.folder.window)
	var tokens int
	for i, ids := range windows {
		tokens += len(ids) - 2
		if len(ids) > e.folder.window || ids[0] != m.tokenizer.start || ids[len(ids)-1] != m.tokenizer.end {
			t.Errorf("got window %d with %d tokens from %d to %d, want at most %d within the marks", i, len(ids),
				ids[0], ids[len(ids)-1], e.folder.window)
		}
	}
	if all := len(m.tokenizer.encodeText(text)); len(windows) != 3 || tokens != all {
		t.Errorf("got %d windows with %d tokens, want 3 with %d", len(windows), tokens, all)
	}
	whole, err := e.Embed(t.Context(), []string{text})
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float32, len(whole[0]))
	for _, ids := range windows {
		v, err := m.meanVector([][]int32{ids}, false, t.Context().Err)
		if err != nil {
			t.Fatal(err)
		}
		for i := range v {
			want[i] += v[i]
		}
	}
	if err := toUnitLength(want); err != nil {
		t.Fatal(err)
	}
	if near := cosine(t, whole[0], want); near < 0.999999 {
		t.Errorf("got a vector with cosine %.7f to the mean of the windows, want 1", near)
	}
	last, err := e.Embed(t.Context(), []string{text + " The cat of the neighbour has nine lives."})
	if err != nil {
		t.Fatal(err)
	}
	if near := cosine(t, whole[0], last[0]); near > 0.99999 {
		t.Errorf("cosine with one more sentence after the first window = %.7f, want less than 0.99999", near)
	}
}

func TestWindowsEndAtWordBoundaries(t *testing.T) {
	t.Parallel()
	vocabulary := map[string]int32{"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "a": 3, "##b": 4, "q": 5}
	tokens, err := newTokenizer(vocabulary, folding{}, "[UNK]", marks{start: "[CLS]", end: "[SEP]"})
	if err != nil {
		t.Fatal(err)
	}
	m := &model{tokenizer: tokens}
	for _, tt := range []struct {
		prefix, text string
		window       int
		want         [][]int32
	}{
		{"", "", 5, [][]int32{{1, 2}}},
		{"", "a a a", 5, [][]int32{{1, 3, 3, 3, 2}}},
		{"", "a a a a", 5, [][]int32{{1, 3, 3, 2}, {1, 3, 3, 2}}},
		{"", "ab ab abb", 6, [][]int32{{1, 3, 4, 3, 4, 2}, {1, 3, 4, 4, 2}}},
		{"", "ab abb a", 6, [][]int32{{1, 3, 4, 2}, {1, 3, 4, 4, 3, 2}}},
		{"", "abbbbb", 5, [][]int32{{1, 3, 4, 4, 2}, {1, 4, 4, 4, 2}}},
		{"q", "a a a", 5, [][]int32{{1, 5, 3, 3, 2}, {1, 5, 3, 2}}},
		{"q q q q q", "a a", 5, [][]int32{{1, 5, 5, 3, 2}, {1, 5, 5, 3, 2}}},
	} {
		got := m.cutWindows(tt.prefix, tt.text, tt.window)
		if !slices.EqualFunc(got, tt.want, func(a, b []int32) bool { return slices.Equal(a, b) }) {
			t.Errorf("prefix %q, text %q, window %d: got %v, want %v", tt.prefix, tt.text, tt.window, got, tt.want)
		}
	}
}

func TestPrefixAppliesToItsSide(t *testing.T) {
	t.Parallel()
	query, passage := "query: ", "passage: "
	plain, sided := open(t, Config{}), open(t, Config{QueryPrefix: &query, PassagePrefix: &passage})
	asked, err := sided.EmbedQuery(t.Context(), "roof repair")
	if err != nil {
		t.Fatal(err)
	}
	stored, err := sided.Embed(t.Context(), []string{"roof repair"})
	if err != nil {
		t.Fatal(err)
	}
	want, err := plain.Embed(t.Context(), []string{"query: roof repair", "passage: roof repair"})
	if err != nil {
		t.Fatal(err)
	}
	for side, pair := range map[string][2][]float32{"query": {asked, want[0]}, "passage": {stored[0], want[1]}} {
		if near := cosine(t, pair[0], pair[1]); near < 0.999999 {
			t.Errorf("%s: got a cosine of %.7f with the text behind its prefix, want 1", side, near)
		}
	}
	if plain.Model() == sided.Model() {
		t.Errorf("got the name %q with and without a prefix for passages, want two", plain.Model())
	}
}

func TestIdleModelIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := open(t, Config{Idle: time.Minute})
		inMemory := func() bool {
			e.mu.Lock()
			defer e.mu.Unlock()
			return e.model != nil
		}
		if inMemory() {
			t.Error("got a model in memory before the first text, want none")
		}
		for range 2 {
			if _, err := e.EmbedQuery(t.Context(), "roof"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(59 * time.Second)
			if synctest.Wait(); !inMemory() {
				t.Error("got no model in memory within the minute, want it")
			}
			time.Sleep(2 * time.Second)
			if synctest.Wait(); inMemory() {
				t.Error("got a model in memory a minute after its last use, want none")
			}
		}
	})
}

func TestQueriesPrecedePassages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{}
		if err := g.waitForQueries(t.Context()); err != nil {
			t.Fatal(err)
		}
		g.enterQuery()
		start := time.Now()
		go func() {
			time.Sleep(longestTurn / 2)
			g.leaveQuery()
		}()
		if err := g.waitForQueries(t.Context()); err != nil || time.Since(start) != longestTurn/2 {
			t.Errorf("got on after %v (%v), want %v: when the query was over", time.Since(start), err, longestTurn/2)
		}
		g.enterQuery()
		start = time.Now()
		if err := g.waitForQueries(t.Context()); err != nil || time.Since(start) != longestTurn {
			t.Errorf("got on after %v (%v), want %v: under a stream of queries", time.Since(start), err, longestTurn)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := g.waitForQueries(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v after the end, want %v", err, context.Canceled)
		}
	})
}

func TestContextCancelsEmbedding(t *testing.T) {
	t.Parallel()
	e := open(t, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Embed(ctx, slices.Repeat([]string{long}, 8)); !errors.Is(err, context.Canceled) {
		t.Errorf("passages: got %v, want %v", err, context.Canceled)
	}
	if _, err := e.EmbedQuery(ctx, long); !errors.Is(err, context.Canceled) {
		t.Errorf("query: got %v, want %v", err, context.Canceled)
	}
}

// A mapped file that is truncated would crash the program with a bus error.
func TestTruncatedWeightsFailOnlyText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(open(t, Config{}).dir)); err != nil {
		t.Fatal(err)
	}
	e := open(t, Config{Dir: dir, Workers: 1})
	if _, err := e.EmbedQuery(t.Context(), "roof"); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, weightsFile), 1<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := e.EmbedQuery(t.Context(), "roof"); !errors.Is(err, errChanged) {
		t.Errorf("got %v, want %v", err, errChanged)
	}
}

// Doubt is high for scripts that the English model does not know, low for English, and in between for languages
// that share words with it. docs/quality.md has the effect on whole sets.
func TestModelDoubtsUnknownLanguages(t *testing.T) {
	t.Parallel()
	e := open(t, Config{})
	queries, passages := search.SimilarityPairs()
	asked := make([][]float32, len(queries))
	for i, query := range queries {
		var err error
		if asked[i], err = e.EmbedQuery(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	found, err := e.Embed(t.Context(), passages)
	if err != nil {
		t.Fatal(err)
	}
	scale := search.MeasureScale(asked, found)
	for query, want := range map[string]struct{ least, most float64 }{
		"How do I connect a printer to the network?":         {0, 0.3},
		"Why is the battery of my laptop never full?":        {0, 0.3},
		"¿Cómo conecto una impresora a la red?":              {0, 0.7},
		"Wie verbinde ich einen Drucker mit dem Netz?":       {0, 0.7},
		"Как подключить принтер к локальной сети?":           {0.8, 1},
		"Πώς συνδέω έναν εκτυπωτή στο τοπικό δίκτυο;":        {0.8, 1},
		"如何把打印机连接到局域网？":                                      {0.8, 1},
		"プリンターをネットワークに接続するにはどうすればよいですか":                      {0.8, 1},
		"كيف أوصل الطابعة بالشبكة المحلية؟":                  {0.8, 1},
		"จะเชื่อมต่อเครื่องพิมพ์กับเครือข่ายได้อย่างไร":      {0.8, 1},
		"నేను ప్రింటర్‌ను నెట్‌వర్క్‌కు ఎలా కనెక్ట్ చేయాలి?": {0.8, 1},
	} {
		var both [2][]float32
		for i, text := range []string{query, search.Nonsense(query)} {
			if both[i], err = e.EmbedQuery(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		if got := scale.Doubt(search.Cosine(both[0], both[1])); got < want.least || got > want.most {
			t.Errorf("%s: doubt %.2f, want %v to %v", query, got, want.least, want.most)
		}
	}
}
