package follow

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus"
)

// An item that was moved or named anew keeps its document, which lies and leads where the item is now.
func TestADocumentMovesWithItsItem(t *testing.T) {
	t.Parallel()
	b := newBench(t, false)
	b.shelf.fill(3)
	wantReport(t, b.lookNow(t), 3, 0, 0)
	before := b.documents(t)["shelf/folder/page 1.md"]
	moved := b.shelf.items["k00001"]
	b.shelf.take("k00001")
	moved.Name = "attic/old page.md"
	b.shelf.put("elsewhere", moved)
	wantReport(t, b.lookNow(t), 0, 1, 0)
	now := b.documents(t)
	d, there := now["shelf/attic/old page.md"]
	if !there || d.ID != before.ID || len(now) != 3 {
		t.Fatalf("documents = %v; want the one of before at its new path", now)
	}
	if link := d.MetaText(corpus.MetaSourceURL); !strings.HasSuffix(link, "/elsewhere") {
		t.Errorf("it leads to %q, want where the item is", link)
	}
	wantReport(t, b.lookNow(t), 0, 0, 0)
	b.shelf.take("elsewhere")
	wantReport(t, b.lookNow(t), 0, 0, 1)
}

// A place that gives all its items other keys changes nothing: no document is there twice, none is lost, and each goes
// with its item later.
func TestOtherKeysChangeNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, false)
	b.shelf.fill(20)
	b.shelf.put("copy", b.shelf.items["k00007"])
	b.lookNow(t)
	before := b.documents(t)
	for i := range 20 {
		key := fmt.Sprintf("k%05d", i)
		p := b.shelf.items[key]
		b.shelf.take(key)
		b.shelf.put("other "+key, p)
	}
	wantReport(t, b.lookNow(t), 1, 0, 0) // the one that the copy shared
	now := b.documents(t)
	for path, d := range before {
		if now[path].ID != d.ID {
			t.Errorf("%s is document %q, want %q", path, now[path].ID, d.ID)
		}
	}
	if len(now) != len(before) {
		t.Errorf("%d documents, want %d", len(now), len(before))
	}
	b.shelf.take("other k00003")
	wantReport(t, b.lookNow(t), 0, 0, 1)
	if now := b.documents(t); len(now) != len(before)-1 {
		t.Errorf("%d documents, want %d", len(now), len(before)-1)
	}
}

// What a list with a hole has is fetched; nothing is removed, and nothing taken for moved, until it is whole.
func TestAListWithAHoleRemovesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t, false)
	b.shelf.fill(3)
	b.lookNow(t)
	moved := b.shelf.items["k00000"]
	b.shelf.take("k00000")
	b.shelf.take("k00001")
	moved.Name = "elsewhere.md"
	b.shelf.put("moved", moved)
	b.shelf.put("new", page{Version: "1", Name: "new.md", Body: "# New\n\nIt is new."})
	b.shelf.put(hole, page{})
	p := b.lookNow(t)
	if p.Failure == nil || p.Failure.Message != "A board is missing." || p.Report.Removed != 0 {
		t.Errorf("the look: %+v, want its failure and nothing removed", p)
	}
	now := b.documents(t)
	for _, path := range []string{"shelf/folder/page 0.md", "shelf/folder/page 1.md", "shelf/new.md"} {
		if _, there := now[path]; !there {
			t.Errorf("%s is not there, of %d documents", path, len(now))
		}
	}
	b.shelf.take(hole)
	p = b.lookNow(t)
	if now = b.documents(t); len(now) != 3 || p.Failure != nil {
		t.Errorf("%d documents and %+v once it is whole, want 3", len(now), p.Failure)
	}
}

// An item that is refused for now is asked for at each look, though its version stays.
func TestWhatIsRefusedForNowIsAskedForAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, false)
	b.shelf.fill(2)
	b.shelf.breakWith(func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("key") == "k00001" {
			w.WriteHeader(http.StatusForbidden)
			return true
		}
		return false
	})
	if p := b.lookNow(t); p.Report.Added != 1 || p.Counts.Refused != 1 || p.Failure != nil {
		t.Errorf("the look: %+v, want one added and one refused", p)
	}
	b.shelf.breakWith(nil)
	p := b.lookNow(t)
	wantReport(t, p, 1, 0, 0)
	if p.Counts.Refused != 0 {
		t.Errorf("%d are refused still, want none", p.Counts.Refused)
	}
}
