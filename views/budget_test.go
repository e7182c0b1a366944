package views

import (
	"fmt"
	"html"
	"runtime"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
)

// costly are texts of about n bytes that parsers or browsers take far more than their length for.
func costly(n int) map[string]string {
	r := strings.Repeat
	var references, ticks, nested strings.Builder
	for i := 0; references.Len() < n; i++ {
		fmt.Fprintf(&references, "[a%d]: http://e.example/%d\n", i, i)
	}
	for i := 1; ticks.Len() < n; i++ {
		ticks.WriteString(r("`", i) + "a")
	}
	for i := 0; nested.Len() < n; i++ {
		nested.WriteString(r("  ", i) + "- a\n")
	}
	return map[string]string{
		"a table":          table(n/7, n/7),
		"tables in quotes": "> " + strings.ReplaceAll(table(n/14, n/14), "\n", "\n> ") + "\n\n" + table(n/14, n/14),
		"quotations":       r(">", n), "quotations and lines": r(r("> ", 90)+"a\n", n/180) + r("a\n", n/4),
		"nested lists": r("* ", n/4) + "a" + r("\n\n", n/4) + "b", "nested items": nested.String(),
		"nested lists, blank lines": r("* ", 45) + "a" + r("\n", n) + "b",
		"brackets":                  r("[", n), "pairs of brackets": r("[", n/2) + r("]", n/2),
		"open links": r("[a](", n/4),
		"images":     r("![", n/2), "links": r("[a](b)", n/6),
		"stars": r("*", n), "openers": r("*a ", n/3), "two kinds": r("*a_ ", n/4), "closers": r("a* ", n/3),
		"within words": r("a**b", n/4), "strikes": r("~~a ", n/4),
		"code spans": ticks.String(), "one code span": "`" + r("a ", n/2) + "`",
		"comments": r("<!-- ", n/5), "instructions": r("<? ", n/3), "tags": r("<a ", n/3),
		"attributes": "x " + r("<a b='", n/6),
		"references": references.String(), "footnote definitions": r("[^1]: a\n", n/8),
		"one address, many links": "[a]: http://e.example/" + r("x", n/2) + "\n\n" + r("[a] ", n/8),
		"mail addresses":          r("a_b@", n/4), "marks before a long word": r("_a", n/4) + r("a", n/2),
		"addresses": r(" http://a.b/", n/12), "lines with brackets": r("[a]\n", n/4),
		"chips": r("[1]", n/3), "lines": r("a\n", n/2), "rules": r("---\n\n", n/5), "headings": r("# a\n", n/4),
		"underlined headings": r("a\n=\n", n/4), "fences": r("```\n\n", n/5), "items": r("- a\n", n/4),
		"formulas": r(`\(x^2\) `, n/8), "open formulas": r(`\(x \[y $z `, n/10), "dollars": r("$", n),
		"prices":                  r("$5 ", n/3),
		"letters between dollars": r("$a", n/2), "one formula": `\(` + r("x", n) + `\)`,
		"formulas in items": r("- $$\n", n/5),
		"formulas on lines": r("$$\nx\n", n/5), "deep formulas": r(`\(`+r("{", 30)+r("}", 30)+`\) `, n/65),
		"unknown formulas": r(`$\a$ `, n/5), "open lines": r("\\[\n$$\n", n/6), "backslashes": r(`\`, n),
		"escaped bars": "|a|\n|-|\n|" + r("`\\|`", n/4) + "|\n",
	}
}

// table is a Markdown table with only its head written out.
func table(columns, rows int) string {
	return "|" + strings.Repeat("a|", columns) + "\n|" + strings.Repeat("-|", columns) + "\n" +
		strings.Repeat("|\n", rows)
}

// allocated is how much memory f takes in all.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestCostlyTextsTakeBoundedMemory(t *testing.T) {
	m := NewMarkdown()
	for _, n := range []int{14_000, 200_000} {
		for name, src := range costly(n) {
			var blocks []Block
			took := allocated(func() { blocks = m.Whole(src, nil, citeOne) })
			if most := uint64(20<<20+1500*len(src)) * detectorShare; took > most {
				t.Errorf("%s, %d bytes: %d bytes of memory, want at most %d", name, len(src), took, most)
			}
			out := 0
			for _, b := range blocks {
				out += len(b.HTML)
			}
			if most := 2_000_000 + 10*len(src); out > most {
				t.Errorf("%s, %d bytes: %d bytes of HTML, want at most %d", name, len(src), out, most)
			}
		}
	}
}

func TestATextBeyondTheBudgetIsShownAsItWasWritten(t *testing.T) {
	m := NewMarkdown()
	plain := func(blocks []Block) bool {
		return len(blocks) == 1 && strings.Contains(blocks[0].HTML, txtTooLarge.English())
	}
	for _, tt := range []struct {
		name, src string
		plain     bool
	}{
		{"a table of 50 columns and 100 rows", table(50, 100), false},
		{"a table of 500 columns and 500 rows", table(500, 500), true},
		{"a table of 2,000 columns and 2,000 rows", table(2000, 2000), true},
		{"a long answer", strings.Repeat("The roof is sound and **the wall** is dry [1].\n\n", 2000), false},
		{"a list of 4,000 items", strings.Repeat("- The roof is sound.\n", 4000), false},
		{"a long code block", "```\n" + strings.Repeat("x := a[1] * b[2] // _no_ *marks*\n", 5000) + "```\n", false},
		{"a text of 300 kB", strings.Repeat("The roof is sound.\n\n", 15_000), true},
		{"lists in lists", strings.Repeat("* ", 200) + "a", true},
		{"lists in lists, as people write them", "- a\n  - b\n    - c\n      - d\n\n> > > quoted", false},
	} {
		blocks := m.Whole(tt.src, nil, citeOne)
		if got := plain(blocks); got != tt.plain {
			t.Errorf("%s: shown as it was written = %t, want %t", tt.name, got, tt.plain)
		}
		if tt.plain && !strings.Contains(html.UnescapeString(blocks[0].HTML), `dir="auto">`+tt.src+`</pre>`) {
			t.Errorf("%s: the text is not all there: %.300s", tt.name, blocks[0].HTML)
		}
	}
	cut := m.Whole(strings.Repeat("ü", maxPlain), nil, citeOne)
	if got := cut[0].HTML; len(got) > maxPlain+1000 || !strings.Contains(got, txtTooLargeCut.English()) ||
		strings.Contains(got, "\uFFFD") {
		t.Errorf("a text of twice the bound: %d bytes, %.300s; want at most %d, %q in it, no %q in it",
			len(got), got, maxPlain+1000, txtTooLargeCut.English(), "\uFFFD")
	}
}

// What a growing answer sends is in proportion to its length: it was one redraw of the open block for each delta.
func TestAGrowingAnswerIsNotDrawnAgainWithEveryDelta(t *testing.T) {
	m := NewMarkdown()
	for name, src := range map[string]string{
		"one table":      "| a | b |\n|---|---|\n" + strings.Repeat("| The roof is sound | and dry [1] |\n", 2000),
		"one list":       strings.Repeat("- The roof is sound\n", 4000),
		"one code block": "```\n" + strings.Repeat("x := y\n", 15_000),
		"a wide table":   table(600, 600),
		"beyond bytes":   strings.Repeat("The roof is sound. ", 60_000),
	} {
		drawn, deltas := 0, 0
		d := NewDraft(m, citeOne)
		for at := 0; at < len(src); at += 250 {
			changed, _ := d.Add(src[at:min(at+250, len(src))])
			for _, b := range changed {
				drawn += len(b.HTML)
			}
			deltas++
		}
		got := d.Close()
		whole := 0
		for _, b := range got {
			whole += len(b.HTML)
		}
		if most := (2*growth + 4) * (whole + drawnAtOnce); drawn > most {
			t.Errorf("%s: %d bytes drawn in %d deltas, want at most %d for an answer of %d", name, drawn, deltas,
				most, whole)
		}
		if want := m.Whole(src, nil, citeOne); len(got) != len(want) || got[len(got)-1] != want[len(want)-1] {
			t.Errorf("%s: %d blocks at the end of the draft, want the %d of the whole", name, len(got), len(want))
		}
	}
}

func TestADraftThatBecomesTooLargeReplacesItsBlocks(t *testing.T) {
	d := NewDraft(NewMarkdown(), func(int) (chat.Citation, bool) { return chat.Citation{}, false })
	if changed, all := d.Add("First.\n\nSecond.\n\n"); all || len(changed) != 2 {
		t.Fatalf("two paragraphs: %d blocks changed, all = %t, want 2", len(changed), all)
	}
	changed, all := d.Add(table(500, 500))
	if !all || len(changed) != 1 || !strings.Contains(changed[0].HTML, "First.\n\nSecond.\n\n|a|a|") {
		t.Errorf("a table too large: %d blocks changed, all = %t, %.200s; want 1", len(changed), all, changed[0].HTML)
	}
	if changed, all = d.Add(strings.Repeat("more ", 2000)); all || len(changed) != 1 || changed[0].N != 1 {
		t.Errorf("more behind it: %d blocks changed, all = %t, want 1", len(changed), all)
	}
}

func BenchmarkAWholeAnswer(b *testing.B) {
	m := NewMarkdown()
	src := strings.Repeat(
		"## Roof\n\nThe roof is *sound* and **the wall** is dry [1]. It was [surveyed](https://example.org/a) in "+
			"`2024`.\n\n- one [2]\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n", 8,
	)
	for b.Loop() {
		m.Whole(src, []string{"The roof is sound and the wall is dry."}, citeOne)
	}
}
