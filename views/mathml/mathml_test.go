package mathml

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// body returns the markup between semantics and the annotation.
func body(t *testing.T, tex string, block bool) string {
	t.Helper()
	markup, _, err := Draw(tex, block)
	if err != nil {
		t.Errorf("%s: %v", tex, err)
		return ""
	}
	checkMarkup(t, markup, tex)
	_, markup, _ = strings.Cut(markup, "<semantics>")
	markup, _, _ = strings.Cut(markup, "<annotation")
	return markup
}

func TestFormulasAreDrawn(t *testing.T) {
	const close = `<mo fence="true" form="postfix" stretchy="true" symmetric="true">`
	for tex, want := range map[string]string{
		`p^* = \frac{a}{b}`: `<mrow><msup><mi>p</mi><mo>∗</mo></msup><mo>=</mo><mfrac><mi>a</mi><mi>b</mi></mfrac>` +
			`</mrow>`,
		`\frac12`:     `<mrow><mfrac><mn>1</mn><mn>2</mn></mfrac></mrow>`,
		`{a \over b}`: `<mrow><mfrac><mi>a</mi><mi>b</mi></mfrac></mrow>`,
		`\sum_{i=1}^n x_i`: `<mrow><munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi>` +
			`</munderover>` +
			`<msub><mi>x</mi><mi>i</mi></msub></mrow>`,
		`\int\limits_0^1`: `<mrow><munderover><mo>∫</mo><mn>0</mn><mn>1</mn></munderover></mrow>`,
		`\sqrt[3]{x}`:     `<mrow><mroot><mi>x</mi><mn>3</mn></mroot></mrow>`,
		`\mathbb{R}^n`:    `<mrow><msup><mi>ℝ</mi><mi>n</mi></msup></mrow>`,
		`\mathrm{kg}`:     `<mrow><mi>kg</mi></mrow>`,
		`\mathbf{x}_1`:    `<mrow><msub><mi>𝐱</mi><mn>1</mn></msub></mrow>`,
		`f''`:             `<mrow><msup><mi>f</mi><mo lspace="0" rspace="0">′′</mo></msup></mrow>`,
		`1{,}234.5`:       `<mrow><mn>1,234.5</mn></mrow>`,
		`\text{if } x`:    "<mrow><mtext>if\u00a0</mtext><mi>x</mi></mrow>",
		`\text{für $n$}`:  "<mrow><mtext>für\u00a0</mtext><mi>n</mi></mrow>",
		`\not\in`:         `<mrow><mo>∉</mo></mrow>`,
		`\boxed{x}`:       `<mrow class="mx-box"><mi>x</mi></mrow>`,
		`\hat\beta`:       `<mrow><mover accent="true"><mi>β</mi><mo stretchy="false">^</mo></mover></mrow>`,
		`\left. x \right|_0`: `<mrow><msub><mrow><mo fence="true" form="prefix" stretchy="true" symmetric="true">` +
			`</mo>` +
			`<mi>x</mi>` + close + `|</mo></mrow><mn>0</mn></msub></mrow>`,
		`\begin{bmatrix} 1 \\ 2 \end{bmatrix}`: `<mrow><mo fence="true" form="prefix" stretchy="true" ` +
			`symmetric="true">[</mo><mtable><mtr><mtd><mn>1</mn></mtd></mtr><mtr><mtd><mn>2</mn></mtd></mtr></mtable>` +
			close + `]</mo></mrow>`,
		`a &= b \\ c &= d`: `<mrow><mtable displaystyle="true"><mtr><mtd class="mx-r"><mi>a</mi></mtd><mtd ` +
			`class="mx-l">` +
			`<mrow><mo>=</mo><mi>b</mi></mrow></mtd></mtr><mtr><mtd class="mx-r"><mi>c</mi></mtd><mtd class="mx-l">` +
			`<mrow>` +
			`<mo>=</mo><mi>d</mi></mrow></mtd></mtr></mtable></mrow>`,
		`x < y & z`: `<mrow><mtable displaystyle="true"><mtr><mtd class="mx-r"><mrow><mi>x</mi><mo>&lt;</mo><mi>y` +
			`</mi>` +
			`</mrow></mtd><mtd class="mx-l"><mi>z</mi></mtd></mtr></mtable></mrow>`,
	} {
		if got := body(t, tex, true); got != want {
			t.Errorf("%s is drawn as\n%s, want\n%s", tex, got, want)
		}
	}
}

// The commands that models use most, in the forms seen in their answers.
func TestCommonFormulasAreKnown(t *testing.T) {
	for line := range strings.Lines(`
x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}
\int_0^\infty e^{-x^2}\,dx = \frac{\sqrt{\pi}}{2}
\lim_{x \to 0} \frac{\sin x}{x} = 1
\hat{\beta} = (X^\top X)^{-1} X^\top y
\operatorname*{arg\,max}_{\theta} \; \mathcal{L}(\theta)
\Pr(A \mid B) = \dfrac{\Pr(B \mid A)\,\Pr(A)}{\Pr(B)}
\begin{aligned} f(x) &= (x+1)^2 \\[4pt] &= x^2 + 2x + 1 \end{aligned}
\begin{cases} x & \text{if } x \ge 0, \\ -x & \text{otherwise.} \end{cases}
\begin{array}{l|cc} & a & b \\ \hline c & 1 & 2 \\ \hline \end{array}
\left\lVert \mathbf{x} \right\rVert_2 \leq \bigl| y \bigr|
\text{CO}_2 + \ce
\underbrace{a + b}_{\text{sum}} \xrightarrow[\text{heat}]{f} c
\textbf{Gewinn} = 100\,\% \cdot \text{Umsatz} - 1{,}5\ \text{€}
A^{\mathsf{T}} \otimes B^{-1} \oplus \vec{v} \cdot \overrightarrow{AB}
\nabla \cdot \mathbf{E} = \frac{\rho}{\varepsilon_0}, \quad \partial_t u = \Delta u
\forall \epsilon > 0 \; \exists \delta > 0 : |x - a| < \delta \Rightarrow |f(x) - L| < \epsilon
n! \approx \sqrt{2\pi n}\left(\frac{n}{e}\right)^n
a \equiv b \pmod{n}, \qquad \gcd(a, n) = 1
\begin{equation} E = mc^2 \tag{1} \label{eq:e} \end{equation}
P(X = k) = \binom{n}{k} p^k (1-p)^{n-k}
\color{red}{x} + \textcolor{blue}{y}
\sum_{\substack{i < n \\ i \ne j}} a_{ij}
{}^{14}_{6}\mathrm{C} \to {}^{14}_{7}\mathrm{N} + e^- + \bar{\nu}_e
\rm{kg} \bf x
\displaystyle \sum_{i} i = \tfrac{1}{2} n(n+1)
\therefore x \in \mathbb{Z} \setminus \{0\} \iff x \neq 0 \ \blacksquare
`) {
		if tex := strings.TrimSpace(line); tex != "" && !strings.HasSuffix(tex, `\ce`) {
			body(t, tex, true)
			body(t, tex, false)
		}
	}
}

func TestWhatIsNotKnownIsRefused(t *testing.T) {
	for _, tex := range []string{
		`\href{javascript:alert(1)}{x}`, `\url{http://a.b}`, `\includegraphics{http://a.b/c.png}`, `\style{color:re` +
			`d}{x}`,
		`\class{a}{x}`, `\cssId{a}{x}`, `\data{a=b}{x}`, `\htmlClass{a}{x}`, `\def\a{\a}\a`, `\newcommand{\a}{\a\a}\a`,
		`\let\a=\b`, `\input{/etc/passwd}`, `\require{html}`, `\unknown{x}`, `\sideset{{a}}{}{b}`,
		`\begin{verbatim}x\end{verbatim}`,
		`\frac`, `\frac{a}`, `{`, `}`, `^`, `x^`, `x^1^2`, `x_1_2`, `\left(`, `\right)`, `\left(x`, `\left x \right y`,
		`\begin{aligned} a`, `\begin{aligned} a ` +
			`\end{cases}`, `\sqrt[3`, `\text{`, `\text{$a}`, `#1`, `\`, `a $ b`, "a\x00b",
		"\xff", `\hspace{1e9em}`, `\hspace{x}`, `\limits`, `\begin`, `\end{a}`,
	} {
		if markup, _, err := Draw(tex, true); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s is drawn as %s, %v; want %v", tex, markup, err, ErrUnknown)
		}
	}
}

func TestFormulasAreBounded(t *testing.T) {
	for _, tex := range []string{
		strings.Repeat("x", MaxTeX+1), strings.Repeat("x ", MaxTeX/2),
		strings.Repeat("{", 60) + strings.Repeat("}", 60),
		strings.Repeat(`\sqrt`, 60) + "x", strings.Repeat("x^{", 60) + "1" + strings.Repeat("}", 60),
		strings.Repeat(`\left(`, 60) + strings.Repeat(`\right)`, 60), strings.Repeat("{", 1<<20),
		strings.Repeat(`\text{$`, 60) + strings.Repeat(`$}`, 60), strings.Repeat(`a\over`, 200) + "b",
		strings.Repeat(`\displaystyle `, 100) + "x",
	} {
		if _, _, err := Draw(tex, true); err == nil {
			t.Errorf("%.40s… is drawn, want an error", tex)
		}
	}
}

// known holds all elements and attributes that a formula may have.
var (
	knownTags = strings.Fields("math semantics annotation mrow mi mn mo mtext mspace mfrac msqrt mroot msub msup " +
		"msubsup munder mover munderover mtable mtr mtd mstyle mphantom")
	knownAttrs = strings.Fields(
		"display encoding stretchy fence form symmetric separator lspace rspace minsize maxsize " +
			"width mathvariant accent accentunder movablelimits linethickness displaystyle scriptlevel class",
	)
)

// checkMarkup validates a rendered formula.
func checkMarkup(t *testing.T, markup, tex string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(markup))
	annotation, inAnnotation := "", false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%q: %v in %s", tex, err, markup)
		}
		switch token := token.(type) {
		case xml.StartElement:
			if !slices.Contains(knownTags, token.Name.Local) {
				t.Fatalf("%q has the element %s", tex, token.Name.Local)
			}
			inAnnotation = token.Name.Local == "annotation"
			for _, a := range token.Attr {
				if !slices.Contains(knownAttrs, a.Name.Local) || strings.ContainsAny(a.Value, `:(&<\`) {
					t.Fatalf("%q has the attribute %s=%q", tex, a.Name.Local, a.Value)
				}
			}
		case xml.CharData:
			if inAnnotation {
				annotation += string(token)
			}
		case xml.Comment, xml.Directive, xml.ProcInst:
			t.Fatalf("%q: %T in %s", tex, token, markup)
		}
	}
	want := strings.TrimSpace(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(tex))
	if annotation != want {
		t.Fatalf("%q has the annotation %q, want %q", tex, annotation, want)
	}
}

func FuzzMathML(f *testing.F) {
	for _, tex := range []string{
		`p^* = \frac{a}{b}`, `\left(\middle|\right)`, `\begin{array}{l|c} a & \hline \\[2pt] b \end{array}`,
		`\text{a $b$ c}`,
		`\def\a{\a}\a`, `\sideset{{a}}{}{b}`, `{{{{{{`, `\not\frac{a}{b}`, `x'^{'}_'`, `\operatorname*{a}_b`,
		`\xrightarrow[a]{b}`,
		`\hspace{-3.5em}`, `\color{red} a & b`, `\rm a^\bf b`, `a\over b\over c`, `<script>`,
		`\text{<img src=x>}`, `\&\{\|`, "é̂",
		`\mathbb{1}\bm\alpha`, `\substack{a\\b}`, `\tag{1}`, `5%`, `\ `, `\begin{cases}\end{cases}`,
	} {
		f.Add(tex, true)
	}
	f.Fuzz(func(t *testing.T, tex string, block bool) {
		markup, nodes, err := Draw(tex, block)
		if err != nil {
			if markup != "" || nodes != 0 {
				t.Fatalf("%q: %v with %d nodes", tex, err, nodes)
			}
			return
		}
		if nodes > MaxNodes || len(markup) > 64*MaxNodes+3*len(tex)+MaxTeX*8 {
			t.Fatalf("%q: %d nodes in %d bytes", tex, nodes, len(markup))
		}
		checkMarkup(t, markup, tex)
	})
}

func BenchmarkDraw(b *testing.B) {
	for range b.N {
		if _, _, err := Draw(`x = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}`, true); err != nil {
			b.Fatal(err)
		}
	}
}
