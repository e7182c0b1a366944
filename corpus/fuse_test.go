package corpus

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"footnote/chat"
)

func TestFuse(t *testing.T) {
	ranked := func(weight float64, ids ...string) ranking {
		r := ranking{weight: weight}
		for _, id := range ids {
			r.hits = append(r.hits, Hit{PassageID: id})
		}
		return r
	}
	for _, tt := range []struct {
		name     string
		rankings []ranking
		want     []string
		first    float64 // score
	}{
		{"first everywhere is the best possible", []ranking{ranked(2, "a", "b"), ranked(1, "a", "c")}, []string{"a", "b", "c"}, 1},
		{"twice second beats once first", []ranking{ranked(1, "x", "b"), ranked(1, "y", "b")}, []string{"b", "x", "y"}, 4.0 / 5},
		{"the heavier ranking goes first", []ranking{ranked(1, "a"), ranked(2, "b")}, []string{"b", "a"}, 2.0 / 3},
		{"first by words stays before second by words and first by meaning", // 2/4 + 1/5 against 2/5 + 1/4
			[]ranking{ranked(2, "a", "b"), ranked(1, "b", "a")}, []string{"a", "b"}, (2.0/4 + 1.0/5) / (3.0 / 4)},
		{"one ranking keeps its order", []ranking{ranked(1, "c", "a", "b")}, []string{"c", "a", "b"}, 1},
		{"ties go to the smaller id", []ranking{ranked(1, "b"), ranked(1, "a")}, []string{"a", "b"}, 0.5},
		{"nothing gives nothing", []ranking{ranked(2), ranked(1)}, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			out := fuse(tt.rankings...)
			for _, f := range out {
				got = append(got, f.PassageID)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("order (-want +got):\n%s", d)
			}
			if len(out) > 0 && math.Abs(out[0].score-tt.first) > 1e-9 {
				t.Errorf("got first score %f, want %f", out[0].score, tt.first)
			}
		})
	}
}

func TestLinesJoinTheWordsOfALine(t *testing.T) {
	word := func(page, x0, y0, x1, y1 float64) WordBox { return WordBox{Box: chat.Box{page, x0, y0, x1, y1}} }
	got := lines([]WordBox{
		word(1, 0.1, 0.10, 0.2, 0.12), word(1, 0.21, 0.105, 0.3, 0.125), // one line
		word(1, 0.1, 0.14, 0.2, 0.16),  // the next
		word(1, 0.6, 0.14, 0.7, 0.16),  // the next column
		word(2, 0.71, 0.14, 0.8, 0.16), // the next page
	})
	want := []chat.Box{{1, 0.1, 0.10, 0.3, 0.125}, {1, 0.1, 0.14, 0.2, 0.16}, {1, 0.6, 0.14, 0.7, 0.16}, {2, 0.71, 0.14, 0.8, 0.16}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("lines (-want +got):\n%s", d)
	}
}

func TestImagesForgetTheOneNotUsedLongest(t *testing.T) {
	c := newImages()
	big := make([]byte, imageBytes/4)
	for page := range 4 {
		c.put(imageKey{"sha", page, 100}, big)
	}
	if _, ok := c.get(imageKey{"sha", 0, 100}); !ok {
		t.Fatal("four images of a quarter each do not fit")
	}
	c.put(imageKey{"sha", 4, 100}, big)
	if _, ok := c.get(imageKey{"sha", 1, 100}); ok {
		t.Error("the image not used longest is still there")
	}
	if _, ok := c.get(imageKey{"sha", 0, 100}); !ok {
		t.Error("an image that was used lately is gone")
	}
	if c.bytes > imageBytes {
		t.Errorf("%d bytes are kept, want at most %d", c.bytes, imageBytes)
	}
}

func TestTyposCountsSwapsOnce(t *testing.T) {
	for _, tt := range []struct {
		a, b  string
		limit int
		want  int
	}{
		{"roof", "roof", 2, 0}, {"roof", "rofo", 2, 1}, {"roof", "rof", 2, 1}, {"roof", "proof", 2, 1},
		{"elefant", "elephant", 2, 2}, {"roof", "cellar", 2, 3}, {"", "ab", 2, 2}, {"首都", "首部", 2, 1},
	} {
		if got := typos(tt.a, tt.b, tt.limit); got != tt.want && (got <= tt.limit || tt.want <= tt.limit) {
			t.Errorf("typos(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
