package pdf

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus"
)

// realPDFs returns the PDFs that `make documents` and `make eval-real` fetch.
func realPDFs(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, dir := range []string{"documents", filepath.Join("real", "documents")} {
		found, err := filepath.Glob(filepath.Join("..", "..", "..", ".cache", dir, "*.pdf"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
	}
	if len(all) == 0 {
		t.Skip("no PDFs on this machine: make documents eval-real")
	}
	return all
}

// In a PDF with an outline, the heading path of a passage is that of the outline's entry for its start. The ground
// truth is the positions of the bookmarks alone: the last one above the passage.
func TestPassagesHaveOutlineHeadings(t *testing.T) {
	var r Reader
	if err := r.Load(t.Context(), filepath.Join(os.TempDir(), "footnote-test-wasm")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	right, all := 0, 0
	for _, path := range realPDFs(t) {
		x, err := r.Extract(t.Context(), corpus.File{Path: path, Filename: filepath.Base(path)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		marks := bookmarks(t, &r, path, x)
		if len(marks) < 2 {
			t.Logf("%-36s no outline", filepath.Base(path))
			continue
		}
		good, n := 0, 0
		for _, p := range corpus.Split("d", "v", x) {
			b := firstBelowHeadings(x, p)
			if b == nil {
				continue
			}
			want := entryAbove(marks, b)
			n++
			if squeezeTitle(p.Section) == squeezeTitle(want) {
				good++
			}
		}
		t.Logf("%-36s %4d of %4d passages (%.1f %%), title %q", filepath.Base(path), good, n,
			100*float64(good)/float64(max(n, 1)), x.Title)
		right, all = right+good, all+n
	}
	if right*100 < all*95 {
		t.Errorf("%d of %d passages have the heading of their outline entry, want 95 %%", right, all)
	}
}

type bookmark struct {
	page int
	y    float64 // from the top, as a share of the page
	path string
}

func bookmarks(t *testing.T, r *Reader, path string, x corpus.Extracted) []bookmark {
	t.Helper()
	m, err := r.acquireInstance(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := m.close(); err != nil {
			t.Error(err)
		}
	}()
	doc, err := m.openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := m.readOutline(doc)
	if err != nil {
		t.Fatal(err)
	}
	var out []bookmark
	var above []string
	for _, e := range entries {
		above = append(above[:min(len(above), e.depth-1)], e.title)
		if e.page < 0 || e.page >= x.Pages {
			continue
		}
		b := bookmark{page: e.page + 1, path: strings.Join(above, " › ")}
		if !math.IsNaN(e.y) {
			b.y = 1 - e.y/x.Sizes[e.page][1]
		}
		out = append(out, b)
	}
	slices.SortStableFunc(out, func(a, b bookmark) int {
		return cmp.Or(cmp.Compare(a.page, b.page), cmp.Compare(a.y, b.y))
	})
	return out
}

func firstBelowHeadings(x corpus.Extracted, p corpus.Passage) *corpus.Block {
	for i := range x.Blocks {
		if b := &x.Blocks[i]; b.Start >= p.Start && b.End <= p.End && b.Kind != corpus.BlockHeading && b.Box != nil {
			return b
		}
	}
	return nil
}

// entryAbove returns the path of the last bookmark above the middle of a block's first line.
func entryAbove(marks []bookmark, b *corpus.Block) string {
	path := ""
	for _, m := range marks {
		if m.page < b.Page || m.page == b.Page && m.y <= b.Box[2]+0.008 {
			path = m.path
		}
	}
	return path
}
