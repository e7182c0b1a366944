package corpus

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/embed/embedtest"
)

// TestRendersAlternateBetweenUsers queues 20 drawings of one user before one of another.
func TestRendersAlternateBetweenUsers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrawings()
		var order []string
		draw := func(name string) func(context.Context) (*Drawn, error) {
			return func(context.Context) (*Drawn, error) {
				time.Sleep(time.Minute)
				order = append(order, name)
				return nil, undrawnOffice
			}
		}
		var works []*drawingWork
		for i := range 20 {
			name := "many " + string(rune('a'+i))
			works = append(works, d.begin(t.Context(), "many", name, draw("many")))
			synctest.Wait()
		}
		works = append(works, d.begin(t.Context(), "one", "one", draw("one")))
		for _, work := range works {
			<-work.done
		}
		if i := slices.Index(order, "one"); i != 1 {
			t.Errorf("the other user's drawing is number %d of %d, want the second", i+1, len(order))
		}
		if err := d.close(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestRendersAreCachedAndBounded tests deduplication of concurrent drawings and LRU eviction.
func TestRendersAreCachedAndBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDrawings()
		calls := 0
		large := func(context.Context) (*Drawn, error) {
			time.Sleep(time.Second)
			calls++
			return &Drawn{Text: string(make([]byte, drawingBytes/4))}, nil
		}
		for range 10 { // concurrently
			defer func(work *drawingWork) { <-work.done }(d.begin(t.Context(), "a", "shared", large))
		}
		<-d.begin(t.Context(), "b", "shared", large).done
		if calls != 1 {
			t.Errorf("drawn %d times for those who look at once, want once", calls)
		}
		for _, sha := range []string{"1", "2", "3", "4"} {
			<-d.begin(t.Context(), "a", sha, large).done
		}
		if _, ok, _ := d.get("shared"); ok || d.bytes > drawingBytes {
			t.Errorf("the drawing used least is kept (%t), all take %d bytes; want at most %d", ok, d.bytes,
				drawingBytes)
		}
		if _, ok, _ := d.get("4"); !ok {
			t.Error("newest drawing was evicted")
		}
		for sha, err := range map[string]error{"broken": undrawnOffice, "other": errors.New("no disk")} {
			<-d.begin(t.Context(), "a", sha, func(context.Context) (*Drawn, error) { return nil, err }).done
			if _, ok, got := d.get(sha); !ok || !errors.Is(got, err) {
				t.Errorf("failure %v is not cached", err)
			}
		}
		gone := &chat.Error{Code: chat.CodeNotFound}
		<-d.begin(t.Context(), "a", "gone", func(context.Context) (*Drawn, error) { return nil, gone }).done
		if _, ok, _ := d.get("gone"); ok {
			t.Error("deleted document is cached")
		}
		if err := d.close(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestSheetAndFilePositionsAreNamed(t *testing.T) {
	text := "Number | Amount\n7 | 20.00\n9 | 30.00\n\nfirst: 1\nsecond: 2\nthird: 3"
	table := Block{
		Kind: BlockTable, Headings: []string{"Book", "Invoices"}, Start: 0, End: 35,
		Cells: [][][2]int{{{0, 6}, {9, 15}}, {{16, 17}, {20, 25}}, {{26, 27}, {30, 35}}},
		Grid:  &Grid{Rows: []int{4, 12, 13}, Columns: []int{2, 28}},
	}
	lines := Block{Kind: BlockCode, Start: 37, End: len(text), Line: 40}
	for _, tt := range []struct {
		words, want string
		start, end  int
	}{
		{"20.00", "Invoices, cell AB12", 20, 25},
		{"7 | 20.00", "Invoices, row 12", 16, 25},
		{"7 | 20.00\n9 | 30.00", "Invoices, rows 12–13", 16, 35},
		{"first: 1", "line 40", 37, 45},
		{"second: 2\nthird: 3", "lines 41–42", 46, len(text)},
		{"first: 1\n", "line 40", 37, 46},
	} {
		if got := text[tt.start:tt.end]; got != tt.words {
			t.Fatalf("[%d, %d) holds %q, want %q", tt.start, tt.end, got, tt.words)
		}
		got := lines.lineLabel(text, tt.start, tt.end)
		if tt.end <= table.End {
			got = table.cellLabel(tt.start, tt.end)
		}
		if got != tt.want {
			t.Errorf("the place of %q = %q, want %q", tt.words, got, tt.want)
		}
	}
}

func TestImageCacheEvictsLeastRecentlyUsed(t *testing.T) {
	c := newImages()
	image := func(page int) imageKey { return imageKey{pageKey{"sha", page, 0}, 100} }
	has := func(page int) bool {
		png, _ := c.getImage(image(page))
		return png != nil
	}
	big := make([]byte, imageBytes/4)
	for page := range 4 {
		c.putImage(image(page), big, nil)
	}
	if !has(0) {
		t.Fatal("four images of a quarter each do not fit")
	}
	c.putImage(image(4), big, nil)
	if has(1) {
		t.Error("least recently used image is cached, want it evicted")
	}
	if !has(0) {
		t.Error("recently used image was evicted")
	}
	if c.bytes > imageBytes {
		t.Errorf("%d bytes are kept, want at most %d", c.bytes, imageBytes)
	}
}

func TestFailedPageRenderIsRetriedLater(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		rest time.Duration
	}{
		{"it is too complex", &chat.Error{Code: chat.CodeUndrawable, Message: "This page is too complex."},
			restUndrawable},
		{"what drew it was ended", &chat.Error{Code: chat.CodeUnavailable, Err: ErrReaderDied}, restOther},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, key := newImages(), imageKey{pageKey{"sha", 1, 0}, 1000}
				c.putImage(key, nil, tt.err)
				time.Sleep(tt.rest - 1)
				if _, err := c.getImage(key); !errors.Is(err, tt.err) {
					t.Errorf("just before %v: %v, want %v", tt.rest, err, tt.err)
				}
				time.Sleep(1)
				if _, err := c.getImage(key); err != nil {
					t.Errorf("after %v: %v, want no error: it is tried again", tt.rest, err)
				}
			})
		})
	}
}

func TestLinesJoinWords(t *testing.T) {
	word := func(turn int, page, x0, y0, x1, y1 float64) WordBox {
		return WordBox{Box: chat.Box{page, x0, y0, x1, y1}, Turn: turn}
	}
	got := joinLines([]WordBox{
		word(0, 1, 0.1, 0.10, 0.2, 0.12), word(0, 1, 0.21, 0.105, 0.3, 0.125), // one line
		word(0, 1, 0.1, 0.14, 0.2, 0.16),                                         // the next
		word(0, 1, 0.6, 0.14, 0.7, 0.16),                                         // the next column
		word(0, 2, 0.71, 0.14, 0.8, 0.16),                                        // the next page
		word(3, 2, 0.30, 0.70, 0.32, 0.76), word(3, 2, 0.305, 0.67, 0.325, 0.69), // read from below
		word(3, 2, 0.34, 0.70, 0.36, 0.76),                                       // the next line of it
		word(1, 2, 0.90, 0.10, 0.92, 0.16), word(1, 2, 0.895, 0.165, 0.915, 0.2), // read from above
		word(1, 2, 0.86, 0.10, 0.88, 0.16),                                     // the next line of it
		word(2, 2, 0.60, 0.80, 0.70, 0.82), word(2, 2, 0.50, 0.80, 0.59, 0.82), // upside down
		word(2, 2, 0.60, 0.77, 0.70, 0.79), // the next line of it
		word(0, 2, 0.71, 0.77, 0.80, 0.79), // upright beside it
	})
	want := []Line{
		{Box: chat.Box{1, 0.1, 0.10, 0.3, 0.125}}, {Box: chat.Box{1, 0.1, 0.14, 0.2, 0.16}},
		{Box: chat.Box{1, 0.6, 0.14, 0.7, 0.16}}, {Box: chat.Box{2, 0.71, 0.14, 0.8, 0.16}},
		{Box: chat.Box{2, 0.30, 0.67, 0.325, 0.76}, Turn: 3}, {Box: chat.Box{2, 0.34, 0.70, 0.36, 0.76}, Turn: 3},
		{Box: chat.Box{2, 0.895, 0.10, 0.92, 0.2}, Turn: 1}, {Box: chat.Box{2, 0.86, 0.10, 0.88, 0.16}, Turn: 1},
		{Box: chat.Box{2, 0.50, 0.80, 0.70, 0.82}, Turn: 2}, {Box: chat.Box{2, 0.60, 0.77, 0.70, 0.79}, Turn: 2},
		{Box: chat.Box{2, 0.71, 0.77, 0.80, 0.79}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("lines (-want +got):\n%s", d)
	}
}

func TestDatesRestrictFilter(t *testing.T) {
	for _, tt := range []struct {
		name           string
		parts          [][2]string // from, to
		from, to, says string
	}{
		{"a year", [][2]string{{"2024", "2024"}}, "2024", "2024", ""},
		{"nothing", [][2]string{{"", ""}}, "", "", ""},
		{"open ends", [][2]string{{"2024-05", ""}, {"", "2025"}}, "2024-05", "2025", ""},
		{"a month of its year, the year first", [][2]string{{"2024", "2024"}, {"2024-05", "2024-05"}}, "2024-05",
			"2024-05", ""},
		{"a month of its year, the month first", [][2]string{{"2024-05", "2024-05"}, {"2024", "2024"}}, "2024-05",
			"2024-05", ""},
		{"a day to the month that holds it", [][2]string{{"2024-05-31", "2024-05"}}, "2024-05-31", "2024-05", ""},
		{"the narrower ends", [][2]string{{"2019", "2025-03"}, {"2020-02", "2024"}}, "2020-02", "2024", ""},
		{"a leap day", [][2]string{{"2024-02-29", ""}}, "2024-02-29", "", ""},
		{"no leap day", [][2]string{{"2023-02-29", ""}}, "", "",
			`when must be a date like 2026-01-31, 2026-01 or 2026, not "2023-02-29".`},
		{"a month 13", [][2]string{{"", "2023-13"}}, "", "", `not "2023-13"`},
		{"words", [][2]string{{"last week", ""}}, "", "", `not "last week"`},
		{"a year of two figures", [][2]string{{"24", ""}}, "", "", `not "24"`},
		{"from after to", [][2]string{{"2025", ""}, {"", "2024-12-31"}}, "", "",
			"No date is both 2025 or later and 2024-12-31 or earlier."},
		{"two years", [][2]string{{"2024", "2024"}, {"2025", "2025"}}, "", "", "2025 or later and 2024 or earlier"},
		{"a month after the month", [][2]string{{"2024-06-01", "2024-05"}}, "", "", "No date"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var f Filter
			var err error
			for _, p := range tt.parts {
				if err = f.Dated("when", p[0], p[1]); err != nil {
					break
				}
			}
			if tt.says != "" {
				if err == nil || chat.CodeOf(err) != chat.CodeInvalid ||
					!strings.Contains(chat.MessageOf(err).String(), tt.says) {
					t.Errorf("Dated(%q) fails with %v, want %q", tt.parts, err, tt.says)
				}
			} else if err != nil || f.DatedFrom != tt.from || f.DatedTo != tt.to {
				t.Errorf("Dated(%q) = %q to %q, %v; want %q to %q", tt.parts, f.DatedFrom, f.DatedTo, err,
					tt.from, tt.to)
			}
		})
	}
}

func TestCheckEvidence(t *testing.T) {
	text := "Über das Dach.\n\nEs ist dicht."
	blocks := []Block{{ID: "b1", Page: 1, Start: 0, End: 14}, {ID: "b2", Page: 2, Start: 16, End: 29}}
	good := chat.EvidenceCitation{
		Number: 1, Title: "T", SHA256: "v1", Page: 2, Start: 16, End: 29, Quote: "Es ist dicht.",
		Check: chat.CheckVerified,
	}
	change := func(f func(*chat.EvidenceCitation)) chat.EvidenceCitation { c := good; f(&c); return c }
	for _, tt := range []struct {
		name     string
		citation chat.EvidenceCitation
		found    bool
		version  string
		want     string
	}{
		{"the words at their place", good, true, "v1", chat.EvidenceVerified},
		{"other words", change(func(c *chat.EvidenceCitation) { c.Quote = "Es ist Licht." }), true, "v1",
			chat.EvidenceChanged},
		{"another place", change(func(c *chat.EvidenceCitation) { c.Start, c.End = 15, 28 }), true, "v1",
			chat.EvidenceChanged},
		{"a place beyond the end", change(func(c *chat.EvidenceCitation) { c.Start, c.End = 16, 999 }), true, "v1",
			chat.EvidenceChanged},
		{"a negative place", change(func(c *chat.EvidenceCitation) { c.Start = -1 }), true, "v1", chat.EvidenceChanged},
		{"another page", change(func(c *chat.EvidenceCitation) { c.Page = 3 }), true, "v1", chat.EvidenceChanged},
		{"another hash", change(func(c *chat.EvidenceCitation) { c.SHA256 = "v0" }), true, "v1", chat.EvidenceChanged},
		{"a new version", good, true, "v2", chat.EvidenceChanged},
		{"no document", good, false, "", chat.EvidenceMissing},
		{"a quote that was never found",
			change(func(c *chat.EvidenceCitation) { c.Check, c.Quote = chat.CheckNotFound, "" }), true, "v1",
			chat.EvidenceMissing},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := CheckEvidence(tt.citation, tt.found, tt.version, text, blocks); got.State != tt.want ||
				got.Number != 1 || (got.Detail == "") != (tt.want == chat.EvidenceVerified) {
				t.Errorf("CheckEvidence = %+v, want %s", got, tt.want)
			}
		})
	}
}

// PurgeBefore purges documents deleted before a time, which Run does by the clock.
func (l *Library) PurgeBefore(ctx context.Context, t time.Time) error {
	return sweeper{l}.purge(ctx, t)
}

// RemoveAt executes the removals that are due at a time, which Run does by the clock.
func (l *Library) RemoveAt(ctx context.Context, now time.Time) error {
	return sweeper{l}.doRemovals(ctx, now)
}

// waiting is an embedder that blocks passages, except for interactive callers.
type waiting struct{ embedtest.Hashing }

func (waiting) Embed(context.Context, []string) ([][]float32, error) {
	return nil, errors.New("passages wait for a run")
}

func (w waiting) EmbedNow(ctx context.Context, passages []string) ([][]float32, error) {
	return w.Hashing.Embed(ctx, passages)
}

// A run that passages wait for must not wait for the scale of its own embedder.
func TestCalibrationDoesNotDelayRuns(t *testing.T) {
	if _, err := newSimilarities().scaleOf(t.Context(), waiting{}); err != nil {
		t.Errorf("scaleOf: %v", err)
	}
}
