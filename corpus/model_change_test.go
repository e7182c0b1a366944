package corpus_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/embed/bert"
	"github.com/footnote/footnote/corpus/embed/embedtest"
	"github.com/footnote/footnote/corpus/search"
	"github.com/footnote/footnote/sql/librarytest"
	"github.com/footnote/footnote/sql/sqlite"
)

// other is another model of the same dimension: its vectors are the first model's in reverse. It embeds passages
// only while the gate is open.
type other struct {
	embedtest.Hashing
	gate     chan struct{} // closed: open
	passages atomic.Int32
}

func (o *other) Model() string { return "other" }

func (o *other) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	select {
	case <-o.gate:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	o.passages.Add(int32(len(texts)))
	vectors, err := o.Hashing.Embed(ctx, texts)
	for _, v := range vectors {
		slices.Reverse(v)
	}
	return vectors, err
}

func (o *other) EmbedQuery(ctx context.Context, query string) ([]float32, error) {
	vector, err := o.Hashing.EmbedQuery(ctx, query)
	slices.Reverse(vector)
	return vector, err
}

// openModel opens a library whose vectors have a model name, and returns a function that stops it.
func openModel(t *testing.T, dir string, e corpus.Embedder, name string) (*testLibrary, func()) {
	t.Helper()
	sh := openTestLibrary(t, dir, func(c *corpus.Config, db *sqlite.DB) { c.Embedder, c.Vectors = e, db.Vectors(name) })
	return sh, sh.start(t)
}

// allSemantic waits until every document has the semantic state.
func (sh *testLibrary) allSemantic(t *testing.T, want corpus.Semantic) {
	t.Helper()
	for late := time.After(time.Minute); ; {
		docs, _, err := sh.List(t.Context(), chat.Local, corpus.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(docs, func(d corpus.Document) bool { return d.Semantic != want }) {
			return
		}
		select {
		case <-late:
			t.Fatalf("vectors are not all %s: %v", want, docs)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func TestNewModelReembedsAllDocuments(t *testing.T) {
	dir := t.TempDir()
	sh, stop := openModel(t, dir, embedtest.Hashing{}, "hashing")
	fill(t, sh)
	query := corpus.Query{Text: "elephants remember waterholes", Limit: 3}
	meaning := query
	meaning.Mode = corpus.ModeSemantic
	before := sh.search(t, meaning)
	stop()

	fresh := &other{gate: make(chan struct{})}
	sh, stop = openModel(t, dir, fresh, fresh.Model())
	sh.allSemantic(t, corpus.SemanticPending)
	if found := sh.search(t, query); titles(found)[0] != "elephant.md" || found.Results[0].Score < 0.99 {
		t.Errorf("while nothing is embedded %q are found, the first with %v; want elephant.md with all of the score",
			titles(found), found.Results[0].Score)
	}
	found := sh.search(t, meaning)
	if titles(found)[0] != "elephant.md" || !found.Partial || len(found.Notes) != 1 ||
		!strings.Contains(found.Notes[0], "still being prepared") {
		t.Errorf("by meaning meanwhile %q with the notes %q, partial %v; want elephant.md by words, and a note",
			titles(found), found.Notes, found.Partial)
	}
	close(fresh.gate)
	sh.allSemantic(t, corpus.SemanticReady)
	sh.wait(t)
	after := sh.search(t, meaning)
	if !slices.Equal(titles(after), titles(before)) || after.Partial || len(after.Notes) > 0 {
		t.Errorf("by meaning afterwards %q with the notes %q, partial %v; want %q", titles(after), after.Notes,
			after.Partial, titles(before))
	}
	for i, r := range after.Results {
		if got, want := *r.Cosine, *before.Results[i].Cosine; got-want > 1e-4 || want-got > 1e-4 {
			t.Errorf("result %d has a cosine of %v, want %v", i, got, want)
		}
	}
	stop()
}

func TestVectorsWithoutModelNameAreKept(t *testing.T) {
	for name, tt := range map[string]struct {
		e    corpus.Embedder
		made bool // anew
	}{"the same model": {embedtest.Hashing{}, false}, "another one": {&other{gate: opened()}, true}} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			sh, stop := openModel(t, dir, embedtest.Hashing{}, "") // as an earlier version
			fill(t, sh)
			stop()
			counting := &countingEmbedder{Embedder: tt.e}
			sh, stop = openModel(t, dir, counting, tt.e.Model())
			query := corpus.Query{Text: "elephants remember waterholes", Limit: 1, Mode: corpus.ModeSemantic}
			for late := time.After(time.Minute); ; {
				found := sh.search(t, query)
				if len(found.Results) > 0 && found.Results[0].Cosine != nil && !found.Partial {
					if got := titles(found); got[0] != "elephant.md" {
						t.Errorf("%q found by meaning, want elephant.md", got)
					}
					break
				}
				select {
				case <-late:
					t.Fatalf("semantic search finds nothing: %+v", found)
				case <-time.After(10 * time.Millisecond):
				}
			}
			stop()
			if made := counting.documents.Load() > 0; made != tt.made {
				t.Errorf("vectors of documents made: %v, want %v", made, tt.made)
			}
		})
	}
}

func opened() chan struct{} {
	gate := make(chan struct{})
	close(gate)
	return gate
}

// countingEmbedder counts the calls with only the passage about elephants, which is a separate document.
type countingEmbedder struct {
	corpus.Embedder
	documents atomic.Int32
}

func (c *countingEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if len(texts) == 1 && strings.Contains(texts[0], "waterholes") {
		c.documents.Add(1)
	}
	return c.Embedder.Embed(ctx, texts)
}

// english is an embedder that knows only ASCII: all other letters are one unknown letter.
type english struct{ embedtest.Hashing }

func (e english) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	seen := make([]string, len(texts))
	for i, text := range texts {
		seen[i] = strings.Map(func(r rune) rune {
			if r >= utf8.RuneSelf {
				return 'x'
			}
			return r
		}, text)
	}
	return e.Hashing.Embed(ctx, seen)
}

func (e english) EmbedQuery(ctx context.Context, query string) ([]float32, error) {
	vectors, err := e.Embed(ctx, []string{query})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// Words of equal length look alike to an embedder that does not know their letters, so only identical words must
// count.
func TestSimilarityCountsOnlyForKnownScripts(t *testing.T) {
	t.Parallel()
	sh := openTestLibrary(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
		c.Embedder, c.Vectors = english{}, db.Vectors("hashing")
	})
	sh.start(t)
	sh.add(t, "mill.txt", "Аренда старой мельницы у реки стоит сорок рублей и вносится весной.\n")
	sh.add(t, "lamp.txt", "Лампа белого маяка горит ночью.\n") // the same word lengths as the query
	sh.add(t, "rent.txt", "The rent of the old mill is forty pounds.\n")
	sh.wait(t)
	sh.allSemantic(t, corpus.SemanticReady)
	for query, want := range map[string]string{
		"Весна яркой мельницы стоит сорок": "mill.txt", "old mill rents": "rent.txt",
	} {
		for _, rerank := range []bool{false, true} {
			found := sh.search(t, corpus.Query{Text: query, Rerank: rerank})
			if got := titles(found); len(got) == 0 || got[0] != want || slices.Contains(got, "lamp.txt") {
				t.Errorf("%q, looked at again %v: %v, want %s first and no lamp", query, rerank, got, want)
			}
		}
	}
}

// bent is an embedder whose vectors have a common direction, as those of many models do, so its cosines differ for
// the same texts. It may fail.
type bent struct {
	embedtest.Hashing
	common float64      // share of the squared length of each vector
	texts  atomic.Int32 // embedded so far
	most   atomic.Int32 // texts embedded before it fails; 0: no limit
}

func (b *bent) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if most := b.most.Load(); most > 0 && b.texts.Load() >= most {
		return nil, errors.New("dial tcp 127.0.0.1:1: connection refused")
	}
	b.texts.Add(int32(len(texts)))
	vectors, err := b.Hashing.Embed(ctx, texts)
	for i, v := range vectors {
		for k := range v {
			v[k] *= float32(math.Sqrt(1 - b.common))
		}
		vectors[i] = append(v, float32(math.Sqrt(b.common)))
	}
	return vectors, err
}

func (b *bent) EmbedQuery(ctx context.Context, query string) ([]float32, error) {
	vectors, err := b.Embed(ctx, []string{query})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

func openBent(t *testing.T, e *bent) *testLibrary {
	t.Helper()
	return openTestLibrary(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
		c.Embedder, c.Vectors = e, db.Vectors(e.Model())
	})
}

func TestScoresAreComparableAcrossEmbedders(t *testing.T) {
	query := corpus.Query{Text: "how was the mortar on the north slope made", Mode: corpus.ModeSemantic, Limit: 50}
	want := map[string]float64{}
	for _, common := range []float64{0, 0.5, 0.9} {
		sh := openBent(t, &bent{common: common})
		sh.start(t)
		fill(t, sh)
		found := sh.search(t, query).Results
		if len(found) < len(shelfOf) {
			t.Fatalf("%d results, want at least %d", len(found), len(shelfOf))
		}
		for i, r := range found {
			if i > 0 && r.Score > found[i-1].Score {
				t.Errorf("%v in common: result %d has score %v after %v", common, i, r.Score, found[i-1].Score)
			}
			name := r.Document.Filename + strconv.Itoa(r.Passage.Ordinal)
			if common == 0 {
				want[name] = r.Score
			}
			if w := want[name]; math.Abs(r.Score-w) > 1e-3 || *r.Similarity != r.Score {
				t.Errorf("%v in common: %s has the cosine %v, the score %v and the similarity %v; want the score %v "+
					"twice, as without", common, name, *r.Cosine, r.Score, *r.Similarity, w)
			}
		}
	}
}

func TestEmbedderIsCalibratedOnce(t *testing.T) {
	queries, passages := search.SimilarityPairs()
	e := &bent{}
	sh := openBent(t, e)
	query := corpus.Query{Text: "slates", Mode: corpus.ModeSemantic, MinScore: 0.7}
	texts := func(want int) {
		t.Helper()
		if got := int(e.texts.Load()); got != want {
			t.Errorf("%d texts embedded, want %d", got, want)
		}
	}
	sh.search(t, query)
	texts(1) // no result has a score
	values, err := new(bent).EmbedQuery(t.Context(), "slates")
	if err != nil {
		t.Fatal(err)
	}
	if err := sh.DB.Vectors(e.Model()).Upsert(t.Context(), []corpus.Vector{{
		PassageID: "p", DocumentID: "d", Namespace: chat.DefaultNamespace, User: chat.LocalUser, Values: values,
	}}); err != nil {
		t.Fatal(err)
	}
	e.most.Store(7)
	sh.search(t, query)
	texts(2 + 6)
	e.most.Store(0)
	sh.search(t, query)
	texts(3 + len(passages) + len(queries))
	sh.search(t, query)
	texts(4 + len(passages) + len(queries))
}

// TestAnsweringPassagesReachDefaultScore uses the everyday questions of the evaluation, whose documents are
// unrelated to the calibration pairs of the scale. -v prints the shares.
func TestAnsweringPassagesReachDefaultScore(t *testing.T) {
	t.Parallel()
	const fetched, asked, score = "../.cache/embedding/all-MiniLM-L6-v2", "../e2e/eval/everyday/", 0.7
	if _, err := os.Stat(fetched); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("embedding model is missing: %v", err)
		}
		t.Skip("no embedding model: make embedding fetches it")
	}
	e, err := bert.Open(bert.Config{Dir: fetched})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Errorf("close the model: %v", err)
		}
	})
	sh := &testLibrary{librarytest.Open(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
		c.Vectors, c.Embedder = db.Vectors(e.Model()), e
	})}
	sh.start(t)
	files, err := filepath.Glob(asked + "open/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d documents of the evaluation, %v; want some", len(files), err)
	}
	for _, name := range files {
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sh.add(t, filepath.Base(name), string(body))
	}
	sh.wait(t)
	questions, err := os.ReadFile(asked + "open.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var answering, near, others, far, byCosine float64
	for line := range strings.Lines(string(questions)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) < 5 || fields[1] == "-" || strings.Contains(fields[4], " → ") {
			continue
		}
		documents, quotes := strings.Split(fields[1], " + "), strings.Split(fields[2], " + ")
		best := corpus.Result{Similarity: new(float64), Cosine: new(float64)}
		for _, r := range sh.search(t, corpus.Query{Text: fields[4], Mode: corpus.ModeSemantic, Limit: 50}).Results {
			switch answers := slices.ContainsFunc(quotes, func(quote string) bool {
				return strings.Contains(r.Passage.Text, quote) && slices.Contains(documents, r.Document.Filename)
			}); {
			case answers && *r.Similarity > *best.Similarity:
				best = r
			case !answers && r.Score >= score:
				far, others = far+1, others+1
			case !answers:
				others++
			}
		}
		answering++
		if best.Score >= score {
			near++
		}
		if *best.Cosine >= score {
			byCosine++
		}
	}
	t.Logf("of %.0f best passages that answer %.0f have %v or more, %.0f a cosine of so much; of %.0f others %.0f",
		answering, near, score, byCosine, others, far)
	if near/answering < 0.6 || far/others > 0.1 {
		t.Errorf("%.0f of %.0f passages that answer and %.0f of %.0f others have %v or more, want at least 60 %% and "+
			"at most 10 %%", near, answering, far, others, score)
	}
}

// best returns the best matching words of a result.
func best(r corpus.Result) string {
	return string([]rune(r.Passage.Text)[r.Snippet.Start:r.Snippet.End])
}

func TestSearchWhileTyping(t *testing.T) {
	sh := openTestLibrary(t, t.TempDir(), nil)
	sh.start(t)
	fill(t, sh)
	sh.add(t, "tenancy.md", "# Tenancy\n\n## Term\n\nEither party may use the break clause after a year. No clause "+
		"here lets a tenant keep pigeons.\n\n## Pauses\n\nA break for lunch is an hour. See every other clause for "+
		"the rest.\n\n## Works\n\nWorkers take a break at noon.")
	sh.add(t, "breakfast.md", "# Kitchen\n\n## Mornings\n\nBreakfast is at eight. Claudia lays the table.")
	sh.wait(t)
	for _, tt := range []struct {
		name, text string
		want       []string // the words that results open at, in order
	}{
		{"words in a row go before words apart, and leave out some of the words", "break clause",
			[]string{"break clause", "break for lunch is an hour. See every other clause"}},
		{"the order of the words", "clause break",
			[]string{"break clause", "break for lunch is an hour. See every other clause"}},
		{"the last word is not finished", "break clau",
			[]string{"break clause", "break for lunch is an hour. See every other clause"}},
		{"the only word is not finished", "pige", []string{"pigeons"}},
		{"a word that is there is whole", "break", []string{"break", "break", "break"}},
		{"two letters are the beginning of nothing", "pi", nil},
		{"a word before the last is corrected", "pige clause", []string{"clause here lets a tenant keep pigeons"}},
		{"none of the passages has all words", "break submarines", []string{"break", "break", "break"}},
		{"a title's word alone names a document, not a passage", "tenancy", []string{"Tenancy"}},
		{"a phrase", `"break clause"`, []string{"break clause"}},
		{"a typing error", "piegons", []string{"pigeons"}},
		{"one sign of a script without spaces", "富", []string{"富士"}},
		{"German", "Wärmedäm", []string{"Wärmedämmung"}},
		{"Korean", "서울", []string{"서울"}},
		{"signs alone", "?!", nil},
		{"nothing like it", "xyzzy", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found := sh.search(t, corpus.Query{Text: tt.text, Mode: corpus.ModeLexical, Typing: true})
			var got []string
			for _, r := range found.Results {
				got = append(got, best(r))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q opens at %q (%v), want %q", tt.text, got, found.Notes, tt.want)
			}
		})
	}
	t.Run("prefix completion is marked without a correction", func(t *testing.T) {
		found := sh.search(t, corpus.Query{Text: "the pige", Mode: corpus.ModeLexical, Typing: true})
		if len(found.Results) != 1 || len(found.Results[0].Snippet.Matches) != 1 || len(found.Notes) != 0 {
			t.Errorf(
				"found %d results, notes %q; want one with one mark, and no notes",
				len(found.Results),
				found.Notes,
			)
		}
	})
	t.Run("complete query has partial matches and a correction", func(t *testing.T) {
		found := sh.search(t, corpus.Query{Text: "break clau", Mode: corpus.ModeLexical})
		if len(found.Results) != 3 || found.Corrected["clau"] != "clause" {
			t.Errorf("found %d results, corrected %v; want 3, clau: clause", len(found.Results), found.Corrected)
		}
	})
}

func TestTypoMarkNamesCorrection(t *testing.T) {
	sh := openTestLibrary(t, t.TempDir(), nil)
	sh.start(t)
	fill(t, sh)
	r := sh.search(t, corpus.Query{Text: "exlcusions"}).Results[0]
	if got := best(r); got != "Exclusions" || len(r.Snippet.Matches) == 0 {
		t.Errorf("opens at %q with %d marks, want Exclusions, marked", got, len(r.Snippet.Matches))
	}
}

// byHand is a queue whose jobs the test runs.
type byHand struct {
	corpus.Queue
	work chan map[corpus.JobKind]corpus.Worker
}

func (q byHand) Work(ctx context.Context, workers map[corpus.JobKind]corpus.Worker) error {
	q.work <- workers
	<-ctx.Done()
	return nil
}

// counting counts the embed jobs that are enqueued.
type counting struct {
	byHand
	embeds *int
}

func (q counting) Enqueue(ctx context.Context, job corpus.Job) error {
	if job.Kind == corpus.JobEmbed {
		*q.embeds++
	}
	return q.byHand.Enqueue(ctx, job)
}

func TestEmbeddingCrashingThreeTimesFails(t *testing.T) {
	q := counting{byHand{work: make(chan map[corpus.JobKind]corpus.Worker, 1)}, new(int)}
	sh := openTestLibrary(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
		q.Queue = db.Queue()
		c.Queue, c.Vectors, c.Embedder = q, db.Vectors("hashing"), embedtest.Hashing{}
	})
	sh.start(t)
	d := sh.add(t, "a.txt", "The roof is sound.")
	workers := <-q.work
	do := func(job corpus.Job) corpus.Document {
		t.Helper()
		job.DocumentID, job.User, job.SHA256 = d.ID, d.User, d.SHA256
		if err := workers[job.Kind].Do(t.Context(), job); err != nil {
			t.Fatal(err)
		}
		now, err := sh.Document(t.Context(), chat.Local, d.ID)
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	do(corpus.Job{Kind: corpus.JobIngest, Attempt: 1})
	got := do(corpus.Job{Kind: corpus.JobEmbed, Attempt: 1, Blame: corpus.MostBlame})
	if got.State != corpus.StateReady ||
		got.Semantic != corpus.SemanticFailed || got.Progress.Stage != "ready" {
		t.Errorf("after too many deaths: %s, vectors %s, %s; want it ready without vectors", got.State, got.Semantic,
			got.Progress.Stage)
	}
	if found := sh.search(t, corpus.Query{Text: "roof", Mode: corpus.ModeLexical}); len(found.Results) != 1 {
		t.Errorf("%d passages are found by words, want 1", len(found.Results))
	}
	if err := errors.Join(sh.Delete(t.Context(), chat.Local, d.ID),
		sh.Restore(t.Context(), chat.Local, d.ID)); err != nil || *q.embeds != 0 {
		t.Errorf("jobs for vectors after the restore: got %d, %v; want none", *q.embeds, err)
	}
	if err := sh.Retry(t.Context(), chat.Local, d.ID); err != nil {
		t.Errorf("Retry: %v, want no error", err)
	}
	if got := do(corpus.Job{Kind: corpus.JobEmbed, Attempt: 1}); got.Semantic != corpus.SemanticReady ||
		*q.embeds != 1 {
		t.Errorf("tried again: vectors %s after %d jobs, want them ready after 1", got.Semantic, *q.embeds)
	}
}

// dying is an extractor whose process always crashes.
type dying struct{ read *int }

func (e dying) Extract(context.Context, corpus.File, func(int, int)) (corpus.Extracted, error) {
	*e.read++
	return corpus.Extracted{}, corpus.ErrReaderDied
}

func TestFileCrashingThreeTimesFails(t *testing.T) {
	for _, tt := range []struct {
		name string
		jobs []corpus.Job
		read int // how often the file is opened
	}{
		{"the process that reads it", []corpus.Job{
			{Attempt: 1}, {Attempt: 2, Blame: corpus.ReaderBlame}, {Attempt: 3, Blame: 2 * corpus.ReaderBlame},
		}, 3},
		{"the process that reads it, after other failures",
			[]corpus.Job{
				{Attempt: 7}, {Attempt: 8, Blame: corpus.ReaderBlame}, {Attempt: 9, Blame: 2 * corpus.ReaderBlame},
			}, 3},
		{"the server", []corpus.Job{{Attempt: 1, Blame: 6 * corpus.ServerBlame}}, 0},
		{"the server, then the process that reads it", []corpus.Job{{Attempt: 1, Blame: 4 * corpus.ServerBlame}}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			read := 0
			q := byHand{work: make(chan map[corpus.JobKind]corpus.Worker, 1)}
			sh := openTestLibrary(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
				q.Queue = db.Queue()
				c.Queue, c.Extractor = q, dying{&read}
			})
			sh.start(t)
			d := sh.add(t, "a.txt", "one")
			do := (<-q.work)[corpus.JobIngest].Do
			for i, job := range tt.jobs {
				job.Kind, job.DocumentID, job.User, job.SHA256 = corpus.JobIngest, d.ID, d.User, d.SHA256
				err := do(t.Context(), job)
				if last := i == len(tt.jobs)-1; last && err != nil || !last && !errors.Is(err, corpus.ErrReaderDied) {
					t.Errorf("attempt %d: %v", job.Attempt, err)
				}
			}
			d, err := sh.Document(t.Context(), chat.Local, d.ID)
			if err != nil {
				t.Fatal(err)
			}
			if d.State != corpus.StateFailed || d.Error == nil ||
				!strings.Contains(d.Error.Detail.String(), "Import failed ") || read != tt.read {
				t.Errorf("the document is %s (%v) after %d readings, want it failed after %d", d.State, d.Error,
					read, tt.read)
			}
		})
	}
}

// absent is an extractor whose processes fail to start.
type absent struct{}

func (absent) Extract(context.Context, corpus.File, func(int, int)) (corpus.Extracted, error) {
	return corpus.Extracted{}, &chat.Error{Code: chat.CodeUnavailable, Message: "The process does not start."}
}

func TestReaderStartFailureFailsNoDocument(t *testing.T) {
	q := byHand{work: make(chan map[corpus.JobKind]corpus.Worker, 1)}
	sh := openTestLibrary(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
		q.Queue = db.Queue()
		c.Queue, c.Extractor = q, absent{}
	})
	sh.start(t)
	d := sh.add(t, "a.txt", "one")
	do := (<-q.work)[corpus.JobIngest].Do
	for attempt := range 50 {
		err := do(t.Context(), corpus.Job{
			Kind: corpus.JobIngest, DocumentID: d.ID, User: d.User, SHA256: d.SHA256, Attempt: attempt + 1,
		})
		if now, getErr := sh.Document(t.Context(), chat.Local, d.ID); err == nil || getErr != nil ||
			now.State == corpus.StateFailed {
			t.Fatalf("attempt %d: %v; the document is %s (%v), want it tried again", attempt+1, err, now.State, getErr)
		}
	}
}
