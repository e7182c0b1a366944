package views

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const fraction = `<mfrac><mi>a</mi><mi>b</mi></mfrac>`

func TestFormulasOfAnswers(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      []string
	}{
		{"in a sentence", `So \( p^* = \frac{a}{b} \) holds ` +
			`[1].`, []string{"<p>So <math><semantics>", fraction, "holds"}},
		{"the source is its annotation", `\( \frac{a}{b} \)`,
			[]string{`<annotation encoding="application/x-tex">\frac{a}{b}</annotation>`}},
		{"on a line of its own", `So \[ \frac{a}{b} \] holds.`,
			[]string{`So <span class="math-line" tabindex="0"><math display="block">`, fraction}},
		{"over several lines that look like list items", "Thus\n\\[\nx = \\frac{a}{b}\n+ c\n- d\n\\]\nholds.",
			[]string{`<p>Thus</p>`, fraction, `<mo>−</mo><mi>d</mi>`, "<p>holds.</p>"}},
		{"between dollars, over several lines", "$$\n\\frac{a}{b}\n= " +
			"1\n$$", []string{`<math display="block">`, fraction}},
		{"a footnote behind it", "\\[ \\frac{a}{b} \\] [1]", []string{fraction, `class="cite"`}},
		{"in a heading", `## The share $\frac{a}{b}$`, []string{"<h3>The share <math>", fraction}},
		{"in a list", "- one $\\frac{a}{b}$\n- two\n  \\[\n  x\n  - y\n  \\]", []string{"<li>one <math>", fraction,
			`<mo>−</mo><mi>y</mi>`}},
		{"in a table", "| a | b |\n|---|---|\n| $\\frac{a}{b}$ | $5 and $6 |", []string{"<td><math>", fraction,
			"<td>$5 and $6</td>"}},
		{"in a quotation", "> \\[\n> \\frac{a}{b}\n> + c\n> \\]", []string{"<blockquote>", fraction, `<mo>+</mo>` +
			`<mi>c</mi>`}},
		{"in bold", `**$\frac{a}{b}$**`, []string{"<strong><math>", fraction}},
		{"marks in it are its own", `$a_1 b_2$ and \(x*y*z\)`, []string{"<msub><mi>a</mi>", "<mo>∗</mo><mi>y</mi>"}},
		{"a footnote in it is none", `\(x[1] + \frac{a}{b}\)`, []string{fraction, "<mn>1</mn>"}},
		{"code is code", "`\\(x\\)` and `$x$`", []string{`<code>\(x\)</code> and <code>$x$</code>`}},
		{"a code block is code", "```\n\\[ x \\] $y$\n```\n\n    $z$", []string{`\[ x \] $y$`, "$z$"}},
		{"money is money", "It costs $5 and $10, US$ 5 to 7$.", []string{"It costs $5 and $10, US$ 5 to 7$."}},
		{"an escaped dollar is one", `\$x\$`, []string{"<p>$x$</p>"}},
		{"escaped brackets are brackets", `See \[1\] and \[sic\].`, []string{"<p>See [1] and [sic].</p>"}},
		{"what can't be drawn is shown as it is written", `\( \unknown{x} < 1 \)`,
			[]string{`<code class="tex">\( \unknown{x} &lt; 1 \)</code>`}},
		{"what is too large, too", "$$" + strings.Repeat("x+", 3000) + "y$$",
			[]string{`<code class="tex" title="` + txtFormulaTooLarge.English() + `">$$x+x+`}},
		{"one without an end is text", `So \( x is open`, []string{"So ( x is open"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := whole(t, tt.src)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("Whole(%.200q) = %.2000s\nwant it to hold %s", tt.src, got, want)
				}
			}
			if strings.Contains(got, "fn-math") {
				t.Errorf("Whole(%.200q) = %.2000s holds a mark of ours", tt.src, got)
			}
		})
	}
}

func TestASentenceWithAFormulaIsMarkedAsOne(t *testing.T) {
	got := whole(t, `One. Two is $x_1$ here. Three.`, `Two is $x_1$ here.`)
	want := regexp.MustCompile(`One. <span class="unsupported">Two is <math>.*</math> here.</span><span class="flag">`)
	if !want.MatchString(got) {
		t.Errorf("drawn as %s, want %s in it", got, want)
	}
}

const scientific = "The optimum is \\( p^* = \\frac{a}{b} \\) [1], so $x_1 < 5$.\n\n" +
	"\\[\nf(x) =\n\\begin{cases}\nx & y \\\\\n- x & z\n" +
	"\\end{cases}\n\\]\n\nIt costs $5 and $10 a day, or \\$7.\n\n- one $a$\n- two\n\n" +
	"| n | p |\n|---|---|\n| $n$ | $5 |\n\nThen $$x$$.\n" +
	"Last: \\(\\alpha\\)"

// While an answer comes, no part of a formula is shown: neither its commands nor a delimiter, and what was shown as a
// formula once stays one.
func TestNoHalfFormulaIsShown(t *testing.T) {
	m := NewMarkdown()
	half := regexp.MustCompile(`frac|begin|alpha|_1|[\\^]|\(\s*(p|f)\b`)
	annotation := regexp.MustCompile(`(?s)<annotation.*?</annotation>|<[^>]*>`)
	money := regexp.MustCompile(`\$5 and \$10 a day, or \$7\.|\$5|\$10|or \$7?`)
	d, most := NewDraft(m, citeOne), 0
	for i := range len(scientific) {
		d.Add(scientific[i : i+1])
		shown, formulas := "", 0
		for _, b := range d.Blocks() {
			shown += annotation.ReplaceAllString(b.HTML, "")
			formulas += strings.Count(b.HTML, "<math")
		}
		if found := half.FindString(shown); found != "" {
			t.Fatalf("behind %q, %q is shown", scientific[:i+1], found)
		}
		if dollars := money.ReplaceAllString(shown, ""); strings.Contains(dollars, "$") {
			t.Fatalf("behind %q, a dollar is shown in %q", scientific[:i+1], dollars)
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

func TestStreamedFormulasAreThoseOfTheWhole(t *testing.T) {
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

// Money behind which a formula could come is shown as soon as a word follows.
func TestMoneyIsNotHeldBack(t *testing.T) {
	m := NewMarkdown()
	for _, src := range []string{"It costs $5 per", "It costs $1,000 a day.", "It costs US$ 5", "5$ or 6$ a"} {
		drawn, _ := m.drawTail(src, 1, maxNodes, true, citeOne)
		if got := drawn.blocks[0].HTML; !strings.Contains(got, strings.TrimSpace(src)) {
			t.Errorf("the open end %q is drawn as %s, want all of it", src, got)
		}
	}
}

func FuzzMathInAnswers(f *testing.F) {
	m := NewMarkdown()
	for _, s := range []string{
		scientific, `\(`, `\[`, "$$", "$x$1", "> \\[\n> a\n", "- \\[\n  a\n  \\]\n",
		"| $a | b$ |\n|--|--|\n", "`$`$x$", "\\[\n\n\\]",
		`[$x](http://a.b/$y)$`, `*$a*b$*`, "\t\\[ x\n\\]", "$$\n```\n$$", `\(\href{javascript:x}{y}\)`,
		`<fn-math n="0"></fn-math>$x$`,
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
			t.Fatalf("%q is drawn with %q: %s", s, found, b.String())
		}
		d := NewDraft(m, citeOne)
		for i, r := range s {
			d.Add(s[i : i+len(string(r))])
		}
		d.Close()
	})
}

func BenchmarkAnAnswerWithFormulas(b *testing.B) {
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
