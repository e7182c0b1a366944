package extract

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/corpus/table"
)

// A cell over several rows belongs to each of them, and names over several columns to each column.
func TestHTMLSpans(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      []string
	}{
		{"over rows", "<tr><th>Region<th>Product<th>Units<tr><td rowspan=2>Coast<td>Rope<td>12<tr><td>Hub<td>7" +
			"<tr><td>Hills<td>Rope<td>3<tr><td colspan=2>All<td>22", []string{
			"table: Region | Product | Units\nCoast | Rope | 12\nCoast | Hub | 7\nHills | Rope | 3\nAll |  | 22" +
				" [Region;Product;Units] [Coast;Rope;12] [Coast;Hub;7] [Hills;Rope;3] [All;;22]"}},
		{"in the middle and at the end", "<tr><td>a<td rowspan=2>b<td rowspan=3>c<tr><td>d<tr><td>e<td>f", []string{
			"table: a | b | c\nd | b | c\ne | f | c [a;b;c] [d;b;c] [e;f;c]"}},
		{"over rows and columns", "<tr><td rowspan=2 colspan=2>a<td>b<tr><td>c<tr><td>d<td>e<td>f", []string{
			"table: a |  | b\na |  | c\nd | e | f [a;;b] [a;;c] [d;e;f]"}},
		{"to the end of the group", "<tbody><tr><td rowspan=0>a<td>1<tr><td>2</tbody><tbody><tr><td>b<td>3", []string{
			"table: a | 1\na | 2\nb | 3 [a;1] [a;2] [b;3]"}},
		{"beyond the group", "<thead><tr><th rowspan=9>k<th>v</thead><tr><td>a<td>1", []string{
			"table: k | v\na | 1 [k;v] [a;1]"}},
		{"names of groups", "<tr><th rowspan=2>Region<th colspan=2>2024<th colspan=2>2025<tr><th>Q1<th>Q2<th>Q1<th>Q2" +
			"<tr><td>Coast<td>1<td>2<td>3<td>4", []string{
			"table: Region | 2024 Q1 | 2024 Q2 | 2025 Q1 | 2025 Q2\nCoast | 1 | 2 | 3 | 4" +
				" [Region;2024 Q1;2024 Q2;2025 Q1;2025 Q2] [Coast;1;2;3;4]"}},
		{"names in a thead of plain cells", "<thead><tr><td><th colspan=2>Price<tr><td>Item<th>net<th>gross</thead>" +
			"<tr><td>Nail<td>2<td>3", []string{
			"table: Item | Price net | Price gross\nNail | 2 | 3 [Item;Price net;Price gross] [Nail;2;3]"}},
		{"a title in the table", "<thead><tr><th colspan=99>Stock<tr><th>Item<th>Units</thead><tr><td>Nail<td>2",
			[]string{
				"paragraph: Stock", "table: Item | Units\nNail | 2 [Item;Units] [Nail;2]"}},
		{"more columns than there are", "<tr><td>a<td>b<tr><td colspan=50>c", []string{
			"table: a | b\nc |  [a;b] [c;]"}},
		{"a foot above the body", "<thead><tr><th>k<th>v</thead><tfoot><tr><td>Sum<td>3</tfoot>" +
			"<tbody><tr><td>a<td>3</tbody>", []string{"table: k | v\na | 3\nSum | 3 [k;v] [a;3] [Sum;3]"}},
		{"blocks in cells", "<thead>\n<tr><th>\n<p>A</p>\n</th>\n<th><p>B</p></th></tr></thead>\n" +
			"<tr><td><div><p>\none\n</p></div></td><td colspan=2><p>two</p></td></tr>", []string{
			"table: A | B\none | two [A;B] [one;two]"}},
		{"a layout table", "<tr><td rowspan=2><h2>Left</h2>one<td>two<tr><td>three", []string{
			"heading2: Left", "paragraph in Left: one", "paragraph in Left: two", "paragraph in Left: three"}},
	} {
		got := describe(mustExtract(t, "a.html", "<html><table>"+tt.src+"</table></html>"))
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, diff)
		}
	}
}

// The total row of a table with a cell over several rows is not added.
func TestHTMLSpansAreSummed(t *testing.T) {
	x := mustExtract(t, "a.html", "<html><table><tr><th>Region<th>Product<th>Units<tr><td "+
		"rowspan=2>Coast<td>Rope<td>12"+
		"<tr><td>Hub<td>7<tr><td>Hills<td>Rope<td>3<tr><td colspan=2>All<td>22</table></html>")
	for _, tt := range []struct {
		where []table.Condition
		want  string
	}{
		{nil, "22"},
		{[]table.Condition{{Column: "Region", Op: table.Equal, Values: []table.Value{{Text: "Coast"}}}}, "19"},
	} {
		sum := []table.Aggregate{{Function: table.Sum, Column: "Units"}}
		answer, err := table.Read(x.Text, x.Blocks)[0].Ask(t.Context(), table.Query{Compute: sum, Where: tt.where},
			"en")
		if err != nil || answer.Totals[0].Shown != tt.want {
			t.Errorf("the sum where %v is %v, %v, want %s", tt.where, answer.Totals, err, tt.want)
		}
	}
}

func TestHTMLSpansAreBounded(t *testing.T) {
	row := "<tr>" + strings.Repeat("<td rowspan=65534 colspan=1000>a", 100)
	x := mustExtract(t, "a.html", "<html><table>"+row+strings.Repeat("<tr><td>b", 20_000)+"</table></html>")
	if !strings.Contains(x.Text, "b") || len(x.Text) > 16<<20 {
		t.Errorf("the text has %d bytes, want all cells in at most 16 MiB", len(x.Text))
	}
}

func TestHTMLInlineNotations(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"ruby", "<p><ruby>東京<rp>(</rp><rt>とうきょう</rt><rp>)</rp></ruby>タワー</p>", "東京タワー"},
		{"ruby without end tags", "<p><ruby>東<rt>とう京<rt>きょう</ruby>の<ruby><rb>高<rt>たか</ruby>さ</p>", "東の高さ"},
		{"ruby of each letter", "<p>が<ruby>表<rt>ひよう</rt>示<rt>じ</rt></ruby>された</p>", "が表示された"},
		{"ruby in ruby", "<p>C<ruby><rb><ruby><rb>言語</rb><rt>げんご</rt></ruby></rb><rt>げんご</rt></ruby>に</p>", "C言語に"},
		{"a negative exponent", "<p>1.3×<math><msup><mn>10</mn><mrow><mo>-</mo><mn>4</mn></mrow></msup></math></p>",
			"1.3×10⁻⁴"},
		{"MathJax 3", `<p>Energy <mjx-container><mjx-math aria-hidden="true"><mjx-mi>E</mjx-mi></mjx-math>` +
			`<mjx-assistive-mml><math><mi>E</mi></math></mjx-assistive-mml></mjx-container> is kept.</p>`,
			"Energy E is kept."},
		{"MathJax 2", `<p>Energy <span class="MathJax_Preview"></span><span class="MathJax">` +
			`<nobr aria-hidden="true"><span class="math">E</span></nobr><span role="presentation">` +
			`<math><mi>E</mi></math></span></span><script type="math/tex">E</script> is <nobr>kept</nobr>.</p>`,
			"Energy E is kept."},
		{"MathML", "<p>Power is <math><mi>P</mi><mo>=</mo><msup><mi>I</mi><mn>2</mn></msup><mi>R</mi></math>.</p>",
			"Power is P=I²R."},
		{"MathML, indented", "<p>So <math>\n <mfrac>\n  <mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow>\n  <mn>2</mn>\n " +
			"</mfrac>\n</math> holds.</p>", "So (a+1)/2 holds."},
		{"roots and indices",
			"<p><math><msqrt><mi>x</mi></msqrt><mo>=</mo><msub><mi>v</mi><mi>max</mi></msub><mo>−</mo>" +
				"<msubsup><mi>y</mi><mn>1</mn><mi>n</mi></msubsup></math></p>", "√x=v_max−y1^n"},
		{"brackets", "<p><math><mi>f</mi><mfenced><mi>x</mi><mi>y</mi></mfenced></math></p>", "f(x, y)"},
		{"KaTeX writes a formula three times", `<p>Energy <span class="katex"><span ` +
			`class="katex-mathml"><math><semantics>` +
			`<mrow><mi>E</mi></mrow><annotation encoding="application/x-tex">E</annotation></semantics></math></span>` +
			`<span class="katex-html" aria-hidden="true">E</span></span> is kept.</p>`, "Energy E is kept."},
		{"Wikipedia hides a formula beside its picture", `<p>Here <span><span style="display: ` +
			`none;"><math><mi>c</mi></math>` +
			`</span><img src="c.svg" aria-hidden="true"></span> is light.</p>`, "Here c is light."},
	} {
		if got := mustExtract(t, "a.html", "<html>"+tt.src+"</html>").Text; got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
