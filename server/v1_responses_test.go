package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/httpio/ssetest"
	"github.com/footnote/footnote/server/relay"
)

// searched returns the events of a run that searches, reads and answers.
func searched() []chat.Payload {
	score := 0.5
	search := chat.Step{
		CallID: "c1", Step: "hybrid_search", ToolName: "hybrid_search", Capability: chat.CapabilitySearch,
		Message: "Searching for: roof", ToolInput: json.RawMessage(`{"query":"roof"}`), Status: chat.StatusRunning,
		Label: &chat.Label{Doing: "Searching for", Done: "Searched for", Argument: "query"},
	}
	found := search
	found.Status, found.Message = chat.StatusComplete, "Found 1 document"
	found.Result = &chat.StepResult{Query: "roof", Found: 1, Hits: []chat.Hit{
		{
			DocumentID: "d1", ChunkID: "p1", Title: "Survey", Filename: "Survey.pdf", Page: 2, Score: &score,
			Snippet: "is sound",
		},
		{DocumentID: "d1", ChunkID: "p2", Snippet: "is dry", Sub: true},
	}}
	read := chat.Step{
		CallID: "c2", Step: "read_document", ToolName: "read_document", Capability: chat.CapabilityRead,
		Message: "Reading Survey", Status: chat.StatusRunning,
	}
	was := read
	was.Status, was.Message = chat.StatusComplete, "Read Survey"
	cite := chat.Citation{
		Number: 1, DocumentID: "d1", Title: "Survey", Filename: "Survey.pdf", Quote: "is sound", URL: "/d/d1?c=r.1",
	}
	return []chat.Payload{
		chat.RunStarted{Question: "Is the roof sound?"}, search, read, found, was,
		chat.AnswerDelta{Text: "It is "}, cite, chat.AnswerDelta{Text: "sound [1]."},
		chat.Answer{
			Markdown: "It is sound [1].", Citations: []chat.Citation{cite}, Confidence: 0.9,
			Tokens: chat.Tokens{In: 10, Out: 5},
		},
		chat.RunDone{Status: chat.RunCompleted},
	}
}

func asked(question string) responses.ResponseNewParams {
	return responses.ResponseNewParams{
		Model: relay.ModelName, Instructions: openai.String("Answer like a pirate."),
		Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(question)},
	}
}

// checkResponse compares a response with the run of searched.
func checkResponse(t *testing.T, b *harness, got *responses.Response) {
	t.Helper()
	if got.OutputText() != "It is sound [1]." || got.Status != "completed" || got.Usage.TotalTokens != 15 ||
		got.Model != relay.ModelName || got.CreatedAt == 0 || got.Error.Message != "" {
		t.Fatalf("got %s", got.RawJSON())
	}
	var kinds []string
	for _, item := range got.Output {
		kinds = append(kinds, item.Type)
	}
	if diff := cmp.Diff([]string{"file_search_call", "reasoning", "message"}, kinds); diff != "" {
		t.Fatal(diff)
	}
	search := got.Output[0].AsFileSearchCall()
	if len(search.Results) != 2 || search.Results[0].FileID != "d1" || search.Results[1].Filename != "Survey.pdf" ||
		search.Results[0].Text != "is sound" || search.Results[0].Score != 0.5 || search.Status != "completed" ||
		!slices.Equal(search.Queries, []string{"roof"}) {
		t.Errorf("search = %s", search.RawJSON())
	}
	if did := got.Output[1].AsReasoning(); len(did.Summary) != 2 || did.Summary[1].Text != "Read Survey" {
		t.Errorf("reasoning = %s, want both states of the reading", did.RawJSON())
	}
	notes := got.Output[2].AsMessage().Content[0].AsOutputText().Annotations
	if len(notes) != 1 {
		t.Fatalf("annotations: %s, want 1", got.RawJSON())
	}
	if cite := notes[0].AsURLCitation(); cite.StartIndex != 12 || cite.EndIndex != 15 || cite.Title != "Survey" ||
		cite.URL != b.url+"/d/d1?c=r.1" || !strings.Contains(cite.RawJSON(), `"file_id":"d1"`) ||
		!strings.Contains(cite.RawJSON(), `"quote":"is sound"`) {
		t.Errorf("citation = %s", cite.RawJSON())
	}
}

func TestOpenAIClientCreatesResponse(t *testing.T) {
	b := newHarness(t)
	b.stage.events = searched()
	client := b.sdk()
	got, err := client.Responses.New(t.Context(), asked("Is the roof sound?"))
	if err != nil {
		t.Fatal(err)
	}
	checkResponse(t, b, got)
	again, err := client.Responses.Get(t.Context(), got.ID, responses.ResponseGetParams{})
	if err != nil || again.RawJSON() != got.RawJSON() {
		t.Errorf("got %v, %v; want the same as before: %s", again, err, got.RawJSON())
	}
	run, err := b.store.Run(t.Context(), chat.Local, strings.TrimPrefix(got.ID, "resp_"))
	if err != nil || run.Request.Instructions != "Answer like a pirate." ||
		run.Request.Message != "Is the roof sound?" {
		t.Errorf("asked %+v, %v", run.Request, err)
	}
}

func TestOpenAIClientStreamsResponse(t *testing.T) {
	b := newHarness(t)
	b.stage.events = searched()
	client := b.sdk()
	stream := client.Responses.NewStreaming(t.Context(), asked("Is the roof sound?"))
	var kinds []string
	var last *responses.Response
	text := ""
	for n := int64(0); stream.Next(); n++ {
		event := stream.Current()
		if event.SequenceNumber != n {
			t.Errorf("sequence_number = %d, want %d", event.SequenceNumber, n)
		}
		kinds = append(kinds, event.Type)
		switch e := event.AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			text += e.Delta
		case responses.ResponseCompletedEvent:
			last = &e.Response
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"response.created", "response.in_progress",
		"response.output_item.added", "response.file_search_call.in_progress", "response.file_search_call.searching",
		"response.output_item.added",
		"response.reasoning_summary_part.added", "response.reasoning_summary_text.delta",
		"response.reasoning_summary_text.done", "response.reasoning_summary_part.done",
		"response.file_search_call.completed", "response.output_item.done",
		"response.reasoning_summary_part.added", "response.reasoning_summary_text.delta",
		"response.reasoning_summary_text.done", "response.reasoning_summary_part.done", "response.output_item.done",
		"response.output_item.added", "response.content_part.added", "response.output_text.delta",
		"response.output_text.delta", "response.output_text.annotation.added", "response.output_text.done",
		"response.content_part.done", "response.output_item.done", "response.completed",
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Error(diff)
	}
	if text != "It is sound [1]." || last == nil {
		t.Fatalf("text = %q, response = %v", text, last)
	}
	checkResponse(t, b, last)
	kinds = nil
	path := "/v1/responses/" + last.ID + "?stream=true&starting_after=" + strconv.Itoa(len(want)-3)
	for line := range strings.Lines(b.send("GET", path, "").body) {
		if kind, ok := strings.CutPrefix(line, "event: "); ok {
			kinds = append(kinds, strings.TrimSpace(kind))
		}
	}
	if diff := cmp.Diff(want[len(want)-2:], kinds); diff != "" {
		t.Error(diff)
	}
}

func TestResponseContinuesPreviousResponse(t *testing.T) {
	b := newHarness(t)
	b.stage.events = searched()
	client := b.sdk()
	follow := func(before string) *responses.Response {
		t.Helper()
		params := asked("And the gutters?")
		if before != "" {
			params.PreviousResponseID = openai.String(before)
		}
		got, err := client.Responses.New(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		if got.PreviousResponseID != before {
			t.Errorf("previous_response_id = %q, want %q", got.PreviousResponseID, before)
		}
		return got
	}
	first := follow("")
	second := follow(first.ID)
	third := follow(second.ID)
	beside := follow(second.ID) // which has a follower
	follow(third.ID)            // the end of a branch that is no longer shown
	follow(beside.ID)
	runs, err := b.store.Runs(t.Context(), chat.Local, first.Conversation.ID)
	if err != nil || len(runs) != 6 {
		t.Errorf("%d runs of %q, %v; want 6", len(runs), first.Conversation.ID, err)
	}
}

func TestBackgroundResponseIsCancelled(t *testing.T) {
	b := newHarness(t)
	b.stage.events = []chat.Payload{chat.AnswerDelta{Text: "So far"}, searched()[1]}
	client := b.sdk()
	params := asked("Why?")
	params.Background = openai.Bool(true)
	got, err := client.Responses.New(t.Context(), params)
	if err != nil || got.Status != "in_progress" {
		t.Fatalf("got %v, %v; want one that is in progress", got, err)
	}
	if got, err = client.Responses.Get(t.Context(), got.ID, responses.ResponseGetParams{}); err != nil ||
		got.Status != "in_progress" || len(got.Output) != 1 {
		t.Fatalf("got %v, %v; want its search", got, err)
	}
	for range 2 { // the second time it is finished
		stopped, err := client.Responses.Cancel(t.Context(), got.ID)
		if err != nil || stopped.Status != "cancelled" || stopped.OutputText() != "So far" ||
			stopped.Output[0].Status != "incomplete" {
			t.Fatalf("got %v, %v; want status cancelled and the text so far", stopped, err)
		}
	}
}

func TestUnsupportedResponsesOptionsAreRejected(t *testing.T) {
	b := newHarness(t)
	const why = `{"model":"footnote","input":"Why?",`
	for body, named := range map[string]string{
		`{"input":"Why?"}`:                                          "model",
		`{"model":"footnote"}`:                                      "input",
		`{"model":"footnote","input":5}`:                            "input must be text",
		`{"model":"footnote","input":[]}`:                           "input",
		`{"model":"footnote","input":[5]}`:                          "input must be text",
		`{"model":"footnote","input":""}`:                           "question",
		why + `"instructions":5}`:                                   "instructions",
		why + `"previous_response_id":"x"}`:                         "Response not found",
		why + `"conversation":5}`:                                   "conversation",
		why + `"conversation":"a/b"}`:                               "session",
		why + `"conversation":{"name":"a"}}`:                        "conversation",
		why + `"conversation":"a","previous_response_id":"resp_x"}`: "mutually exclusive",
		why + `"prompt":{"id":"pmpt_1"}}`:                           "prompt",
		why + `"max_output_tokens":0}`:                              "max_output_tokens",
		why + `"tool_choice":"required"}`:                           "tool_choice",
		why + `"tool_choice":{"type":"file_search"}}`:               "tool_choice",
		why + `"temperature":3}`:                                    "temperature",
		why + `"top_logprobs":1}`:                                   "top_logprobs",
		why + `"text":{"format":{"type":"json_object"}}}`:           "text.format",
		why + `"instructions":"` + strings.Repeat("x", 8001) + `"}`: "8,000",
		`{"model":"footnote","input":[{"role":"user","content":[{"type":"input_image"}]}]}`: "not text",
		`{"model":"footnote","input":[{"role":"boss","content":"Why?"}]}`:                   "role",
		`{"model":"footnote","input":[{"role":"assistant","content":"So"}]}`:                "last message",
		`{"model":"footnote","input":[{"type":"function_call_output","output":"x"}]}`:       "last item",
		`{"model":"footnote","input":[{"role":"user","content":5}]}`:                        "content",
		`{"model":"gpt-4o","input":"Why?"}`:                                                 "footnote",
	} {
		got := b.send("POST", "/v1/responses", body)
		var failure relay.V1Failed
		if got.decode(t, &failure); got.status/100 != 4 || !strings.Contains(failure.Error.Message, named) ||
			failure.Error.Type != "invalid_request_error" {
			t.Errorf("%.200s: %d %s, want %q in it", body, got.status, got.body, named)
		}
	}
	if sessions, _, err := b.store.Sessions(t.Context(), chat.Local, chat.SessionQuery{}); err != nil ||
		len(sessions) != 0 {
		t.Errorf("stored %v, %v; want no sessions", sessions, err)
	}
	b.stage.events = searched()
	for _, same := range []string{
		`"stream_options":{"include_obfuscation":false},"include":["file_search_call.results"],"store":false`,
		`"tools":[{"type":"function","name":"f"}],"tool_choice":"auto","whatever":1,"prompt":null,"text":null`,
		`"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[]},"text":{"format":{"type":"text"}}`,
		`"conversation":{"id":"c1"},"reasoning":{"effort":"low"},"metadata":{"a":"b"}`,
	} {
		if got := b.send("POST", "/v1/responses", why+same+`}`); got.status != http.StatusOK {
			t.Errorf("%s: %d %s, want 200", same, got.status, got.body)
		}
	}
	said := `{"model":"footnote","input":[{"role":"developer","content":"Be brief."},{"role":"user","content":"a"},` +
		`{"type":"file_search_call","id":"fs_1","queries":[],"status":"completed","results":null},` +
		`{"type":"reasoning","id":"rs_1","summary":[]},{"type":"message","role":"assistant","id":"msg_1",` +
		`"status":"completed","content":[{"type":"output_text","text":"b [1].","annotations":[]}]},` +
		`{"role":"user","content":[{"type":"input_text","text":"Why?"}]}]}`
	var got relay.V1Response
	b.send("POST", "/v1/responses", said).decode(t, &got)
	run, err := b.store.Run(t.Context(), chat.Local, strings.TrimPrefix(got.ID, "resp_"))
	if err != nil || run.Request.Message != "Why?" || run.Request.Instructions != "Be brief." ||
		!cmp.Equal(run.Request.History, [][2]string{{"a", "b."}}) {
		t.Errorf("asked %+v, %v", run.Request, err)
	}
}

func TestEveryResponsesFieldIsDocumented(t *testing.T) {
	var described jsonschema.Schema
	if err := json.Unmarshal(newHarness(t).description().Components.Schemas["V1ResponseQuestion"],
		&described); err != nil {
		t.Fatal(err)
	}
	official, fields := reflect.TypeFor[responses.ResponseNewParams](), 0
	for i := range official.NumField() {
		name, _, _ := strings.Cut(official.Field(i).Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		fields++
		if p := described.Properties[name]; p == nil || p.Description == "" {
			t.Errorf("OpenAI's field %s is not documented", name)
		}
	}
	if fields < 30 {
		t.Errorf("%d fields, want 30 or more", fields)
	}
}

// wantOver fails the test unless a reply refuses a request for a limit, with all its fields.
func (r reply) wantOver(t *testing.T, what string, status int, limit chat.LimitName) {
	t.Helper()
	wait, err := strconv.Atoi(r.header.Get("Retry-After"))
	if r.status != status || err != nil || wait < 1 {
		t.Errorf("%s: status %d, Retry-After %q, want %d and seconds: %s", what, r.status, r.header.Get("Retry-After"),
			status, r.body)
		return
	}
	p := r.problem(t)
	if p.Limit != limit || (p.Code != chat.CodeTooMany && p.Code != chat.CodeDiskFull) ||
		!strings.HasSuffix(string(p.Detail), ".") {
		t.Errorf("%s: %+v, want the limit %s and a sentence", what, p, limit)
	}
}

func tool(name, arguments string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + name + `","arguments":` +
		arguments + `}}`
}

func TestQuestionsCountOnEveryRoute(t *testing.T) {
	b, _, given := keyed(t, "anna")
	b.stage.events = script()
	b.stage.store.SetLimits(chat.Limits{chat.QuestionsPerMinute: 1})
	anna := []string{"X-API-Key", given["anna"]}
	first := b.send("POST", "/chat", `{"message":"Why?","session_id":"s"}`, anna...)
	if first.status != 202 {
		t.Fatalf("%d %s, want 202", first.status, first.body)
	}
	var run api.Accepted
	first.decode(t, &run)
	entrances := []struct{ path, body string }{
		{"/chat", `{"message":"Why?"}`},
		{"/chat", `{"message":"Why?","session_id":"s","sibling":"` + run.RunID + `"}`},
		{"/agent/chat", `{"message":"Why?"}`},
		{"/agent/chat/structured", `{"message":"Why?"}`},
		{"/agent/query", `{"question":"Why?"}`},
		{"/v1/chat/completions", `{"model":"footnote","messages":[{"role":"user","content":"Why?"}]}`},
		{"/v1/chat/completions", `{"model":"footnote","stream":true,"messages":[{"role":"user","content":"Why?"}]}`},
		{"/v1/responses", `{"model":"footnote","input":"Why?"}`},
		{"/ui/chat", `{"id":"chat","messages":[{"role":"user","parts":[{"type":"text","text":"Why?"}]}]}`},
		{"/ag-ui", `{"threadId":"thread","runId":"NEW","messages":[{"role":"user","content":"Why?"}]}`},
		{"/agent/runs/" + run.RunID + "/steps/c1/rerun", `{"input":{"query":"roof"}}`},
		{"/mcp", tool("ask", `{"question":"Why?"}`)},
	}
	send := func(path, body string) reply {
		return b.send("POST", path, strings.Replace(body, "NEW", chat.NewID(), 1), anna...)
	}
	for i, e := range entrances {
		b.stage.store.SetLimits(chat.Limits{chat.QuestionsPerMinute: int64(i) + 2})
		if got := send(e.path, e.body); got.status >= 300 ||
			strings.Contains(got.body, `"isError":true`) {
			t.Errorf("%s at the limit: %d %s; want less than 300 and no %q in it",
				e.path, got.status, got.body, `"isError":true`)
		}
		for _, over := range entrances {
			got := send(over.path, over.body)
			switch {
			case over.path == "/mcp":
				if !strings.Contains(got.body, `"isError":true`) ||
					!strings.Contains(got.body, "questions per minute") ||
					!strings.Contains(got.body, `"limit":"questions_per_minute"`) ||
					!strings.Contains(got.body, `"retry_after_seconds":`) ||
					!strings.Contains(got.body, `"retry_at":"`) {
					t.Errorf("/mcp over the limit: %s; want %q in it, %q in it, %q in it, %q in it, %q in it",
						got.body, `"isError":true`, "questions per minute", `"limit":"questions_per_minute"`,
						`"retry_after_seconds":`, `"retry_at":"`)
				}
			case strings.HasPrefix(over.path, "/v1/"):
				if got.status != 429 || got.header.Get("Retry-After") == "" ||
					!strings.Contains(got.body, `"code":"too_many"`) {
					t.Errorf("%s over the limit: %d %s; want 429 and %q in it",
						over.path, got.status, got.body, `"code":"too_many"`)
				}
			case over.path == "/ui/chat", over.path == "/ag-ui":
				if got.status != 429 || got.header.Get("Retry-After") == "" ||
					!strings.HasPrefix(got.body, "You have reached the limit of ") {
					t.Errorf("%s over the limit: %d %s; want 429, Retry-After and a sentence",
						over.path, got.status, got.body)
				}
			default:
				got.wantOver(t, over.path, 429, chat.QuestionsPerMinute)
			}
		}
	}
}

func TestParallelQuestionsRespectRunLimit(t *testing.T) {
	b, _, given := keyed(t, "anna", "bert")
	b.stage.store.SetLimits(chat.Limits{chat.RunsAtOnce: 4})
	var taken atomic.Int64
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			switch got := b.send("POST", "/chat", `{"message":"Why?"}`, "X-API-Key", given["anna"]); got.status {
			case http.StatusAccepted:
				taken.Add(1)
			default:
				got.wantOver(t, "one too many", 429, chat.RunsAtOnce)
			}
		})
	}
	group.Wait()
	if taken.Load() != 4 {
		t.Errorf("%d of 50 questions were taken, want 4", taken.Load())
	}
	if got := b.send("POST", "/chat", `{"message":"Why?"}`, "X-API-Key", given["bert"]); got.status != 202 {
		t.Errorf("another user: %d %s, want 202", got.status, got.body)
	}
}

func TestSearchesCountOnEveryRoute(t *testing.T) {
	b, _, given := keyed(t, "anna", "bert")
	b.stage.store.SetLimits(chat.Limits{chat.SearchesPerMinute: 3})
	ask := func(user, path, body string) reply { return b.send("POST", path, body, "X-API-Key", given[user]) }
	if got := ask("anna", "/search", `{"query":" "}`); got.status != 400 {
		t.Errorf("an empty search: %d, want 400", got.status)
	}
	search, retrieve, mcp := `{"query":"roof"}`, `{"query":"roof"}`, tool("search", `{"query":"roof"}`)
	for path, body := range map[string]string{"/search": search, "/agent/retrieve": retrieve, "/mcp": mcp} {
		if got := ask("anna", path, body); got.status != 200 || strings.Contains(got.body, `"isError":true`) {
			t.Errorf("%s at the limit: %d %s; want 200 and no %q in it", path, got.status, got.body, `"isError":true`)
		}
	}
	ask("anna", "/search", search).wantOver(t, "/search", 429, chat.SearchesPerMinute)
	ask("anna", "/agent/retrieve", retrieve).wantOver(t, "/agent/retrieve", 429, chat.SearchesPerMinute)
	const over = "You have reached the limit of 3 searches per minute"
	if got := ask("anna", "/mcp", mcp); !strings.Contains(got.body, over) {
		t.Errorf("/mcp over the limit: %s, want %q in it", got.body, over)
	}
	if got := ask("bert", "/search", search); got.status != 200 {
		t.Errorf("another user: %d, want 200", got.status)
	}
}

func TestStreamsPerUserLimit(t *testing.T) {
	b, _, given := keyedWith(t, []string{"anna", "bert"}, func(c *Config) {
		c.UserLimits = chat.Limits{chat.StreamsAtOnce: 2}
	})
	run, _, err := b.stage.Start(t.Context(), "anna", chat.RunRequest{Message: "Is the roof sound?"})
	if err != nil {
		t.Fatal(err)
	}
	events := "/agent/runs/" + run.ID + "/events"
	var open []*ssetest.Reader
	for range 2 {
		_, r := b.open(events, "X-API-Key", given["anna"])
		if _, err := r.Line(); err != nil {
			t.Fatal(err)
		}
		open = append(open, r)
	}
	b.send("GET", events, "", "X-API-Key", given["anna"]).wantOver(t, "a third", 429, chat.StreamsAtOnce)
	b.send("POST", "/chat", `{"message":"Why?"}`, "X-API-Key", given["anna"], "Accept", "text/event-stream").wantOver(t,
		"a question with its stream", 429, chat.StreamsAtOnce)
	list, _, err := b.store.Sessions(t.Context(), chat.Scope{User: "anna"}, chat.SessionQuery{})
	if err != nil || len(list) != 1 {
		t.Errorf("%d conversations, %v; want 1: a question whose stream has no place is not asked", len(list), err)
	}
	theirs, _, err := b.stage.Start(t.Context(), "bert", chat.RunRequest{Message: "Is the roof sound?"})
	if err != nil {
		t.Fatal(err)
	}
	_, other := b.open("/agent/runs/"+theirs.ID+"/events", "X-API-Key", given["bert"])
	if _, err := other.Line(); err != nil {
		t.Errorf("another user: %v, want no error", err)
	}
	b.append(run.ID, chat.RunDone{Status: chat.RunCompleted})
	b.append(theirs.ID, chat.RunDone{Status: chat.RunCompleted})
	for _, r := range append(open, other) {
		r.All(t)
	}
	for b.streams.Count() > 0 { // handlers decrement the count when they return
		b.send("GET", "/readyz", "")
	}
}

// upload sends files of the given sizes in bytes for a user.
func (b *harness) upload(key string, sizes ...int) reply {
	b.t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for i, size := range sizes {
		name := fmt.Sprintf("%d-%d.md", size, i)
		part, err := form.CreateFormFile("files", name)
		if err == nil {
			_, err = io.WriteString(part, "# "+name+"\n\n"+strings.Repeat("roof ", size/5))
		}
		if err != nil {
			b.t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		b.t.Fatal(err)
	}
	return b.send("POST", "/documents", body.String(), "X-API-Key", key, "Content-Type", form.FormDataContentType())
}

func TestUploadLimit(t *testing.T) {
	b, _, given := keyed(t, "anna", "bert", "carl")
	b.stage.store.SetLimits(chat.Limits{chat.FilesPerDay: 2, chat.UploadMiBPerDay: 3, chat.DiskMiB: 2})
	var some api.Uploaded
	got := b.upload(given["anna"], 100, 200, 300)
	got.decode(t, &some)
	if got.status != 202 || len(some.Documents) != 2 || len(some.Rejected) != 1 ||
		some.Rejected[0].Code != chat.CodeTooMany ||
		!strings.Contains(string(some.Rejected[0].Detail), "2 files in 24 hours") {
		t.Errorf("three files: %d %s, want 202", got.status, got.body)
	}
	b.upload(given["anna"], 400).wantOver(t, "a fourth", 429, chat.FilesPerDay)
	// A refused file leaves nothing behind, and the next one that fits is accepted.
	some = api.Uploaded{}
	got = b.upload(given["bert"], 3<<20, 1<<20)
	got.decode(t, &some)
	if len(some.Documents) != 1 || len(some.Rejected) != 1 ||
		!strings.Contains(string(some.Rejected[0].Detail), "MiB") {
		t.Errorf("large file and small one: got %d %s", got.status, got.body)
	}
	if got = b.upload(given["carl"], 2<<20); got.status != http.StatusInsufficientStorage ||
		got.header.Get("Retry-After") != "60" || !strings.Contains(got.body, `"disk_full"`) ||
		!strings.Contains(got.body, "Delete documents first") {
		t.Errorf("more than the disk's share: %d %s; want %d, %q in it, %q in it",
			got.status, got.body, http.StatusInsufficientStorage, `"disk_full"`, "Delete documents first")
	}
}
