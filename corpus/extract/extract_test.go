package extract

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/corpus/extract/doctext"
)

// noPDF is the reader of PDFs for tests that read none.
type noPDF struct{}

func (noPDF) Extract(context.Context, corpus.File, func(int, int)) (corpus.Extracted, error) {
	return corpus.Extracted{}, errors.New("handed to the PDF reader")
}

func (noPDF) Render(context.Context, corpus.File, int, int) ([]byte, error) {
	return nil, errors.New("handed to the PDF reader")
}

func extractBytes(t testing.TB, name, mime string, data []byte) (corpus.Extracted, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "original")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return New(noPDF{}, noPDF{}).Extract(
		t.Context(), corpus.File{Path: path, Filename: name, MIME: mime, Bytes: int64(len(data))}, nil,
	)
}

func mustExtract(t testing.TB, name, src string) corpus.Extracted {
	t.Helper()
	x, err := extractBytes(t, name, "text/plain", []byte(src))
	if err != nil {
		t.Fatalf("Extract(%q): %v, want no error", src, err)
	}
	if err := doctext.Check(x); err != nil {
		t.Fatalf("Extract(%q) breaks a promise: %v, want no error", src, err)
	}
	return x
}

// describe formats the blocks: kind, level, ordinal, headings, text, marks and cells.
func describe(x corpus.Extracted) []string {
	runes := []rune(x.Text)
	cut := func(from, to int) string { return string(runes[from:to]) }
	var out []string
	for _, b := range x.Blocks {
		var s strings.Builder
		s.WriteString(string(b.Kind))
		if b.Level > 0 {
			fmt.Fprint(&s, b.Level)
		}
		if b.Ordinal > 0 {
			fmt.Fprintf(&s, "#%d", b.Ordinal)
		}
		if b.Quote {
			s.WriteString(" quote")
		}
		if b.Language != "" {
			s.WriteString(" " + b.Language)
		}
		if len(b.Headings) > 0 {
			fmt.Fprintf(&s, " in %s", strings.Join(b.Headings, "/"))
		}
		fmt.Fprintf(&s, ": %s", cut(b.Start, b.End))
		for _, m := range b.Marks {
			fmt.Fprintf(&s, " {%s %s%s}", m.Kind, cut(m.Start, m.End), strings.TrimSpace(" "+m.URL))
		}
		for _, row := range b.Cells {
			s.WriteString(" [")
			for i, c := range row {
				if i > 0 {
					s.WriteByte(';')
				}
				s.WriteString(cut(c[0], c[1]))
			}
			s.WriteString("]")
		}
		out = append(out, s.String())
	}
	return out
}

func TestMarkdown(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      []string
	}{
		{"headings hold what is below them", "# House\n\nDry.\n\n## Roof\n\nNew *slates*.\n\n# Garden\nWet.", []string{
			"heading1: House", "paragraph in House: Dry.", "heading2 in House: Roof",
			"paragraph in House/Roof: New slates. {em slates}",
			"heading1: Garden", "paragraph in Garden: Wet."}},
		{"marks are beside the text",
			"a **b** `c` [d](https://e.f) [g](javascript:alert(1)) \\*h\\* &amp; &lt;", []string{
				"paragraph: a b c d g *h* & < {strong b} {code c} {link dhttps://e.f}"}},
		{"soft breaks are spaces, hard ones are kept", "one\ntwo  \nthree", []string{"paragraph: one two\nthree"}},
		{"list items know their depth and number", "3. three\n4. four\n   - inner\n\n   more", []string{
			"list1#3: 3. three", "list1#4: 4. four", "list2: inner", "paragraph: more"}},
		{"tables keep their cells", "| a | b |\n|---|---|\n| 1 | |\n| é | **2** |", []string{
			"table: a | b\n1 | \né | 2 {strong 2} [a;b] [1;] [é;2]"}},
		{"code keeps its lines and its language", "```go\nfunc f() {\n\n\treturn\n}\n```",
			[]string{"code go: func f() {\n\n\treturn\n}"}},
		{"quotations are marked", "> so\n> he said\n\nyes", []string{"paragraph quote: so he said", "paragraph: yes"}},
		{"footnotes follow", "Dry[^1].\n\n[^1]: As measured.",
			[]string{"paragraph: Dry[1].", "paragraph: [1] As measured."}},
		{"the text of raw HTML is kept without its markup",
			"<div><p>Kept <b>bold</b></p><script>alert(1)</script></div>\n\na <span " +
				"onclick=x>b</span><script>c</script> d<br>e", []string{
				"paragraph: Kept bold {strong bold}", "paragraph: a b d\ne"}},
		{"raised digits are no part of a number", "In 1921<sup>1</sup> it was 4 m<sup>2</sup>, the 2<sup>nd</sup>.",
			[]string{"paragraph: In 1921¹ it was 4 m², the 2nd."}},
		{"formulas keep their TeX", "The price \\( p^* = \\frac{a_1}{b_2} \\) is *it*, $x_1 < y_2$ or $5 and $10.\n\n" +
			"\\[\nx\n= *y*\n- z\n\\]\n\n- $a_1$\n\n| $b$ |\n|---|\n| $$c$$ |\n\n`$d$` and \\[1\\]", []string{
			`paragraph: The price \( p^* = \frac{a_1}{b_2} \) is it, $x_1 < y_2$ or $5 and $10. ` +
				`{math \( p^* = \frac{a_1}{b_2} \)} {em it} {math $x_1 < y_2$}`,
			`paragraph: \[ x = *y* - z \] {math \[ x = *y* - z \]}`, "list1: $a_1$ {math $a_1$}",
			"table: $b$\n$$c$$ {math $b$} {math $$c$$} [$b$] [$$c$$]", "paragraph: $d$ and [1] {code $d$}"}},
		{"formulas in quotations are whole", "> Thus\n> \\[\n> x\n> + y\n> \\]\n> holds.", []string{"paragraph " +
			"quote: Thus",
			`paragraph quote: \[ x + y \] {math \[ x + y \]}`, "paragraph quote: holds."}},
		{"task lists show their state", "- [x] done\n- [ ] open", []string{"list1: [x] done", "list1: [ ] open"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, describe(mustExtract(t, "a.md", tt.src))); diff != "" {
				t.Errorf("blocks of %q (-want +got):\n%s", tt.src, diff)
			}
		})
	}
}

func TestFrontMatterIsMetadata(t *testing.T) {
	x := mustExtract(
		t, "a.md",
		"---\ntitle: The house\nauthor: A. Smith\ndate: 2024-02-29\ntags: [roof, wall]\nlang: en-GB\n---\n# "+
			"Heading\n\nText.",
	)
	want := map[string]any{"author": "A. Smith", "date": "2024-02-29", "tags": []any{"roof", "wall"}}
	if diff := cmp.Diff(want, x.Meta); diff != "" {
		t.Errorf("Meta (-want +got):\n%s", diff)
	}
	if x.Title != "The house" || x.Language != "en" || strings.Contains(x.Text, "---") {
		t.Errorf("title %q, language %q, text %q; want %q, %q, no %q in it",
			x.Title, x.Language, x.Text, "The house", "en", "---")
	}
	if x = mustExtract(t, "a.md", "---\nnot: [closed\n---\n\nText."); !strings.Contains(x.Text, "not: [closed") {
		t.Errorf("text = %q, want what is not YAML to stay", x.Text)
	}
}

func TestPlainText(t *testing.T) {
	long := "This line was cut by an editor at about seventy letters, as it was"
	for _, tt := range []struct {
		name, src string
		want      []string
	}{
		{"blank lines end paragraphs", "one\n\n\n two\n", []string{"paragraph: one", "paragraph: two"}},
		{"wrapped lines are joined",
			long + "\nusual in older times, and goes on here. The end of it comes a bit\nlater.", []string{
				"paragraph: " + long + " usual in older times, and goes on here. The end of it comes a bit later."}},
		{"short lines are kept apart", "Jane Doe\n12 High Street\nLeeds",
			[]string{"paragraph: Jane Doe\n12 High Street\nLeeds"}},
		{"underlined lines are headings", "House\n=====\n\nDry.\n\nRoof\n----\nNew.", []string{
			"heading1: House", "paragraph in House: Dry.", "heading2 in House: Roof", "paragraph in House/Roof: New."}},
		{"a short line alone is no heading", "HELLO\n\nworld", []string{"paragraph: HELLO", "paragraph: world"}},
		{"marked lines are list items", "- one\n- two\n1. three",
			[]string{"list1: one", "list1: two", "list1#1: 1. three"}},
		{"numbers and letters of items are kept as they are written",
			"(a) one\n(b) two\n\n    iii) three\n    iv) four\n\n12) twelve", []string{
				"list1#1: (a) one", "list1#2: (b) two", "list1#3: iii) three", "list1#4: iv) four",
				"list1#12: 12) twelve"}},
		{"a dash or a number where a line is wrapped begins no item",
			"In this list an entry stands before those that it can overrule\n- but not always, as the " +
				"year in which it was written was the\n" +
				"7. It ends here.\n", []string{
				"paragraph: In this list an entry stands before those that it can overrule - but not always, as the " +
					"year in which it was written was the 7. It ends here."}},
		{"Japanese lines are joined without a space", strings.Repeat("屋", 45) + "\n根は新しい。",
			[]string{"paragraph: " + strings.Repeat("屋", 45) + "根は新しい。"}},
		{"control characters go", "a\x01b\u200bc\ufeffd", []string{"paragraph: ab\u200bcd"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, describe(mustExtract(t, "a.txt", tt.src))); diff != "" {
				t.Errorf("blocks of %q (-want +got):\n%s", tt.src, diff)
			}
		})
	}
}

func TestHTML(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      []string
	}{
		{"blocks, marks and lists",
			"<h1>House</h1><p>Dry <b>walls</b>,<br>new roof.<ul><li>one<ul><li>inner</ul><li>two</ul><ol " +
				"start=3><li>three</ol>", []string{
				"heading1: House", "paragraph in House: Dry walls,\nnew roof. {strong walls}", "list1 in House: one",
				"list2 in House: inner",
				"list1 in House: two", "list1#3 in House: 3. three"}},
		{"raised digits are no part of a number",
			"<p>In 1921<sup><a href=#n1>1</a></sup> it was 4 m<sup>2</sup>, the 2<sup>nd</sup>.",
			[]string{"paragraph: In 1921¹ it was 4 m², the 2nd."}},
		{"items have the numbers that a browser draws",
			"<ol type=a><li>one<li value=5>five</ol><ol type=I start=4><li>four</ol>" +
				"<ol reversed><li>two<li><p>one</ol>",
			[]string{"list1#1: a. one", "list1#5: e. five", "list1#4: IV. four", "list1#2: 2. two", "list1#1: 1. one"}},
		{"what is not seen is dropped",
			"<style>a{}</style><p>seen<script>b()</script><span hidden>c</span><span style='display: " +
				"none'>d</span><nav>e</nav><!-- f -->", []string{"paragraph: seen"}},
		{"tables keep their cells",
			"<table><caption>Prices</caption><thead><tr><th>a<th>b</thead><tr><td>1<td><p>2</p><p>3</p></table>",
			[]string{
				"paragraph: Prices", "table: a | b\n1 | 2 3 [a;b] [1;2 3]"}},
		{"tables that lay out a page are no tables", "<table><tr><td><h2>Left</h2>text<td>right</table>", []string{
			"heading2: Left", "paragraph in Left: text", "paragraph in Left: right"}},
		{"code keeps its lines", "<pre><code class='language-go'>a\n  b</code></pre>", []string{"code go: a\n  b"}},
		{"quotations are marked", "<blockquote><p>so</blockquote>", []string{"paragraph quote: so"}},
		{"links keep safe addresses", "<p><a href='https://a.b'>c</a> <a href='javascript:d'>e</a>",
			[]string{"paragraph: c e {link chttps://a.b}"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, describe(mustExtract(t, "a.html", tt.src))); diff != "" {
				t.Errorf("blocks of %q (-want +got):\n%s", tt.src, diff)
			}
		})
	}
}

func TestArticleIsExtractedFromPage(t *testing.T) {
	body := strings.Repeat(
		"<p>The roof of the house was looked at, and it was found to be dry, sound, and in good order, which is rare "+
			"in houses of this age.</p>", 12,
	)
	src := `<!doctype html><html lang="en-GB"><head><title>Roof survey</title><meta name="author" content="A. Smith">
		<meta property="article:published_time" content="2024-02-29"></head><body><div class="sidebar"><a ` +
		`href="/1">Buy our slates now</a></div>
		<article><h1>Roof survey</h1>` + body + `</article><div class="comments">First! Nice roof.</div></body></html>`
	x := mustExtract(t, "a.html", src)
	if strings.Contains(x.Text, "Buy our slates") || strings.Contains(x.Text, "Nice roof") {
		t.Errorf("the text holds what is around the article: %q; want no %q in it and no %q in it",
			x.Text, "Buy our slates", "Nice roof")
	}
	if got := describe(x)[0]; got != "heading1: Roof survey" || len(x.Blocks) != 13 {
		t.Errorf("%d blocks, the first is %q; want %q and 13 blocks", len(x.Blocks), got, "heading1: Roof survey")
	}
	want := map[string]any{"author": "A. Smith", "date": "2024-02-29"}
	if diff := cmp.Diff(want, x.Meta); diff != "" || x.Title != "Roof survey" || x.Language != "en" {
		t.Errorf("title %q, language %q, Meta (-want +got):\n%s", x.Title, x.Language, diff)
	}
}

func TestFilesWithoutTextAreRejected(t *testing.T) {
	for _, tt := range []struct{ name, file, data, code, says string }{
		{"an empty file", "a.txt", "", "no_text", "empty"},
		{"white space alone", "a.md", " \n\n ", "no_text", "No text"},
		{"binary data", "a.txt", "ab\x00\x01\x02\x03cd\x00\x00\x05", "unsupported", "binary"},
		{"a zip named .pdf", "a.pdf", "PK\x03\x04rest", "unsupported", "not a PDF: it is a ZIP archive"},
		{"a Pages file", "a.pages", "PK\x03\x04rest", "unsupported", "is a Pages file, which is not supported"},
		{"a picture of another kind", "a.gif", "GIF89a\x01\x00", "unsupported", "Save it as PNG"},
		{"text named .pdf", "a.pdf", "just text", "broken", "not a PDF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := extractBytes(t, tt.file, "", []byte(tt.data))
			f, ok := errors.AsType[*corpus.Failure](err)
			if !ok || f.Code != tt.code || !strings.Contains(f.Detail.String(), tt.says) {
				t.Errorf("error = %#v, want %s and %q", err, tt.code, tt.says)
			}
		})
	}
}

func TestPDFIsDetectedUnderAnyName(t *testing.T) {
	_, err := extractBytes(t, "a.txt", "text/plain", []byte("\n%PDF-1.4\n"))
	if err == nil || !strings.Contains(err.Error(), "PDF reader") {
		t.Errorf("error = %v, want the PDF reader's", err)
	}
}

func TestDeepNestingIsReadAsText(t *testing.T) {
	for _, tt := range []struct{ name, file, src string }{
		{"quotations", "a.md", strings.Repeat(">", 100_000) + " deep"},
		{"lists", "a.md", strings.Repeat("- ", 50_000) + "deep"},
		{"numbered lists", "a.md", strings.Repeat("1. ", 50_000) + "deep"},
		{"brackets", "a.md", strings.Repeat("[", 100_000) + " deep"},
		{"dollars", "a.md", strings.Repeat("$a ", 300_000) + " deep"},
		{"open formulas", "a.md", strings.Repeat(`\(a `, 200_000) + " deep"},
		{"open lines", "a.md", strings.Repeat("\\[\n$$\n", 100_000) + " deep"},
		{"emphasis", "a.md", strings.Repeat("*a ", 50_000) + " deep"},
		{"links", "a.md", strings.Repeat("![](", 50_000) + " deep"},
		{"angle brackets", "a.md", strings.Repeat("<a ", 50_000) + " deep"},
		{"elements", "a.html", strings.Repeat("<div>", 100_000) + " deep"},
		{"tables", "a.html", strings.Repeat("<table><tr><td>", 30_000) + " deep"},
		{"texts for old browsers", "a.html", "<p>" + strings.Repeat("<noscript><iframe><noframes>", 50_000) + " deep"},
		{"shadow trees", "a.html", strings.Repeat("<div><template shadowrootmode=open>", 40_000) + " deep"},
		{"elements inside Markdown", "a.md", strings.Repeat("<div>", 50_000) + " deep"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if x := mustExtract(t, tt.file, tt.src); !strings.HasSuffix(x.Text, "deep") {
				t.Errorf("the text ends with %q, want %q at its end", x.Text[max(0, len(x.Text)-40):], "deep")
			}
		})
	}
}

func FuzzExtract(f *testing.F) {
	for _, seed := range []string{
		"# a\n\n- b\n  - c\n\n> d\n\n|e|f|\n|-|-|\n|g|h|", "<table><tr><td>a<td>b</table><pre> c\n\n</pre><ul><li>d",
		"---\na: b\n---\nc[^1]\n\n[^1]: d",
		"a\r\nb\r\rc\x00", "\xff\xfea\x00", "a<br><br>b", "| | |\n|-|-|\n| | |", "`a` **b** [c](http://d)",
		"\\(a_b\\) $c$\n\n> \\[\n> d\n> \\]\n\n|$e$|\n|-|\n|$$f|g$$|",
	} {
		for kind := range 3 {
			f.Add([]byte(seed), byte(kind))
		}
	}
	names := []string{"a.md", "a.html", "a.txt"}
	f.Fuzz(func(t *testing.T, data []byte, kind byte) {
		x, err := extractBytes(t, names[int(kind)%3], "", data)
		if err != nil {
			if _, ok := errors.AsType[*corpus.Failure](err); !ok && !strings.Contains(err.Error(), "PDF reader") {
				t.Fatalf("error = %v, want a *corpus.Failure", err)
			}
			return
		}
		if err := doctext.Check(x); err != nil {
			t.Fatalf("%q: %v, want no error", data, err)
		}
		if strings.ContainsRune(x.Text, '\ufffd') && !strings.Contains(string(data), "\ufffd") &&
			!strings.Contains(string(data), "&#") && len(data) > 0 && data[0] < 0x80 {
			t.Logf("%q became %q", data, x.Text)
		}
	})
}

func TestPagePlaceholderIsNotTitle(t *testing.T) {
	const body = `</title></head><body><h1>Roof survey</h1>` +
		`<p>The slates are new and the walls are dry.</p></body></html>`
	for stated, want := range map[string]string{
		"Survey - Harrow": "Survey - Harrow", "Untitled Document": "Roof survey", "(anonymous)": "Roof survey",
		"Neue Seite": "Roof survey", "roof.html": "Roof survey", "…": "Roof survey", "": "Roof survey",
	} {
		if x := mustExtract(t, "a.html", "<html><head><title>"+stated+body); x.Title != want {
			t.Errorf("a page that calls itself %q has the title %q, want %q", stated, x.Title, want)
		}
	}
	for _, stated := range []string{"Untitled", "(anonymous)", "index.html", "…"} {
		page := "<html><head><title>" + stated + "</title></head><body><p>The slates are new.</p></body></html>"
		if x := mustExtract(t, "a.html", page); x.Title != "" {
			t.Errorf("a page without a heading that calls itself %q has the title %q, want none", stated, x.Title)
		}
	}
}

// Text that a browser displays is read wherever it is in the file. Hidden text is a fallback for a page without
// other text.
func TestHiddenTextIsFallbackForPageWithoutText(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      []string
	}{
		{"the text for browsers without frames", "<html><head><title>Manual</title></head><frameset cols='20%,*'>" +
			"<frame src=left.html><frame src=right.html><noframes><body><h1>Roof</h1><p>It is <b>new</b>.</body>" +
			"</noframes></frameset></html>",
			[]string{"heading1: Roof", "paragraph in Roof: It is new. {strong new}"}},
		{"the text for browsers without scripts", "<body><div id=app></div><noscript><p>The roof is new.</noscript>" +
			"<script src=a.js></script>", []string{"paragraph: The roof is new."}},
		{"beside other text that is left out", "<p>Seen.<noscript>no script</noscript><noframes>no frame</noframes>" +
			"<iframe>no inner frame</iframe><noembed>no player</noembed><template>later</template><img alt=roof>",
			[]string{"paragraph: Seen."}},
		{"the text for browsers without players", "<object data=a.swf><p>The roof in words.</object>",
			[]string{"paragraph: The roof in words."}},
		{"the text of an inner frame for old browsers", "<iframe src=a.html><p>See the roof.</iframe>",
			[]string{"paragraph: See the roof."}},
		{"the document of an inner frame", "<p>Above.<iframe srcdoc='&lt;p&gt;The roof is &lt;i&gt;new&lt;/i&gt;." +
			"'>old</iframe><iframe hidden srcdoc=hidden></iframe><p>Below.",
			[]string{"paragraph: Above.", "paragraph: The roof is new. {em new}", "paragraph: Below."}},
		{"a shadow tree with its slots filled", "<house-card><template shadowrootmode=open><style>b{}</style>" +
			"<h2><slot name=title>Untitled</slot></h2><slot></slot><p>Owner: <slot name=owner>nobody</slot>." +
			"</template><p>Dry walls.</p><b slot=title>Mill Lane</b><p slot=cellar>not shown</p></house-card>",
			[]string{"heading2: Mill Lane {strong Mill Lane}", "paragraph in Mill Lane: Dry walls.",
				"paragraph in Mill Lane: Owner: nobody."}},
		{"a shadow tree inside another", "<x-a><template shadowrootmode=open><x-b><template shadowrootmode=closed>" +
			"<p>Inner: <slot></slot></template><i><slot></slot></i></x-b></template>roof</x-a>",
			[]string{"paragraph: Inner: roof {em roof}"}},
		{"hidden elements", "<div style='display:none'><p>The roof is new.</div><script>show()</script>",
			[]string{"paragraph: The roof is new."}},
		{"a template", "<template><p>The roof is new.</template>", []string{"paragraph: The roof is new."}},
		{"a page of links", "<nav><ul><li><a href=roof.html>Roof</a><li>Cellar</ul></nav>",
			[]string{"list1: Roof", "list1: Cellar"}},
		{"a field", "<form><textarea>The roof is new.</textarea><input value=x></form>",
			[]string{"paragraph: The roof is new."}},
		{"a drawing", "<svg><style>a{}</style><g><text>Roof</text><text>Cellar</text></g></svg>",
			[]string{"paragraph: Roof", "paragraph: Cellar"}},
		{"pictures", "<p><img src=a.png alt='The roof is new.'><img src=b.png title='A cellar'><img src=c.png>",
			[]string{"paragraph: The roof is new.", "paragraph: A cellar"}},
		{"what can be unfolded is always read", "<p>Seen.<details><summary>Roof</summary>It is new.</details>",
			[]string{"paragraph: Seen.", "paragraph: Roof", "paragraph: It is new."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, describe(mustExtract(t, "a.html", tt.src))); diff != "" {
				t.Errorf("blocks of %q (-want +got):\n%s", tt.src, diff)
			}
		})
	}
}

func TestPageWithoutTextNamesNextStep(t *testing.T) {
	for _, tt := range []struct{ name, src, says string }{
		{"frames", "<title>Manual</title><frameset><frame src=left.html><frame src=left.html><frame src=b/right.html>" +
			"</frameset>", "This page only embeds other pages. Add left.html, b/right.html."},
		{"scripts", "<title>App</title><div id=root></div><img src=logo.png><script src=a.js></script>",
			"This page loads its text with scripts, which Footnote doesn't run. Save it as PDF"},
		{"pictures", "<img src=a.png>", "This page contains images without text. Save it as PDF, run OCR"},
		{"nothing", "<title>Manual</title><p> </p>", "No text found in this file."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := extractBytes(t, "a.html", "text/html", []byte(tt.src))
			f, ok := errors.AsType[*corpus.Failure](err)
			if !ok || f.Code != "no_text" || !strings.HasPrefix(f.Detail.String(), tt.says) {
				t.Errorf("error of %q = %v, want no_text and %q", tt.src, err, tt.says)
			}
		})
	}
}

// The fallback reader without markup finds the same parts.
func TestHiddenTextFallbackWorksWithoutMarkup(t *testing.T) {
	for src, want := range map[string]string{
		"<frameset><frame src=a.html><noframes><h1>Roof</h1><p>It is <b>new</b>.</noframes></frameset>": "Roof\n\n" +
			"It is new.",
		"<p>Seen.<noscript>no script</noscript>": "Seen.",
		"<nav>Roof</nav><script>a()</script>":    "Roof",
	} {
		path := filepath.Join(t.TempDir(), "original")
		if err := os.WriteFile(path, []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
		file := corpus.File{Path: path, Filename: "a.html", MIME: "text/html", Bytes: int64(len(src))}
		if x, err := New(noPDF{}, noPDF{}).ExtractPlain(t.Context(), file, nil); err != nil || x.Text != want {
			t.Errorf("text of %q = %q, %v; want %q", src, x.Text, err, want)
		}
	}
}

// logOf returns a log of that many lines.
func logOf(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "2026-03-01 12:%02d:%02d worker %d stored register %d\n", i/60%60, i%60, i%7, i)
	}
	return b.String()
}

// noise returns random bytes, as in compressed data.
func noise(n int) string {
	random, b := rand.New(rand.NewPCG(1, 2)), make([]byte, n)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	return string(b)
}

// numbers returns n numbers of four bytes each.
func numbers(n int, value func(i int) uint32) string {
	var b []byte
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, value(i))
	}
	return string(b)
}

func encoded(t *testing.T, enc interface{ String(string) (string, error) }, s string) string {
	t.Helper()
	out, err := enc.String(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A text with some binary bytes is read, with any file name.
func TestMostlyTextIsRead(t *testing.T) {
	russian := strings.Repeat("Крыша дома была осмотрена, стены сухие.\n", 40)
	for _, tt := range []struct{ name, file, data, want string }{
		{"a log with stray zero bytes", "a.log", strings.ReplaceAll(logOf(200), "worker", "wor\x00ker"+
			"\x00"), logOf(200)},
		{"zero bytes at its beginning", "a.log", "\x00\x00\x00" + logOf(3), logOf(3)},
		{"a zero in its first word", "a.log", "ERR\x00OR: the disk is full\nretried\n", "ERROR: the disk is " +
			"full\nretried\n"},
		{"a row of zeros ahead of it", "app.out", strings.Repeat("\x00", 9000) + logOf(50), logOf(50)},
		{"a row of zeros inside", "app", logOf(50) + strings.Repeat("\x00", 1<<20) + logOf(50), logOf(50) + logOf(50)},
		{"a row of zeros inside a legacy encoding", "a.txt",
			encoded(t, charmap.Windows1251.NewEncoder(), russian+"!!!") + strings.Repeat("\x00", 4096) +
				encoded(t, charmap.Windows1251.NewEncoder(), russian), russian + "!!!" + russian},
		{"more stray control characters than one in a hundred", "a.dat",
			strings.ReplaceAll(logOf(200), "stored", "\x01stored\x02"), logOf(200)},
		{"stray control characters of all kinds", "a.log", func() string {
			var b strings.Builder
			for i, r := range logOf(400) {
				if b.WriteRune(r); i%79 == 0 {
					b.WriteByte(byte(i / 79 % 9))
				}
			}
			return b.String()
		}(), logOf(400)},
		{"colours and titles of a terminal", "ci.log",
			"\x1b]0;build\x07\x1b[1;31mERROR\x1b[0m the \x1b[4mroof\x1b[24m leaks\x1b(B\n" + logOf(3),
			"ERROR the roof leaks\n" + logOf(3)},
		{"bold and underlined words of a manual page", "ls.txt", "N\bNA\bAM\bME\bE\n\n" +
			strings.Repeat("list _\bf_\bi_\bl_\be_\bs of größe\be\n", 30), "NAME\n\n" +
			strings.Repeat("list files of größe\n", 30)},
		{"a binary end", "a.log", logOf(400) + noise(8000), logOf(400)},
		{"a binary part inside", "a.log", logOf(400) + noise(8000) + "\n" + logOf(400), logOf(400) + logOf(400)},
		{"a few bytes that are no UTF-8", "a.log", strings.Repeat("größe ", 40) + "caf\xe9 " + "\x00" + "ende",
			strings.Repeat("größe ", 40) + "café ende"},
		{"UTF-16 without a " +
			"mark", "a.log", encoded(t, unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder(),
			logOf(20)), logOf(20)},
		{"the first letters of a picture", "a.txt", "BM25 scores words.", "BM25 scores words."},
		{"the first letters of a font", "a.txt", "OTTO VON BISMARCK", "OTTO VON BISMARCK"},
		{"the first letters of a song", "a.md", "ID3 tags name songs.", "ID3 tags name songs."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			head := tt.data[:min(len(tt.data), corpus.SniffBytes)]
			if _, err := Formats.Sniff([]byte(head), tt.file); err != nil {
				t.Errorf("Sniff fails with %q, want no error", chat.MessageOf(err).String())
			}
			decoded, err := decodeText([]byte(tt.data), "")
			got := strings.Map(func(r rune) rune {
				if doctext.Dropped(r) {
					return -1
				}
				return r
			}, decoded)
			// a few bytes between binary data may look like a text
			if !holdsLines(got, tt.want) || len(got) > len(tt.want)+len(tt.want)/100+200 || err != nil {
				t.Errorf("decode(%.80q) = %.300q (%d bytes), %v; want %.300q (%d bytes)", tt.data, got, len(got), err,
					tt.want, len(tt.want))
			}
			if strings.ContainsRune(decoded, 0) {
				t.Errorf("text has NUL characters")
			}
		})
	}
}

// holdsLines reports whether a text contains the lines of another one in order, with at most some text in between.
func holdsLines(text, lines string) bool {
	for line := range strings.Lines(lines) {
		_, after, ok := strings.Cut(text, line)
		if !ok {
			return false
		}
		text = after
	}
	return true
}

// Mostly binary data is rejected with the same message during an upload and when it is read.
func TestMostlyBinaryIsRejected(t *testing.T) {
	const notText = "contains binary data, not text. Save it as PDF and add the new file."
	for _, tt := range []struct{ name, file, data, says string }{
		{"compressed data", "a.log", noise(9000), notText},
		{"a text behind more binary data", "a.txt", noise(9000) + logOf(100), notText},
		{"numbers", "a.dat", numbers(3000, func(i int) uint32 { return math.Float32bits(float32(i)) }), notText},
		{"small numbers", "a", numbers(3000, func(i int) uint32 { return uint32(i % 127) }), notText},
		{"letters between control characters", "a.txt", strings.Repeat("ab\x00\x01cd", 50), notText},
		{"a song", "a.txt", "ID3\x03\x00\x00" + noise(5000),
			"is a sound recording, which is not supported. Add documents only."},
		{"a bitmap", "a.log", "BM\x36\x10\x00\x00\x00\x00" + noise(5000),
			"is an image in another format, which is not supported. Save it as PNG or JPEG"},
		{"a video", "a.mp4", "\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom" + noise(5000),
			"is a video, which is not supported"},
		{"a TAR archive", "a.tar", "a.txt" + strings.Repeat("\x00", 252) + "ustar\x0000" + logOf(9),
			"is a TAR archive, which"},
		{"PostScript", "a.ps", "%!PS-Adobe-3.0\n%%Title: a\n", "is a PostScript file, which is not supported. " +
			"Save it as PDF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			head := tt.data[:min(len(tt.data), corpus.SniffBytes)]
			_, err := Formats.Sniff([]byte(head), tt.file)
			if want := "“" + tt.file + "” " + tt.says; err == nil ||
				!strings.HasPrefix(chat.MessageOf(err).String(), want) {
				t.Errorf("Sniff fails with %v, want %q", err, want)
			}
			_, err = extractBytes(t, tt.file, "text/plain", []byte(tt.data))
			f, ok := errors.AsType[*corpus.Failure](err)
			if want := "This file " + tt.says; !ok || f.Code != "unsupported" ||
				!strings.HasPrefix(f.Detail.String(), want) {
				t.Errorf("Extract fails with %v, want %q", err, want)
			}
		})
	}
}

func TestFileOfZerosHasNoText(t *testing.T) {
	_, err := extractBytes(t, "a.log", "text/plain", make([]byte, 1<<20))
	if f, ok := errors.AsType[*corpus.Failure](err); !ok || f.Code != "no_text" {
		t.Errorf("error = %v, want no_text", err)
	}
}
