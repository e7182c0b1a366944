package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/httpio"
	"github.com/footnote/footnote/server/mcpserver"
)

// connect returns a client of the protocol's own SDK.
func (b *harness) connect(opts *sdk.ClientOptions) *sdk.ClientSession {
	b.t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, opts)
	session, err := client.Connect(b.t.Context(), &sdk.StreamableClientTransport{Endpoint: b.url + "/mcp"}, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if err := session.Close(); err != nil {
			b.t.Error(err)
		}
	})
	return session
}

// use calls a tool and returns its text and its data.
func use[Out any](
	t *testing.T, session *sdk.ClientSession, params *sdk.CallToolParams,
) (text string, out Out, failed bool) {
	t.Helper()
	res, err := session.CallTool(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &out); err != nil && !res.IsError {
		t.Fatal(err)
	}
	return res.Content[0].(*sdk.TextContent).Text, out, res.IsError
}

func TestMCPListsTools(t *testing.T) {
	b := newHarness(t)
	doc := b.added("Survey.md", "# Roof\n\nThe slates were renewed in 2019.\n").ID
	session := b.connect(nil)
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	if want := []string{"ask", "fetch", "list_documents", "read", "search"}; !slices.Equal(names, want) {
		t.Errorf("tools = %v, want %v", names, want)
	}
	text, found, _ := use[mcpserver.Found](t, session, &sdk.CallToolParams{
		Name: "search", Arguments: map[string]any{"query": "slates renewed"},
	})
	if len(found.Results) != 1 || !strings.HasPrefix(found.Results[0].Metadata.URL, b.url+"/d/"+doc) ||
		!strings.Contains(text, "renewed in 2019") || !strings.Contains(text, b.url) {
		t.Errorf("search = %s %+v; want 1 result, %q at its beginning, %q in it, %q in it",
			text, found, b.url+"/d/"+doc, "renewed in 2019", b.url)
	}
	text, part, _ := use[mcpserver.Part](t, session, &sdk.CallToolParams{
		Name: "read", Arguments: map[string]any{"document": "Survey.md"},
	})
	if part.DocumentID != doc || part.Parts != 1 || !strings.Contains(part.Text, "renewed in 2019") ||
		!strings.Contains(text, "part 1 of 1") {
		t.Errorf("read = %s %+v; want DocumentID %v, Parts 1, %q in it, %q in it",
			text, part, doc, "renewed in 2019", "part 1 of 1")
	}
	text, docs, _ := use[mcpserver.Documents](t, session, &sdk.CallToolParams{Name: "list_documents"})
	if len(docs.Documents) != 1 || docs.Documents[0].ID != doc || !strings.Contains(text, "Survey.md") {
		t.Errorf("list_documents = %s %+v; want 1 document, Documents[0].ID %v, %q in it", text, docs, doc, "Survey.md")
	}
	for tool, args := range map[string]map[string]any{
		"search": {"query": " "}, "read": {"document": "nothing of that name"}, "list_documents": {"limit": 1000},
		"ask": {"question": ""}, "fetch": {"id": "nothing"},
	} {
		if text, _, failed := use[map[string]any](t, session, &sdk.CallToolParams{
			Name: tool, Arguments: args,
		}); !failed || strings.Contains(text, "sql") {
			t.Errorf("%s %v = %q, failed %v, want no %q in it", tool, args, text, failed, "sql")
		}
	}
}

func TestMCPQuestionIsRun(t *testing.T) {
	b := newHarness(t)
	cite := chat.Citation{
		Number: 1, DocumentID: "d1", ChunkID: "p1", Title: "Survey", URL: "/d/d1?c=1", Quote: "The roof is sound.",
		Check: chat.CheckVerified,
	}
	b.stage.events = []chat.Payload{
		chat.RunStarted{Question: "Is the roof sound?", Model: "scripted"},
		chat.Step{
			CallID: "c1", Step: "search_documents", ToolName: "search_documents", Message: "Searching for: roof",
			Status: chat.StatusComplete, ToolStatus: chat.StatusComplete,
		},
		cite,
		chat.AnswerDelta{Text: "It is [1]."},
		chat.Answer{
			Markdown: "It is [1].", Citations: []chat.Citation{cite}, Confidence: 0.9, StopReason: chat.StopAnswered,
		},
		chat.RunDone{Status: chat.RunCompleted},
	}
	progress := make(chan string, 100) // the SDK may deliver a notification after the response
	session := b.connect(&sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
			progress <- req.Params.Message
		},
	})
	params := &sdk.CallToolParams{Name: "ask", Arguments: map[string]any{"question": "Is the roof sound?"}}
	params.SetProgressToken("p1")
	text, answer, failed := use[mcpserver.Answer](t, session, params)
	if failed || answer.Answer != "It is [1]." || answer.Status != "success" || len(answer.Citations) != 1 ||
		answer.Citations[0].URL != b.url+"/d/d1?c=1" {
		t.Errorf("answer = %+v; want Answer %q, Status %q, 1 citation, Citations[0].URL %v",
			answer, "It is [1].", "success", b.url+"/d/d1?c=1")
	}
	if answer.URL != b.url+"/c/"+answer.SessionID+"#turn-"+answer.RunID ||
		!strings.Contains(text, "It is [Source 1].") || !strings.Contains(text, answer.URL) {
		t.Errorf("text = %s; want %q in it and %q in it", text, "It is [Source 1].", answer.URL)
	}
	if stored := b.send("GET", "/agent/runs/"+answer.RunID, ""); stored.status != http.StatusOK ||
		!strings.Contains(stored.body, "The roof is sound.") {
		t.Errorf("the run = %d %s; want %d and %q in it",
			stored.status, stored.body, http.StatusOK, "The roof is sound.")
	}
	const want = "Searching for: roof"
	timeout := time.After(10 * time.Second)
	for got := []string{}; !slices.Contains(got, want); {
		select {
		case said := <-progress:
			got = append(got, said)
		case <-timeout:
			t.Fatalf("got progress %q, want %q in it", got, want)
		}
	}
}

func TestMCPRequiresAuthentication(t *testing.T) {
	b := newHarness(t, func(c *Config) { c.Limits.JSONBody = 1000; c.Hosts = []string{"ask.example.org"} })
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`
	headers := []string{"Content-Type", "application/json", "Accept", "application/json, text/event-stream"}
	for _, tt := range []struct {
		name, method, body string
		more               []string
		want               int
	}{
		{"a program may", "POST", list, nil, 200},
		{"one without events too", "POST", list, []string{"Accept", "application/json"}, 200},
		{"by another name that is ours", "POST", list, []string{"Host", "ask.example.org"}, 200},
		{"a foreign page may not", "POST", list, []string{"Origin", "https://evil.example"}, 403},
		{"nor a foreign name", "POST", list, []string{"Host", "evil.example"}, 403},
		{"a body has a limit", "POST",
			`{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 2000) + `"}`, nil, 413},
		{"there are no sessions to listen to", "GET", "", nil, 405},
	} {
		if got := b.send(tt.method, "/mcp", tt.body,
			append(slices.Clone(headers), tt.more...)...); got.status != tt.want {
			t.Errorf("%s: status = %d, want %d: %s", tt.name, got.status, tt.want, got.body)
		}
	}
}

func TestInvalidMCPMessageIsRejected(t *testing.T) {
	b := newHarness(t, func(c *Config) { c.Limits.JSONBody = 1000 })
	kind := []string{"Content-Type", "application/json"}
	for _, tt := range []struct {
		name, body string
		headers    []string
		status     int
		code       chat.Code
		detail     string
	}{
		{"no kind", "x", nil, 415, chat.CodeUnsupported, "application/json"},
		{"nothing", "", kind, 400, chat.CodeInvalid, "one JSON-RPC message"},
		{"no JSON", "{", kind, 400, chat.CodeInvalid, "one JSON-RPC message"},
		{"brackets that do not match", "[}", kind, 400, chat.CodeInvalid, "one JSON-RPC message"},
		{"many at once", "[" + strings.Repeat(`{"method":"a"},`, 50) + `{"method":"a"}]`, kind, 400, chat.CodeInvalid,
			"at most 50 messages"},
		{"a method of another kind", `{"jsonrpc":"2.0","id":1,"method":{}}`, kind, 400, chat.CodeInvalid,
			"the wrong type"},
		{"params that are no object", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":5}`, kind, 400,
			chat.CodeInvalid, "must be an object such as"},
		{"a name that is no text", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}`, kind, 400,
			chat.CodeInvalid, "must be an object such as"},
		{"a method that is not known", `{"jsonrpc":"2.0","id":1,"method":"x/y"}`, kind, 400, chat.CodeInvalid, `"x/y"`},
		{"a method that is long", `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("é", 450) + `"}`, kind, 400,
			chat.CodeInvalid, "éé"},
		{"too much", `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", 2000) + `"}`, kind, 413,
			chat.CodeTooLarge, "exceeds the limit of"},
	} {
		got := b.send("POST", "/mcp", tt.body, tt.headers...)
		var p httpio.Problem
		if err := json.Unmarshal([]byte(got.body), &p); err != nil {
			t.Errorf("%s: %v in %s, want no error", tt.name, err, got.body)
		}
		if kind := got.header.Get("Content-Type"); kind != "application/problem+json" || got.status != tt.status ||
			p.Status != tt.status {
			t.Errorf("%s: %d, %s, %+v; want %q, %d, Status %v",
				tt.name, got.status, kind, p, "application/problem+json", tt.status, tt.status)
		}
		if p.Code != tt.code || !strings.Contains(string(p.Detail), tt.detail) || len(p.Detail) > 500 ||
			p.RequestID == "" {
			t.Errorf("%s: %+v; want Code %v, %q in it, at most 500, something", tt.name, p, tt.code, tt.detail)
		}
	}
}

func TestInvalidMCPCallHasOneSentence(t *testing.T) {
	b := newHarness(t)
	doc := b.added("Survey.md", survey).ID
	session := b.connect(nil)
	for _, tt := range []struct {
		tool string
		args map[string]any
		want string
	}{
		{"search", map[string]any{"query": "roof", "k": 3},
			"search: invalid arguments: there is no field “k”; there are “document_ids”, “namespace”, " +
				"“query”, “top_k”."},
		{"search", map[string]any{"query": "roof", "top_k": 51},
			"search: invalid arguments: “top_k” must be a whole number from 1 to 50, or null."},
		{"search", map[string]any{"query": 5}, "search: invalid arguments: “query” must be a text."},
		{"search", nil, "search: invalid arguments: “query” is missing; it must be a text."},
		{"read", map[string]any{"part": 1},
			"Specify a document by document_id, or as document by its id, title or file name, and a part from 1."},
		{"read", map[string]any{"document": "Survey.md", "part": 0},
			"read: invalid arguments: “part” must be a whole number of at least 1."},
		{"list_documents", map[string]any{"limit": 201},
			"list_documents: invalid arguments: “limit” must be a whole number from 1 to 200."},
		{"list_documents", map[string]any{"namespace": "a/b"},
			"A namespace can have up to 128 letters, digits, periods, underscores and hyphens. It can't begin with a " +
				"period."},
		{"ask", map[string]any{"question": "Why?", "style": "x"},
			"ask: invalid arguments: there is no field “style”; there are “document_ids”, “namespace”, " +
				"“question”, “session_id”."},
	} {
		if text, _, failed := use[map[string]any](t, session, &sdk.CallToolParams{
			Name: tt.tool, Arguments: tt.args,
		}); !failed || text != tt.want {
			t.Errorf("%s %v = %q, want %q", tt.tool, tt.args, text, tt.want)
		}
	}
	const unknown = `Unknown tool "axe". Available tools: ask, fetch, list_documents, read, search.`
	if _, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "axe"}); err == nil ||
		!strings.Contains(err.Error(), unknown) {
		t.Errorf("a tool that is not there: %v, want %q in it", err, unknown)
	}
	_, part, failed := use[mcpserver.Part](t, session, &sdk.CallToolParams{
		Name: "read", Arguments: map[string]any{"document_id": doc},
	})
	if failed || part.DocumentID != doc {
		t.Errorf("read by document_id = %+v, want DocumentID %v", part, doc)
	}
	list, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		raw, err := json.Marshal(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]string{
			"search": `"maximum":50`, "read": `"minimum":1`, "list_documents": `"maximum":200`,
		} {
			if tool.Name == name && !strings.Contains(string(raw), want) {
				t.Errorf("%s takes %s, want %s", name, raw, want)
			}
		}
	}
}

// Chat programs with a search of their own expect two tools by name and schema, and parse their text as JSON.
func TestSearchAndFetchMatchConnectorSchema(t *testing.T) {
	b := newHarness(t)
	var long strings.Builder
	for n := range 400 {
		fmt.Fprintf(&long, "## Room %d\n\nThe lamp of room %d was bought in %d.\n\n", n, n, 1600+n)
	}
	doc := b.added("Lamps.md", "# Lamps\n\n"+long.String()).ID
	session := b.connect(nil)
	text, found, _ := use[mcpserver.Found](t, session, &sdk.CallToolParams{
		Name: "search", Arguments: map[string]any{"query": "lamp of room 399"},
	})
	var said struct {
		Results []struct{ ID, Title, URL string }
	}
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		t.Fatalf("result of search = %.80s: %v", text, err)
	}
	first := said.Results[0]
	if first.ID != found.Results[0].ID || first.Title != "Lamps" || !strings.HasPrefix(first.URL, b.url+"/d/"+doc) {
		t.Errorf("the first result is %+v, want the id %s, the title Lamps, an address below %s",
			first, found.Results[0].ID, b.url+"/d/"+doc)
	}
	fetch := func(id string) (mcpserver.Fetched, string, bool) {
		text, got, failed := use[mcpserver.Fetched](t, session, &sdk.CallToolParams{
			Name: "fetch", Arguments: map[string]any{"id": id},
		})
		return got, text, failed
	}
	got, text, _ := fetch(first.ID)
	var same mcpserver.Fetched
	if err := json.Unmarshal([]byte(text), &same); err != nil || same.Text != got.Text {
		t.Errorf("the text of fetch is %.80s (%v), want the same as its data", text, err)
	}
	if got.ID != first.ID || got.Title != "Lamps" || got.URL != first.URL || !strings.Contains(got.Text, "in 1999") ||
		got.Metadata["document_id"] != doc || got.Metadata["part"] != got.Metadata["parts"] {
		t.Errorf("fetch %s = %+v, want the last part with 1999 in it and the address %s", first.ID, got, first.URL)
	}
	whole, id := "", doc
	for n := 0; id != "" && n < 10; n++ {
		part, _, failed := fetch(id)
		if failed || part.ID != id {
			t.Fatalf("fetch %s failed: %+v", id, part)
		}
		whole, id = whole+part.Text, part.Metadata["next"]
	}
	if !strings.Contains(whole, "in 1600") || !strings.Contains(whole, "in 1999") {
		t.Error("parts of the document differ from the whole")
	}
	for _, id := range []string{"", " ", "x", "Lamps.md", doc + ":0", doc + ":x", doc + ":900", strings.Repeat("é",
		300)} {
		if _, text, failed := fetch(id); !failed || strings.Contains(text, "sql") {
			t.Errorf("fetch %.20q = %q, want a refusal", id, text)
		}
	}
}

// Two clients often use the same id for a call: only the run of the one that cancels ends.
func TestCancelledMCPQuestionEndsItsRun(t *testing.T) {
	b := newHarness(t)
	b.stage.events = []chat.Payload{
		chat.RunStarted{Question: "Why?", Model: "scripted"},
		chat.Step{CallID: "c", Step: "s", Message: "Searching for: roof", Status: chat.StatusRunning},
	}
	began := make(chan string, 10)
	ask := func(ctx context.Context, name string) <-chan error {
		session := b.connect(&sdk.ClientOptions{ //nolint:contextcheck // it lasts as long as the test
			ProgressNotificationHandler: func(context.Context,
				*sdk.ProgressNotificationClientRequest) {
				began <- name
			},
		})
		params := &sdk.CallToolParams{Name: "ask", Arguments: map[string]any{"question": "Is the roof " + name + "?"}}
		params.SetProgressToken(name)
		done := make(chan error, 1)
		go func() { // ends with the call, which ends with ctx
			_, err := session.CallTool(ctx, params)
			done <- err
		}()
		if got := <-began; got != name {
			t.Errorf("progress is of %s, want %s", got, name)
		}
		return done
	}
	ctx, cancel := context.WithCancel(t.Context())
	kept, stop := context.WithCancel(t.Context())
	defer stop()
	other, cancelled := ask(kept, "sound"), ask(ctx, "new")
	cancel()
	if err := <-cancelled; err == nil {
		t.Error("cancelled call has an answer, want an error")
	}
	states := func() map[string]chat.RunStatus {
		sessions, _, err := b.stage.store.Sessions(t.Context(), chat.Local, chat.SessionQuery{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]chat.RunStatus{}
		for _, s := range sessions {
			runs, err := b.stage.store.Runs(t.Context(), chat.Local, s.ID)
			if err != nil {
				t.Fatal(err)
			}
			for _, run := range runs {
				out[run.Request.Message] = run.Status
			}
		}
		return out
	}
	for deadline := time.Now().Add(10 * time.Second); states()["Is the roof new?"] != chat.RunCancelled; {
		if time.Now().After(deadline) {
			t.Fatalf("the runs are %v, want the cancelled one to be %s", states(), chat.RunCancelled)
		}
	}
	if got := states()["Is the roof sound?"]; got == chat.RunCancelled {
		t.Error("other client's run was cancelled")
	}
	stop()
	<-other
}
