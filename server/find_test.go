package server

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/api"
)

// find searches as the page's palette does, with a user's key.
func (b *bench) find(query, key string) (links []string, text string) {
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

// owns adds a Markdown document for the owner of a key and waits until it is read in.
func (b *bench) owns(key, name, body string) string {
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

func TestTheSearchOfThePageFindsWhatItsUserMaySee(t *testing.T) {
	b, _, given := keyed(t, "anna", "bert")
	id := b.owns(given["anna"], "lease.md", "# Lease\n\n## Break clause\n\nThe break clause needs six months.")
	b.owns(given["bert"], "other.md", "# Other\n\nNothing of interest.")
	links, text := b.find("break clause", given["anna"])
	if len(links) != 1 || !strings.HasPrefix(links[0], "/d/"+id+"?end=") || !strings.HasSuffix(links[0], "#cited") ||
		!strings.Contains(text, "Looked through 0 conversations, 1 document") {
		t.Errorf("anna finds %q: %s", links, text)
	}
	links, text = b.find("break clause", given["bert"])
	if !slices.Equal(links, []string{"/?q=break+clause"}) || strings.Contains(text, "Lease") ||
		!strings.Contains(text, "Nothing has “break clause”.") {
		t.Errorf("bert finds %q: %s; want nothing, and a way to ask", links, text)
	}
}

func TestTheSearchOfThePageSaysWhatItCouldNotLookThrough(t *testing.T) {
	b := newBench(t)
	links, text := b.find("roof", "")
	if !slices.Equal(links, []string{"/documents"}) || !strings.Contains(text, "There is nothing to search yet.") {
		t.Errorf("an empty library: %q, %s", links, text)
	}
	b.added("roof.md", "# Roof\n\nThe roof is sound.")
	b.uploadFiles("@empty.md=\n")
	if _, text = b.find("roof", ""); !strings.Contains(text, "2 documents (1 by name only)") {
		t.Errorf("a document without text: %s", text)
	}
}

func TestTheSearchOfThePageCountsAsOne(t *testing.T) {
	b, _, given := keyed(t, "anna")
	b.owns(given["anna"], "roof.md", "# Roof\n\nThe roof is sound.")
	b.stage.store.SetLimits(chat.Limits{chat.SearchesPerMinute: 1})
	b.find("", given["anna"]) // what is newest is no search
	if _, text := b.find("roof sound", given["anna"]); !strings.Contains(text, "Passages") {
		t.Errorf("the first search: %s", text)
	}
	links, text := b.find("roof", given["anna"])
	if len(links) != 1 || strings.Contains(text, "Passages") ||
		!strings.Contains(text, "You searched 1 time in a minute") {
		t.Errorf("over the limit: %q, %s; want the document by its name, and why there are no passages", links, text)
	}
	if got := b.send("POST", "/search", `{"query":"roof"}`, "X-API-Key", given["anna"]); got.status != 429 {
		t.Errorf("POST /search after it: %d, want 429", got.status)
	}
}
