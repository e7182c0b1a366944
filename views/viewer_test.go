package views

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
)

// A formula is rendered as a whole, and marked as a whole if a quote starts or ends in it.
func TestDocumentFormulas(t *testing.T) {
	text := []rune(`If \(\frac{a}{b}\) is 1, $x$ <b> $5`)
	marks := []corpus.Mark{{Kind: "math", Start: 3, End: 18}, {Kind: "math", Start: 25, End: 28},
		{Kind: "strong", Start: 25, End: 28}, {Kind: "math", Start: 33, End: 35}}
	const drawn, x = `<code class="tex">\(\frac{a}{b}\)</code>`, `<strong><code class="tex">$x$</code></strong>`
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
		if err := v.inline(marks, 0, len(text)).Render(t.Context(), &b); err != nil {
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
			if err := v.inline(tt.marks, 0, len(text)).Render(t.Context(), &b); err != nil {
				t.Fatal(err)
			}
			if b.String() != tt.want {
				t.Errorf("inline = %s\nwant     %s", b.String(), tt.want)
			}
		})
	}
}

// drawnViewer renders a part of the viewer's page.
func drawnViewer(t *testing.T, v *Viewer) string {
	t.Helper()
	var b strings.Builder
	if err := documentContent(v).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSheetIsGridWithHeadings(t *testing.T) {
	t.Parallel()
	text := "Number | Amount\n7 | 20.00"
	page := drawnViewer(t, &Viewer{
		Text: []rune(text), Quote: Span{Start: 20, End: 25},
		Blocks: []corpus.Block{
			{
				ID:    "b2",
				Kind:  corpus.BlockTable,
				End:   len(text),
				Cells: [][][2]int{{{0, 6}, {9, 15}}, {{16, 17}, {20, 25}}},
				Grid:  &corpus.Grid{Rows: []int{4, 12}, Columns: []int{2, 28, 30}},
			},
		},
	})
	for _, want := range []string{
		`<th scope="col">B</th><th scope="col">AB</th></tr>`, `<th scope="row" class="num">12</th>`,
		`<mark class="quote" id="cited">20.00</mark>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is missing in %s", want, page)
		}
	}
}

func TestSlidesAreCards(t *testing.T) {
	t.Parallel()
	text := "One\n\nitem\n\nitem"
	page := drawnViewer(t, &Viewer{
		Document: corpus.Document{Filename: "talk.pptx", Pages: 2}, Text: []rune(text),
		Blocks: []corpus.Block{
			{ID: "b1", Kind: corpus.BlockHeading, Level: 1, Page: 1, End: 3},
			{ID: "b2", Kind: corpus.BlockList, Level: 1, Page: 1, Start: 5, End: 9},
			{ID: "b3", Kind: corpus.BlockList, Level: 1, Page: 2, Start: 11, End: 15},
		},
	})
	if n := strings.Count(page, `<section class="slide"`); n != 2 {
		t.Errorf("%d slides, want 2 in %s", n, page)
	}
	if !strings.Contains(page, "Slide 2 of 2") || strings.Count(page, "<ul") != 2 {
		t.Errorf("want the slides' numbers and a list on each in %s", page)
	}
}

func TestCitationShowsPositionOnce(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		cite       chat.Citation
		loc, label string
	}{
		{chat.Citation{Number: 1, Title: "a", Page: 4, Section: "Roof"}, "p. 4 · Roof", "Source 1: a, page 4"},
		{chat.Citation{Number: 1, Title: "a", Page: 4, Place: "p. 4", Section: "Roof"}, "p. 4 · Roof", "Source 1: " +
			"a, page 4"},
		{chat.Citation{Number: 1, Title: "a", Page: 4, Place: "slide 4", Section: "Roof"}, "slide 4 · " +
			"Roof", "Source 1: a, slide 4"},
		{chat.Citation{Number: 1, Title: "a", Place: "Invoices, cell B7", Section: "Invoices"}, "Invoices, cell B7",
			"Source 1: a, Invoices, cell B7"},
		{chat.Citation{Number: 1, Title: "a", Place: "Rents, row 4", Section: "Rents › Flat | Rent"},
			"Rents, row 4 · Flat | Rent", "Source 1: a, Rents, row 4"},
		{chat.Citation{Number: 1, Title: "a", Section: "Roof"}, "Roof", "Source 1: a, Roof"},
	} {
		tt.cite.Check = chat.CheckVerified
		if got := sourcePlace(tt.cite.Title, tt.cite.PlaceWords(), tt.cite.Section); got != tt.loc {
			t.Errorf("the place of %+v = %q, want %q", tt.cite, got, tt.loc)
		}
		if got := citeLabel(t.Context(), tt.cite); got != tt.label {
			t.Errorf("the label of %+v = %q, want %q", tt.cite, got, tt.label)
		}
	}
}

func TestCapturedPageShowsURLAndTime(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, namespace, url string
		want                 []string
	}{
		{"a page of the web", chat.WebNamespace("r1"), "https://example.org/slate?a=1",
			[]string{
				`href="https://example.org/slate?a=1"`,
				`on <time datetime="2026-11-21T09:30:00Z" data-as="date">21 November 2026, 09:30 UTC</time>`,
				"noreferrer",
			}},
		{"a document that says it is one", "default", "https://example.org/slate", nil},
		{"an address that is none", chat.WebNamespace("r1"), "javascript:alert(1)", nil},
	} {
		var b strings.Builder
		d := corpus.Document{
			Namespace: tt.namespace, Meta: map[string]any{
				corpus.MetaURL: tt.url, corpus.MetaFetchedAt: "2026-11-21T09:30:00Z",
			},
		}
		if err := readOn(d).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		for _, want := range tt.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s: %s is missing in %s", tt.name, want, b.String())
			}
		}
		if len(tt.want) == 0 && b.Len() > 0 {
			t.Errorf("%s: %s", tt.name, b.String())
		}
	}
}

func TestWebCitationNamesSite(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	if err := sourceRow(&Turn{}, chat.Citation{Number: 1, Title: "Slate", SourceURL: "https://example.org/slate"},
		false).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), ">example.org</a>") {
		t.Error(b.String())
	}
}

func TestDocumentLinksToPublishedURL(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://example.org/book": `href="https://example.org/book"`, "javascript:alert(1)": "",
	} {
		var b strings.Builder
		d := corpus.Document{Namespace: "default", Meta: map[string]any{corpus.MetaSourceURL: address}}
		if err := readOn(d).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("the viewer shows %q for %q, want %q in it", got, address, want)
		}
		b.Reset()
		if err := sourceRow(&Turn{}, chat.Citation{Number: 1, Title: "Book", SourceURL: address},
			false).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); strings.Contains(got, `data-testid="source-url"`) != (want != "") ||
			strings.Contains(got, "javascript:") {
			t.Errorf("the list of sources shows %q for %q, want no %q in it", got, address, "javascript:")
		}
	}
}

// The text layer follows the rotation of the page's text: it starts at the matching corner of the box.
func TestRotatedLinesFollowBoxes(t *testing.T) {
	v := &Viewer{Text: []rune("roof")}
	flat, tall := chat.Box{1, 0.25, 0.5, 0.75, 0.55}, chat.Box{1, 0.5, 0.25, 0.55, 0.75}
	const size = ` font-size="46.0000" textLength="500.0000" lengthAdjust="spacingAndGlyphs">roof</text>`
	for _, tt := range []struct {
		turn int
		box  chat.Box
		want string
	}{
		{0, flat, `<text x="250.0000" y="540.0000"` + size},
		{1, tall, `<text x="510.0000" y="250.0000" transform="rotate(90 510.0000 250.0000)"` + size},
		{2, flat, `<text x="750.0000" y="510.0000" transform="rotate(180 750.0000 510.0000)"` + size},
		{3, tall, `<text x="540.0000" y="750.0000" transform="rotate(270 540.0000 750.0000)"` + size},
	} {
		var b strings.Builder
		line := SheetLine{Line: corpus.Line{Start: 0, End: 4, Box: tt.box, Turn: tt.turn}, Until: 4}
		sheet := Sheet{Width: 1000, Height: 1000, Lines: []SheetLine{line}}
		if err := v.drawLines(sheet).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		if b.String() != tt.want {
			t.Errorf("a line turned by %d quarters is\n%s, want\n%s", tt.turn, b.String(), tt.want)
		}
	}
}

func TestBlockWithTooManyMarksIsPlainText(t *testing.T) {
	const words = MaxBlockNodes / 4
	for _, kind := range []corpus.BlockKind{corpus.BlockParagraph, corpus.BlockList, corpus.BlockHeading} {
		b := corpus.Block{ID: "b1", Kind: kind, Level: 1, Start: 0, End: 2 * words}
		for i := range words {
			b.Marks = append(b.Marks, corpus.Mark{Kind: "strong", Start: 2 * i, End: 2*i + 1})
		}
		v := &Viewer{Text: []rune(strings.Repeat("w ", words)), Blocks: []corpus.Block{b}, Quote: Span{2, 5}}
		var out strings.Builder
		if err := documentContent(v).Render(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		got := out.String()
		if n := strings.Count(got, "<strong>"); n != 0 || !strings.Contains(got, `data-testid="too-large"`) ||
			!strings.Contains(got, `<mark class="quote" id="cited">w w</mark>`) {
			t.Errorf("%s: %d bold words, %.300s; want a notice and plain text with the quote marked", kind, n, got)
		}
		if n := BlockNodes(b); n > 10 {
			t.Errorf("%s: it counts %d nodes, want those of its notice and its text", kind, n)
		}
	}
}
