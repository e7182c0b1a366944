package server

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/server/api"
	"github.com/footnote/footnote/server/httpio/ssetest"
	"github.com/footnote/footnote/server/runlog"
)

func TestAgentChatReturnsSources(t *testing.T) {
	b := newHarness(t)
	b.stage.events = script()
	for _, tt := range []struct{ name, style, want string }{
		{"by default markers name sources and a list follows", ``,
			"It is sound [Source 1].\n\nSources:\n[Source 1] Survey.pdf, Roof, p. 2: " + b.url + "/d/d1?c=r.1"},
		{"numeric leaves the answer as it is", `,"citation_style":"numeric"`, "It is sound [1]."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := b.send("POST", "/agent/chat", `{"message":"Is the roof sound?"`+tt.style+`}`)
			var answer api.AgentAnswer
			got.decode(t, &answer)
			if got.status != 200 || answer.Status != "success" || answer.Response != tt.want ||
				answer.RetrievalMode != chat.ModeFullBook ||
				len(answer.Citations) != 1 || answer.Confidence != 0.9 ||
				answer.Tokens != (chat.Tokens{In: 10, Out: 5}) || answer.LatencyMS != 12 ||
				answer.Cost == nil || *answer.Cost != 0.25 {
				t.Errorf("got %d %+v; want 200, Status %q, Response %v, RetrievalMode %v, 1 citation, Confidence "+
					"0.9, LatencyMS 12",
					got.status, answer, "success", tt.want, chat.ModeFullBook)
			}
		})
	}
	got := b.send("POST", "/agent/chat", `{"message":"Is the roof sound?"}`, "Accept", "text/event-stream")
	if events := ssetest.NewReader(strings.NewReader(got.body)).All(t); len(events) != len(script()) {
		t.Errorf("got a stream of %d events", len(events))
	}
	got = b.send("POST", "/agent/chat/structured", `{"message":"Is the roof sound?"}`)
	var grounded api.GroundedResponse
	got.decode(t, &grounded)
	if grounded.Answer != "It is sound [Source 1]." || len(grounded.Sources) != 1 ||
		grounded.Sources[0].Quote != "sound" || grounded.RetrievalMode != "full_book" {
		t.Errorf("structured: %s", got.body)
	}
	got = b.send(
		"POST", "/agent/query",
		`{"question":"Is the roof sound?","history":[["Hello?","Hello."]],"context":"The roof is sound."}`,
	)
	var response api.AgentResponse
	got.decode(t, &response)
	if response.TotalSteps != len(hostile) || response.StepsUsed != 2 || response.TotalRetrievalCalls != len(hostile) ||
		response.LLMTokensUsed != 15 ||
		len(response.Citations) != 1 || response.Citations[0].ContentSnippet != "sound" ||
		response.TotalLatencyMS != 12 || response.Cost == nil {
		t.Errorf("query: %s", got.body)
	}
	for i, step := range response.Steps {
		result, _ := step.Observation.Result.(map[string]any)
		if step.StepNumber != i+1 || step.Action.Tool != "read_document" ||
			string(step.Action.ToolInput) != string(step.ToolInput) ||
			step.Observation.Success == nil || !*step.Observation.Success || step.Observation.Error != nil ||
			result["text"] != hostile[i] {
			t.Errorf("step %d = %+v; want StepNumber %v, Action.Tool %q, %v, Observation.Success true",
				i, step, i+1, "read_document", string(step.ToolInput))
		}
	}
	run, err := b.store.Run(t.Context(), chat.Local, response.ID)
	if err != nil || len(run.Request.History) != 1 || run.Request.AddedContext == "" || run.Request.ContextText != "" {
		t.Errorf("stored request: %+v, %v; want 1, something, ContextText nothing", run.Request, err)
	}
}

func TestAgentChatSourcesMatchMarkers(t *testing.T) {
	cites := func(number int, document string) chat.Citation {
		return chat.Citation{
			Number: number, DocumentID: document, Title: "Title of " + document, Filename: document + ".pdf",
			Section: "Roof", URL: "/d/" + document, SourceURL: "https://example.org/" + document,
		}
	}
	for _, tt := range []struct {
		name   string
		answer chat.Answer
		want   []chat.Source
	}{
		{
			"two footnotes of one document, and a document that was only read",
			chat.Answer{
				Markdown: "It is sound [1], but old [2].", StopReason: chat.StopAnswered,
				Citations: []chat.Citation{cites(1, "d1"), cites(2, "d1")},
				Sources:   []chat.Source{{Number: 1, DocumentID: "d1", Cited: true}, {DocumentID: "d2"}},
			},
			[]chat.Source{
				{Number: 1, DocumentID: "d1", Title: "Title of d1", Filename: "d1.pdf", Section: "Roof", URL: "/d/d1",
					SourceURL: "https://example.org/d1", Cited: true},
				{Number: 2, DocumentID: "d1", Title: "Title of d1", Filename: "d1.pdf", Section: "Roof", URL: "/d/d1",
					SourceURL: "https://example.org/d1", Cited: true},
			},
		},
		{
			"a refusal after a document was read",
			chat.Answer{
				Markdown: "I couldn't find it.", StopReason: chat.StopRefused,
				Sources: []chat.Source{{DocumentID: "d2"}},
			},
			[]chat.Source{},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newHarness(t)
			b.stage.events = []chat.Payload{tt.answer, chat.RunDone{Status: chat.RunCompleted}}
			var got api.AgentAnswer
			b.send("POST", "/agent/chat", `{"message":"Is the roof sound?"}`).decode(t, &got)
			if diff := cmp.Diff(tt.want, got.Sources); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAgentChatStatusFollowsRunEnd(t *testing.T) {
	refusal := "I couldn't find relevant information about that in your documents."
	failed := &chat.StepError{
		Code: chat.CodeModelFailed, Message: "The model's server refused the key. Check OPENAI_API_KEY.",
	}
	for _, tt := range []struct {
		name   string
		play   []chat.Payload
		status int
		part   string
	}{
		{"a refusal is a success without sources",
			[]chat.Payload{
				chat.Answer{Markdown: refusal, StopReason: chat.StopRefused}, chat.RunDone{Status: chat.RunCompleted},
			}, 200, `"response":"` + refusal + `","citations":[],"sources":[]`},
		{"an input guardrail is 422",
			[]chat.Payload{
				chat.RunDone{
					Status: chat.RunGuardrailTriggered, Error: &chat.StepError{
						Code: chat.CodeGuardrail, Message: "Ask about the documents.",
					},
				},
			}, 422, `"status":"guardrail_triggered"`},
		{"an output guardrail is 422", []chat.Payload{chat.RunDone{Status: chat.RunCitationValidationFailed}}, 422,
			`"status":"citation_validation_failed"`},
		{"a failed model is 500 with its sentence", []chat.Payload{chat.RunDone{Status: chat.RunFailed, Error: failed}},
			500, failed.Message},
		{"an interrupted run is 503", []chat.Payload{chat.RunDone{Status: chat.RunInterrupted}}, 503, "Ask again"},
		{"a cancelled run hands over what there is",
			[]chat.Payload{chat.AnswerDelta{Text: "So far"}, chat.RunDone{Status: chat.RunCancelled}}, 200,
			`"status":"cancelled","response":"So far"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newHarness(t)
			b.stage.events = tt.play
			got := b.send("POST", "/agent/chat", `{"message":"Why?"}`)
			if got.status != tt.status || !strings.Contains(got.body, tt.part) {
				t.Errorf("got %d %s, want %d with %s", got.status, got.body, tt.status, tt.part)
			}
		})
	}
}

func TestTraceIsFoldedLog(t *testing.T) {
	b := newHarness(t)
	run := b.begin("Is the roof sound?")
	all := script()
	b.append(run.ID, all[:3]...)
	b.append(run.ID, chat.AnswerDelta{Text: "A thought"}, chat.AnswerReset{CallID: "c0"})
	var early runlog.Trace
	b.send("GET", "/agent/runs/"+run.ID, "").decode(t, &early)
	if early.Text != "" || early.Status != chat.RunRunning || early.Answer != nil || early.EndedAt != nil {
		t.Errorf("after the reset: %+v; want Text nothing and Status %v", early, chat.RunRunning)
	}
	if early.Tokens != (chat.Tokens{In: 7, Out: 3}) || early.Cost == nil || *early.Cost != 0.125 ||
		early.LatencyMS < 0 {
		t.Errorf("cost so far = %+v, %v", early.Tokens, early.Cost)
	}
	b.append(run.ID, all[3:]...)
	got := b.send("GET", "/agent/runs/"+run.ID, "")
	var tr runlog.Trace
	got.decode(t, &tr)
	if tr.Tokens != (chat.Tokens{In: 10, Out: 5}) || tr.Cost == nil || *tr.Cost != 0.25 || tr.LatencyMS != 12 {
		t.Errorf("cost = %+v, %v, %d ms; want 12", tr.Tokens, tr.Cost, tr.LatencyMS)
	}
	if tr.Status != chat.RunCompleted || tr.Text != "It is sound [1]." || tr.Answer == nil ||
		tr.LastSeq != int64(len(all)+2) || tr.EndedAt == nil {
		t.Errorf("trace = %s", got.body)
	}
	if len(tr.Steps) != len(hostile) {
		t.Fatalf("%d steps, want %d", len(tr.Steps), len(hostile))
	}
	for i, step := range tr.Steps {
		var in, out struct{ Text string }
		if err := json.Unmarshal(step.ToolInput, &in); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(step.ToolOutput, &out); err != nil {
			t.Fatal(err)
		}
		if step.Status != chat.StatusComplete || in.Text != hostile[i] || out.Text != hostile[i] {
			t.Errorf("step %d = %+v, want Status %v", i, step, chat.StatusComplete)
		}
	}
	output := b.send("GET", "/agent/runs/"+run.ID+"/steps/c1/output", "")
	if diff := cmp.Diff(string(tr.Steps[1].ToolOutput), output.body); diff != "" {
		t.Error(diff)
	}
	if got := b.send("GET", "/agent/runs/"+run.ID+"/steps/none/output", ""); got.status != 404 {
		t.Errorf("an unknown step: %d, want 404", got.status)
	}
}

func TestRunsCanBeControlled(t *testing.T) {
	b := newHarness(t)
	for _, how := range []string{"cancel", "answer-now"} {
		run := b.begin("Is the roof sound?")
		if got := b.send("POST", "/agent/runs/"+run.ID+"/"+how, ""); got.status != 202 {
			t.Errorf("%s: %d %s, want 202", how, got.status, got.body)
		}
		if got := b.send("POST", "/agent/runs/"+run.ID+"/"+how, ""); got.status != 409 {
			t.Errorf("%s of an ended run: %d, want 409", how, got.status)
		}
		if got := b.send("POST", "/agent/runs/"+chat.NewID()+"/"+how, ""); got.status != 404 {
			t.Errorf("%s of an unknown run: %d, want 404", how, got.status)
		}
	}
}

func TestLongThoughtIsShownOnRequest(t *testing.T) {
	t.Parallel()
	b := newHarness(t)
	thought := strings.Repeat("Slate or tile? ", 1000) + "<b>Slate.</b>"
	b.stage.events = []chat.Payload{chat.Step{
		CallID: "c3", Step: "search_documents", ToolName: "search_documents", ActionType: chat.ActionSearching,
		Message: "Searched", Thought: thought,
		Status: chat.StatusComplete, Details: map[string]any{},
	}}
	run := b.begin("How long does slate last?")
	b.append(run.ID, b.stage.events...)
	address := "/runs/" + run.ID + "/steps/c3/thought"
	page := b.send("GET", "/c/"+run.SessionID, "", "Accept", "text/html")
	if !strings.Contains(page.body, `data-load="`+address+`"`) ||
		!strings.Contains(page.body, "Show all (15,013 characters)") || strings.Contains(page.body, "&lt;b&gt;Slate.") {
		t.Errorf("the page does not lead to the whole thought: %.500s; want %q in it, %q in it, no %q in it",
			page.body, `data-load="`+address+`"`, "Show all (15,013 characters)", "&lt;b&gt;Slate.")
	}
	got := b.send("GET", address, "")
	if got.status != http.StatusOK || got.body != thought ||
		!strings.HasPrefix(got.header.Get("Content-Type"), "text/plain") {
		t.Errorf("%d %s, %d bytes, want %d", got.status, got.header.Get("Content-Type"), len(got.body), len(thought))
	}
	if got := b.send("GET", "/runs/"+run.ID+"/steps/c4/thought", ""); got.status != http.StatusNotFound {
		t.Errorf("a step that is not there: %d, want %d", got.status, http.StatusNotFound)
	}
}

func TestCallIsApprovedOrDenied(t *testing.T) {
	t.Parallel()
	b := newHarness(t)
	b.stage.events = []chat.Payload{chat.Step{
		CallID: "c3", Step: "web_search", ToolName: "web_search", ActionType: chat.ActionSearching,
		Message: "Searching the web for: slate", ToolInput: []byte(`{"query":"slate"}`),
		Status: chat.StatusPending, ToolStatus: chat.StatusPending, Details: map[string]any{},
	}}
	run := b.begin("How long does slate last?")
	b.append(run.ID, b.stage.events...)
	base := "/agent/runs/" + run.ID + "/steps/c3/"
	for _, tt := range []struct {
		path, kind, body string
		status           int
		decided          string
	}{
		{"approve", "", "", http.StatusAccepted, "approve " + run.ID + " c3 "},
		{"approve", "application/json", `{"input":{"query":"tiles"}}`, http.StatusAccepted,
			"approve " + run.ID + ` c3 {"query":"tiles"}`},
		{"approve", "application/json", `{"input":null}`, http.StatusAccepted, "approve " + run.ID + " c3 "},
		{"approve", "application/json", `{}`, http.StatusAccepted, "approve " + run.ID + " c3 "},
		{"approve", "application/x-www-form-urlencoded", `input=%7B%22query%22%3A%22tiles%22%7D`, http.StatusAccepted,
			"approve " + run.ID + ` c3 {"query":"tiles"}`},
		{"deny", "", "", http.StatusAccepted, "deny " + run.ID + " c3"},
		{"approve", "application/json", `{"input":[1]}`, http.StatusBadRequest, ""},
		{"approve", "application/x-www-form-urlencoded", `input=%7Bquery`, http.StatusBadRequest, ""},
		{"approve", "application/json", `{"other":1}`, http.StatusBadRequest, ""},
	} {
		b.stage.decided = nil
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, b.url+base+tt.path,
			strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", "application/json")
		if tt.kind != "" {
			req.Header.Set("Content-Type", tt.kind)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		want := []string{tt.decided}
		if tt.decided == "" {
			want = nil
		}
		if resp.StatusCode != tt.status || !slices.Equal(b.stage.decided, want) {
			t.Errorf("%s %s = %d, decided %q; want %d, %q", tt.path, tt.body, resp.StatusCode, b.stage.decided,
				tt.status, want)
		}
	}
	page := b.send("GET", "/c/"+run.SessionID, "", "Accept", "text/html").body
	for _, want := range []string{`data-testid="approval"`, `action="` + base + `approve"`, `action="` + base + `deny"`,
		"Approval required", "&#34;query&#34;: &#34;slate&#34;"} {
		if !strings.Contains(page, want) {
			t.Errorf("page lacks %s", want)
		}
	}
}

func TestAnswerFollowsAcceptHeader(t *testing.T) {
	b := newHarness(t)
	b.stage.events = script()

	got := b.send("POST", "/chat", `{"message":"Is the roof sound?","session_id":"s1","context_text":null}`)
	var ok api.Accepted
	got.decode(t, &ok)
	want := api.Accepted{
		RunID: ok.RunID, SessionID: "s1", Stream: "/runs/" + ok.RunID + "/stream",
		Events: "/agent/runs/" + ok.RunID + "/events",
	}
	if got.status != http.StatusAccepted || ok != want || ok.RunID == "" {
		t.Errorf("JSON: %d %s, want %d", got.status, got.body, http.StatusAccepted)
	}

	got = b.send("POST", "/chat", `{"message":"Is the roof sound?"}`, "Accept", "text/event-stream")
	if events := ssetest.NewReader(strings.NewReader(got.body)).All(t); got.status != 200 ||
		len(events) != len(script()) {
		t.Errorf("stream: %d with %d events, want 200", got.status, len(events))
	}

	form := url.Values{"message": {"Two\r\nlines?"}, "session_id": {"s2"}, "context_text": {""}}.Encode()
	got = b.send("POST", "/chat", form, "Content-Type", "application/x-www-form-urlencoded", "Accept", "text/html")
	runs, err := b.store.Runs(t.Context(), chat.Local, "s2")
	if got.status != http.StatusSeeOther || len(runs) == 0 || got.header.Get("Location") != "/c/s2?asked="+runs[0].ID {
		t.Errorf("form: %d to %q; want %d and %q",
			got.status, got.header.Get("Location"), http.StatusSeeOther, "/c/s2?asked="+runs[0].ID)
	}
	if err != nil || len(runs) != 1 || runs[0].Request.Message != "Two\nlines?" || runs[0].Request.ContextText != "" {
		t.Errorf("stored: %+v, %v; want 1 run and nothing", runs, err)
	}
}

func TestInvalidQuestionsGetOneSentence(t *testing.T) {
	b := newHarness(t)
	long := strings.Repeat("é", 32_001)
	for _, tt := range []struct {
		name, path, body string
		status           int
		part             string // of the sentence
	}{
		{"empty", "/chat", `{"message":""}`, 400, "empty"},
		{"white space", "/chat", `{"message":" \n\t "}`, 400, "empty"},
		{"only NUL", "/chat", `{"message":"\u0000"}`, 400, `"message" contains a NUL`},
		{"only signs that show nothing", "/agent/chat", `{"message":"\u200b\u2060\u3164 \u00ad"}`, 400, "empty"},
		{"missing", "/agent/chat", `{}`, 400, "empty"},
		{"one rune too long", "/chat", `{"message":"` + long + `"}`, 400, "32,000 characters"},
		{"over the limit of a body", "/chat", `{"message":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "1.0 MiB"},
		{"an unknown field", "/chat", `{"message":"a","mesage":"b"}`, 400, `"mesage"`},
		{"an unknown field inside", "/agent/chat", `{"message":"a","config":{"temprature":1}}`, 400, `"temprature"`},
		{"a field of another type", "/chat", `{"message":5}`, 400, `"message" can't be a number`},
		{"a list", "/chat", `{"message":["a"]}`, 400, "an array"},
		{"broken off", "/chat", `{"message":"a"`, 400, "unexpected end of input"},
		{"not JSON", "/chat", `{message}`, 400, "byte 2"},
		{"two objects", "/chat", `{"message":"a"}{}`, 400, "a single JSON object"},
		{"a session id that is a number", "/agent/chat", `{"message":"a","session_id":5}`, 400,
			`The field "session_id" can't be`},
		{"a session id that can't be", "/chat", `{"message":"a","session_id":"a b"}`, 400, "session ID"},
		{"an empty context", "/agent/chat", `{"message":"a","context_text":""}`, 400, "context_text"},
		{"a setting out of range", "/agent/query", `{"question":"a","config":{"max_steps":51}}`, 400, "max_steps"},
		{"a temperature out of range", "/agent/chat", `{"message":"a","config":{"temperature":-1}}`, 400,
			"temperature"},
		{"a citation style that is none", "/agent/chat", `{"message":"a","citation_style":"apa"}`, 400,
			"citation_style"},
		{"a search without words", "/search", `{"query":" "}`, 400, "query"},
		{"a search for too many", "/search", `{"query":"a","top_k":51}`, 400, "top_k"},
		{"a search for none", "/search", `{"query":"a","top_k":0}`, 400, "top_k"},
		{"a search in no known way", "/search", `{"query":"a","mode":"magic"}`, 400, "mode"},
		{"an unknown filter", "/agent/retrieve", `{"query":"a","filters":{"autor":"x"}}`, 400, `"autor"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := b.send("POST", tt.path, tt.body)
			if p := got.problem(t); got.status != tt.status || !strings.Contains(string(p.Detail), tt.part) {
				t.Errorf("got %d %q, want %d with %q", got.status, p.Detail, tt.status, tt.part)
			}
		})
	}
	if got := b.send("POST", "/agent/chat", "message=a", "Content-Type",
		"application/x-www-form-urlencoded"); got.status != 415 {
		t.Errorf("a form where JSON is needed: %d, want 415", got.status)
	}
	if got := b.send("POST", "/chat", "hello", "Content-Type", "text/plain"); got.status != 415 {
		t.Errorf("plain text: %d, want 415", got.status)
	}
	if sessions, _, err := b.store.Sessions(t.Context(), chat.Local, chat.SessionQuery{}); err != nil ||
		len(sessions) != 0 {
		t.Errorf("bad input left %d sessions, %v; want no sessions", len(sessions), err)
	}
}

func TestLongestQuestionIsAccepted(t *testing.T) {
	b := newHarness(t)
	if got := b.send(
		"POST", "/chat", `{"message":"`+strings.Repeat("é", 32_000)+`"}`,
	); got.status != http.StatusAccepted {
		t.Errorf("got %d %s, want %d", got.status, got.body, http.StatusAccepted)
	}
}

func TestIdempotencyKeyIsOneRun(t *testing.T) {
	b := newHarness(t)
	ids := make([]string, 100)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			var ok api.Accepted
			b.send("POST", "/chat", `{"message":"Is the roof sound?","session_id":"s1"}`, "Idempotency-Key",
				"k1").decode(t, &ok)
			ids[i] = ok.RunID
		})
	}
	wg.Wait()
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Fatalf("one key made the runs %q and %q; want something and %q", ids[0], id, ids[0])
		}
	}
	form := url.Values{"message": {"Is the roof sound?"}, "session_id": {"s1"}, "idempotency_key": {"k1"}}.Encode()
	b.send("POST", "/chat", form, "Content-Type", "application/x-www-form-urlencoded")
	if runs, err := b.store.Runs(t.Context(), chat.Local, "s1"); err != nil || len(runs) != 1 {
		t.Errorf("the form's field made another run: %d, %v; want 1 run", len(runs), err)
	}
	got := b.send("POST", "/chat", `{"message":"Another question"}`, "Idempotency-Key", "k1")
	if p := got.problem(t); got.status != 422 || p.Code != chat.CodeKeyReused {
		t.Errorf("another body under the key: %d %s, want 422", got.status, got.body)
	}
	if got := b.send("POST", "/chat", `{"message":"a"}`, "Idempotency-Key",
		strings.Repeat("k", 256)); got.status != 400 {
		t.Errorf("a key that is too long: %d, want 400", got.status)
	}
}

func TestAskAgainKeepsDocuments(t *testing.T) {
	b := newHarness(t)
	form := func(fields url.Values) {
		t.Helper()
		if got := b.send("POST", "/chat", fields.Encode(), "Content-Type", "application/x-www-form-urlencoded",
			"Accept", "text/html"); got.status >= 400 {
			t.Fatalf("got %d %s, want less than 400", got.status, got.body)
		}
	}
	form(url.Values{"message": {"Is the roof sound?"}, "session_id": {"s1"}, "document_ids": {"d1", "d2"}})
	first, err := b.store.Runs(t.Context(), chat.Local, "s1")
	if err != nil || len(first) != 1 {
		t.Fatalf("%d runs, %v; want 1", len(first), err)
	}
	form(url.Values{"message": {"Is the roof dry?"}, "session_id": {"s1"}, "sibling": {first[0].ID}})
	runs, err := b.store.Runs(t.Context(), chat.Local, "s1")
	if err != nil || len(runs) != 2 {
		t.Fatalf("%d runs, %v; want 2 runs", len(runs), err)
	}
	if diff := cmp.Diff([]string{"d1", "d2"}, runs[1].Request.DocumentIDs); diff != "" {
		t.Errorf("documents of the new version (-want +got):\n%s", diff)
	}
}
