package server

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/footnote/footnote/chat"
)

var imports = regexp.MustCompile(
	`(?m)^(?:import|export)\b(?:[^'"\n]*\bfrom)?\s*['"](\.{1,2}/[^'"]+)|\bimport\(['"](\.{1,2}/[^'"]+)`,
)

// Every script that the page's scripts import is named in the page, so that no browser has to read one to learn of the
// next; nothing else is, and all of it may be kept for good. The first page with all that it needs is small.
func TestThePagesScriptsAreFetchedInOneWave(t *testing.T) {
	b := newBench(t)
	b.Server.page.Assets.Script = true
	page := b.send("GET", "/", "", "Accept", "text/html")
	preloaded := map[string]bool{}
	var files, waiting []string
	for _, n := range elements(parsed(t, page.body), func(n *html.Node) bool {
		return n.Data == "link" || n.Data == "script"
	}) {
		switch {
		case attribute(n, "rel") == "modulepreload":
			preloaded[attribute(n, "href")] = true
		case attribute(n, "type") == "module":
			waiting = append(waiting, attribute(n, "src"))
		case n.Data == "script":
			files = append(files, attribute(n, "src"))
		case attribute(n, "rel") == "stylesheet", attribute(n, "rel") == "icon":
			files = append(files, attribute(n, "href"))
		}
	}
	known := map[string]bool{}
	for len(waiting) > 0 {
		address := waiting[0]
		waiting = waiting[1:]
		if known[address] {
			continue
		}
		known[address] = true
		files = append(files, address)
		if !preloaded[address] {
			t.Errorf("the browser learns of %s from another script only", address)
		}
		got := b.send("GET", address, "")
		if got.status != 200 || !strings.Contains(got.header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d, Cache-Control %q; want 200 and %q in it",
				address, got.status, got.header.Get("Cache-Control"), "immutable")
		}
		for _, m := range imports.FindAllStringSubmatch(got.body, -1) {
			waiting = append(waiting, path.Join(path.Dir(address), m[1]+m[2]))
		}
	}
	for address := range preloaded {
		if !known[address] {
			t.Errorf("%s is fetched and not used", address)
		}
	}
	if len(known) < 2 {
		t.Errorf("the page has %d scripts, want at least 2", len(known))
	}
	size := 0
	for _, address := range append(files, "/") {
		size += len(b.send("GET", address, "", "Accept", "text/html", "Accept-Encoding", "gzip").body)
	}
	t.Logf("the first page is %d bytes in %d files", size, len(files)+1)
	if size > 80<<10 {
		t.Errorf("the first page is %d bytes with all that it needs, want at most %d", size, 80<<10)
	}
}

// A page that was drawn before its run began learns from the stream what the run may use.
func TestTheStreamBringsWhatARunMayUse(t *testing.T) {
	b := newBench(t)
	b.Server.page.Assets.Script = true
	run := b.begin("How is the roof?")
	page := b.send("GET", "/c/"+run.SessionID, "", "Accept", "text/html").body
	if !strings.Contains(page, `<div id="composer-use"></div>`) {
		t.Fatal("the page knows the budget before the run began")
	}
	b.append(
		run.ID, chat.RunStarted{
			SessionID: run.SessionID, Question: "How is the roof?", Budget: chat.Budget{Steps: 7, Seconds: 90},
		}, chat.RunDone{Status: chat.RunCompleted},
	)
	stream := b.send("GET", "/runs/"+run.ID+"/stream", "").body
	for _, want := range []string{
		`<div id="composer-use"><dl class="budget"`, `data-use="steps" data-limit="7"`,
		`data-use="time" data-limit="90"`,
	} {
		if !strings.Contains(stream, want) {
			t.Errorf("%s is not in the stream:\n%s", want, stream)
		}
	}
}

// The server may be a binary, a container or a build from its sources: how a model is connected is told in a form that
// fits them all.
func TestTheHintForAModelFitsWhateverRunsTheServer(t *testing.T) {
	b := newBench(t, func(*Config) {})
	b.stage.play = script()
	run := b.begin("Is the roof sound?")
	for _, path := range []string{"/model", "/c/" + run.SessionID} {
		got := b.send("GET", path, "", "Accept", "text/html").body
		if path == "/model" && !strings.Contains(got, "OPENAI_BASE_URL=") {
			t.Errorf("%s does not say how a model is connected", path)
		}
		if strings.Contains(got, "make run") || strings.Contains(got, "bin/footnote") {
			t.Errorf("%s names a command that only a build from the sources has", path)
		}
	}
}
