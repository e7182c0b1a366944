package server

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/footnote/footnote/chat"
)

func TestLinksToWordsAndBlocksOpenALongDocumentThere(t *testing.T) {
	b := newBench(t)
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

func TestLinksToWordsOpenAPDFOnTheirPage(t *testing.T) {
	b := newBench(t)
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

func TestLinksToSeveralRowsMarkThemAll(t *testing.T) {
	b := newBench(t)
	d := b.added("rows.csv", "A,B\na1,b1\na2,b2\na3,b3\n")
	link := chat.Link{Document: d.ID, Start: 6, End: 13, Also: chat.Ranges{{22, 29}}}.String()
	if got := marked(b.panel(link), "mark", "quote"); got != "a1 | b1a3b3" { // the bar is for copying the first
		t.Errorf("marked words = %q, want the first and the third row", got)
	}
}

func TestLinksToWhatIsNotThereMarkNothing(t *testing.T) {
	b := newBench(t)
	d := b.added("notes.md", "# Notes\n\nThe gable is wet.\n")
	for _, query := range []string{
		"b=b99", "start=3&end=999", "start=5&end=5", "start=7&end=3", "p=unknown&start=0&end=5",
	} {
		body := b.send("GET", "/d/"+d.ID+"?"+query, "", "Accept", "text/html")
		if want := "Nothing is marked."; body.status != 200 || !strings.Contains(body.body, want) ||
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
