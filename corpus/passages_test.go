package corpus_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/text"
)

// document builds an extraction from lines: "# Title" and "## Title" are headings, "T …" a table with rows divided by
// "/", everything else a paragraph.
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
			t.Errorf("passage %d is not the text at its place", i)
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

func TestSplitAgainIsTheSame(t *testing.T) {
	e := document("# A", words(250), words(300), "## Ä", "首都。"+words(20))
	if d := cmp.Diff(corpus.Split("doc", "sha", e), corpus.Split("doc", "sha", e)); d != "" {
		t.Error(d)
	}
	if corpus.Split("doc", "sha", e)[0].ID == corpus.Split("doc", "other", e)[0].ID {
		t.Error("another version has the same passage ids")
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
