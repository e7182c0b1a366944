package server

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/corpus/sources/placestest"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/openapi"
)

// chosen holds a page's question box: the options of each field, and the selected ones.
type chosen struct {
	Offered map[string][]string
	Now     map[string]string
	Hidden  []string // fields without a choice
	Draft   string
	Why     string
}

func chosenOn(t *testing.T, page string) chosen {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	got := chosen{Offered: map[string][]string{}, Now: map[string]string{}}
	take := func(name string, n *html.Node, mark string) {
		value := ""
		on := false
		for _, a := range n.Attr {
			switch a.Key {
			case "value":
				value = a.Val
			case mark:
				on = true
			}
		}
		got.Offered[name] = append(got.Offered[name], value)
		if on {
			got.Now[name] = value
		}
	}
	for n := range root.Descendants() {
		at := map[string]string{}
		for _, a := range n.Attr {
			at[a.Key] = a.Val
		}
		options := slices.Contains([]string{"model", "toolset", "namespace"}, at["name"])
		switch {
		case options && n.Data == "select":
			for option := range n.Descendants() {
				if option.Data == "option" {
					take(at["name"], option, "selected")
				}
			}
		case options && at["type"] == "radio":
			take(at["name"], n, "checked")
		case options && at["type"] == "hidden":
			got.Hidden = append(got.Hidden, at["name"])
		case n.FirstChild != nil && at["id"] == "q":
			got.Draft = n.FirstChild.Data
		case n.FirstChild != nil && at["id"] == "composer-error":
			got.Why = n.FirstChild.Data
		}
	}
	return got
}

func withChoices(cfg *Config) {
	cfg.Models = func() []string { return []string{"large", "small", "offline"} }
	cfg.Toolsets = []string{"cursor", "react"}
}

// inNamespaces adds a document to each namespace and waits until it is ready.
func (b *harness) inNamespaces(names ...string) {
	b.t.Helper()
	for _, name := range names {
		body, kind := form(b.t, "namespace="+name, "@"+name+".md=# "+name+"\n\nThe roof of "+name+" is sound.")
		got := b.send("POST", "/documents", body, "Content-Type", kind)
		var res api.Uploaded
		got.decode(b.t, &res)
		b.send("GET", "/documents/"+res.Documents[0].ID+"/events", "")
	}
}

func (b *harness) post(path string, fields url.Values) reply {
	b.t.Helper()
	return b.send("POST", path, fields.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Accept",
		"text/html")
}

func (b *harness) page(path string) string {
	b.t.Helper()
	return b.send("GET", path, "", "Accept", "text/html").body
}

func (b *harness) lastRun(session string) chat.Run {
	b.t.Helper()
	runs, err := b.store.Runs(b.t.Context(), chat.Local, session)
	if err != nil || len(runs) == 0 {
		b.t.Fatalf("%d runs, %v", len(runs), err)
	}
	return runs[len(runs)-1]
}

func TestQuestionFormListsOptions(t *testing.T) {
	b := newHarness(t, withChoices)
	b.inNamespaces("leases", "default")
	want := chosen{
		Offered: map[string][]string{
			"model": {"", "small", "offline"}, "toolset": {"", "react"}, "namespace": {"", "default", "leases"},
		},
		Now: map[string]string{"toolset": ""},
	}
	if diff := cmp.Diff(want, chosenOn(t, b.page("/"))); diff != "" {
		t.Errorf("the first page (-want +got):\n%s", diff)
	}

	b = newHarness(t)
	b.inNamespaces("default")
	page := b.page("/")
	if got := chosenOn(t, page); len(got.Offered) > 0 ||
		!slices.Equal(got.Hidden, []string{"model", "toolset", "namespace"}) || strings.Contains(page, `id="options"`) {
		t.Errorf("without a choice: %+v, want none", got)
	}
}

func TestConversationKeepsOptions(t *testing.T) {
	b := newHarness(t, withChoices)
	b.inNamespaces("leases", "default")
	ask := func(fields url.Values) chat.RunRequest {
		t.Helper()
		fields.Set("session_id", "s1")
		if got := b.post("/chat", fields); got.status != http.StatusSeeOther {
			t.Fatalf("got %d %s, want %d", got.status, got.body, http.StatusSeeOther)
		}
		return b.lastRun("s1").Request
	}
	options := func(r chat.RunRequest) [3]string { return [3]string{r.Config.Model, r.Toolset, r.Namespace} }
	all := [3]string{"small", "react", "leases"}
	if got := options(
		ask(url.Values{"message": {"Is it sound?"}, "model": {"small"}, "toolset": {"react"}, "namespace": {"leases"}}),
	); got != all {
		t.Errorf("asked with %v, want %v", got, all)
	}
	want := map[string]string{"model": "small", "toolset": "react", "namespace": "leases"}
	if diff := cmp.Diff(want, chosenOn(t, b.page("/c/s1")).Now); diff != "" {
		t.Errorf("the conversation (-want +got):\n%s", diff)
	}
	// as a link of the page requests it without a script
	if got := options(ask(url.Values{"message": {"And the gutter?"}})); got != all {
		t.Errorf("a follow-up is asked with %v, want %v", got, all)
	}
	if got := options(
		ask(url.Values{"message": {"And the door?"}, "model": {""}, "toolset": {""}, "namespace": {""}}),
	); got != [3]string{} {
		t.Errorf("options after a return to the defaults = %v", got)
	}
	if diff := cmp.Diff(map[string]string{"toolset": ""}, chosenOn(t, b.page("/c/s1")).Now); diff != "" {
		t.Errorf("the conversation with the usual again (-want +got):\n%s", diff)
	}
}

func TestConversationKeepsDocuments(t *testing.T) {
	b := newHarness(t, withChoices)
	one, two := b.added("One.md", survey).ID, b.added("Two.md", survey+"More.").ID
	ask := func(fields url.Values) []string {
		t.Helper()
		fields.Set("session_id", "s1")
		if got := b.post("/chat", fields); got.status != http.StatusSeeOther {
			t.Fatalf("got %d %s, want %d", got.status, got.body, http.StatusSeeOther)
		}
		return b.lastRun("s1").Request.DocumentIDs
	}
	for _, step := range []struct {
		name   string
		fields url.Values
		want   []string
	}{
		{"one ticked", url.Values{"message": {"Is it sound?"}, "document_ids": {"", one}}, []string{one}},
		{"a link of the page", url.Values{"message": {"And the gutter?"}}, []string{one}},
		{"the other ticked", url.Values{"message": {"And the door?"}, "document_ids": {"", two}}, []string{two}},
		{"a link with the options of the box",
			url.Values{"message": {"And the wall?"}, "model": {""}, "toolset": {""}, "namespace": {""}}, []string{two}},
		{"none ticked", url.Values{"message": {"And the floor?"}, "document_ids": {""}}, nil},
		{"a link after that", url.Values{"message": {"And the wall?"}}, nil},
	} {
		if got := ask(step.fields); !slices.Equal(got, step.want) {
			t.Errorf("%s: asked within %q, want %q", step.name, got, step.want)
		}
	}
	if page := b.page("/c/s1"); !strings.Contains(page, `<input type="hidden" name="document_ids" value="">`) {
		t.Error("form of a conversation lacks the empty document_ids")
	}
}

func TestRemovedModelIsReplacedByDefault(t *testing.T) {
	b := newHarness(t, withChoices)
	b.inNamespaces("default")
	run, _, err := b.stage.Start(t.Context(), chat.LocalUser, chat.RunRequest{
		SessionID: "s1", Message: "Is it sound?", Config: chat.RunConfig{Model: "gone"},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.append(run.ID, chat.RunStarted{SessionID: "s1", Question: "Is it sound?", Model: "gone", Toolset: "cursor"},
		chat.Answer{Markdown: "It is.", StopReason: chat.StopAnswered, FollowUps: []string{"And the door?"}},
		chat.RunDone{Status: chat.RunCompleted})
	const says, with = "gone is no longer available. Asking again uses large.",
		`<input type="hidden" name="model" value="">`
	for where, body := range map[string]string{
		"page": b.page("/c/s1"), "stream": b.send("GET", "/runs/"+run.ID+"/stream", "", "Accept",
			"text/event-stream").body,
	} {
		if !strings.Contains(body, says) || strings.Count(body, with) != 2 { // Regenerate and Edit question
			t.Errorf("the %s does not offer the usual model: %s, want %q in it", where, body, says)
		}
	}
	for _, fields := range []url.Values{ // a link of the page first: its run's model is unavailable
		{"message": {"And the door?"}, "session_id": {"s1"}}, {"message": {"Is it sound?"}, "session_id": {"s1"},
			"sibling": {run.ID}, "model": {""}},
	} {
		if got := b.post("/chat", fields); got.status != http.StatusSeeOther ||
			b.lastRun("s1").Request.Config.Model != "" {
			t.Errorf("%v: %d, asked with the model %q; want %d and nothing",
				fields, got.status, b.lastRun("s1").Request.Config.Model, http.StatusSeeOther)
		}
	}
	if page := b.page("/c/" + b.begin("Is it dry?").SessionID); strings.Contains(page, "no longer available") {
		t.Error(`turn of an offered model has "no longer available"`)
	}
}

func TestAskAgainKeepsOptions(t *testing.T) {
	b := newHarness(t, withChoices)
	temperature := 0.5
	run, _, err := b.stage.Start(t.Context(), chat.LocalUser, chat.RunRequest{
		SessionID: "s1", Message: "Is it sound?", ContextText: "The roof is sound.", AddedContext: "It was renewed.",
		Namespace: "leases", Toolset: "react", Instructions: "Be brief.", History: [][2]string{{"Hello", "Hi"}},
		Config: chat.RunConfig{Model: "small", EnabledTools: []string{"retrieve"}, Temperature: &temperature},
		From:   &chat.From{RunID: "r", CallID: "c", Tool: "retrieve", Input: []byte(`{}`)},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := run.Request
	want.Message, want.Sibling, want.From = "Is it dry?", run.ID, nil
	if got := b.post("/chat", url.Values{
		"message": {"Is it dry?"}, "session_id": {"s1"}, "sibling": {run.ID},
	}); got.status != http.StatusSeeOther {
		t.Fatalf("got %d %s, want %d", got.status, got.body, http.StatusSeeOther)
	}
	if diff := cmp.Diff(want, b.lastRun("s1").Request); diff != "" {
		t.Errorf("the new version (-want +got):\n%s", diff)
	}
	b.post("/chat", url.Values{
		"message": {"Is it dry?"}, "session_id": {"s1"}, "sibling": {run.ID}, "toolset": {"cursor"},
	})
	if got := b.lastRun("s1").Request; got.Toolset != "cursor" || got.Config.Model != "small" {
		t.Errorf("with other tools: %+v; want Toolset %q and Config.Model %q", got, "cursor", "small")
	}
}

func TestRejectedFormKeepsText(t *testing.T) {
	b := newHarness(t, withChoices)
	long := strings.Repeat("long ", 7000)
	fields := url.Values{"message": {long}, "model": {"small"}, "toolset": {"react"}}
	if got := b.post("/chat", fields); got.status != 400 || !strings.Contains(got.body, "Shorten it") ||
		!strings.Contains(got.body, ">"+long+"</textarea>") {
		t.Errorf("without documents: %d, %d characters of page, want 400 with the reason and the words still in "+
			"the box", got.status, len(got.body))
	}
	b.inNamespaces("default")
	run := b.begin("Is it sound?")
	for _, tt := range []struct{ name, session, turns string }{
		{"the first page", "", ""}, {"a conversation", run.SessionID, run.ID},
		{"a conversation that is not there", "gone", ""}, {"a conversation that can't be", "no/such", ""},
	} {
		fields.Set("session_id", tt.session)
		got := b.post("/chat", fields)
		box := chosenOn(t, got.body)
		if got.status != 400 || box.Draft != long || box.Now["model"] != "small" || box.Now["toolset"] != "react" {
			t.Errorf("%s: %d, %d characters, %v; want 400, %v, %q, %q",
				tt.name, got.status, len(box.Draft), box.Now, long, "small", "react")
		}
		if tt.session != "no/such" &&
			!strings.HasSuffix(box.Why, "Shorten it, or upload the long part as a document.") {
			t.Errorf("%s: reason = %q", tt.name, box.Why)
		}
		if tt.turns != "" &&
			(!strings.Contains(got.body, "turn-"+tt.turns) || strings.Contains(got.body, `http-equiv="refresh"`)) {
			t.Errorf("%s: got another page than the conversation, or a redirect", tt.name)
		}
	}
	if got := b.send("POST", "/chat", fields.Encode(), "Content-Type", "application/x-www-form-urlencoded", "Accept",
		"text/html", "HX-Request", "true"); got.status != 400 || strings.Contains(got.body, "<html") {
		t.Errorf("a script gets the sentence alone: %d %s; want 400 and no %q in it", got.status, got.body, "<html")
	}
}

func TestAnswerNamesNonDefaultModel(t *testing.T) {
	for _, tt := range []struct {
		model, want string
	}{{"large", ""}, {"small", "Answered by small"}, {"offline", "Answered by Offline mode"}} {
		b := newHarness(t, withChoices)
		b.inNamespaces("default")
		run := b.begin("Is it sound?")
		b.append(run.ID,
			chat.RunStarted{SessionID: run.SessionID, Question: "Is it sound?", Model: tt.model, Toolset: "cursor"},
			chat.Answer{Markdown: "It is.", StopReason: chat.StopAnswered}, chat.RunDone{Status: chat.RunCompleted})
		for where, body := range map[string]string{
			"page": b.page("/c/" + run.SessionID), "stream": b.send("GET", "/runs/"+run.ID+"/stream", "", "Accept",
				"text/event-stream").body,
		} {
			if strings.Contains(body, "Answered by") != (tt.want != "") || !strings.Contains(body, tt.want) {
				t.Errorf("%s of an answer by %s lacks %q", where, tt.model, tt.want)
			}
		}
	}
}

var imports = regexp.MustCompile(
	`(?m)^(?:import|export)\b(?:[^'"\n]*\bfrom)?\s*['"](\.{1,2}/[^'"]+)|\bimport\(['"](\.{1,2}/[^'"]+)`,
)

// The page lists every script that its scripts import, so that a browser can fetch them in parallel; it lists no
// others, and all are immutable. The first page with its resources is small.
func TestPagePreloadsAllScripts(t *testing.T) {
	b := newHarness(t)
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
			t.Errorf("page does not preload %s", address)
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
			t.Errorf("page preloads %s, which no script uses", address)
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

// A page rendered before its run started gets the run's budget from the stream.
func TestStreamSendsRunBudget(t *testing.T) {
	b := newHarness(t)
	b.Server.page.Assets.Script = true
	run := b.begin("How is the roof?")
	page := b.send("GET", "/c/"+run.SessionID, "", "Accept", "text/html").body
	if !strings.Contains(page, `<div id="composer-use"></div>`) {
		t.Fatal("page has a budget before the run started")
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
			t.Errorf("stream lacks %s:\n%s", want, stream)
		}
	}
}

// The server may be a binary, a container or a build from source: the hint for connecting a model fits all of them.
func TestModelHintFitsDeployment(t *testing.T) {
	b := newHarness(t, func(*Config) {})
	b.stage.events = script()
	run := b.begin("Is the roof sound?")
	for _, path := range []string{"/model", "/c/" + run.SessionID} {
		got := b.send("GET", path, "", "Accept", "text/html").body
		if path == "/model" && !strings.Contains(got, "OPENAI_BASE_URL=") {
			t.Errorf("%s lacks how to connect a model", path)
		}
		if strings.Contains(got, "make run") || strings.Contains(got, "bin/footnote") {
			t.Errorf("%s names a command of a build from source", path)
		}
	}
}

// pageSite returns a bench with access to a site with pages.
func pageSite(t *testing.T) (b *harness, site string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/lease", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<title>The lease</title><p>The lease ends in May.</p>")
	})
	mux.HandleFunc("/down", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	site, way := placestest.Serve(t, mux)
	return newHarness(t, func(c *Config) { c.Pages = way }), site
}

func TestAddPageByAPI(t *testing.T) {
	b, site := pageSite(t)
	var res api.Uploaded
	got := b.send("POST", "/documents", `{"url":"`+site+`/lease","namespace":"home","meta":{"author":"Zed"}}`)
	got.decode(t, &res)
	if got.status != 202 || len(res.Documents) != 1 || len(res.Rejected) != 0 {
		t.Fatalf("%d %s, want 202 and one document", got.status, got.body)
	}
	info := b.settled(res.Documents[0].ID)
	if info.State != "ready" || info.Title != "The lease" || info.Namespace != "home" || info.Meta["author"] != "Zed" ||
		info.Meta["source_url"] != site+"/lease" {
		t.Errorf("document = %+v", info)
	}
	b.send("POST", "/documents", `{"url":"`+site+`/lease","namespace":"home"}`).decode(t, &res)
	if res.Documents[0].DuplicateOf != info.ID {
		t.Errorf("again = %+v, want a duplicate of %s", res, info.ID)
	}
	for _, tt := range []struct {
		body     string
		status   int
		rejected bool
	}{
		{`{"url":""}`, 400, false},
		{`{"url":"x","other":1}`, 400, false},
		{`{"url":"` + site + `/lease","namespace":".."}`, 400, false},
		{`{"url":"ftp://example.org"}`, 400, true},
		{`{"url":"` + site + `/gone"}`, 400, true},
		{`{"url":"http://169.254.169.254/latest/meta-data/"}`, 400, true},
		{`{"url":"` + site + `/down"}`, 503, true},
	} {
		got := b.send("POST", "/documents", tt.body)
		var res api.Uploaded
		if tt.rejected {
			got.decode(t, &res)
		}
		if got.status != tt.status || len(res.Rejected) > 0 != tt.rejected ||
			!strings.Contains(got.body, `"detail":"`) {
			t.Errorf("%s: %d %s, want %d, rejected: %v", tt.body, got.status, got.body, tt.status, tt.rejected)
		}
	}
}

func TestAddPageByForm(t *testing.T) {
	b, site := pageSite(t)
	html := []string{"Accept", "text/html", "Content-Type", formKind}
	got := b.send("GET", "/add?title=%3Cb%3E&url="+url.QueryEscape(site+"/lease?a=1&b=<script>"), "", html...)
	if got.status != 200 || !strings.Contains(got.body, site+"/lease?a=1&amp;b=&lt;script&gt;</code>") ||
		!strings.Contains(got.body, "&lt;b&gt;") {
		t.Errorf("the form = %d, want the address and the title as text", got.status)
	}
	if docs := b.send("GET", "/documents", ""); !strings.Contains(docs.body, `"documents":[]`) {
		t.Errorf("documents = %s, want none before the form is sent", docs.body)
	}
	got = b.send("POST", "/add", url.Values{"url": {site + "/lease"}}.Encode(), html...)
	to := got.header.Get("Location")
	if got.status != 303 || !strings.HasPrefix(to, "/add?added=") {
		t.Fatalf("got %d %s, want 303 to the added page", got.status, to)
	}
	b.settled(strings.TrimPrefix(to, "/add?added="))
	if got = b.send("GET", to, "", html...); got.status != 200 || !strings.Contains(got.body, "The lease") {
		t.Errorf("added page = %d %.200s", got.status, got.body)
	}
	if again := b.send("POST", "/add", url.Values{"url": {site + "/lease"}}.Encode(), html...); again.header.Get(
		"Location") != to+"&again=true" {
		t.Errorf("again = %d %s", again.status, again.header.Get("Location"))
	}
	for typed, status := range map[string]int{
		"": 400, "no address": 400, "javascript:alert(1)": 400, site + "/gone": 400, site + "/down": 503,
		"nowhere.example/a": 400,
	} {
		got := b.send("POST", "/add", url.Values{"url": {typed}}.Encode(), html...)
		if got.status != status || !strings.Contains(got.body, `value="`+typed+`"`) ||
			!strings.Contains(got.body, `aria-describedby="add-said"`) {
			t.Errorf("%q: got %d, want %d, the sentence and the input", typed, got.status, status)
		}
	}
	if got := b.send("GET", "/add?url="+url.QueryEscape("javascript:alert(1)"), "", html...); got.status != 400 ||
		strings.Contains(got.body, `type="hidden" name="url"`) {
		t.Errorf("a bookmark of no page = %d, want 400 and no button that adds it", got.status)
	}
}

func TestBookmarkletUsesServerOrigin(t *testing.T) {
	b := newHarness(t, func(c *Config) { c.Hosts = []string{"ask.example.org"} })
	for _, path := range []string{"/add", "/places"} {
		got := b.send("GET", path, "", "Accept", "text/html", "Host", "ask.example.org:8443", "X-Forwarded-Proto",
			"https")
		if want := "https://ask.example.org:8443/add?"; !strings.Contains(got.body, want) {
			t.Errorf("%s lacks the bookmarklet with %s", path, want)
		}
	}
}

func TestSharedURLOpensAddPage(t *testing.T) {
	b := newHarness(t)
	for _, tt := range []struct {
		fields []string
		want   string
	}{
		{[]string{"title=The lease", "text=https://example.org/a?b=1", "url="},
			"/add?title=The+lease&url=https%3A%2F%2Fexample.org%2Fa%3Fb%3D1"},
		{[]string{"title=Roofs", "text=Roofs", "url=https://example.org/a"},
			"/add?title=Roofs&url=https%3A%2F%2Fexample.org%2Fa"},
		{[]string{"text=https://example.org/a", "url=https://example.org/a"},
			"/add?title=&url=https%3A%2F%2Fexample.org%2Fa"},
		{[]string{"text=Look at https://example.org/a"}, "/?q=Look+at+https%3A%2F%2Fexample.org%2Fa"},
		{[]string{"text=“Dry.” https://example.org/b", "url=https://example.org/a"},
			"/?q=%E2%80%9CDry.%E2%80%9D+https%3A%2F%2Fexample.org%2Fb%0Ahttps%3A%2F%2Fexample.org%2Fa"},
		{[]string{"text=javascript:alert(1)"}, "/?q=javascript%3Aalert%281%29"},
		{[]string{"title=", "text="}, "/"},
	} {
		body, kind := form(t, tt.fields...)
		if got := b.send("POST", "/share", body, "Content-Type", kind); got.status != 303 ||
			got.header.Get("Location") != tt.want {
			t.Errorf("%q leads to %s, want %s", tt.fields, got.header.Get("Location"), tt.want)
		}
	}
}

// pageEverywhere is a web with the same page at every address.
type pageEverywhere struct{}

// RoundTrip implements http.RoundTripper.
func (pageEverywhere) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "text/html")
	_, err := io.WriteString(w, "<title>Terms</title><p>The lease ends in May.</p>")
	answer := w.Result()
	answer.Request = r
	return answer, err
}

func TestAPIReferencePage(t *testing.T) {
	b := newHarness(t)
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
			t.Errorf("id %s is duplicated", id)
		} else {
			ids[id] = true
		}
	}
	for _, op := range openapi.Operations() {
		if !ids[op.ID()] || !strings.Contains(got.body, ">"+openapi.TemplatePath(op.Path)+"<") {
			t.Errorf("page lacks %s %s", op.Method, op.Path)
		}
	}
	for _, a := range elements(doc, func(n *html.Node) bool { return n.Data == "a" }) {
		if name, ok := strings.CutPrefix(attribute(a, "href"), "#"); ok && name != "" && !ids[name] {
			t.Errorf("target of the link #%s is missing", name)
		}
	}
	for _, n := range elements(doc, func(n *html.Node) bool { return n.Data == "script" }) {
		if src := attribute(n, "src"); !strings.HasPrefix(src, "/static/") {
			t.Errorf("a script from %q, want %q at its beginning", src, "/static/")
		}
	}
	if strings.Contains(got.body, "data-keys") {
		t.Error("server without keys asks for one")
	}
}
