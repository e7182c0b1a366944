package cite

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/formula"
	"github.com/footnote/footnote/text/english"
)

// noPages is a library of documents without pages; only their passages are known.
type noPages struct{ textLibrary }

func (noPages) Blocks(context.Context, chat.Scope, string) ([]corpus.Block, error) { return nil, nil }

func (noPages) Place(context.Context, chat.Scope, corpus.Document, []corpus.Block, int, int) (corpus.Place, error) {
	return corpus.Place{}, nil
}

// roofs returns a citer with sources 1 to 3.
func roofs() *Citer {
	s := NewSources()
	doc := corpus.Document{ID: "d", Title: "Survey"}
	for i, text := range []string{"The roof leaks. It is old.", "The wall is damp.", "The boiler was made in 2016."} {
		s.Number(corpus.Passage{ID: string(rune('p' + i)), DocumentID: "d", Start: 100 * i, Text: text}, doc)
	}
	return NewCiter(s, NewTexts(noPages{}, chat.Scope{}), "r")
}

// spoken streams chunks through a writer and returns the stored text and citations.
func spoken(t *testing.T, chunks []string) (text string, cites []chat.Citation) {
	t.Helper()
	w := NewWriter(func(_ context.Context, ps ...chat.Payload) error {
		for _, p := range ps {
			switch p := p.(type) {
			case chat.Citation:
				cites = append(cites, p)
			case chat.AnswerDelta:
				text += p.Text
				for _, digit := range outside(text) {
					if n := int(digit - '0'); n > len(cites) {
						t.Errorf("%q precedes citation %d, want the citation first", p.Text, n)
					}
				}
			}
		}
		return nil
	}, roofs(), false)
	for _, c := range chunks {
		if err := w.Write(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := w.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range w.Rest() {
		if d, ok := p.(chat.AnswerDelta); ok {
			text += d.Text
		} else if c, ok := p.(chat.Citation); ok {
			cites = append(cites, c)
		}
	}
	if whole != text {
		t.Errorf("the whole is %q, stored was %q, want %q", whole, text, text)
	}
	return text, cites
}

func TestMarkersAreRenumberedWhileStreaming(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in, want string
		quotes         []string
	}{
		{"in order of first appearance", "The wall is damp [2]. The roof leaks [1].",
			"The wall is damp [1]. The roof leaks [2].", []string{"The wall is damp.", "The roof leaks."}},
		{"the same words keep their number", "It leaks: the roof leaks [1]. Yes, the roof leaks [1].",
			"It leaks: the roof leaks [1]. Yes, the roof leaks [1].", []string{"The roof leaks."}},
		{"another sentence of the same passage is another footnote", "The roof leaks [1]. It is old [1].",
			"The roof leaks [1]. It is old [2].", []string{"The roof leaks.", "It is old."}},
		{"several in one", "Damp walls [2, 1]", "Damp walls [1][2]", []string{"The wall is damp.", "The roof leaks."}},
		{"other brackets", "The wall is damp【2】.", "The wall is damp[1].", []string{"The wall is damp."}},
		{"with a word", "Damp [doc2], damp [Document 2], damp [n=2], damp [ref. 2], damp [n: 2], damp【2:0†source】.",
			"Damp [1], damp [1], damp [1], damp [1], damp [1], damp[1].", []string{"The wall is damp."}},
		{"words alone are no markers", "See [doc], [no 2], [n] and [reference 2].",
			"See [doc], [no 2], [n] and [reference 2].", nil},
		{"unknown numbers go with their space", "A claim [9]. Another [8] one.", "A claim. Another one.", nil},
		{"links are no markers", "See [1](http://x) and [text].", "See [1](http://x) and [text].", nil},
		{"addresses have none", "The wall is damp, see https://x.org/a[2] [2].",
			"The wall is damp, see https://x.org/a[2] [1].", []string{"The wall is damp."}},
		{"nor have targets and titles",
			"[a](http://x/[2]) [a](x \"b [2]\") <https://x/[2]> ![a](b[2]) The wall is damp [2].",
			"[a](http://x/[2]) [a](x \"b [2]\") <https://x/[2]> ![a](b[2]) The wall is damp [1].",
			[]string{"The wall is damp."}},
		{"nor have names of code", "Set a[1] and max_size[2] = b[3].", "Set a[1] and max_size[2] = b[3].", nil},
		{"nor has indented code", "So:\n\n    b[2]  [2]\n\tx [1]\n\nThe wall is damp [2].",
			"So:\n\n    b[2]  [2]\n\tx [1]\n\nThe wall is damp [1].", []string{"The wall is damp."}},
		{"years are no markers", "In [2019] it was.", "In [2019] it was.", nil},
		{"code is left alone", "Use `a[1]` or\n```\nb[2]\n```\nThe wall is damp [2].",
			"Use `a[1]` or\n```\nb[2]\n```\nThe wall is damp [1].", []string{"The wall is damp."}},
		{"a range whose end has more digits", "The wall is damp [2-02].", "The wall is damp [1].",
			[]string{"The wall is damp."}},
		{"a formula behind one without an end", `\[$[1]0$ The wall is damp [2].`, `\[$[1]0$ The wall is damp [1].`,
			[]string{"The wall is damp."}},
		{"formulas are left alone", `With \( a [1] \), \[ b [1] \], $$ c [1] $$ and $x [1]$ the wall is damp [2].`,
			`With \( a [1] \), \[ b [1] \], $$ c [1] $$ and $x [1]$ the wall is damp [1].`, []string{"The wall is " +
				"damp."}},
		{"a formula without an end is none", `The wall is damp \( [2].`, `The wall is damp \( [1].`,
			[]string{"The wall is damp."}},
		{"prices are no formulas", "The wall is damp for $5 [2] or $6.", "The wall is damp for $5 [1] or $6.",
			[]string{"The wall is damp."}},
		{"a formula belongs to the sentence before", "The wall is damp:\n\n\\[ x = 1. 5 \\] [2]",
			"The wall is damp:\n\n\\[ x = 1. 5 \\] [1]", []string{"The wall is damp."}},
		{"after the full stop", "The wall is damp. [2] The roof leaks. [1]",
			"The wall is damp. [1] The roof leaks. [2]", []string{"The wall is damp.", "The roof leaks."}},
		{"as a link", "Damp [[2]](https://x.org/a_(b)#c), damp [[Source 2, 1]] and [[2]](see below).",
			"Damp [1], damp [1][2] and [[1]](see below).", []string{"The wall is damp.", "The roof leaks."}},
		{"escaped", `The wall is damp \[2\]. It is \[4\] and \[2 m\] and \[2, 1\]`,
			`The wall is damp [1]. It is \[4\] and \[2 m\] and [1][2]`,
			[]string{"The wall is damp.", "The roof leaks."}},
		{"an open bracket at the end stays", "Odd [1", "Odd [1", nil},
		{"a refusal has no footnotes", "I couldn’t find relevant information about that in your documents. [1] Sorry.",
			english.Refusal + " Sorry.", nil},
		{"not quite a refusal", "I couldn't find much, but the wall is damp [2].",
			"I couldn't find much, but the wall is damp [1].", []string{"The wall is damp."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, chunks := range [][]string{{tt.in}, strings.Split(tt.in, "")} {
				text, cites := spoken(t, chunks)
				var quotes []string
				for i, c := range cites {
					quotes = append(quotes, c.Quote)
					if c.Number != i+1 || c.Check != chat.CheckVerified {
						t.Errorf("citation %d = %+v; want Number %v and Check %v", i, c, i+1, chat.CheckVerified)
					}
				}
				if text != tt.want {
					t.Errorf("%d chunks: text = %q, want %q", len(chunks), text, tt.want)
				}
				if d := cmp.Diff(tt.quotes, quotes); d != "" {
					t.Errorf("%d chunks: quotes (-want +got):\n%s", len(chunks), d)
				}
			}
		})
	}
}

func FuzzMarkersIgnoreChunkBoundaries(f *testing.F) {
	for _, s := range []string{
		"The wall [2]. `a[1]` 【3】", "[1, 2][3]\n```\n[1]\n```", "I couldn’t find", " [9] [8", "[Sources 1-3] é[2]",
		"[[2]](http://x) [[1]] [[", `\[2\] \[9\] \[x`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "")
		whole, _ := spoken(t, []string{s})
		pieces, _ := spoken(t, strings.Split(s, ""))
		if whole != pieces {
			t.Errorf("at once %q, in pieces %q, want %q", whole, pieces, pieces)
		}
	})
}

func TestDeltasAfterFirstAreMerged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stored []string
		var at []time.Duration
		begin := time.Now()
		w := NewWriter(func(_ context.Context, ps ...chat.Payload) error {
			stored, at = append(stored, ps[len(ps)-1].(chat.AnswerDelta).Text), append(at, time.Since(begin))
			return nil
		}, roofs(), false)
		for _, s := range []string{"One", " two", " three"} {
			if err := w.Write(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(100 * time.Millisecond) // the timer stores what waits
		if err := w.Write(t.Context(), strings.Repeat(" long", 60)); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"One", " two three", strings.Repeat(" long", 60)}, stored); d != "" {
			t.Errorf("stored (-want +got):\n%s", d)
		}
		if d := cmp.Diff([]time.Duration{0, 40 * time.Millisecond, 130 * time.Millisecond}, at); d != "" {
			t.Errorf("at (-want +got):\n%s", d)
		}
	})
}

func TestSlowStoreMergesMoreText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stored []int
		w := NewWriter(func(_ context.Context, ps ...chat.Payload) error {
			stored = append(stored, len(ps[len(ps)-1].(chat.AnswerDelta).Text))
			time.Sleep(30 * time.Millisecond)
			return nil
		}, roofs(), false)
		for range 10 { // a model that writes all of it at once
			if err := w.Write(t.Context(), strings.Repeat(" word", 40)); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if d := cmp.Diff([]int{200, 800, 800, 200}, stored); d != "" { // 768 bytes, as the pause is 120 ms
			t.Errorf("bytes stored (-want +got):\n%s", d)
		}
	})
}

func TestFailedTimedFlushEndsWriting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		n := 0
		w := NewWriter(func(context.Context, ...chat.Payload) error {
			if n++; n > 1 {
				return full
			}
			return nil
		}, roofs(), false)
		_ = w.Write(t.Context(), "One")
		_ = w.Write(t.Context(), " two")
		time.Sleep(time.Second)
		if err := w.Write(t.Context(), " three"); !errors.Is(err, full) {
			t.Errorf("err = %v, want %v", err, full)
		}
	})
}

func TestClaimBefore(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"First one. The roof leaks ", "The roof leaks"},
		{"First one. The roof leaks. ", "The roof leaks."},
		{"It cost 3.5 million in 2019 ", "It cost 3.5 million in 2019"},
		{"- a point\n- **the roof** leaks", "the roof** leaks"},
		{"A claim [1]. Another [2], and more ", "Another, and more"},
		{"See p. 4 of it", "See p. 4 of it"},
		{"One. The release: unstable ", "The release: unstable"},
		{"Note this: the roof leaks badly ", "the roof leaks badly"},
		{"", ""},
	} {
		if got := claimBefore(tt.text); got != tt.want {
			t.Errorf("claimBefore(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestCodeFollowsCommonMark(t *testing.T) {
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

// outside returns the numbers in a text outside of code.
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

// outsideByGoldmark is outside by the page's Markdown parser.
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
	for _, m := range Footnote().FindAllString(shown, -1) {
		found += strings.Trim(m, "[]")
	}
	return found
}

// someMarkdown generates random Markdown from pieces of code and similar text.
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

// heldToMarkdown checks that all parsers of an answer's code agree: the writer's footnotes are those of its claims,
// and the result can be stored.
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

func TestWriterAndClaimsAgreeOnFootnotes(t *testing.T) {
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

func FuzzWriterAndClaimsAgreeOnFootnotes(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		f.Add(someMarkdown(r))
	}
	f.Fuzz(func(t *testing.T, said string) { heldToMarkdown(t, strings.ToValidUTF8(said, "")) })
}

func TestLineOfListMarkersUsesBoundedMemory(t *testing.T) {
	var r lineReader
	r.readLine(strings.Repeat("* ", 40_000) + "a")
	if got := len(r.items); got > maxOpenItems {
		t.Errorf("open list items = %d, want at most %d", got, maxOpenItems)
	}
}

func TestEscapesApplyOutsideCode(t *testing.T) {
	t.Parallel()
	const said = "> \\[1\\] C:\\temp \\*a\\* `\\d\\.` \\\\( [1]\n\n```\n\\.\n```\n"
	const want = "> [1] C:\\temp *a* `\\d\\.` \\( [1]\n\n```\n\\.\n```\n"
	if got := WithoutEscapes(said); got != want {
		t.Errorf("WithoutEscapes(%q) = %q, want %q", said, got, want)
	}
}

func TestReferencesInSentencesNeedNoPassage(t *testing.T) {
	t.Parallel()
	s := NewSources()
	s.Number(corpus.Passage{
		ID: "p", DocumentID: "d", Section: "Manual › Chapter 2: Installation",
		Text: "Mount the pump on a level concrete base with four bolts.",
	}, corpus.Document{ID: "d", Title: "Pump manual", Filename: "pump.pdf"})
	s.Number(corpus.Passage{ID: "q", DocumentID: "d", Section: "3. Pump care", Text: "Grease it once a year."},
		corpus.Document{ID: "d", Title: "Pump manual", Filename: "pump.pdf"})
	for said, want := range map[string]bool{
		"Mount the pump on a level concrete base (from Chapter 2: Installation) with four bolts [1].": true,
		"Mount the pump on a level concrete base (see section Installation) [1].":                     true,
		"Mount the pump on a level concrete base (Pump manual, page 3) [1].":                          true,
		"Mount the pump on a level concrete base [1] (from Chapter 2: Installation).":                 true,
		"Mount the pump on a level concrete base [1] (from 3. Pump care).":                            true,
		"Mount the pump on a level concrete base [1] (Pump manual: Chapter 2: Installation).":         true,
		"Mount the pump on a level concrete base (from Chapter 9: Installation) [1].":                 false,
		"Mount the pump on a level concrete base (from Chapter 2: Dragons) [1].":                      false,
		"Mount the pump on a level concrete base (never in the cellar) [1].":                          false,
	} {
		cite := NewCiter(s, NewTexts(noPages{}, chat.Scope{}), "r")
		e := NewEvidence(s, cite, chat.RunRequest{})
		w := NewWriter(func(context.Context, ...chat.Payload) error { return nil }, cite, false)
		if err := w.Write(t.Context(), said); err != nil {
			t.Fatal(err)
		}
		answer, err := w.Finish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, _, unsupported := e.Evaluate(answer)
		if got := len(unsupported) == 0; got != want {
			t.Errorf("%q is supported: got %v, want %v", answer, got, want)
		}
	}
}

func TestFootnotesFollowReferences(t *testing.T) {
	t.Parallel()
	s := NewSources()
	s.Number(corpus.Passage{
		ID: "p", DocumentID: "d", Section: "3. Installation",
		Text: "Mount the pump on a level concrete base with four bolts.",
	}, corpus.Document{ID: "d", Title: "Pump manual", Filename: "pump.pdf"})
	const said = "Mount the pump on a level concrete base with four bolts (from 3. Installation)"
	e := NewEvidence(s, NewCiter(s, NewTexts(noPages{}, chat.Scope{}), "r"), chat.RunRequest{})
	if got, _, _ := e.WithPlacedFootnotes(said + "."); got != said+" [1]." {
		t.Errorf("got %q, want the footnote behind the reference", got)
	}
	cite := NewCiter(s, NewTexts(noPages{}, chat.Scope{}), "r")
	w := NewWriter(func(context.Context, ...chat.Payload) error { return nil }, cite, false)
	w.AddFootnotes(NewEvidence(s, cite, chat.RunRequest{}))
	if err := w.Write(t.Context(), said+"."); err != nil {
		t.Fatal(err)
	}
	if got, err := w.Finish(t.Context()); err != nil || got != said+" [1]." {
		t.Errorf("got %q, %v, want the footnote behind the reference", got, err)
	}
}

// A paraphrase of the given text may contradict it: it counts half, and the explanation mentions it. A model that
// confirms the sentence decides.
func TestParaphraseOfGivenTextCountsHalf(t *testing.T) {
	t.Parallel()
	const (
		given    = "The committee accepted the proposal of the mayor in 1904. The bridge was opened by Anna Berg."
		stated   = "Anna Berg opened the bridge."
		reworded = "The mayor accepted the proposal of the committee in 1904."
		invented = "Dragons live in the cellar."
	)
	for _, tt := range []struct {
		name        string
		confirmed   []string
		doubted     []string
		confidence  float64
		unsupported []string
		explained   string
	}{
		{"by the rules", nil, nil, 0.4, []string{invented}, "1 of 3 sentences are supported by the given text. " +
			"1 sentence is paraphrased: compare it with the source."},
		{"found by a model", []string{reworded}, nil, 0.53, []string{invented}, "2 of 3 sentences are supported"},
		{"doubted by a model", nil, []string{reworded}, 0.27, []string{reworded, invented}, "1 of 3 sentences"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := NewEvidence(NewSources(), NewCiter(nil, nil, ""), chat.RunRequest{Message: "Sum this up: " + given})
			e.given, e.Confirmed, e.Doubted = given, tt.confirmed, tt.doubted
			c, explained := e.CompareGiven(strings.Join([]string{stated, reworded, invented}, " "))
			if got := c.Confidence(); got != tt.confidence {
				t.Errorf("got confidence %v, want %v", got, tt.confidence)
			}
			if !slices.Equal(c.Unsupported, tt.unsupported) {
				t.Errorf("got unsupported %q, want %q", c.Unsupported, tt.unsupported)
			}
			if !strings.Contains(explained, tt.explained) {
				t.Errorf("got %q, want %q in it", explained, tt.explained)
			}
		})
	}
}

// A paraphrase without a footnote of its own is not counted among the sentences with footnotes.
func TestParaphraseWithoutFootnoteIsNotCountedAsCited(t *testing.T) {
	t.Parallel()
	const (
		passage = "The committee accepted the proposal of the mayor in 1904. The bridge was opened by Anna Berg."
		said    = "The mayor accepted the proposal of the committee in 1904. The bridge was opened by Anna Berg. [1]"
		want    = "1 of 1 sentence with footnotes is supported by its passages; 1 sentence is paraphrased: " +
			"compare it with the source; "
	)
	sources := NewSources()
	sources.Number(corpus.Passage{ID: "p1", DocumentID: "d1", Text: passage}, corpus.Document{ID: "d1"})
	cite := NewCiter(sources, NewTexts(noPages{}, chat.Scope{}), "r")
	w := NewWriter(func(context.Context, ...chat.Payload) error { return nil }, cite, false)
	if err := w.Write(t.Context(), said); err != nil {
		t.Fatal(err)
	}
	text, err := w.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, explained, unsupported := NewEvidence(sources, cite, chat.RunRequest{Message: "Who?"}).Evaluate(text)
	if !strings.HasPrefix(explained, want) || len(unsupported) > 0 {
		t.Errorf("%q: got %q, unsupported %q; want %q before the rest and none", text, explained, unsupported, want)
	}
}
