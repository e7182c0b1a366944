package main_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

const nowhere = "018f0000-0000-7000-8000-000000000000"

// plainSentence reports whether a user-facing text contains no internals and ends as a sentence.
func plainSentence(text string) bool {
	for _, inside := range []string{
		"panic", "goroutine", ".go:", "sql:", "SQLITE", "/tmp/", "json:", "nil pointer", "strconv",
	} {
		if strings.Contains(text, inside) {
			return false
		}
	}
	return len(text) > 20 && strings.HasSuffix(text, ".")
}

func TestInvalidRequestsAreRejected(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(books...)
	other := serve(t, newDir(t))
	other.add(books[0])
	foreign := other.begin("What is the condition of the roof?").RunID
	mine := s.begin("What is the condition of the roof?").RunID
	s.follow(mine)

	rows := []struct {
		name         string
		method, path string
		body         any
		headers      []header
		status       int
		code         string
		says         string // expected advice or error in the message
	}{
		{"an empty question", "POST", "/chat", `{"message":""}`, nil, 400, "invalid", "Enter a question"},
		{"a question of white space", "POST", "/chat", ask(" \n\t\u00a0 "), nil, 400, "invalid", "Enter a question"},
		{"a question of a MiB", "POST", "/chat", ask(strings.Repeat("roof ", 1<<20/5)), nil, 413, "too_large",
			"1.0 MiB"},
		{"a question of 32,001 characters", "POST", "/chat", ask(strings.Repeat("ö", 32_001)), nil, 400,
			"invalid", "32,000"},
		{"malformed JSON", "POST", "/chat", `{"message":"a`, nil, 400, "invalid", "not valid JSON"},
		{"two JSON values", "POST", "/chat", `{"message":"a"}{}`, nil, 400, "invalid", "a single JSON object"},
		{"a list", "POST", "/chat", `[]`, nil, 400, "invalid", "JSON object"},
		{"a number as message", "POST", "/chat", `{"message":7}`, nil, 400, "invalid", `"message"`},
		{"an unknown field", "POST", "/chat", `{"message":"a","mesage":"b"}`, nil, 400, "invalid", `"mesage"`},
		{"an unknown field inside", "POST", "/chat", `{"message":"a","config":{"max_stepps":3}}`, nil, 400, "invalid",
			`"max_stepps"`},
		{"no body", "POST", "/search", "", nil, 400, "invalid", "empty"},
		{"a wrong content type", "POST", "/chat", "hello", []header{{"Content-Type", "text/plain"}}, 415, "unsupported",
			"application/json"},
		{"a wrong content type for search", "POST", "/search", "query=a",
			[]header{{"Content-Type", "application/x-www-form-urlencoded"}}, 415, "unsupported", "application/json"},
		{"a malformed session id", "POST", "/chat", `{"message":"a","session_id":"../x"}`, nil, 400, "invalid", "128"},
		{"a session id that is too long", "GET", "/agent/session/" + strings.Repeat("x", 129), nil, nil, 400,
			"invalid", "128"},
		{"an unknown session", "GET", "/agent/session/unknown", nil, nil, 404, "not_found", ""},
		{"an unknown session to delete", "DELETE", "/agent/session/unknown", nil, nil, 404, "not_found", ""},
		{"an unknown run", "GET", "/agent/runs/" + nowhere, nil, nil, 404, "not_found", ""},
		{"a run of another store", "GET", "/agent/runs/" + foreign, nil, nil, 404, "not_found", ""},
		{"a run of another store to follow", "GET", "/agent/runs/" + foreign + "/events", nil, nil, 404,
			"not_found", ""},
		{"a run of another store to stop", "POST", "/agent/runs/" + foreign + "/cancel", nil, nil, 404,
			"not_found", ""},
		{"a run that can't be", "GET", "/agent/runs/..%2f..%2fetc", nil, nil, 404, "not_found", ""},
		{"a finished run to stop", "POST", "/agent/runs/" + mine + "/cancel", nil, nil, 409, "conflict", "finished"},
		{"a position that is no number", "GET", "/agent/runs/" + mine + "/events?after=x", nil, nil, 400, "invalid",
			"?after="},
		{"a negative position", "GET", "/agent/runs/" + mine + "/events?after=-1", nil, nil, 400, "invalid", "?after="},
		{"an unknown document", "GET", "/documents/" + nowhere, nil, nil, 404, "not_found", ""},
		{"the text of an unknown document", "GET", "/documents/" + nowhere + "/text", nil, nil, 404, "not_found", ""},
		{"too many results", "POST", "/search", `{"query":"roof","top_k":51}`, nil, 400, "invalid", "50"},
		{"no results asked for", "POST", "/search", `{"query":"roof","top_k":0}`, nil, 400, "invalid", "50"},
		{"an empty search", "POST", "/search", `{"query":" "}`, nil, 400, "invalid",
			"Enter search terms"},
		{"a search mode that does not exist", "POST", "/search", `{"query":"roof","mode":"magic"}`, nil, 400, "invalid",
			"lexical"},
		{"an upload that is no form", "POST", "/documents", "abc", []header{{"Content-Type", "text/plain"}}, 415,
			"unsupported", "multipart/form-data"},
		{"an upload without a file", "POST", "/documents", "--x--\r\n",
			[]header{{"Content-Type", "multipart/form-data; boundary=x"}}, 400, "invalid", "files"},
		{"an upload that breaks off", "POST", "/documents",
			"--x\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a.md\"\r\n\r\nabc",
			[]header{{"Content-Type", "multipart/form-data; boundary=x"}}, 400, "invalid", "again"},
		{"an unknown upload field", "POST", "/documents",
			"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.md\"\r\n\r\nabc\r\n--x--\r\n",
			[]header{{"Content-Type", "multipart/form-data; boundary=x"}}, 400, "invalid", `"file"`},
		{"a key that is too long", "POST", "/chat", ask("a"), []header{{"Idempotency-Key", strings.Repeat("k", 256)}},
			400, "invalid", "255"},
		{"another site's page", "POST", "/chat", ask("a"), []header{{"Origin", "https://evil.example"}}, 403,
			"forbidden", "page"},
		{"another site's fetch", "POST", "/chat", ask("a"), []header{{"Sec-Fetch-Site", "cross-site"}}, 403,
			"forbidden", "page"},
		{"another site's delete", "DELETE", "/agent/session/s", nil, []header{{"Origin", "https://evil.example"}}, 403,
			"forbidden", "page"},
		{"a foreign host name", "GET", "/documents", nil, []header{{"Host", "evil.example"}}, 403, "forbidden",
			"localhost"},
		{"an address that does not exist", "GET", "/nothing/here", nil, nil, 404, "not_found", ""},
		{"a method that is not answered", "PUT", "/chat", ask("a"), nil, 405, "method_not_allowed", "Allow"},
		{"a temperature out of range", "POST", "/agent/chat", `{"message":"a","config":{"temperature":9}}`, nil, 400,
			"invalid", "temperature"},
		{"a citation style that does not exist", "POST", "/agent/chat", `{"message":"a","citation_style":"roman"}`, nil,
			400, "invalid", "citation_style"},
		{"an empty context", "POST", "/agent/chat", `{"message":"a","context_text":" "}`, nil, 400, "invalid",
			"context_text"},
		{"a toolset that does not exist", "POST", "/chat", `{"message":"a","toolset":"axe"}`, nil, 400, "invalid",
			"toolset"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			good := make(chan reply, 1)
			go func() {
				r, _ := s.try("POST", "/search", `{"query":"roof"}`) // a failed request has no status
				good <- r
			}()
			r := s.send(row.method, row.path, row.body, row.headers...)
			if g := <-good; g.status != http.StatusOK || !strings.Contains(g.body, "slates") {
				t.Errorf("a good request beside it: %d %s; want %d and %q in it",
					g.status, g.body, http.StatusOK, "slates")
			}
			if r.status != row.status {
				t.Fatalf("status %d %s, want %d", r.status, r.body, row.status)
			}
			if kind := r.header.Get("Content-Type"); kind != "application/problem+json" {
				t.Errorf("content type %q, want %q", kind, "application/problem+json")
			}
			p := decode[problem](t, r.body)
			if p.Code != row.code || p.Status != row.status || p.RequestID == "" || p.Title == "" || p.Type == "" {
				t.Errorf("%+v, want the code %s", p, row.code)
			}
			if !plainSentence(p.Detail) || !strings.Contains(p.Detail, row.says) {
				t.Errorf("detail = %q, want one sentence with %q", p.Detail, row.says)
			}
		})
	}
	if log := s.run("What is the condition of the roof?"); len(log.answer.Citations) == 0 {
		t.Errorf("after all that, the answer is %+v, want some", log.answer)
	}
}

func TestLongestQuestionIsAccepted(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	question := strings.Repeat("ö", 32_000)
	if log := s.run(question); utf8.RuneCountInString(log.start.Question) != 32_000 {
		t.Errorf("the question has %d characters, want 32_000", utf8.RuneCountInString(log.start.Question))
	}
}

func TestPositionBeyondEndRestartsStream(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	id := s.begin("Hello?").RunID
	log := s.follow(id)
	st, err := s.open("GET", "/agent/runs/"+id+"/events?after=5000", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.close()
	first, err := st.next()
	if err != nil || first.name != "reset" || first.id != 0 ||
		!strings.Contains(first.data, fmt.Sprintf(`"last":%d`, len(log.raw))) {
		t.Fatalf("first comes %+v, %v; want name %q and id 0", first, err, "reset")
	}
	rest, _ := st.rest() // its content is checked
	if len(rest) != len(log.raw) {
		t.Errorf("then come %d events, want all %d", len(rest), len(log.raw))
	}
	if r := s.send("GET", "/agent/runs/"+id+"/events", nil, header{
		"Last-Event-ID", fmt.Sprint(len(log.raw)),
	}); r.status != http.StatusNoContent {
		t.Errorf("a reader that has all gets %d, want %d", r.status, http.StatusNoContent)
	}
}

func TestIdempotencyKeyMakesOneRun(t *testing.T) {
	t.Parallel()
	model := newModel(t, scripted.Config{})
	s := serve(t, newDir(t), model.env()...)
	s.add(books...)
	var mu sync.Mutex
	runs, statuses := map[string]int{}, map[int]int{}
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			r, err := s.try("POST", "/chat", ask("What is the rent?"), header{"Idempotency-Key", "k1"})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			statuses[r.status]++
			runs[loose[started](t, r.body).RunID]++
		})
	}
	wg.Wait()
	if len(runs) != 1 || statuses[http.StatusAccepted] != 100 {
		t.Errorf("100 posts made %d runs with the statuses %v; want 1 run and 100", len(runs), statuses)
	}
	for id := range runs {
		s.follow(id)
	}
	if n := len(model.asked()); n != 3 {
		t.Errorf("the model was asked %d times, want 3", n)
	}
	r := s.send("POST", "/chat", ask("Something else?"), header{"Idempotency-Key", "k1"})
	if p := loose[problem](t, r.body); r.status != 422 || p.Code != "key_reused" || !plainSentence(p.Detail) {
		t.Errorf("the key with another body: %d %s, want 422", r.status, r.body)
	}
}

// A fault of the model's server is a named step, and the offline model takes over as the visible fallback.
func TestFailingModelFallsBackToOffline(t *testing.T) {
	t.Parallel()
	fault := func(f scripted.Fault) func(scripted.Request) scripted.Reply {
		return func(scripted.Request) scripted.Reply {
			return scripted.Reply{Text: "The roof of the mill is made of gold, silver and other things", Fault: f}
		}
	}
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := "http://" + closed.Addr().String() + "/v1"
	_ = closed.Close()
	for _, row := range []struct {
		name   string
		script scripted.Script
		url    string
		says   string
	}{
		{
			"a wrong key",
			fault(scripted.Fault{
				Status: 401,
				Body:   `{"error":{"message":"Incorrect API key provided: test-key","code":"invalid_api_key"}}`,
			}), "", "key",
		},
		{"an unknown model", fault(scripted.Fault{Status: 404}), "", "rejected the request"},
		{"a spent quota",
			fault(scripted.Fault{
				Status: 429,
				Body:   `{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}`,
			}), "", "used up"},
		{"a server that is not there", nil, gone, "can't be reached"},
		{"an answer that is cut off", fault(scripted.Fault{CutAfter: 6}), "", ""},
		{"a connection that is cut before the first word", fault(scripted.Fault{CutAfter: -1}), "", ""},
		{"an error in the stream", fault(scripted.Fault{Error: "boom"}), "", ""},
		{"a page of HTML", fault(scripted.Fault{Raw: []byte("<html>hello</html>"), RawType: "text/html"}), "", ""},
		{"nothing at all", func(scripted.Request) scripted.Reply { return scripted.Reply{Chunks: []string{}} }, "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			url := row.url
			if url == "" {
				url = newModel(t, scripted.Config{Script: row.script}).url
			}
			s := serve(t, newDir(t), "OPENAI_BASE_URL="+url, "OPENAI_API_KEY=test-key", "OPENAI_MODEL=scripted")
			s.add(books...)
			log := s.run("What is the condition of the roof?")
			if log.done.Status != chat.RunCompleted || log.answer == nil || len(log.answer.Citations) == 0 {
				t.Fatalf("run ended with %+v and %+v, want completed\n%s", log.done, log.answer, s.log)
			}
			if strings.Contains(log.answer.Markdown, "gold") ||
				!strings.Contains(log.answer.Markdown, "poor condition") {
				t.Errorf("answer %q; want no %q in it and %q in it", log.answer.Markdown, "gold", "poor condition")
			}
			named := false
			for _, step := range log.steps {
				if step.Step == "fallback" {
					named = step.Error != nil && plainSentence(step.Error.Message) &&
						strings.Contains(step.Error.Message, row.says) &&
						strings.Contains(step.Error.Message, "footnote doctor") &&
						!strings.Contains(step.Error.Message, "OPENAI_")
					if !named {
						t.Errorf("step %+v with the error %+v lacks %q", step, step.Error, row.says)
					}
				}
			}
			if !named {
				t.Errorf("no step names the failure: %+v", log.steps)
			}
			for _, ev := range log.raw {
				if strings.Contains(ev.data, "test-key") {
					t.Errorf("the key is in %s, want no %q in it", ev.data, "test-key")
				}
			}
		})
	}
}

func TestDeadModelDoesNotAffectOtherFeatures(t *testing.T) {
	t.Parallel()
	model := newModel(t, scripted.Config{})
	s := serve(t, newDir(t), model.env()...)
	s.add(books...)
	before := s.run("What is the rent?")
	if got := s.send("GET", "/health", nil); got.status != http.StatusOK ||
		!strings.Contains(got.body, `"status":"ok"`) {
		t.Errorf("/health = %d %s; want %d and %q in it", got.status, got.body, http.StatusOK, `"status":"ok"`)
	}
	strict := serve(t, newDir(t), append(model.env(), "FOOTNOTE_AGENT_FALLBACK_TO_FIXED_PIPELINE=false")...)
	if got := strict.send("GET", "/health", nil); got.status != http.StatusOK {
		t.Errorf("/health = %d %s, want %d", got.status, got.body, http.StatusOK)
	}
	model.web.CloseClientConnections()
	_ = model.web.Listener.Close()
	s.run("What is the rent?") // the health check's result is cached, but the run fails at once
	strict.run("What is the rent?")
	health := s.send("GET", "/health", nil)
	if health.status != http.StatusOK || !strings.Contains(health.body, `"degraded"`) {
		t.Errorf("/health = %d %s; want %d and %q in it", health.status, health.body, http.StatusOK, `"degraded"`)
	}
	if got := strict.send("GET", "/health", nil); got.status != http.StatusServiceUnavailable ||
		!strings.Contains(got.body, `"down"`) {
		t.Errorf("/health after a run failed, with nothing in the model's place = %d %s, want 503 and down",
			got.status, got.body)
	}
	back, err := net.Listen("tcp", model.web.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	again := &httptest.Server{Listener: back, Config: &http.Server{Handler: model}}
	again.Start()
	strict.run("What is the rent?")
	if got := strict.send("GET", "/health", nil); got.status != http.StatusOK ||
		!strings.Contains(got.body, `"status":"ok"`) {
		t.Errorf("/health after a run succeeded = %d %s; want %d and %q in it",
			got.status, got.body, http.StatusOK, `"status":"ok"`)
	}
	again.CloseClientConnections()
	again.Close()
	if got := s.search("slates"); got.TotalResults == 0 {
		t.Errorf("search does not work: got %v, want other than 0", got.TotalResults)
	}
	alone := serve(t, newDir(t), append(model.env(), "FOOTNOTE_AGENT_FALLBACK_TO_FIXED_PIPELINE=false")...)
	if got := alone.send("GET", "/health", nil); got.status != http.StatusServiceUnavailable ||
		!strings.Contains(got.body, `"down"`) || !strings.Contains(got.body, "footnote doctor") {
		t.Errorf("/health with nothing in the model's place = %d %s, want 503 and down", got.status, got.body)
	}
	if got := alone.send("GET", "/readyz", nil); got.status != http.StatusOK {
		t.Errorf("/readyz with nothing in the model's place = %d, want 200", got.status)
	}
	wantNoSettings(t, alone)
	newKey(t, alone.dir, "anna")
	if got := alone.send("GET", "/health", nil); got.status != http.StatusServiceUnavailable ||
		!strings.Contains(got.body, "The model can't be used now.") || strings.Contains(got.body, "OPENAI_") {
		t.Errorf("/health with keys = %d %s, want 503 without settings", got.status, got.body)
	}
	if got := s.send("GET", "/agent/session/"+before.start.SessionID, nil); got.status != http.StatusOK ||
		!strings.Contains(got.body, "900 pounds") {
		t.Errorf("history: %d %s; want %d and %q in it", got.status, got.body, http.StatusOK, "900 pounds")
	}
}

// wantNoSettings sends a request to each route that needs a model, without one: no error names a setting, not even
// for the local user, but the log does.
func wantNoSettings(t *testing.T, s *server) {
	t.Helper()
	setting := regexp.MustCompile(`[A-Z]{2,}_[A-Z_]{2,}`)
	failed := 0
	for _, ask := range [][2]string{
		{"/agent/chat", `{"message":"What is the rent?"}`},
		{"/agent/chat/structured", `{"message":"What is the rent?"}`},
		{"/agent/query", `{"question":"What is the rent?"}`},
		{"/v1/chat/completions", `{"model":"footnote","messages":[{"role":"user","content":"What is the rent?"}]}`},
		{"/health", ""},
	} {
		method := "POST"
		if ask[1] == "" {
			method = "GET"
		}
		got := s.send(method, ask[0], ask[1])
		if got.status >= http.StatusInternalServerError {
			failed++
		}
		if bad := setting.FindString(got.body); bad != "" || got.status < 500 {
			t.Errorf("%s = %d names %q, want a failure without a setting: %s", ask[0], got.status, bad, got.body)
		}
	}
	if log := s.log.String(); failed == 0 || !strings.Contains(log, "OPENAI_BASE_URL") {
		t.Errorf("got %d failures, want the setting in the log:\n%s", failed, log)
	}
}

// A model that hangs blocks only its own run, which can be cancelled.
func TestHangingModelCanBeCancelled(t *testing.T) {
	t.Parallel()
	model := newModel(t, scripted.Config{Script: func(r scripted.Request) scripted.Reply {
		if strings.Contains(r.Question(), "hang") {
			return scripted.Reply{Text: "one two three", Fault: scripted.Fault{StallAfter: -1}}
		}
		return scripted.Librarian(r)
	}})
	s := serve(t, newDir(t), model.env()...)
	s.add(books...)
	hanging := s.begin("Please hang.").RunID
	if log := s.run("What is the rent?"); log.done.Status != chat.RunCompleted ||
		!strings.Contains(log.answer.Markdown, "900 pounds") {
		t.Errorf("the run beside it: %+v, want %q in it", log.answer, "900 pounds")
	}
	if got := s.send("POST", "/agent/runs/"+hanging+"/cancel", nil); got.status != http.StatusAccepted {
		t.Errorf("cancel = %d %s, want %d", got.status, got.body, http.StatusAccepted)
	}
	if log := s.follow(hanging); log.done.Status != chat.RunCancelled {
		t.Errorf("it ended as %+v, want Status %v", log.done, chat.RunCancelled)
	}
	if code := s.end(os.Interrupt); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// used holds a run's usage in the responses.
type used struct {
	Status              string
	Tokens              chat.Tokens
	LLMTokensUsed       int `json:"llm_tokens_used"`
	StepsUsed           int `json:"steps_used"`
	TotalRetrievalCalls int `json:"total_retrieval_calls"`
	Budget              chat.Budget
}

// An invented answer after a call without passages is replaced with quotes on every route, and its token usage is
// reported.
func TestInventedAnswerIsReplacedByQuotes(t *testing.T) {
	t.Parallel()
	const invention = "The king keeps seven dragons in the cellar."
	m := newModel(t, scripted.Config{Script: func(r scripted.Request) scripted.Reply {
		if r.Turn() == 0 && !strings.Contains(r.Messages[len(r.Messages)-1].Text, "passage") {
			return scripted.Reply{Calls: []llm.Call{{Name: "calculate", Arguments: []byte(`{"expression":"1+1"}`)}}}
		}
		return saying(invention)
	}})
	s := serve(t, newDir(t), m.env()...)
	s.add(file{"handbook.md", holidays})
	for _, route := range []struct{ path, field string }{{"/agent/chat", "message"}, {"/agent/query", "question"}} {
		body := `{"` + route.field + `":"How many days of paid holiday do dragons have?","session_id":"s` +
			route.field + `","config":{"max_retrieval_calls":5,"enable_query_decomposition":false}}`
		r := s.send("POST", route.path, body, header{"Content-Type", "application/json"})
		u := loose[used](t, r.body)
		if r.status != 200 || u.Status != "success" || !strings.Contains(r.body, "28 days") ||
			strings.Contains(r.body, "dragons in the cellar\",\"cit") {
			t.Errorf("%s: status %d, %s; want 200, a quote, and no %q in it",
				route.path, r.status, r.body, "dragons in the cellar\",\"cit")
		}
		if u.Tokens.In+u.LLMTokensUsed == 0 ||
			route.field == "question" && (u.StepsUsed == 0 || u.TotalRetrievalCalls == 0 || u.TotalRetrievalCalls > 5) {
			t.Errorf("%s: usage = %+v, want other than 0", route.path, u)
		}
	}
	if body := s.send("GET", "/agent/session/smessage", nil).body; strings.Contains(body, `"content":"`+invention) {
		t.Errorf("the conversation shows the invention: %s, want no %q in it", body, `"content":"`+invention)
	}
	run := s.begin("How many days of paid holiday do dragons have?").RunID
	log := s.follow(run)
	if log.answer == nil || log.answer.Tokens.In == 0 || log.answer.StepsUsed == 0 {
		t.Fatalf("answer = %+v after %+v; want one, other than 0, other than 0", log.answer, log.done)
	}
	trace := loose[used](t, s.send("GET", "/agent/runs/"+run, nil).body)
	if trace.Tokens != log.answer.Tokens {
		t.Errorf("tokens of the trace = %+v, want %+v", trace.Tokens, log.answer.Tokens)
	}
}

func TestOfflineRunsUseNoTokens(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t), "FOOTNOTE_MODEL=offline")
	s.add(file{"handbook.md", holidays})
	log := s.run("How many days of paid holiday are there?")
	if log.answer == nil || log.answer.Tokens != (chat.Tokens{}) || len(log.answer.Citations) == 0 {
		t.Errorf("answer = %+v, want some citations", log.answer)
	}
}
