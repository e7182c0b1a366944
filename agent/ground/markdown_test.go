package ground

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/formula"
)

func TestCodeIsReadAsCommonMarkSays(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, markdown, outside string }{
		{"a code span", "a `[1]` [2]", "2"},
		{"a backtick that nothing closes", "a ` [1]. b [2]", "12"},
		{"a span ends with a run of the same length", "`` ` [1] ``` [2] `` [3]", "3"},
		{"a longer run closes nothing", "` [1] `` [2]", "12"},
		{"a span crosses a line of its paragraph", "a `[1]\n[2]` [3]", "3"},
		{"but not into the next", "a `[1]\n\n[2]` [3]", "123"},
		{"nor into the next item", "- a `[1]\n- [2]` [3]", "123"},
		{"an escaped backtick opens none", "a \\`[1]` [2]", "12"},
		{"behind an escaped backslash it does", "a \\\\`[1]` [2]", "2"},
		{"a backslash in a span is a backslash", "`a\\` [1] `", "1"},
		{"fenced code", "[1]\n```go\n[2]\n```\n[3]", "13"},
		{"fenced by tildes", "~~~ a`b\n[1]\n```\n~~~\n[2]", "2"},
		{"a shorter fence closes nothing", "````\n[1]\n```\n[2]\n`````\n[3]", "3"},
		{"words behind a fence do not close it", "```\n[1]\n``` x\n[2]", ""},
		{"a fence that nothing closes", "[1]\n```\n[2]", "1"},
		{"backticks in its first line make it a span", "```[1]``` [2]\n\n[3]", "23"},
		{"indented by three", "   ```\n[1]\n   ```\n[2]", "2"},
		{"a close that is indented by four is none", "```\n[1]\n    ```\n[2]", ""},
		{"in a list item", "1. a\n\n    ```\n    [1]\n    ```\n\n2. [2]", "2"},
		{"that the item ends", "- ```\n  [1]\n\n[2]", "2"},
		{"in a quote", "> ```\n> [1]\n> ```\n> [2]", "2"},
		{"that the quote ends", "> ```\n> [1]\n[2]", "2"},
		{"indented code", "a\n\n    [1]\n\n[2]", "2"},
		{"at the beginning", "    [1]\n\n[2]", "2"},
		{"by a tab, over a blank line", "a\n\n\t[1]\n\n\n    [2]\n[3]", "3"},
		{"a paragraph goes on indented", "a\n    [1]", "1"},
		{"an item goes on indented", "- a\n\n    [1]", "1"},
		{"code in an item", "- a\n\n      [1]\n\n  [2]", "2"},
		{"behind a heading", "# a\n    [1]\n[2]", "2"},
		{"behind fenced code", "```\na\n```\n    [1]", ""},
		{"in a quote, indented", "> a\n>\n>     [1]\n> [2]", "2"},
		{"a quote mark in code is code", "```\n> ```\n[1]\n```\n[2]", "2"},
	} {
		if got := outside(tt.markdown); got != tt.outside {
			t.Errorf("%s: %q has footnotes %q outside of code, want %q", tt.name, tt.markdown, got, tt.outside)
		}
		if got := outsideByGoldmark(tt.markdown); got != tt.outside {
			t.Errorf("%s: %q: the page shows %q outside of code, want %q", tt.name, tt.markdown, got, tt.outside)
		}
	}
}

// outside returns the numbers in a text that are no code.
func outside(markdown string) string {
	found := ""
	for _, b := range splitBlocks(markdown) {
		if !b.kind.isCode() {
			_, marks := liftFootnotes(b.text)
			for _, m := range marks {
				found += strconv.Itoa(m.number)
			}
		}
	}
	return found
}

// outsideByGoldmark is outside as the page's own reader of Markdown sees it.
func outsideByGoldmark(markdown string) string {
	source := []byte(markdown)
	shown := ""
	_ = ast.Walk(goldmark.New(goldmark.WithExtensions(formula.Extension{})).Parser().Parse(text.NewReader(source)),
		func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			switch n := n.(type) {
			case *ast.CodeSpan, *ast.FencedCodeBlock, *ast.CodeBlock:
				return ast.WalkSkipChildren, nil
			case *ast.Text:
				if entering {
					shown += string(n.Segment.Value(source))
				}
			}
			return ast.WalkContinue, nil
		})
	found := ""
	for _, m := range Footnote.FindAllString(shown, -1) {
		found += strings.Trim(m, "[]")
	}
	return found
}

// someMarkdown puts together what makes code and what looks like it.
func someMarkdown(r *rand.Rand) string {
	pieces := []string{
		"`", "``", "```", "````", "~~~", "\n", "\n", "\n\n", "\n```\n", "\n~~~\n", "\n```go\n", " [1]", "[2]", " [3].",
		"[9]", " [1, 2]", "[2](http://x)", "\\", "\\`", " word", " The roof leaks",
		" `code`", " `a[1]`", "\n- ", "\n1. ", "\n> ", "\n   ```\n", "\n| a | ", "\n# ", "\n**b**\n", " ", ".", "[",
		"]", "1", "\n  - ", "\n---\n", `\(`, `\)`, `\[ x`, `\]`, "\n\\[\n", "\n\\]\n", "$", "$$", " $x$ ", " $5",
	}
	var b strings.Builder
	for range 1 + r.IntN(14) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// heldToMarkdown checks that all who read an answer's code read it alike: what the writer takes for footnotes are the
// ones that claims has, and what comes of them can be stored.
func heldToMarkdown(t *testing.T, said string) {
	t.Helper()
	for _, chunks := range [][]string{{said}, strings.Split(said, "")} {
		cite := roofs()
		w := NewWriter(func(context.Context, ...chat.Payload) error { return nil }, cite, false)
		for _, c := range chunks {
			if err := w.Write(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		text, err := w.Finish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var written, read []int
		for _, c := range cite.Citations {
			written = append(written, c.Number)
		}
		for _, n := range strings.Split(outside(text), "") {
			if n, _ := strconv.Atoi(n); n > 0 && !slices.Contains(read, n) {
				read = append(read, n)
			}
		}
		if slices.Sort(read); !slices.Equal(written, read) {
			t.Errorf("%q became %q: the writer wrote footnotes %v, and %v are read in it, want %v",
				said, text, written, read, read)
		}
		confidence, _, _ := NewEvidence(cite.sources, cite, chat.RunRequest{
			Message: "Does the roof leak?",
		}).Evaluate(text)
		if math.IsNaN(confidence) || confidence < 0 || confidence > 1 {
			t.Errorf("%q became %q with confidence %v; want at least 0 and at most 1", said, text, confidence)
		}
	}
}

func TestWriterAndClaimsReadTheSameFootnotes(t *testing.T) {
	t.Parallel()
	for _, said := range []string{
		"The roof leaks, see ` the survey [1]. It is old [1].", "``` [1]", "a ` b\n\nc [1] ` d", "[9]```\n[1]",
		"[[9]1] [2]", "- `a\n- b` [1]", "~~~\n[1]\n~~~\n[2]", "```\n[1]\n    ```\n[2]",
	} {
		heldToMarkdown(t, said)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		heldToMarkdown(t, someMarkdown(r))
	}
}

func FuzzWriterAndClaimsReadTheSameFootnotes(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		f.Add(someMarkdown(r))
	}
	f.Fuzz(func(t *testing.T, said string) { heldToMarkdown(t, strings.ToValidUTF8(said, "")) })
}

func TestALineOfListMarkersTakesBoundedSpace(t *testing.T) {
	var r lineReader
	r.readLine(strings.Repeat("* ", 40_000) + "a")
	if got := len(r.items); got > maxOpenItems {
		t.Errorf("open list items = %d, want at most %d", got, maxOpenItems)
	}
}

func TestEscapesAreReadOutsideOfCode(t *testing.T) {
	t.Parallel()
	const said = "> \\[1\\] C:\\temp \\*a\\* `\\d\\.` \\\\( [1]\n\n```\n\\.\n```\n"
	const want = "> [1] C:\\temp *a* `\\d\\.` \\( [1]\n\n```\n\\.\n```\n"
	if got := WithoutEscapes(said); got != want {
		t.Errorf("WithoutEscapes(%q) = %q, want %q", said, got, want)
	}
}
