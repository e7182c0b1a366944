package corpus_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/embed/embedtest"
	"github.com/footnote/footnote/sql/sqlite"
	"github.com/footnote/footnote/text"
)

// measured records the maximum number of passages read at once.
type measured struct {
	corpus.Documents
	most atomic.Int64
}

func (m *measured) Passages(ctx context.Context, s chat.Scope, id string, from, to int) ([]corpus.Passage, error) {
	list, err := m.Documents.Passages(ctx, s, id, from, to)
	m.most.Store(max(m.most.Load(), int64(len(list))))
	return list, err
}

func TestLargeDocumentIsEmbeddedInBatches(t *testing.T) {
	docs := &measured{}
	sh := openTestLibrary(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
		docs.Documents = c.Documents
		c.Documents, c.Vectors, c.Embedder = docs, db.Vectors("hashing"), embedtest.Hashing{}
	})
	var long strings.Builder
	for i := range 2*corpus.MaxBatch + 1 {
		fmt.Fprintf(&long, "## Section %d\n\nThe words of section number%d.\n\n", i, i)
	}
	d := sh.add(t, "long.md", long.String())
	sh.start(t)
	for {
		now, changed, err := sh.Watch(t.Context(), chat.Local, d.ID)
		if err != nil {
			t.Fatal(err)
		}
		if now.Semantic == corpus.SemanticReady {
			if now.Passages <= 2*corpus.MaxBatch {
				t.Fatalf("document has %d passages, want more than %d", now.Passages, 2*corpus.MaxBatch)
			}
			break
		}
		select {
		case <-changed:
		case <-time.After(time.Minute):
			t.Fatalf("vectors are still %s, want ready", now.Semantic)
		}
	}
	if most := docs.most.Load(); most > corpus.MaxBatch {
		t.Errorf("%d passages were read at once, want at most %d", most, corpus.MaxBatch)
	}
	for _, i := range []int{0, corpus.MaxBatch, 2 * corpus.MaxBatch} {
		found := sh.search(t, corpus.Query{
			Text: fmt.Sprintf("words of section number%d", i), Mode: corpus.ModeSemantic, Limit: 20,
		})
		if !slices.ContainsFunc(found.Results, func(r corpus.Result) bool {
			return strings.Contains(r.Passage.Text, fmt.Sprintf("number%d.", i))
		}) {
			t.Errorf("section %d is not among the %d semantic results", i, len(found.Results))
		}
	}
}

// gated blocks before each batch of a text file and reports its title.
type gated struct {
	embedtest.Hashing
	begun chan string
	goOn  chan struct{}
}

func (g gated) Embed(ctx context.Context, passages []string) ([][]float32, error) {
	title := strings.Fields(passages[0])[0]
	if !strings.HasSuffix(title, ".txt") { // the scale of similarities is measured
		return g.Hashing.Embed(ctx, passages)
	}
	select {
	case g.begun <- title:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case <-g.goOn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return g.Hashing.Embed(ctx, passages)
}

// Documents found by a search are embedded first, then the newest ones.
func TestSearchedDocumentsAreEmbeddedFirst(t *testing.T) {
	embedder := gated{begun: make(chan string), goOn: make(chan struct{})}
	sh := openTestLibrary(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
		c.Vectors, c.Embedder = db.Vectors("hashing"), embedder
	})
	sh.start(t)
	read := func(name, body string) {
		d := sh.add(t, name, body)
		sh.settled(t, d.ID, corpus.StateReady)
	}
	read("atwork.txt", "atwork is what is made first")
	first := <-embedder.begun
	for _, name := range []string{"oldest", "sought", "newest"} {
		read(name+".txt", name+" speaks of the "+name+" roof.")
	}
	waiting := func(n int) {
		for {
			got, err := sh.Count(t.Context(), chat.Local)
			if err != nil {
				t.Fatal(err)
			}
			if got.Unembedded == n {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
	waiting(4)
	q := corpus.Query{Text: "sought", Mode: corpus.ModeLexical, Limit: 1}
	if _, err := sh.Search(t.Context(), chat.Local, q); err != nil {
		t.Fatal(err)
	}
	order := []string{first}
	for range 3 {
		embedder.goOn <- struct{}{}
		order = append(order, <-embedder.begun)
	}
	embedder.goOn <- struct{}{}
	if want := []string{"atwork.txt", "sought.txt", "oldest.txt", "newest.txt"}; !slices.Equal(order, want) {
		t.Errorf("the vectors were made in the order %q, want %q", order, want)
	}
}

// A document found by a search is embedded between the batches of a long one.
func TestLongDocumentYieldsToSearchedOne(t *testing.T) {
	embedder := gated{begun: make(chan string), goOn: make(chan struct{})}
	sh := openTestLibrary(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
		c.Vectors, c.Embedder = db.Vectors("hashing"), embedder
	})
	sh.start(t)
	d := sh.add(t, "long.txt", longText())
	sh.settled(t, d.ID, corpus.StateReady)
	order := []string{<-embedder.begun}
	for _, name := range []string{"other", "sought"} {
		d = sh.add(t, name+".txt", name+" speaks of the "+name+" roof.")
		sh.settled(t, d.ID, corpus.StateReady)
	}
	q := corpus.Query{Text: "sought", Mode: corpus.ModeLexical, Limit: 1}
	if _, err := sh.Search(t.Context(), chat.Local, q); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		embedder.goOn <- struct{}{}
		order = append(order, <-embedder.begun)
	}
	if want := []string{"long.txt", "sought.txt", "long.txt"}; !slices.Equal(order, want) {
		t.Errorf("the batches were of %q, want %q", order, want)
	}
	if now, err := sh.Document(t.Context(), chat.Local, d.ID); err != nil || now.Semantic != corpus.SemanticReady {
		t.Errorf("searched document: semantic %s (%v) during the long document, want ready", now.Semantic, err)
	}
}

// panicking is an embedder that panics for one document.
type panicking struct{ gated }

func (p panicking) Embed(ctx context.Context, passages []string) ([][]float32, error) {
	if strings.HasPrefix(passages[0], "sought") {
		panic("a bug")
	}
	return p.gated.Embed(ctx, passages)
}

// A panic of an interleaved document does not fail the long document's job.
func TestPanicOfSearchedDocumentDoesNotAffectOthers(t *testing.T) {
	embedder := panicking{gated{begun: make(chan string), goOn: make(chan struct{})}}
	sh := openTestLibrary(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
		c.Vectors, c.Embedder = db.Vectors("hashing"), embedder
	})
	sh.start(t)
	long := sh.add(t, "long.txt", longText())
	sh.settled(t, long.ID, corpus.StateReady)
	<-embedder.begun
	d := sh.add(t, "sought.txt", "sought speaks of the sought roof.")
	sh.settled(t, d.ID, corpus.StateReady)
	q := corpus.Query{Text: "sought", Mode: corpus.ModeLexical, Limit: 1}
	if _, err := sh.Search(t.Context(), chat.Local, q); err != nil {
		t.Fatal(err)
	}
	for {
		select {
		case embedder.goOn <- struct{}{}:
		case <-embedder.begun:
		case <-time.After(10 * time.Millisecond):
		}
		if now, err := sh.Document(t.Context(), chat.Local, long.ID); err != nil {
			t.Fatal(err)
		} else if now.Semantic == corpus.SemanticReady {
			break
		}
	}
}

// longText returns a text of several batches of passages.
func longText() string {
	var long strings.Builder
	for i := range 3 * corpus.MaxBatch {
		fmt.Fprintf(&long, "Chapter %d\n\n%s\n\n", i, strings.Repeat(fmt.Sprintf("Word%d of a chapter. ", i), 40))
	}
	return long.String()
}

// countingTexts counts the embedded lease texts.
type countingTexts struct {
	embedtest.Hashing
	texts *atomic.Int64
}

func (c countingTexts) Embed(ctx context.Context, passages []string) ([][]float32, error) {
	if strings.HasPrefix(passages[0], "Lease") {
		c.texts.Add(int64(len(passages)))
	}
	return c.Hashing.Embed(ctx, passages)
}

// A text is embedded once: for a new version of its document, another document and another user.
func TestSameTextIsEmbeddedOnce(t *testing.T) {
	var texts atomic.Int64
	sh := openTestLibrary(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
		c.Vectors, c.Embedder = db.Vectors("hashing"), countingTexts{texts: &texts}
	})
	sh.start(t)
	lease := func(rent string) string {
		var b strings.Builder
		b.WriteString("# Lease\n\n")
		for i := range 10 {
			fmt.Fprintf(&b, "## Section %d\n\nThe words of section number%d.\n\n", i, i)
		}
		return b.String() + "## Rent\n\nThe rent is " + rent + ".\n"
	}
	add := func(user, name, body string) int64 {
		t.Helper()
		before := texts.Load()
		d, _, err := sh.Add(t.Context(), corpus.Upload{
			User: user, Namespace: chat.DefaultNamespace, Path: name, Filename: name, Body: strings.NewReader(body),
		})
		if err != nil {
			t.Fatal(err)
		}
		for {
			now, changed, err := sh.Watch(t.Context(), chat.Scope{User: user}, d.ID)
			if err != nil {
				t.Fatal(err)
			}
			if now.Semantic == corpus.SemanticReady && now.SHA256 == d.SHA256 {
				break
			}
			select {
			case <-changed:
			case <-time.After(time.Minute):
				t.Fatalf("vectors are still %s, want ready", now.Semantic)
			}
		}
		return texts.Load() - before
	}
	all := add(chat.LocalUser, "lease.md", lease("900"))
	if all < 11 {
		t.Fatalf("%d texts were embedded at first, want at least 11", all)
	}
	if n := add(chat.LocalUser, "lease.md", lease("950")); n != 1 {
		t.Errorf("%d texts of the new version were embedded, want the one that changed", n)
	}
	if n := add("ada", "lease.md", lease("950")); n != 0 {
		t.Errorf("%d texts of another user's copy were embedded, want none", n)
	}
	hits, err := sh.Search(t.Context(), chat.Scope{User: "ada"}, corpus.Query{Text: "rent", Mode: corpus.ModeSemantic})
	if err != nil || len(hits.Results) == 0 || !strings.Contains(hits.Results[0].Passage.Text, "950") {
		t.Errorf("the copy is found by meaning as %+v, %v; want its rent first", hits.Results, err)
	}
}

// watchedPassages closes a channel when a user's passages are read.
type watchedPassages struct {
	corpus.Documents
	user string
	once sync.Once
	read chan struct{}
}

// Passages implements corpus.Documents.
func (w *watchedPassages) Passages(
	ctx context.Context, s chat.Scope, id string, from, to int,
) ([]corpus.Passage, error) {
	if s.User == w.user {
		w.once.Do(func() { close(w.read) })
	}
	return w.Documents.Passages(ctx, s, id, from, to)
}

func TestLongDocumentAlternatesWithOtherUsers(t *testing.T) {
	embedder := gated{begun: make(chan string), goOn: make(chan struct{})}
	docs := &watchedPassages{user: "bert", read: make(chan struct{})}
	sh := openTestLibrary(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
		docs.Documents = c.Documents
		c.Documents, c.Vectors, c.Embedder = docs, db.Vectors("hashing"), embedder
	})
	sh.start(t)
	d := sh.add(t, "long.txt", strings.Repeat(longText(), 2))
	sh.settled(t, d.ID, corpus.StateReady)
	order := []string{<-embedder.begun}
	if _, _, err := sh.Add(t.Context(), corpus.Upload{
		User: "bert", Filename: "short.txt", Body: strings.NewReader("short speaks of the roof."),
	}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-docs.read: // the short document's job has started concurrently
	case <-t.Context().Done():
		t.Fatal("other user's document was not started")
	}
	for range 3 {
		embedder.goOn <- struct{}{}
		order = append(order, <-embedder.begun)
	}
	embedder.goOn <- struct{}{}
	at := strings.Index(strings.Join(order, " "), "short.txt")
	if last := order[len(order)-1]; at < 0 || last != "long.txt" {
		t.Errorf("batches = %q, want the other user's within the next two, and then the long document's", order)
	}
}

// document builds an Extracted from lines: "# Title" and "## Title" are headings, "T …" a table with rows separated
// by "/", everything else a paragraph.
func document(lines ...string) corpus.Extracted {
	var e corpus.Extracted
	var path []string
	var levels []int
	var b strings.Builder
	for i, line := range lines {
		block := corpus.Block{ID: fmt.Sprintf("b%d", i+1), Kind: corpus.BlockParagraph, Page: 1 + i/10}
		if level := len(line) - len(strings.TrimLeft(line, "#")); level > 0 {
			block.Kind, block.Level, line = corpus.BlockHeading, level, strings.TrimLeft(line, "# ")
			for len(levels) > 0 && levels[len(levels)-1] >= level {
				levels, path = levels[:len(levels)-1], path[:len(path)-1]
			}
		} else if rest, ok := strings.CutPrefix(line, "T "); ok {
			block.Kind, line = corpus.BlockTable, strings.ReplaceAll(rest, "/", "\n")
		}
		block.Headings = append([]string(nil), path...)
		if block.Kind == corpus.BlockHeading {
			path, levels = append(path, line), append(levels, block.Level)
		}
		if i > 0 {
			b.WriteString("\n\n")
		}
		block.Start = len([]rune(b.String()))
		b.WriteString(line)
		block.End = len([]rune(b.String()))
		e.Blocks = append(e.Blocks, block)
	}
	e.Text = b.String()
	return e
}

// words returns a sentence of about n tokens.
func words(n int) string { return strings.TrimSpace(strings.Repeat("abc ", n)) + "." }

func TestSplit(t *testing.T) {
	type shape struct{ First, Last, Section string }
	long := strings.TrimSpace(strings.Repeat(words(90)+" ", 6))
	for _, tt := range []struct {
		name  string
		lines []string
		want  []shape
	}{
		{"a heading goes with what is below it", []string{"# A", "## B", words(250), "## C", words(10)},
			[]shape{{"b1", "b3", "A › B"}, {"b4", "b5", "A › C"}}},
		{"small blocks of one section are one passage", []string{"# A", words(60), words(60), "### deep", words(60)},
			[]shape{{"b1", "b5", "A"}}},
		{"a full passage ends before the next block", []string{words(260), words(260), words(200)},
			[]shape{{"b1", "b1", ""}, {"b2", "b2", ""}, {"b3", "b3", ""}}},
		{"a scrap joins the passage before it", []string{words(260), words(20)}, []shape{{"b1", "b2", ""}}},
		{"a scrap of the next section does not", []string{words(260), "## B", words(20)},
			[]shape{{"b1", "b1", ""}, {"b2", "b3", "B"}}},
		{"headings without text are passages", []string{"## A", "## B", words(5)},
			[]shape{{"b1", "b1", "A"}, {"b2", "b3", "B"}}},
		{"a long block is cut between sentences", []string{"# A", long}, []shape{{"b1", "b2", "A"}, {"b2", "b2", "A"}}},
		{"the rest of a table keeps its header", []string{"T Item | Price/" + strings.Repeat("door | 40/", 200)},
			[]shape{{"b1", "b1", ""}, {"b1", "b1", "Item | Price"}, {"b1", "b1", "Item | Price"}}},
		{"nothing gives nothing", nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := document(tt.lines...)
			passages := corpus.Split("doc", "sha", e)
			var got []shape
			for _, p := range passages {
				got = append(got, shape{p.FirstBlock, p.LastBlock, p.Section})
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("passages (-want +got):\n%s", d)
			}
			checkPassages(t, e, passages)
		})
	}
}

func checkPassages(t *testing.T, e corpus.Extracted, passages []corpus.Passage) {
	t.Helper()
	runes, ids, end := []rune(e.Text), map[string]bool{}, 0
	for i, p := range passages {
		if p.Ordinal != i || p.DocumentID != "doc" || len(p.ID) != 22 || ids[p.ID] {
			t.Errorf("passage %d is %+v; want Ordinal %v, DocumentID %q, 22", i, p, i, "doc")
		}
		ids[p.ID] = true
		if p.Start < end || p.End > len(runes) || p.Start >= p.End {
			t.Fatalf("passage %d covers [%d, %d) after %d; want at least %d, at most %d, less than %d",
				i, p.Start, p.End, end, end, len(runes), p.End)
		}
		if strings.TrimSpace(string(runes[end:p.Start])) != "" {
			t.Errorf("%q is in no passage, want nothing", string(runes[end:p.Start]))
		}
		if p.Text != string(runes[p.Start:p.End]) {
			t.Errorf("passage %d differs from the text at its position", i)
		}
		if p.Tokens > 490 {
			t.Errorf("passage %d counts %d tokens, want 490 at most", i, p.Tokens)
		}
		if n := text.Tokens(p.Text); n > 500 {
			t.Errorf("passage %d has %d tokens, want at most 500", i, n)
		}
		end = p.End
	}
	if strings.TrimSpace(string(runes[end:])) != "" {
		t.Errorf("%q is in no passage, want nothing", string(runes[end:]))
	}
}

func TestSplitIsIdempotent(t *testing.T) {
	e := document("# A", words(250), words(300), "## Ä", "首都。"+words(20))
	if d := cmp.Diff(corpus.Split("doc", "sha", e), corpus.Split("doc", "sha", e)); d != "" {
		t.Error(d)
	}
	if corpus.Split("doc", "sha", e)[0].ID == corpus.Split("doc", "other", e)[0].ID {
		t.Error("other version has the same passage ids, want new ones")
	}
}

func FuzzSplit(f *testing.F) {
	f.Add("# A\nabc. def\n## B\n" + strings.Repeat("x", 3000))
	f.Add("首都\nT a | b/c | d\n#\n### z\n" + strings.Repeat("ไทย", 900))
	f.Add("# " + strings.Repeat("x", 1560) + "\n" + strings.Repeat("y", 1560))
	f.Add("# " + strings.Repeat("x", 1560) + "\n## " + strings.Repeat("y", 1560))
	f.Add(strings.Repeat("x", 940) + "\n### " + strings.Repeat("y", 1560))
	f.Fuzz(func(t *testing.T, s string) {
		var lines []string
		for _, l := range strings.Split(strings.ToValidUTF8(s, "?"), "\n") {
			if l = strings.TrimSpace(l); strings.Trim(l, "# T/") != "" &&
				strings.TrimSpace(strings.TrimLeft(l, "#")) != "" {
				lines = append(lines, l)
			}
		}
		e := document(lines...)
		checkPassages(t, e, corpus.Split("doc", "sha", e))
	})
}

func BenchmarkSplitAndAnalyse(b *testing.B) {
	var lines []string
	for i := range 100 {
		lines = append(lines, "## Section "+fmt.Sprint(i),
			strings.Repeat("The surveyor found that the slates on the north slope are sound. ", 16))
	}
	e := document(lines...)
	var n int
	for b.Loop() {
		passages := corpus.Split("doc", "sha", e)
		corpus.AnalysePassages("Title", "en", passages)
		n += len(passages)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "passages/s")
}

func TestCapturedPageIsFoundInItsNamespaceOnly(t *testing.T) {
	t.Parallel()
	l := openTestLibrary(t, t.TempDir(), nil)
	page := corpus.Upload{
		User: chat.LocalUser, Namespace: chat.WebNamespace("r1"), Filename: "example.org-roofs.html",
		Meta: map[string]any{corpus.MetaURL: "https://example.org/roofs"},
		Body: strings.NewReader(
			"<html><title>Roofs</title><body><h1>Roofs</h1><p>Slate lasts a hundred " +
				"years.</p><script>alert(1)</script></body></html>",
		),
	}
	d, err := l.Capture(t.Context(), page)
	if err != nil || d.State != corpus.StateReady || d.Meta[corpus.MetaURL] != "https://example.org/roofs" {
		t.Fatalf("Capture = %+v, %v; want State %v and Meta[corpus.MetaURL] %q",
			d, err, corpus.StateReady, "https://example.org/roofs")
	}
	text, err := l.Text(t.Context(), chat.Local, d.ID)
	if err != nil || !strings.Contains(text, "Slate lasts") || strings.Contains(text, "alert") {
		t.Errorf("Text = %q, %v; want %q in it and no %q in it", text, err, "Slate lasts", "alert")
	}
	for scope, want := range map[string]int{"": 0, d.Namespace: 1, "default": 0} {
		got, err := l.Search(t.Context(), chat.Local.In(scope), corpus.Query{Text: "slate"})
		if err != nil || len(got.Results) != want {
			t.Errorf("Search in %q = %d results, %v; want %d", scope, len(got.Results), err, want)
		}
	}
	page.Body = strings.NewReader("\x00\x01\x02\x03")
	if _, err := l.Capture(t.Context(), page); err == nil || chat.CodeOf(err) != chat.CodeUnsupported {
		t.Errorf("a binary page: %v, want %v", err, chat.CodeUnsupported)
	}
	page.Body = strings.NewReader("<html><body><script>1</script></body></html>")
	if _, err := l.Capture(t.Context(), page); err == nil || chat.CodeOf(err) != chat.CodeUnsupported {
		t.Errorf("a page without text: %v, want %v", err, chat.CodeUnsupported)
	}
	if docs, _, err := l.List(t.Context(), chat.Local.In(d.Namespace), corpus.Filter{}); err != nil || len(docs) != 1 {
		t.Errorf("List = %+v, %v: pages that can't be read are not kept; want 1 doc", docs, err)
	}
	page.Namespace = "default"
	if _, err := l.Capture(t.Context(), page); err == nil {
		t.Error("Capture into a searched namespace: got no error, want one")
	}
}

// Passages from tables of contents and indexes rank after all other text.
func TestDirectoriesRankLast(t *testing.T) {
	sh := openTestLibrary(t, t.TempDir(), nil)
	sh.start(t)
	sh.add(t, "contents.md", "Slates on the roof . . . . . . . 3\n\nSlates, how to lay . . . . . . . 4\n\n"+
		"Slates of the north slope . . . . . . . 5")
	sh.add(t, "index.txt", "slates, 3 slates broken, 4 slates lost, 5 slates new, 6 slates old, 7 slates red, 8 "+
		"slates thin, 9 slates wet, 10")
	sh.add(t, "survey.md", "The survey of the roof took two days. All chimneys were looked at, and none of the "+
		"slates on the north slope is broken.")
	sh.wait(t)
	for _, rerank := range []bool{false, true} {
		found := sh.search(t, corpus.Query{Text: "slates", Limit: 3, Rerank: rerank})
		if len(found.Results) != 3 {
			t.Fatalf("rerank %v: %d results, want 3", rerank, len(found.Results))
		}
		if got := found.Results[0].Document.Filename; got != "survey.md" {
			t.Errorf("rerank %v: the first result is of %s, want survey.md", rerank, got)
		}
		for i := 1; i < 3; i++ {
			if found.Results[i].Score > found.Results[i-1].Score {
				t.Errorf("rerank %v: score of result %d = %v, want at most %v", rerank, i+1,
					found.Results[i].Score, found.Results[i-1].Score)
			}
		}
	}
}
