package server

import (
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/extract/pdf/pdftest"
	"github.com/footnote/footnote/views"
)

// gridText returns a Markdown table of rows × columns.
func gridText(rows, columns int, cell func(row, column int) string) string {
	var b strings.Builder
	for r := range rows {
		for c := range columns {
			b.WriteString("| " + cell(r, c) + " ")
		}
		b.WriteString("|\n")
		if r == 0 {
			b.WriteString(strings.Repeat("|---", columns) + "|\n")
		}
	}
	return b.String() + "\n"
}

// cellName returns a unique word for each cell.
func cellName(row, column int) string { return "r" + strconv.Itoa(row) + "c" + strconv.Itoa(column) }

func TestLargeTableRendersWithinBudget(t *testing.T) {
	sparse := func(row, column int) string {
		if row == 20 && column >= 7 && column <= 9 {
			return cellName(row, column)
		}
		return ""
	}
	for _, tt := range []struct {
		name        string
		table       string
		first, last string // of the quote
		plain       bool
	}{
		{"long cells: the table's parts around the quote", gridText(400, 400, cellName), "r300c7", "r300c9", false},
		{"empty cells: one part alone is too large", gridText(400, 400, sparse), "r20c7", "r20c9", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newHarness(t)
			d := b.added("grid.md", "# Grid\n\nBefore it.\n\n"+tt.table+"Behind it.\n")
			text, err := b.library.Text(t.Context(), chat.Local, d.ID)
			if err != nil {
				t.Fatal(err)
			}
			from := strings.Index(text, tt.first)
			quote := text[from : from+strings.Index(text[from:], tt.last)+len(tt.last)]
			c := b.cited(d, quote, nil)
			for _, root := range []*html.Node{
				b.panel(c.URL), parsed(t, b.send("GET", c.URL, "", "Accept", "text/html").body),
			} {
				if n := len(elements(root, func(*html.Node) bool { return true })); n > views.MaxBlockNodes {
					t.Errorf("%d elements are drawn, want at most %d", n, views.MaxBlockNodes)
				}
				notices := elements(root, func(n *html.Node) bool { return attribute(n, "data-testid") == "too-large" })
				if got := len(notices) > 0; got != tt.plain {
					t.Errorf("it is said that the table is too large: %v, want %v", got, tt.plain)
				}
				if got := marked(root, "mark", "quote"); got != quote {
					t.Errorf("the marks hold %q, want %q", got, quote)
				}
				if n := len(elements(root, func(n *html.Node) bool { return attribute(n, "id") == "cited" })); n != 1 {
					t.Errorf("%d elements have the id that the address names, want 1", n)
				}
				if got := marked(root, "pre", "plain"); tt.plain &&
					(!strings.Contains(got, quote) || strings.Count(got, "\n") < 20) {
					t.Errorf("the table's text has %d lines, want its rows with %q", strings.Count(got, "\n")+1, quote)
				}
			}
		})
	}
}

func TestManyTablesArePaged(t *testing.T) {
	b := newHarness(t)
	var long strings.Builder
	for i := range 60 {
		long.WriteString("Table number " + strconv.Itoa(i) + ".\n\n" + gridText(30, 30, cellName))
	}
	d := b.added("tables.md", long.String())
	walk := func(address, link string) map[string]bool {
		seen := map[string]bool{}
		for steps := 0; address != ""; steps++ {
			if steps > 30 {
				t.Fatalf("parts have no end: %s", address)
			}
			root := parsed(t, b.send("GET", address, "", "Accept", "text/html").body)
			if n := len(elements(root, func(*html.Node) bool { return true })); n > views.MaxBlockNodes {
				t.Errorf("%s draws %d elements, want at most %d", address, n, views.MaxBlockNodes)
			}
			address = ""
			for _, n := range elements(root, func(n *html.Node) bool { return hasClass(n, "block") }) {
				seen[attribute(n, "id")] = true
			}
			for _, n := range elements(root, func(n *html.Node) bool {
				return n.Data == "a" && n.FirstChild != nil && n.FirstChild.Data == link
			}) {
				address, _, _ = strings.Cut(attribute(n, "href"), "#")
			}
		}
		return seen
	}
	blocks, err := b.library.Blocks(t.Context(), chat.Local, d.ID)
	if err != nil {
		t.Fatal(err)
	}
	if seen := walk("/d/"+d.ID, views.LaterPart.English()); len(seen) != len(blocks) {
		t.Errorf("going on from the beginning shows %d blocks, want %d", len(seen), len(blocks))
	}
	if seen := walk("/d/"+d.ID+"?at="+blocks[len(blocks)-1].ID, "Previous part"); len(seen) != len(blocks) {
		t.Errorf("going back from the end shows %d blocks, want %d", len(seen), len(blocks))
	}
}

// scattered returns a page of a PDF with words so far apart that each is a line: rows × columns of them, all
// different.
func scattered(page string, rows, columns int) pdftest.Sheet {
	var b strings.Builder
	b.WriteString(pdftest.At(20, 780, 10, "F", "Page "+page+" begins."))
	for r := range rows {
		for c := range columns {
			b.WriteString(pdftest.At(10+580*c/columns, 770-760*r/rows, 1, "F", page+cellName(r, c)))
		}
	}
	return pdftest.Sheet{Content: b.String()}
}

func TestPageWithTooManyWordsOmitsThem(t *testing.T) {
	b := newHarness(t)
	d := b.added(
		"words.pdf", string(
			pdftest.Document("", scattered("one", 4, 4), scattered("two", 250, 45), scattered("three", 4, 4)),
		),
	)
	for _, tt := range []struct {
		quote string
		plain bool
	}{{"Page one begins", false}, {"twor70c30", true}, {"threer2c2", false}} {
		c := b.cited(d, tt.quote, nil)
		for _, root := range []*html.Node{
			b.panel(c.URL), parsed(t, b.send("GET", c.URL, "", "Accept", "text/html").body),
		} {
			if n := len(elements(root, func(*html.Node) bool { return true })); n > views.MaxBlockNodes {
				t.Errorf("%q: %d elements are drawn, want at most %d", tt.quote, n, views.MaxBlockNodes)
			}
			if n := len(
				elements(root, func(n *html.Node) bool { return n.Data == "rect" && hasClass(n, "quote") }),
			); n != 1 {
				t.Errorf("%q: %d rectangles mark it, want 1", tt.quote, n)
			}
			if n := len(elements(root, func(n *html.Node) bool { return attribute(n, "id") == "cited" })); n != 1 {
				t.Errorf("%q: %d elements have the id that the address names, want 1", tt.quote, n)
			}
			words := marked(root, "tspan", "quote")
			if tt.plain {
				words = marked(root, "mark", "quote")
			}
			if words != tt.quote {
				t.Errorf("the words of %q that are marked are %q, want %q", tt.quote, words, tt.quote)
			}
			if n := len(elements(root, func(n *html.Node) bool { return hasClass(n, "sheet") })); n != 3 {
				t.Errorf("%q: %d pages are shown, want 3", tt.quote, n)
			}
			plain := marked(root, "pre", "plain")
			if !strings.Contains(plain, "twor249c44") || strings.Contains(plain, "threer1c1") {
				t.Errorf("%q: the text of the page with too many words has %d bytes, want all of it and no more",
					tt.quote, len(plain))
			}
		}
	}
}

func TestPagesWithManyWordsArePaged(t *testing.T) {
	b := newHarness(t)
	var sheets []pdftest.Sheet
	for i := range 12 {
		sheets = append(sheets, scattered("p"+strconv.Itoa(i), 60, 40))
	}
	d := b.added("many.pdf", string(pdftest.Document("", sheets...)))
	for _, way := range []struct{ from, link string }{{"?page=1", "Next pages"}, {"?page=12", "Previous pages"}} {
		seen := map[string]bool{}
		for address := "/d/" + d.ID + way.from; address != ""; {
			root := parsed(t, b.send("GET", address, "", "Accept", "text/html").body)
			if n := len(elements(root, func(*html.Node) bool { return true })); n > views.MaxBlockNodes {
				t.Errorf("%s draws %d elements, want at most %d", address, n, views.MaxBlockNodes)
			}
			fresh := 0
			for _, n := range elements(root, func(n *html.Node) bool { return hasClass(n, "sheet") }) {
				if page := attribute(n, "data-page"); !seen[page] {
					seen[page], fresh = true, fresh+1
				}
			}
			if fresh == 0 {
				t.Fatalf("%s links to no other page", address)
			}
			address = ""
			for _, n := range elements(root, func(n *html.Node) bool {
				return n.Data == "a" && n.FirstChild != nil && n.FirstChild.Data == way.link
			}) {
				address, _, _ = strings.Cut(attribute(n, "href"), "#")
			}
		}
		if len(seen) != len(sheets) {
			t.Errorf("following %q shows %d pages, want %d", way.link, len(seen), len(sheets))
		}
	}
}

func TestLongBlocksAreSplitByTextSize(t *testing.T) {
	b := newHarness(t)
	const long = 60_000 // words, 300,000 bytes
	var text strings.Builder
	for i := range 12 {
		text.WriteString("Part " + strconv.Itoa(i) + " begins. " + strings.Repeat("word ", long) + "\n\n")
	}
	d := b.added("blocks.txt", text.String())
	seen, address := "", "/d/"+d.ID
	for parts := 0; address != ""; parts++ {
		got := b.send("GET", address, "", "Accept", "text/html").body
		if len(got) > 1<<20 || parts > 30 {
			t.Fatalf("%s is a page of %d bytes and part %d, want at most 1 MiB and 30 parts", address, len(got), parts)
		}
		seen += got
		address = ""
		for _, n := range elements(parsed(t, got), func(n *html.Node) bool {
			return n.Data == "a" && n.FirstChild != nil && n.FirstChild.Data == views.LaterPart.English()
		}) {
			address, _, _ = strings.Cut(attribute(n, "href"), "#")
		}
	}
	for i := range 12 {
		if !strings.Contains(seen, "Part "+strconv.Itoa(i)+" begins.") {
			t.Errorf("part %d is missing in all pages", i)
		}
	}
}
