package bert

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const long = "The tenant keeps the garden in order. The landlord repairs the roof and the pipes within a month of a " +
	"notice. "

func TestAPassageLongerThanTheWindowHasTheMeanOfItsWindows(t *testing.T) {
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
		t.Errorf("got a cosine of %.7f with what has one more sentence behind the first window, want less: it counts",
			near)
	}
}

func TestWindowsEndAtWords(t *testing.T) {
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

func TestAPrefixBelongsToItsSide(t *testing.T) {
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

func TestTheModelIsGivenBackAtRest(t *testing.T) {
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

func TestPassagesWaitForQueries(t *testing.T) {
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

func TestAnEndedContextEndsTheWork(t *testing.T) {
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

// A file that is cut while it is mapped would end the program with a bus error.
func TestWeightsThatAreCutEndTheTextOnly(t *testing.T) {
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
