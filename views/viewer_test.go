package views

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/corpus"
)

// A formula is drawn as a whole, and marked as a whole where a quote begins or ends in it.
func TestFormulasOfDocuments(t *testing.T) {
	text := []rune(`If \(\frac{a}{b}\) is 1, $x$ <b> $5`)
	marks := []corpus.Mark{{Kind: "math", Start: 3, End: 18}, {Kind: "math", Start: 25, End: 28},
		{Kind: "strong", Start: 25, End: 28}, {Kind: "math", Start: 33, End: 35}}
	const drawn = `<math><semantics><mrow><mfrac><mi>a</mi><mi>b</mi></mfrac></mrow>` +
		`<annotation encoding="application/x-tex">\frac{a}{b}</annotation></semantics></math>`
	const x = `<strong><math><semantics><mrow><mi>x</mi></mrow><annotation encoding="application/x-tex">x` +
		`</annotation>` +
		`</semantics></math></strong>`
	for _, tt := range []struct {
		quote Span
		want  string
	}{
		{Span{}, "If " + drawn + " is 1, " + x + " &lt;b&gt; $5"},
		{Span{0, 18}, `<mark class="quote" id="cited">If ` + drawn + "</mark> is 1, " + x + " &lt;b&gt; $5"},
		{Span{7, 22}, `If <mark class="quote" id="cited">` + drawn + " is </mark>1, " + x + " &lt;b&gt; $5"},
		{Span{5, 6}, `If <mark class="quote" id="cited">` + drawn + "</mark> is 1, " + x + " &lt;b&gt; $5"},
	} {
		v := &Viewer{Text: text, Quote: tt.quote}
		var b strings.Builder
		if err := v.inline(t.Context(), marks, 0, len(text)).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		if b.String() != tt.want {
			t.Errorf("with the quote %v\n%s\nwant\n%s", tt.quote, b.String(), tt.want)
		}
	}
}

func TestInlineText(t *testing.T) {
	text := "Bold link tail <b>"
	strong := corpus.Mark{Kind: "strong", Start: 0, End: 9}
	link := func(url string) corpus.Mark { return corpus.Mark{Kind: "link", Start: 5, End: 9, URL: url} }
	const web = `<a href="/leave?to=https%3A%2F%2Fexample.org%2F" title="example.org" target="_blank" rel="noopener ` +
		`noreferrer nofollow">`
	for _, tt := range []struct {
		name           string
		marks          []corpus.Mark
		passage, quote Span
		want           string
	}{
		{"text is text", nil, Span{}, Span{}, "Bold link tail &lt;b&gt;"},
		{"formatting nests", []corpus.Mark{strong, link("https://example.org/")}, Span{}, Span{},
			"<strong>Bold </strong><strong>" + web + "link</a></strong> tail &lt;b&gt;"},
		{"bold inside bold is bold once", []corpus.Mark{strong, {Kind: "strong", Start: 0, End: 4}}, Span{}, Span{},
			"<strong>Bold</strong><strong> link</strong> tail &lt;b&gt;"},
		{"a quote that ends inside a link splits it", []corpus.Mark{link("https://example.org/")}, Span{}, Span{0, 7},
			`<mark class="quote" id="cited">Bold ` + web + `li</a></mark>` + web + "nk</a> tail &lt;b&gt;"},
		{"the quote lies dark in the light passage", nil, Span{0, 14}, Span{5, 9},
			`<mark class="passage">Bold </mark><mark class="quote" id="cited">link</mark><mark class="passage"> ` +
				`tail</mark> &lt;b&gt;`},
		{"a link that runs a script is text", []corpus.Mark{link("javascript:alert(1)")}, Span{}, Span{},
			"Bold link tail &lt;b&gt;"},
		{"a link with data is text", []corpus.Mark{link("data:text/html,x")}, Span{}, Span{},
			"Bold link tail &lt;b&gt;"},
		{"a link to nowhere is text", []corpus.Mark{link("https:///x")}, Span{}, Span{}, "Bold link tail &lt;b&gt;"},
		{"a quotation mark in a link stays in it", []corpus.Mark{link(`http://h/"x`)}, Span{}, Span{},
			`Bold <a href="/leave?to=http%3A%2F%2Fh%2F%22x" title="h" target="_blank" rel="noopener noreferrer ` +
				`nofollow">link</a> tail &lt;b&gt;`},
		{"an unknown kind of mark is text", []corpus.Mark{{Kind: "script", Start: 0, End: 4}}, Span{}, Span{},
			"Bold link tail &lt;b&gt;"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := &Viewer{Text: []rune(text), Passage: tt.passage, Quote: tt.quote}
			var b strings.Builder
			if err := v.inline(t.Context(), tt.marks, 0, len(text)).Render(t.Context(), &b); err != nil {
				t.Fatal(err)
			}
			if b.String() != tt.want {
				t.Errorf("inline = %s\nwant     %s", b.String(), tt.want)
			}
		})
	}
}
