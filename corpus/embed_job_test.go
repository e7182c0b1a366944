package corpus_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/embed/embedtest"
	"github.com/footnote/footnote/sql/sqlite"
)

// measured are documents that note the most passages that were read at once.
type measured struct {
	corpus.Documents
	most atomic.Int64
}

func (m *measured) Passages(ctx context.Context, s chat.Scope, id string, from, to int) ([]corpus.Passage, error) {
	list, err := m.Documents.Passages(ctx, s, id, from, to)
	m.most.Store(max(m.most.Load(), int64(len(list))))
	return list, err
}

func TestVectorsOfALargeDocumentAreMadeInBatches(t *testing.T) {
	docs := &measured{}
	sh := openShelf(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
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
				t.Fatalf("the document has %d passages, too few to tell, want more than %d",
					now.Passages, 2*corpus.MaxBatch)
			}
			break
		}
		select {
		case <-changed:
		case <-time.After(time.Minute):
			t.Fatalf("its vectors stayed %s", now.Semantic)
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
			t.Errorf("section %d is not among the %d found by their vectors", i, len(found.Results))
		}
	}
}

// gated waits before each batch of a text file until it may go on, and tells of which one it is.
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

// Vectors of what somebody looks for come first, and then those of what was added last.
func TestVectorsOfWhatIsSoughtComeFirst(t *testing.T) {
	embedder := gated{begun: make(chan string), goOn: make(chan struct{})}
	sh := openShelf(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
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

// What somebody looks for does not wait for the end of a long document that is at work.
func TestALongDocumentWaitsForWhatIsSought(t *testing.T) {
	embedder := gated{begun: make(chan string), goOn: make(chan struct{})}
	sh := openShelf(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
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
		t.Errorf("what is sought has its vectors %s (%v) while the long document is at work, want ready",
			now.Semantic, err)
	}
}

// panicking is an embedder that can't do with one document.
type panicking struct{ gated }

func (p panicking) Embed(ctx context.Context, passages []string) ([][]float32, error) {
	if strings.HasPrefix(passages[0], "sought") {
		panic("a bug")
	}
	return p.gated.Embed(ctx, passages)
}

// A document that makes vectors panic does not keep those of the long one that waited for it.
func TestASoughtDocumentThatPanicsKeepsNoOther(t *testing.T) {
	embedder := panicking{gated{begun: make(chan string), goOn: make(chan struct{})}}
	sh := openShelf(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
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

// longText is some batches of passages.
func longText() string {
	var long strings.Builder
	for i := range 3 * corpus.MaxBatch {
		fmt.Fprintf(&long, "Chapter %d\n\n%s\n\n", i, strings.Repeat(fmt.Sprintf("Word%d of a chapter. ", i), 40))
	}
	return long.String()
}

// countingTexts counts those of leases that it embeds.
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

// A text is embedded once: in a new version of its document, in another one, and for another user.
func TestTheSameTextIsEmbeddedOnce(t *testing.T) {
	var texts atomic.Int64
	sh := openShelf(t, t.TempDir(), func(c *corpus.Config, db *sqlite.DB) {
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
				t.Fatalf("its vectors stayed %s", now.Semantic)
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
