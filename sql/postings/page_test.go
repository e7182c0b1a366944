package postings

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/sql/bm25"
)

// collect returns the pages of a sequence and fails the test on an error.
func collect(t *testing.T, pages iter.Seq2[Page, error]) (list []Page) {
	t.Helper()
	for p, err := range pages {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

// held returns the postings of each term in pages.
func held(t *testing.T, pages []Page) map[string][]bm25.Scored {
	t.Helper()
	if !slices.IsSortedFunc(pages, func(a, b Page) int { return strings.Compare(string(a.Key), string(b.Key)) }) {
		t.Error("got pages out of order, want them by key")
	}
	c := newCursor(func(yield func(Page, error) bool) {
		for _, p := range pages[1:] {
			if !yield(p, nil) {
				return
			}
		}
	})
	defer c.stop()
	all := make(map[string][]bm25.Scored)
	for {
		if err := c.nextTerm(); err != nil {
			t.Fatal(err)
		}
		if c.over {
			return all
		}
		term := string(c.term)
		list, err := c.appendPostings(nil)
		if err != nil {
			t.Fatalf("%q: %v, want no error", term, err)
		}
		all[term] = list
	}
}

// TestBuilderRoundTrip builds documents with frequent, rare and long terms, in one run and in many. The
// pages must contain what was added, and no page may exceed the limit.
func TestBuilderRoundTrip(t *testing.T) {
	t.Parallel()
	for _, passages := range []int{0, 1, 50, 9000} {
		t.Run(fmt.Sprint(passages), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(1, uint64(passages)))
			b := NewBuilder(1000)
			want := make(map[string][]bm25.Scored)
			for i := range passages {
				var words []string
				for range random.IntN(120) {
					words = append(words, fmt.Sprintf("w%d", random.IntN(1+random.IntN(600_000))))
				}
				words = append(words, "always", "wärme", strings.Repeat("x", 300),
					strings.Repeat("x", 1+random.IntN(299)))
				terms := corpus.Terms{Title: "Title always", Body: strings.Join(words, " ")}
				if got, n := b.Add(terms), len(words)+2; got != n {
					t.Fatalf("Add = %d, want %d", got, n)
				}
				weights := map[string]float32{"title": bm25.TitleWeight, "always": bm25.TitleWeight}
				for _, w := range words {
					weights[w]++
				}
				for w, n := range weights {
					want[w] = append(want[w], bm25.Scored{Row: uint32(1000 + i), Score: n})
				}
			}
			pages := collect(t, b.Pages())
			if passages == 9000 && len(b.runs) < 2 {
				t.Errorf("%d runs, want several", len(b.runs))
			}
			if rows, err := readRows(pages[0]); err != nil || len(rows) != 1 ||
				rows[0] != (RowRange{1000, uint32(passages)}) {
				t.Errorf("rows = %v, %v; want one run of %d", rows, err, passages)
			}
			for _, p := range pages {
				if len(p.Body) > maxPage {
					t.Errorf("a page of %d bytes, want at most %d", len(p.Body), maxPage)
				}
			}
			got := held(t, pages)
			if len(got) != len(want) {
				t.Errorf("%d terms, want %d", len(got), len(want))
			}
			for term, list := range want {
				if !slices.Equal(got[term], list) {
					t.Fatalf("%q is in %v, want %v", term, got[term], list)
				}
			}
			if again := collect(t, b.Pages()); len(again) != len(pages) {
				t.Errorf("%d pages the second time, want %d", len(again), len(pages))
			}
		})
	}
}

func TestFold(t *testing.T) {
	t.Parallel()
	for term, want := range map[string]string{
		"roof": "roof", "ROOF": "roof", "Größe": "größe", "ÄB": "Äb", "a b": "", "a\x00": "", "\x7f": "", "": "",
		strings.Repeat("x", maxTerm+1): "",
	} {
		if got := Fold(term); got != want {
			t.Errorf("Fold(%.20q) = %q, want %q", term, got, want)
		}
	}
}

// FuzzPages checks that reading an arbitrary page terminates without a panic. Entries that were read must survive
// being written and read again.
func FuzzPages(f *testing.F) {
	b := NewBuilder(7)
	b.Add(corpus.Terms{Title: "roof", Body: "a red roof and a blue door"})
	b.Add(corpus.Terms{Title: "roof", Body: "the roof is red"})
	for p := range b.Pages() {
		f.Add(p.Key, p.Body)
	}
	f.Add([]byte("a"), []byte{1, 0xff, 0xff, 0xff, 0xff, 0x1f, 0xff, 1, 2, 3})
	f.Fuzz(func(t *testing.T, key, body []byte) {
		if _, err := readRows(Page{Key: key, Body: body}); err != nil && !errors.Is(err, errBadPage) {
			t.Fatal(err)
		}
		page, err := readEntries(Page{Key: key, Body: body})
		if err != nil {
			return
		}
		base := page.base
		if _, err := readList(nil, base, page.rest); err != nil && !errors.Is(err, errBadPage) {
			t.Fatal(err)
		}
		for {
			var e entry
			ok, err := page.nextEntry(&e)
			if err != nil && !errors.Is(err, errBadPage) {
				t.Fatal(err)
			}
			if !ok || err != nil {
				return
			}
			list, err := e.appendPostings(nil, base)
			if err != nil || len(list) == 0 {
				continue
			}
			again, err := readList(nil, base, relist(base, list))
			if err != nil || !slices.Equal(again, list) {
				t.Fatalf("%v reads again as %v, %v; want %v", list, again, err, list)
			}
		}
	})
}

func relist(base uint32, list []bm25.Scored) (raw []byte) {
	before := base
	for _, p := range list {
		raw = appendPosting(raw, before, p)
		before = p.Row
	}
	return raw
}
