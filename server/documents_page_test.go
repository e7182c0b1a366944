package server

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus"
	"github.com/footnote/footnote/views"
)

// rows are the titles and states of the list, "Title: state".
func (b *bench) rows(query string) []string {
	b.t.Helper()
	var out []string
	for _, row := range elements(b.panel("/documents"+query), func(n *html.Node) bool {
		return attribute(n, "data-testid") == "document"
	}) {
		for _, link := range elements(row, func(n *html.Node) bool {
			return n.Data == "a" && strings.HasPrefix(attribute(n, "href"), "/d/")
		}) {
			title := link
			for title.FirstChild != nil {
				title = title.FirstChild
			}
			out = append(out, title.Data+": "+attribute(row, "data-state"))
		}
	}
	return out
}

func TestTheListOfDocumentsIsSearchedFilteredAndSorted(t *testing.T) {
	b := newBench(t)
	b.added("alpha.md", "# Alpha\n\nOne.\n")
	b.added("beta.txt", "Beta\n\nTwo.\n")
	_, res := b.uploadFiles("namespace=east", "@gamma.pdf=%PDF-1.4 broken")
	if d := b.settled(res.Documents[0].ID); d.State != corpus.StateFailed {
		t.Fatalf("a broken file is %s, want %s", d.State, corpus.StateFailed)
	}
	for query, want := range map[string]string{
		"":                       "gamma.pdf: failed|beta.txt: ready|Alpha: ready",
		"?q=ALPH":                "Alpha: ready",
		"?kind=md":               "Alpha: ready",
		"?kind=pdf&state=failed": "gamma.pdf: failed",
		"?state=working":         "",
		"?namespace=east":        "gamma.pdf: failed",
		"?sort=oldest":           "Alpha: ready|beta.txt: ready|gamma.pdf: failed",
		"?sort=title&limit=1":    "Alpha: ready",
	} {
		if got := strings.Join(b.rows(query), "|"); got != want {
			t.Errorf("/documents%s lists %q, want %q", query, got, want)
		}
	}
	page := b.send("GET", "/documents", "", "Accept", "text/html").body
	for _, want := range []string{"This PDF is damaged", ">east<", "multipart/form-data", "/retry"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not hold %q", want)
		}
	}
	for _, query := range []string{"?state=odd", "?kind=odd", "?sort=odd", "?limit=x", "?namespace=a/b"} {
		if got := b.send("GET", "/documents"+query, "", "Accept", "text/html"); got.status != http.StatusBadRequest {
			t.Errorf("/documents%s = %d, want 400", query, got.status)
		}
	}
}

func TestFormsOfTheListWorkWithoutAScriptAndComeBackToIt(t *testing.T) {
	b := newBench(t)
	d := b.added("alpha.md", "# Alpha\n\nOne.\n")
	post := func(what string) reply {
		return b.send("POST", "/documents/"+d.ID+"/"+what, "", "Accept", "text/html", "Content-Type",
			"application/x-www-form-urlencoded")
	}
	got := post("delete?state=ready&evil=1")
	if want := "/documents?deleted=" + d.ID + "&state=ready"; got.status != http.StatusSeeOther ||
		got.header.Get("Location") != want {
		t.Fatalf("delete = %d to %q, want 303 to %q", got.status, got.header.Get("Location"), want)
	}
	if rows := b.rows(""); len(rows) != 0 {
		t.Errorf("after the delete there is %v, want none", rows)
	}
	after := b.send("GET", got.header.Get("Location"), "", "Accept", "text/html").body
	if !strings.Contains(after, `action="/documents/`+d.ID+`/restore"`) {
		t.Error("the page offers no way back")
	}
	if got := post("restore"); got.status != http.StatusSeeOther || got.header.Get("Location") != "/documents" {
		t.Errorf("restore = %d to %q; want %d and %q",
			got.status, got.header.Get("Location"), http.StatusSeeOther, "/documents")
	}
	if rows := b.rows(""); len(rows) != 1 {
		t.Errorf("after the restore there is %v, want 1 row", rows)
	}
	if got := post("retry"); got.status != http.StatusConflict || !strings.Contains(got.body, "can be tried again") {
		t.Errorf("retry of a ready document = %d, want %d", got.status, http.StatusConflict)
	}
	if got := b.send("POST", "/documents/"+d.ID+"/delete", "", "HX-Request",
		"true"); got.status != http.StatusNoContent {
		t.Errorf("delete by the script = %d, want 204", got.status)
	}
	if got := b.send("POST", "/documents/none/delete", "", "HX-Request", "true"); got.status != http.StatusNotFound {
		t.Errorf("delete of an unknown document = %d, want 404", got.status)
	}
}

func TestARunningDocumentShowsHowFarItIs(t *testing.T) {
	d := corpus.Document{
		ID: "d1", Filename: "a.pdf", State: corpus.StateParsing, Namespace: chat.DefaultNamespace,
		Progress: corpus.Progress{Stage: "parsing", Done: 12, Total: 80},
	}
	list := views.DocumentsPage{Documents: []corpus.Document{d}, Counts: corpus.Counts{Documents: 1, Working: 1}}
	var b strings.Builder
	if err := views.DocumentsList(list).Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Reading page 12 of 80", `max="80" value="12"`, "/documents/d1/cancel", `data-working="1"`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the list does not hold %q: %s", want, b.String())
		}
	}
}

func TestThePageSaysHowLongVectorsTake(t *testing.T) {
	d := corpus.Document{
		ID: "d1", Filename: "a.pdf", State: corpus.StateReady, Semantic: corpus.SemanticPending,
		Progress: corpus.Progress{Stage: "embedding", Done: 192, Total: 640},
	}
	for left, want := range map[time.Duration]string{
		0:                "Semantic index: 3,180 passages to go<",
		20 * time.Second: "3,180 passages to go, less than a minute left",
		time.Minute:      "about 1 minute left",
		5 * time.Hour:    "about 5 hours left",
	} {
		list := views.DocumentsPage{
			Documents: []corpus.Document{d}, Counts: corpus.Counts{Documents: 1, Ready: 1, Unembedded: 3180},
			Semantic: true, EmbedTime: left,
		}
		var b strings.Builder
		if err := views.DocumentsList(list).Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{want, "Semantic index: 192 of 640 passages"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%v: the list does not hold %q: %s", left, want, b.String())
			}
		}
	}
}
