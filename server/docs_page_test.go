package server

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/footnote/footnote/server/openapi"
)

func TestTheAPICanBeReadAsAPage(t *testing.T) {
	b := newBench(t)
	got := b.send("GET", "/docs", "", "Accept", "text/html")
	if got.status != 200 || !strings.HasPrefix(got.header.Get("Content-Type"), "text/html") {
		t.Fatalf("%d %s; want 200 and %q at its beginning", got.status, got.header.Get("Content-Type"), "text/html")
	}
	doc, err := html.Parse(strings.NewReader(got.body))
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, n := range elements(doc, func(n *html.Node) bool { return attribute(n, "id") != "" }) {
		if id := attribute(n, "id"); ids[id] {
			t.Errorf("the id %s is there twice", id)
		} else {
			ids[id] = true
		}
	}
	for _, op := range openapi.Operations() {
		if !ids[op.ID()] || !strings.Contains(got.body, ">"+openapi.TemplatePath(op.Path)+"<") {
			t.Errorf("%s %s is not on the page", op.Method, op.Path)
		}
	}
	for _, a := range elements(doc, func(n *html.Node) bool { return n.Data == "a" }) {
		if name, ok := strings.CutPrefix(attribute(a, "href"), "#"); ok && name != "" && !ids[name] {
			t.Errorf("a link to #%s leads nowhere", name)
		}
	}
	for _, n := range elements(doc, func(n *html.Node) bool { return n.Data == "script" }) {
		if src := attribute(n, "src"); !strings.HasPrefix(src, "/static/") {
			t.Errorf("a script from %q, want %q at its beginning", src, "/static/")
		}
	}
	if strings.Contains(got.body, "X-API-Key)") {
		t.Error("a server without keys asks for one")
	}
	for _, want := range []string{
		"curl -X POST " + b.url + "/agent/chat ", "1 to 50; default 5", "list of Citation", "needed",
		"hybrid, lexical, semantic", `data-try="DELETE"`, "The same as AgentResponse.answer, GroundedResponse.answer.",
		"curl " + b.url + "/health",
	} {
		if !strings.Contains(got.body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}
