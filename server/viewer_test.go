package server

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/text/english"
	"github.com/footnote/footnote/views"
)

// parsed parses the HTML of a page or fragment.
func parsed(t testing.TB, body string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// elements returns the elements that satisfy a condition, in order.
func elements(root *html.Node, is func(*html.Node) bool) []*html.Node {
	var out []*html.Node
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && is(n) {
			out = append(out, n)
		}
	}
	return out
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func hasClass(n *html.Node, class string) bool {
	return slices.Contains(strings.Fields(attribute(n, "class")), class)
}

// marked returns the text of all elements of a tag and class, concatenated.
func marked(root *html.Node, tag, class string) string {
	var b strings.Builder
	for _, n := range elements(root, func(n *html.Node) bool { return n.Data == tag && hasClass(n, class) }) {
		for d := range n.Descendants() {
			if d.Type == html.TextNode {
				b.WriteString(d.Data)
			}
		}
	}
	return b.String()
}

// added uploads one file and waits until it is processed.
func (b *harness) added(path, content string) api.DocumentInfo {
	b.t.Helper()
	_, res := b.uploadFiles("@" + path + "=" + content)
	if len(res.Documents) != 1 {
		b.t.Fatalf("uploading %s: %+v", path, res)
	}
	d := b.settled(res.Documents[0].ID)
	if d.State != corpus.StateReady {
		b.t.Fatalf("%s is %s: %+v", path, d.State, d.Error)
	}
	return d
}

// cited stores an answer that cites quote in a document, and returns the citation.
func (b *harness) cited(d api.DocumentInfo, quote string, change func(*chat.Citation)) chat.Citation {
	b.t.Helper()
	text, err := b.library.Text(b.t.Context(), chat.Local, d.ID)
	if err != nil {
		b.t.Fatal(err)
	}
	at := strings.Index(text, quote)
	if at < 0 {
		b.t.Fatalf("%q is not in %q", quote, text)
	}
	start := len([]rune(text[:at]))
	run := b.begin("What does it say?")
	c := chat.Citation{
		Number: 1, DocumentID: d.ID, Title: d.Title, Quote: quote, Start: start, End: start + len([]rune(quote)),
		Check: chat.CheckVerified,
		URL:   "/d/" + d.ID + "?c=" + run.ID + ".1", SHA256: d.SHA256,
	}
	if change != nil {
		change(&c)
	}
	b.append(
		run.ID, c, chat.Answer{
			Markdown: "So it says [1].", Citations: []chat.Citation{c}, StopReason: chat.StopAnswered,
		}, chat.RunDone{Status: chat.RunCompleted},
	)
	return c
}

// panel requests an address as the page's script does.
func (b *harness) panel(address string) *html.Node {
	b.t.Helper()
	got := b.send("GET", address, "", "Accept", "text/html", "HX-Request", "true")
	if got.status != 200 {
		b.t.Fatalf("GET %s = %d %s", address, got.status, got.body)
	}
	return parsed(b.t, got.body)
}

const hostileNotes = `# Notes <img src=x onerror=alert(1)>

The **north gable** is [wet to
the eaves](https://example.org/"onmouseover="alert(1)) and *open to [rain](javascript:alert(1))* in ` + "`winter`" + `.

- first item
- second <script>alert(1)</script> item

| point | value |
|-------|-------|
| G1    | 15 %  |
| G2    | 22 %  |

` + "```html\n<script>alert(2)</script>\n```\n"

func TestHighlightsContainExactQuote(t *testing.T) {
	b := newHarness(t)
	d := b.added("notes.md", hostileNotes)
	text, err := b.library.Text(t.Context(), chat.Local, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	between := func(from, to string) string {
		i := strings.Index(text, from)
		return text[i : i+strings.Index(text[i:], to)+len(to)]
	}
	for name, quote := range map[string]string{
		"from the middle of bold text into a link":   between("gable", "wet"),
		"a whole sentence with code":                 between("The north", "winter."),
		"over two blocks":                            between("winter.", "first item"),
		"a row of a table":                           between("G1", "15 %"),
		"two rows of a table":                        between("G1", "22 %"),
		"code that looks like HTML":                  between("<script>alert(2)", "</script>"),
		"from a list into a table over its headings": between("item", "value"),
	} {
		t.Run(name, func(t *testing.T) {
			c := b.cited(d, quote, nil)
			for _, root := range []*html.Node{
				b.panel(c.URL), parsed(t, b.send("GET", c.URL, "", "Accept", "text/html").body),
			} {
				if got := marked(root, "mark", "quote"); got != quote {
					t.Errorf("the marks hold %q, want %q", got, quote)
				}
				if n := len(elements(root, func(n *html.Node) bool { return attribute(n, "id") == "cited" })); n != 1 {
					t.Errorf("%d elements have the id that the address names, want 1", n)
				}
			}
		})
	}
}

func TestDocumentContentIsInert(t *testing.T) {
	b := newHarness(t)
	d := b.added(`folder/x"><script>alert(3)</script>.md`, hostileNotes)
	for _, address := range []string{"/d/" + d.ID, "/documents"} {
		got := b.send("GET", address, "", "Accept", "text/html")
		root := parsed(t, got.body)
		for _, n := range elements(root, func(*html.Node) bool { return true }) {
			if n.Data == "script" && !strings.HasPrefix(attribute(n, "src"), "/static/") {
				t.Errorf("%s has an inline script: %v", address, n.Attr)
			}
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" ||
					strings.HasPrefix(strings.ToLower(a.Val), "javascript:") {
					t.Errorf("%s: <%s %s=%q>, want other than %q", address, n.Data, a.Key, a.Val, "style")
				}
			}
			if n.Data == "img" && !strings.HasPrefix(attribute(n, "src"), "/documents/") {
				t.Errorf("%s has an external image: %v", address, n.Attr)
			}
		}
	}
}

func TestMissingQuoteIsShownBesideDocument(t *testing.T) {
	b := newHarness(t)
	d := b.added("notes.md", "# Notes\n\nThe gable is wet.\n")
	for _, tt := range []struct {
		name   string
		change func(*chat.Citation)
		shown  string
	}{
		{"the check said so", func(c *chat.Citation) {
			c.Check, c.Quote, c.Claimed, c.Start, c.End = chat.CheckNotFound, "", "The gable is dry.", 0, 0
		}, "The gable is dry."},
		{"the stored range holds other words", func(c *chat.Citation) { c.Quote = "The cellar is wet." },
			"The cellar is wet."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := b.panel(b.cited(d, "The gable is wet.", tt.change).URL)
			if got := marked(root, "mark", "quote") + marked(root, "mark", "passage"); got != "" {
				t.Errorf("%q is marked, want nothing", got)
			}
			if got := marked(root, "q", "source-quote"); got != tt.shown {
				t.Errorf("shown beside = %q, want %q", got, tt.shown)
			}
			if n := elements(root, func(n *html.Node) bool {
				return attribute(n, "data-check") == string(chat.CheckNotFound)
			}); len(n) == 0 {
				t.Errorf("it is not said that the words were not found: got %v, want some", len(n))
			}
		})
	}
}

func TestChangedDocumentIsReported(t *testing.T) {
	b := newHarness(t)
	old := b.added("notes.md", "# Notes\n\nThe gable is wet. The roof is new.\n")
	gone, kept := b.cited(old, "The gable is wet.", nil), b.cited(old, "The roof is new.", nil)
	if now := b.added("notes.md", "# Notes\n\nAll is well by now. The roof is new.\n"); now.ID != old.ID {
		t.Fatalf("the new version has another id: %s, want %s", now.ID, old.ID)
	}
	for _, tt := range []struct {
		cite   chat.Citation
		marked string
		beside string
	}{{gone, "", "The gable is wet."}, {kept, "The roof is new.", ""}} {
		got := b.send("GET", tt.cite.URL, "", "Accept", "text/html").body
		root := parsed(t, got)
		if !strings.Contains(got, "Document changed.") {
			t.Errorf("%q: page lacks the note that the document changed", tt.cite.Quote)
		}
		if text := marked(root, "mark", "quote"); text != tt.marked {
			t.Errorf("marked = %q, want %q", text, tt.marked)
		}
		if text := marked(root, "q", "source-quote"); text != tt.beside {
			t.Errorf("shown beside = %q, want %q", text, tt.beside)
		}
	}
}

func TestPDFPageHighlightsQuote(t *testing.T) {
	b := newHarness(t)
	file, err := os.ReadFile("../corpus/extract/pdf/testdata/manual.pdf")
	if err != nil {
		t.Fatal(err)
	}
	d := b.added("manual.pdf", string(file))
	text, err := b.library.Text(t.Context(), chat.Local, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	runes := []rune(text)
	for _, quote := range []string{string(runes[400:900]), "password", string(runes[3000:3007])} {
		quote = strings.TrimSpace(quote)
		c := b.cited(d, quote, nil)
		for _, root := range []*html.Node{
			b.panel(c.URL), parsed(t, b.send("GET", c.URL, "", "Accept", "text/html").body),
		} {
			if got := marked(root, "tspan", "quote"); got != quote {
				t.Errorf("the words of class quote are %q, want %q", got, quote)
			}
			if n := elements(root, func(n *html.Node) bool {
				return n.Data == "rect" && hasClass(n, "quote")
			}); len(n) == 0 {
				t.Errorf("%q: page lacks a highlight", quote)
			}
		}
	}
	for _, n := range elements(b.panel("/d/"+d.ID+"?page=4"), func(n *html.Node) bool { return n.Data == "img" }) {
		address := attribute(n, "src") + attribute(n, "data-src")
		if got := b.send("GET", address, ""); got.status != 200 ||
			!strings.Contains(got.header.Get("Cache-Control"), "immutable") {
			t.Errorf("GET %s = %d, Cache-Control %q; want 200 and %q in it",
				address, got.status, got.header.Get("Cache-Control"), "immutable")
		}
	}
}

func TestMissingCitationsOpenDocument(t *testing.T) {
	b := newHarness(t)
	d, other := b.added("notes.md", "# Notes\n\nThe gable is wet.\n"), b.added("other.md", "# Other\n\nIt is dry.\n")
	c := b.cited(other, "It is dry.", nil)
	_, foreign, _ := strings.Cut(c.URL, "?")
	for _, query := range []string{
		"c=nothing", "c=01a1fd38-0000-7000-8000-000000000000.1", "c=.", "c=x.99999999999999999999",
		"p=unknown", foreign,
	} {
		body := b.send("GET", "/d/"+d.ID+"?"+query, "", "Accept", "text/html")
		if body.status != 200 || !strings.Contains(body.body, "Nothing is highlighted.") ||
			strings.Contains(body.body, "<mark") {
			t.Errorf("?%s: %d, no word of it or something marked, want 200", query, body.status)
		}
	}
	if got := b.send("GET", "/d/none", "", "Accept", "text/html"); got.status != 404 ||
		!strings.Contains(got.body, "<html") {
		t.Errorf("an unknown document: %d %.80s; want 404 and %q in it", got.status, got.body, "<html")
	}
}

func TestLongDocumentIsPaged(t *testing.T) {
	b := newHarness(t)
	var long strings.Builder
	for i := range 3000 {
		long.WriteString("Paragraph number " + english.Digits(i) + ".\n\n")
	}
	d := b.added("long.md", long.String())
	seen, address := map[string]bool{}, "/d/"+d.ID
	for steps := 0; address != ""; steps++ {
		if steps > 10 {
			t.Fatalf("the parts do not end: got %v, want at most 10", steps)
		}
		root := parsed(t, b.send("GET", address, "", "Accept", "text/html").body)
		address = ""
		for _, n := range elements(root, func(n *html.Node) bool { return hasClass(n, "block") }) {
			seen[attribute(n, "id")] = true
		}
		for _, n := range elements(root, func(n *html.Node) bool {
			return n.Data == "a" && n.FirstChild != nil && n.FirstChild.Data == views.LaterPart.English()
		}) {
			address, _, _ = strings.Cut(attribute(n, "href"), "#")
		}
	}
	if len(seen) != 3000 {
		t.Errorf("the parts show %d blocks, want 3000", len(seen))
	}
}

func TestLinksOpenLongDocumentAtPosition(t *testing.T) {
	b := newHarness(t)
	var long strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&long, "Paragraph number %04d.\n\n", i)
	}
	d := b.added("long.md", long.String())
	text, err := b.library.Text(t.Context(), chat.Local, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := b.library.Blocks(t.Context(), chat.Local, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	start := strings.Index(text, "number 2500")
	for _, tt := range []struct {
		name  string
		link  chat.Link
		class string
		want  string
	}{
		{"words", chat.Link{Start: start, End: start + 11}, "quote", "number 2500"},
		{"a block", chat.Link{Block: blocks[2500].ID}, "passage", "Paragraph number 2500."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.link.Document = d.ID
			for _, inPanel := range []string{"false", "true"} {
				root := parsed(
					t, b.send("GET", tt.link.String(), "", "Accept", "text/html", "HX-Request", inPanel).body,
				)
				if got := marked(root, "mark", tt.class); got != tt.want {
					t.Errorf("panel %s: marked = %q, want %q", inPanel, got, tt.want)
				}
			}
			page := b.send("GET", tt.link.String(), "", "Accept", "text/html").body
			if want := `<mark class="` + tt.class + `" id="cited">`; !strings.Contains(page, want) {
				t.Errorf("the page does not open at its mark: want %s in it", want)
			}
		})
	}
}

func TestLinksOpenPDFPage(t *testing.T) {
	b := newHarness(t)
	file, err := os.ReadFile("../corpus/extract/pdf/testdata/manual.pdf")
	if err != nil {
		t.Fatal(err)
	}
	d := b.added("manual.pdf", string(file))
	blocks, err := b.library.Blocks(t.Context(), chat.Local, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	last := blocks[len(blocks)-1]
	text, err := b.library.Text(t.Context(), chat.Local, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := string([]rune(text)[last.Start : last.Start+5])
	root := b.panel(chat.Link{Document: d.ID, Start: last.Start, End: last.Start + 5}.String())
	if got := marked(root, "tspan", "quote"); got != want {
		t.Errorf("marked words of the last page = %q, want %q", got, want)
	}
	root = b.panel(chat.Link{Document: d.ID, Block: last.ID}.String())
	if got := elements(root, func(n *html.Node) bool {
		return n.Data == "rect" && hasClass(n, "passage")
	}); len(got) == 0 {
		t.Errorf("rectangles on the last block = 0, want some")
	}
}

func TestLinksHighlightSeveralRows(t *testing.T) {
	b := newHarness(t)
	d := b.added("rows.csv", "A,B\na1,b1\na2,b2\na3,b3\n")
	link := chat.Link{Document: d.ID, Start: 6, End: 13, Also: chat.Ranges{{22, 29}}}.String()
	if got := marked(b.panel(link), "mark", "quote"); got != "a1 | b1a3b3" { // the bar is for copying the first
		t.Errorf("marked words = %q, want the first and the third row", got)
	}
}

func TestLinksToMissingPositionsHighlightNothing(t *testing.T) {
	b := newHarness(t)
	d := b.added("notes.md", "# Notes\n\nThe gable is wet.\n")
	for _, query := range []string{
		"b=b99", "start=3&end=999", "start=5&end=5", "start=7&end=3", "p=unknown&start=0&end=5",
	} {
		body := b.send("GET", "/d/"+d.ID+"?"+query, "", "Accept", "text/html")
		if want := "Nothing is highlighted."; body.status != 200 || !strings.Contains(body.body, want) ||
			strings.Contains(body.body, "<mark") {
			t.Errorf("?%s: status = %d, want 200 with %q and no mark", query, body.status, want)
		}
	}
	for _, query := range []string{
		"start=x&end=3", "start=0&end=-1", "page=2", "start=0&end=3&also=x", "start=0&end=3&also=9-7",
	} {
		if got := b.send("GET", "/d/"+d.ID+"?"+query, "", "Accept", "text/html").status; got != 400 {
			t.Errorf("?%s: status = %d, want 400", query, got)
		}
	}
}

func TestMailIsShownWithHeaderAndAttachments(t *testing.T) {
	t.Parallel()
	b := newHarness(t)
	d := b.added("roof.eml", strings.ReplaceAll(`From: Ann <ann@example.org>
To: Ben <ben@example.org>
Date: Wed, 04 Mar 2026 10:00:00 +0100
Subject: Re: Roof
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=x

--x
Content-Type: text/plain

The slates cost 4,200.
--x
Content-Type: text/plain
Content-Disposition: attachment; filename="terms.txt"

Paid within 30 days.
--x--
`, "\n", "\r\n"))
	fields := func(n *html.Node) (out []string) {
		inRow := func(n *html.Node) bool { return n.Data == "span" && hasClass(n.Parent, "fields") }
		for _, f := range elements(n, inRow) {
			out = append(out, wordsOf(f))
		}
		return out
	}
	links := func(n *html.Node, test string) (out []string) {
		for _, p := range elements(n, func(n *html.Node) bool { return attribute(n, "data-testid") == test }) {
			for _, a := range elements(p, func(n *html.Node) bool { return n.Data == "a" }) {
				out = append(out, wordsOf(a)+" "+attribute(a, "href"))
			}
		}
		return out
	}
	mail := parsed(t, b.send("GET", "/d/"+d.ID, "", "Accept", "text/html").body)
	want := []string{"From: Ann <ann@example.org>", "To: Ben <ben@example.org>", "Date: Wed, 4 Mar 2026 10:00 +0100",
		"Subject: Re: Roof", "Attachments: terms.txt"}
	if got := fields(mail); !slices.Equal(got, want) {
		t.Errorf("fields %q, want %q", got, want)
	}
	inside := links(mail, "inside")
	if len(inside) != 1 || !strings.HasPrefix(inside[0], "terms.txt /d/") {
		t.Fatalf("files inside: %q, want terms.txt", inside)
	}
	_, address, _ := strings.Cut(inside[0], " ")
	if got := links(
		parsed(t, b.send("GET", address, "", "Accept", "text/html").body),
		"part-of",
	); !slices.Equal(
		got,
		[]string{"Re: Roof /d/" + d.ID},
	) {
		t.Errorf("the attachment came with %q, want its mail", got)
	}
	quote := "Date: Wed, 4 Mar 2026 10:00 +0100 · Subject: Re: Roof"
	if got := marked(b.panel(b.cited(d, quote, nil).URL), "mark", "quote"); got != quote {
		t.Errorf("marked %q, want %q", got, quote)
	}
}

// wordsOf returns the text of an element.
func wordsOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.TrimSpace(b.String())
}

// find searches as the page's palette does, with a user's key.
func (b *harness) find(query, key string) (links []string, text string) {
	b.t.Helper()
	got := b.send("GET", "/find?q="+strings.ReplaceAll(query, " ", "+"), "", "HX-Request", "true", "Accept",
		"text/html", "X-API-Key", key)
	if got.status != 200 {
		b.t.Fatalf("find %q: %d %s", query, got.status, got.body)
	}
	root := parsed(b.t, got.body)
	for _, a := range elements(root, func(n *html.Node) bool { return n.Data == "a" }) {
		links = append(links, attribute(a, "href"))
	}
	var words []string
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			words = append(words, strings.Fields(n.Data)...)
		}
	}
	return links, strings.Join(words, " ")
}

// owns adds a Markdown document for the owner of a key and waits until it is processed.
func (b *harness) owns(key, name, body string) string {
	b.t.Helper()
	content, kind := form(b.t, "@"+name+"="+body)
	var res api.Uploaded
	b.send("POST", "/documents", content, "Content-Type", kind, "X-API-Key", key).decode(b.t, &res)
	if len(res.Documents) != 1 {
		b.t.Fatalf("uploading %s: %+v", name, res)
	}
	b.send("GET", "/documents/"+res.Documents[0].ID+"/events", "", "X-API-Key", key)
	return res.Documents[0].ID
}

func TestPageSearchFindsOwnData(t *testing.T) {
	b, _, given := keyed(t, "anna", "bert")
	id := b.owns(given["anna"], "lease.md", "# Lease\n\n## Break clause\n\nThe break clause needs six months.")
	b.owns(given["bert"], "other.md", "# Other\n\nNothing of interest.")
	links, text := b.find("break clause", given["anna"])
	if len(links) != 1 || !strings.HasPrefix(links[0], "/d/"+id+"?end=") || !strings.HasSuffix(links[0], "#cited") ||
		!strings.Contains(text, "Searched 0 conversations, 1 document") {
		t.Errorf("links of anna = %q: %s", links, text)
	}
	links, text = b.find("break clause", given["bert"])
	if !slices.Equal(links, []string{"/?q=break+clause"}) || strings.Contains(text, "Lease") ||
		!strings.Contains(text, "No results for “break clause”.") {
		t.Errorf("bert finds %q: %s; want nothing, and a way to ask", links, text)
	}
}

func TestPageSearchReportsFailures(t *testing.T) {
	b := newHarness(t)
	links, text := b.find("roof", "")
	if !slices.Equal(links, []string{"/documents"}) || !strings.Contains(text, "No documents or conversations yet.") {
		t.Errorf("empty library: got %q, %s", links, text)
	}
	b.added("roof.md", "# Roof\n\nThe roof is sound.")
	b.uploadFiles("@empty.md=\n")
	if _, text = b.find("roof", ""); !strings.Contains(text, "2 documents (1 by name only)") {
		t.Errorf("document without text: got %s", text)
	}
}

func TestPageSearchCountsAsOneSearch(t *testing.T) {
	b, _, given := keyed(t, "anna")
	b.owns(given["anna"], "roof.md", "# Roof\n\nThe roof is sound.")
	b.stage.store.SetLimits(chat.Limits{chat.SearchesPerMinute: 1})
	b.find("", given["anna"]) // an empty query is not counted
	if _, text := b.find("roof sound", given["anna"]); !strings.Contains(text, "Passages") {
		t.Errorf("first search: got %s", text)
	}
	links, text := b.find("roof", given["anna"])
	if len(links) != 1 || strings.Contains(text, "Passages") ||
		!strings.Contains(text, "You have reached the limit of 1 search per minute") {
		t.Errorf("over the limit: %q, %s; want the document by its name, and why there are no passages", links, text)
	}
	if got := b.send("POST", "/search", `{"query":"roof"}`, "X-API-Key", given["anna"]); got.status != 429 {
		t.Errorf("POST /search after it: %d, want 429", got.status)
	}
}
