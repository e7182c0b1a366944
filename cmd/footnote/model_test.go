package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
	"github.com/footnote/footnote/server/modelchoice"
)

// modelServer is a model's server on loopback that records its requests and lets a test act while it answers.
type modelServer struct {
	url   string
	web   *httptest.Server
	inner *scripted.Server

	mu       sync.Mutex
	requests []string               // bodies of chat requests
	written  int                    // bytes of all replies
	onBytes  func(n int)            // called with the number of bytes written so far
	onEmbed  func() <-chan struct{} // embedding requests, except health checks, wait for it
}

// newModel starts a model server with a script; nil is the librarian.
func newModel(t testing.TB, config scripted.Config) *modelServer {
	t.Helper()
	m := &modelServer{inner: scripted.NewServer(config)}
	m.web = httptest.NewServer(m)
	m.url = m.web.URL + "/v1"
	t.Cleanup(func() {
		m.web.CloseClientConnections()
		m.web.Close()
	})
	return m
}

// env returns the settings that make Footnote use this server.
func (m *modelServer) env() []string {
	return []string{"OPENAI_BASE_URL=" + m.url, "OPENAI_API_KEY=test-key", "OPENAI_MODEL=scripted"}
}

func (m *modelServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body) // read completely, so that net/http detects the client's disconnect
	if err != nil {
		return
	}
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	m.mu.Lock()
	gate := m.onEmbed
	if strings.Contains(string(body), `["footnote"]`) {
		gate = nil
	}
	if strings.HasSuffix(r.URL.Path, "/chat/completions") {
		gate, m.requests = nil, append(m.requests, string(body))
	}
	m.mu.Unlock()
	if gate != nil && strings.HasSuffix(r.URL.Path, "/embeddings") {
		select {
		case <-gate():
		case <-r.Context().Done():
			return
		}
	}
	m.inner.ServeHTTP(&tap{ResponseWriter: w, m: m}, r)
}

// tap is a response writer that counts the bytes of a stream.
type tap struct {
	http.ResponseWriter
	m *modelServer
}

func (w *tap) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.m.mu.Lock()
	w.m.written += n
	total, act := w.m.written, w.m.onBytes
	w.m.mu.Unlock()
	if act != nil {
		act(total)
	}
	return n, err
}

func (w *tap) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (m *modelServer) asked() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.requests...)
}

// wire is a chat request as a provider sees it.
type wire struct {
	Messages []struct {
		Role       string `json:"role"`
		ToolCallID string `json:"tool_call_id"`
		ToolCalls  []struct {
			ID       string `json:"id"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"messages"`
}

// checkHistory fails unless a provider would accept the request: each call has exactly one result, directly after
// it, and every result has a call.
func checkHistory(body string) error {
	var req wire
	if err := json.Unmarshal([]byte(body), &req); err != nil {
		return err
	}
	open := map[string]bool{}
	for i, msg := range req.Messages {
		if msg.Role == "tool" {
			if !open[msg.ToolCallID] {
				return fmt.Errorf("message %d is a result without a call: %q", i, msg.ToolCallID)
			}
			delete(open, msg.ToolCallID)
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("calls %v have no result before message %d", open, i)
		}
		for _, call := range msg.ToolCalls {
			if call.ID == "" || open[call.ID] {
				return fmt.Errorf("message %d has a call with the id %q", i, call.ID)
			}
			if !json.Valid([]byte(call.Function.Arguments)) {
				return fmt.Errorf("message %d has a call with the arguments %q", i, call.Function.Arguments)
			}
			open[call.ID] = true
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("calls %v have no result", open)
	}
	return nil
}

// toolless is a librarian behind a server that refuses tools, and encodes its calls as JSON text.
func toolless(r scripted.Request) scripted.Reply {
	if len(r.Tools) > 0 {
		return scripted.Reply{
			Fault: scripted.Fault{
				Status: 400, Body: `{"error":{"message":"registry.ollama.ai/library/gemma does not support tools"}}`,
			},
		}
	}
	switch last := r.Messages[len(r.Messages)-1].Text; {
	case strings.Contains(last, "Result of search_documents"):
		return scripted.Reply{Text: "The slate roof is in poor condition [1]."}
	case strings.Contains(r.Messages[0].Text, "search_documents"):
		return scripted.Reply{Text: "```json\n{'tool': 'search_documents', 'input': {'query': 'roof condition',}}\n```"}
	}
	return scripted.Reply{Text: "Hello."}
}

func TestModelWithoutToolCallsAnswers(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t), newModel(t, scripted.Config{Script: toolless}).env()...)
	s.add(books...)
	log := s.run("What is the condition of the roof?")
	if log.done.Status != chat.RunCompleted || log.answer == nil || len(log.answer.Citations) == 0 ||
		strings.Contains(log.answer.Markdown, "{") {
		t.Fatalf("run ended with %+v and %+v\n%s", log.done, log.answer, s.log)
	}
	notices, searches := 0, 0
	for _, step := range log.steps {
		switch step.Step {
		case "notice":
			notices++
		case "search_documents":
			searches++
		case "fallback":
			t.Errorf("got a fallback: %+v, want none", step)
		}
	}
	if notices == 0 || searches == 0 {
		t.Errorf("%d notices and %d searches: %+v; want other than 0 and other than 0", notices, searches, log.steps)
	}
}

func TestAnthropicModelUsesToolsAndThinking(t *testing.T) {
	t.Parallel()
	model := newModel(t, scripted.Config{Record: 10, Script: func(r scripted.Request) scripted.Reply {
		reply := scripted.Librarian(r)
		if len(reply.Calls) > 0 {
			reply.Reasoning = "I must look."
		}
		return reply
	}})
	file := filepath.Join(t.TempDir(), "footnote.yaml")
	if err := os.WriteFile(
		file, []byte(
			"prices:\n  claude-sonnet-4-5: {in: 3, out: 15}\nagent:\n  models_allowed: [claude-haiku]\n  "+
				"min_model_for_agent: claude-haiku\n",
		), 0o600,
	); err != nil {
		t.Fatal(err)
	}
	s := serve(t, newDir(t), "FOOTNOTE_CONFIG="+file, "FOOTNOTE_MODEL=anthropic", "ANTHROPIC_API_KEY=test-key",
		"ANTHROPIC_THINKING=2048", "ANTHROPIC_BASE_URL="+strings.TrimSuffix(model.url, "/v1"))
	s.add(books...)
	log := s.run("What is the condition of the roof?")
	if log.done.Status != chat.RunCompleted || log.answer == nil || len(log.answer.Citations) == 0 ||
		log.answer.Cost == nil || *log.answer.Cost <= 0 {
		t.Fatalf("run ended with %+v and %+v\n%s", log.done, log.answer, s.log)
	}
	thought := false
	for _, step := range log.steps {
		thought = thought || strings.Contains(step.Thought, "I must look.")
	}
	signed := false
	for _, r := range model.inner.Requests() {
		for _, msg := range r.Messages {
			signed = signed || msg.Role == llm.RoleAssistant && msg.Signature == "signed-I must look."
		}
	}
	if !thought || !signed {
		t.Errorf("thought shown: %v, signature returned: %v, want both", thought, signed)
	}
	if got := s.send("POST", "/agent/chat", `{"message":"Hi","config":{"model":"gpt-9"}}`,
		header{"Content-Type", "application/json"}); got.status != http.StatusBadRequest ||
		!strings.Contains(got.body, "claude-haiku") {
		t.Errorf("a model that is not allowed: %d %s; want %d and %q in it",
			got.status, got.body, http.StatusBadRequest, "claude-haiku")
	}
}

func TestSettingSelectsFramework(t *testing.T) {
	t.Parallel()
	model := newModel(t, scripted.Config{Record: 10})
	for name, env := range map[string][]string{
		"eino": append(model.env(), "FOOTNOTE_AGENT_FRAMEWORK=eino"),
		"anthropic": {"FOOTNOTE_AGENT_FRAMEWORK=anthropic", "OPENAI_BASE_URL=http://127.0.0.1:1/v1",
			"ANTHROPIC_API_KEY=test-key", "ANTHROPIC_BASE_URL=" + strings.TrimSuffix(model.url, "/v1")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := binary
			if name == "eino" {
				program = filepath.Join(t.TempDir(), "footnote")
				if err := build(program, "grpcnotrace,retrynotrace,eino"); err != nil {
					t.Fatal(err)
				}
			}
			s := serveProgram(t, program, "127.0.0.1:0", newDir(t), env...)
			s.add(books...)
			log := s.run("What is the condition of the roof?")
			if log.done.Status != chat.RunCompleted || log.answer == nil || len(log.answer.Citations) == 0 {
				t.Fatalf("run ended with %+v and %+v\n%s", log.done, log.answer, s.log)
			}
			tools := 0
			for _, step := range log.steps {
				if step.ToolName != "" {
					tools++
				}
				if step.Step == "fallback" {
					t.Errorf("the offline model took over: %+v, want other than %q", step, "fallback")
				}
			}
			if tools == 0 {
				t.Errorf("no tool was called: got %v, want other than 0", tools)
			}
		})
	}
}

// A model found on this machine answers from the next question on, also after a restart; the rest of the settings
// file is unchanged.
func TestModelIsSelectedWhileServing(t *testing.T) {
	t.Parallel()
	here := newModel(t, scripted.Config{Model: "qwen3:8b", Owner: "library"})
	away := newModel(t, scripted.Config{})
	u, err := url.Parse(here.url)
	if err != nil {
		t.Fatal(err)
	}
	dir, settings := newDir(t), filepath.Join(t.TempDir(), "footnote.yaml")
	const before = "# The settings of the office.\nsession_keep_days: 7 # a week\n"
	if err := os.WriteFile(settings, []byte(before), 0o644); err != nil { //nolint:gosec // as people have it
		t.Fatal(err)
	}
	env := []string{
		"FOOTNOTE_CONFIG=" + settings, "FOOTNOTE_MODEL_PORTS=" + u.Port(), "FOOTNOTE_MODEL_SERVICES=openai=" + away.url,
	}
	s := serve(t, dir, env...)
	s.add(dated...)
	found := loose[modelchoice.Found](t, s.send("GET", "/model", nil).body)
	if found.Answering != "offline" || len(found.Servers) != 1 || found.Locked != "" ||
		found.Servers[0].Models[0].Name != "qwen3:8b" || !found.Servers[0].Models[0].Suggested {
		t.Fatalf("found %+v, want the model on this machine", found)
	}
	ask := func() string {
		t.Helper()
		r := s.send("POST", "/agent/chat", `{"message":"How good is the roof of Highlands?"}`)
		run := loose[struct {
			RunID string `json:"run_id"`
		}](t, r.body).RunID
		return loose[struct{ Model string }](t, s.send("GET", "/agent/runs/"+run, nil).body).Model
	}
	if got := ask(); got != "offline" {
		t.Errorf("%s answers before anything is chosen, want offline", got)
	}
	for body, why := range map[string]string{
		fmt.Sprintf(`{"port":%s}`, u.Port()):                  "Enter a model name",
		`{"port":1,"model":"x"}`:                              "Port 1 is not scanned",
		`{"service":"openai"}`:                                "OpenAI requires an API key",
		`{"service":"openai","key":"short"}`:                  "",
		`{"service":"anthropic","key":"sk-other"}`:            "Invalid Anthropic API key",
		`{"service":"groq","key":"a b"}`:                      "can't contain spaces",
		`{"service":"nobody","key":"x"}`:                      "Unknown model provider",
		`{"service":"mistral","key":"k","model":"` + longName: "up to 200",
	} {
		got := s.send("PUT", "/model", body)
		if why == "" { // the service accepts every key in the trial
			if got.status != 200 {
				t.Errorf("%s: %d %s", body, got.status, got.body)
			}
			continue
		}
		if got.status != 400 || !strings.Contains(got.body, why) {
			t.Errorf("%s: %d %s, want %q", body, got.status, got.body, why)
		}
	}
	if got := s.send("PUT", "/model", fmt.Sprintf(`{"port":%s,"model":"qwen3:8b"}`, u.Port())); got.status != 200 ||
		!strings.Contains(got.body, `"tools":true`) {
		t.Fatalf("%d %s, want it taken", got.status, got.body)
	}
	if got := ask(); got != "qwen3:8b" {
		t.Errorf("%s answers, want the model that was chosen", got)
	}
	raw, err := os.ReadFile(settings)
	if err != nil || !bytes.HasPrefix(raw, []byte(before)) ||
		!bytes.Contains(raw, []byte("openai_model: qwen3:8b\n")) || bytes.Contains(raw, []byte("short")) {
		t.Errorf("%v, the settings file is %s, want what it said before, the model, and no other key", err, raw)
	}
	if !strings.Contains(s.log.String(), "a local model is available") {
		t.Errorf("log lacks the local model: %s", s.log)
	}
	s.end(os.Interrupt)
	s = serve(t, dir, env...)
	if got := ask(); got != "qwen3:8b" {
		t.Errorf("%s answers after a restart, want the model that was chosen", got)
	}
	here.web.CloseClientConnections()
	here.web.Close()
	s.end(os.Interrupt)
	s = serve(t, dir, env...) // it has no requests yet
	now := loose[modelchoice.Found](t, s.send("GET", "/model", nil).body)
	if len(now.Servers) > 0 || !strings.Contains(string(now.Trouble), "its server can't be reached") {
		t.Errorf("after its server went: %+v, want it said", now)
	}
	if got := s.send("PUT", "/model", `{"service":"offline"}`); got.status != 200 {
		t.Errorf("offline: %d %s", got.status, got.body)
	}
	if got := ask(); got != "offline" {
		t.Errorf("%s answers, want offline", got)
	}
}

// longName is a name over the limit, up to the end of a body.
var longName = strings.Repeat("x", 201) + `"}`

// dated are documents with metadata.
var dated = []file{
	{
		"value-2023.md",
		"---\nauthor: Ann Lee\ndate: 2023-02-10\ntags: [value]\n---\n# Valuation of 2023\n\nThe market value of " +
			"Highlands was £2,150,000 in February.\n",
	},
	{
		"value-2024.md",
		"---\nauthor: John Doe\ndate: 2024-02-12\ntags: [value]\n---\n# Valuation of 2024\n\nThe market value of " +
			"Highlands was £2,300,000 in February.\n",
	},
	{
		"survey.md",
		"---\nauthor: Ann Lee\ndate: 2022-06-01\ntags: [survey]\n---\n# Building survey\n\nThe roof of Highlands is " +
			"in good condition.\n",
	},
}

// requestTools returns the tools and the temperature of a request to the model.
func (m *modelServer) requestTools(t *testing.T, n int) (tools []string, temperature *float64) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.requests) <= n {
		t.Fatalf("the model was asked %d times, want more than %d requests", len(m.requests), n)
	}
	asked := loose[struct {
		Temperature *float64
		Tools       []struct{ Function struct{ Name string } }
	}](t, m.requests[n])
	for _, tool := range asked.Tools {
		tools = append(tools, tool.Function.Name)
	}
	return tools, asked.Temperature
}

// A query without further fields has the tools, the limits and the temperature of its API; so does a search by the
// agent. Tools in the settings apply to both.
func TestRoutesHaveOwnToolsAndLimits(t *testing.T) {
	t.Parallel()
	settings := filepath.Join(t.TempDir(), "footnote.yaml")
	if err := os.WriteFile(
		settings, []byte("strategies:\n  agentic:\n    tools: [semantic_search, read_document, metadata_search]\n"),
		0o600,
	); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name        string
		env         string
		path, body  string
		tools       string
		temperature float64
		calls       int
	}{
		{"a query", "", "/agent/query", `{"question":"Why is the roof good?",` + without + `}`,
			"retrieve retrieve_more query_table calculate lookup summarize finish", 0.1, 5},
		{"a query with another toolset", "", "/agent/query",
			`{"question":"Why is the roof good?","toolset":"strategy",` + without + `}`,
			"semantic_search read_document metadata_search hybrid_search", 0.3, 5},
		{"a query where the settings name a toolset", "FOOTNOTE_AGENT_TOOLSET=documentation", "/agent/query",
			`{"question":"Why is the roof good?",` + without + `}`,
			"retrieve_documentation retrieve_book_content", 0, 5},
		{"a query where the settings name tools", "FOOTNOTE_CONFIG=" + settings, "/agent/query",
			`{"question":"Why is the roof good?",` + without + `}`,
			"semantic_search read_document metadata_search", 0.1, 5},
		{"a search by the agent", "", "/agent/retrieve", `{"query":"Why is the roof good?"}`,
			"semantic_search read_document metadata_search hybrid_search", 0.3, 0},
		{"a search where the settings name tools", "FOOTNOTE_CONFIG=" + settings, "/agent/retrieve",
			`{"query":"Why is the roof good?"}`, "semantic_search read_document metadata_search", 0.3, 0},
		{"a chat", "", "/agent/chat", `{"message":"Why is the roof good?"}`, "", 0, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := newModel(t, scripted.Config{Script: sidelong("", nil, func(r scripted.Request) scripted.Reply {
				if r.Turn() == 0 && !r.NoTools {
					return calling(r.Tools[0].Name, `{"query":"roof"}`)
				}
				return saying("The roof of Highlands is in good condition [1].")
			})})
			env := m.env()
			if tt.env != "" {
				env = append(env, tt.env)
			}
			s := serve(t, newDir(t), env...)
			s.add(dated...)
			r := s.send("POST", tt.path, tt.body)
			first := 0
			if tt.path == "/agent/retrieve" { // after its plan
				first = 1
			}
			tools, temperature := m.requestTools(t, first)
			if got := strings.Join(tools, " "); r.status != 200 || tt.tools != "" && got != tt.tools ||
				temperature == nil || *temperature != tt.temperature {
				t.Errorf("%d, tools %s at %v; want %s at %v", r.status, got, temperature, tt.tools, tt.temperature)
			}
			if tt.calls == 0 {
				return
			}
			run := loose[struct {
				ID    string `json:"id"`
				RunID string `json:"run_id"`
			}](t, r.body)
			trace := loose[struct{ Budget chat.Budget }](t, s.send("GET", "/agent/runs/"+run.ID+run.RunID, nil).body)
			if trace.Budget.RetrievalCalls != tt.calls {
				t.Errorf("%d calls, want %d", trace.Budget.RetrievalCalls, tt.calls)
			}
		})
	}
}

// Rules parse the question to select the tools: metadata of documents, their ids, and their content.
func TestRulesSelectToolsByQuestion(t *testing.T) {
	t.Parallel()
	m := newModel(t, scripted.Config{Script: func(scripted.Request) scripted.Reply {
		return saying("The roof of Highlands is in good condition [1].")
	}})
	s := serve(t, newDir(t), append(m.env(), "FOOTNOTE_LIMITS_QUESTIONS_PER_MINUTE=0")...)
	ids := s.add(dated...)
	for _, tt := range []struct{ question, toolset, want string }{
		{"Which documents were written by John Doe?", "strategy", `metadata_search {"filters":{"author":"John Doe"}}`},
		{"Find documents from 2024", "strategy", `metadata_search {"filters":{"year":"2024"}}`},
		{"Show papers by Ann Lee since 2023", "cursor",
			`metadata_search {"filters":{"author":"Ann Lee","date_from":"2023"}}`},
		{"Find all documents tagged survey", "cursor", `metadata_search {"filters":{"tags":"survey"}}`},
		{"Find reports by Ann Lee about the roof", "strategy",
			`metadata_search {"filters":{"author":"Ann Lee"}}, hybrid_search`},
		{"Which documents about the roof were written by Ann Lee?", "strategy",
			`metadata_search {"filters":{"author":"Ann Lee"}}, hybrid_search`},
		{"What's in document ID " + ids[2] + "?", "strategy", "hybrid_search, read_document"},
		{"Which document mentions the roof?", "strategy", "hybrid_search"},
	} {
		body, err := json.Marshal(map[string]any{
			"message": tt.question, "toolset": tt.toolset, "config": map[string]any{
				"selection": "rules", "enable_query_decomposition": false, "enable_self_evaluation": false,
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		r := s.send("POST", "/agent/chat", string(body))
		run := loose[struct {
			RunID string `json:"run_id"`
		}](t, r.body).RunID
		var got []string
		for _, step := range loose[struct{ Steps []chat.Step }](t, s.send("GET", "/agent/runs/"+run, nil).body).Steps {
			switch step.ToolName {
			case "":
			case "metadata_search":
				got = append(got, step.ToolName+" "+string(step.ToolInput))
			case "read_document":
				if strings.Contains(tt.want, step.ToolName) && !strings.Contains(string(step.ToolInput), ids[2]) {
					t.Errorf("%s: read %s", tt.question, step.ToolInput)
				}
				if strings.Contains(tt.want, step.ToolName) {
					got = append(got, step.ToolName)
				}
			default:
				got = append(got, step.ToolName)
			}
		}
		// Later calls are the model's own.
		if got := strings.Join(slices.Compact(got), ", "); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.question, got, tt.want)
		}
	}
}

// Without a tool that lists documents, one that finds them lists them; without either, the answer invents no list.
func TestLibraryListingUsesAvailableTools(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(dated...)
	for toolset, want := range map[string]string{
		"cursor": "You have 3 documents", "strategy": "You have 3 documents",
		"react": "I couldn't find relevant information about that in your documents.",
	} {
		r := s.send("POST", "/agent/chat", `{"message":"How many documents are there?","toolset":"`+toolset+`"}`)
		if got := loose[struct{ Response string }](t, r.body).Response; !strings.HasPrefix(got, want) {
			t.Errorf("%s: %d %q, want %q", toolset, r.status, got, want)
		}
	}
}

// If a model uses its turns without a search, the program searches for it: the program's own calls are not turns.
func TestExhaustedTurnsTriggerSearch(t *testing.T) {
	t.Parallel()
	m := newModel(t, scripted.Config{Script: func(r scripted.Request) scripted.Reply {
		if !r.NoTools {
			return calling("calculate", fmt.Sprintf(`{"expression":"%d+1"}`, r.Turn()))
		}
		return saying("The roof of Highlands is in good condition [1].")
	}})
	s := serve(t, newDir(t), m.env()...)
	s.add(dated...)
	r := s.send("POST", "/agent/chat", `{"message":"How good is the roof of Highlands?","config":{"max_steps":2}}`)
	got := loose[struct {
		Response   string
		StopReason string `json:"stop_reason"`
		Citations  []chat.Citation
	}](t, r.body)
	if !strings.Contains(got.Response, "good condition") || len(got.Citations) != 1 {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// A summary consists of statements, also for a document that starts with a table of contents.
func TestSummaryExcludesTableOfContents(t *testing.T) {
	t.Parallel()
	faq := slices.DeleteFunc(manuals(t), func(f file) bool { return f.name != "debian-faq.pdf" })
	m := newModel(t, scripted.Config{Script: func(r scripted.Request) scripted.Reply {
		if r.Turn() == 0 && !r.NoTools {
			return calling("get_document_summary", `{"doc_id":"debian-faq.pdf"}`)
		}
		return saying("I couldn't find relevant information about that in your documents.")
	}})
	s := serve(t, newDir(t), m.env()...)
	s.add(faq...)
	r := s.send("POST", "/agent/query", `{"question":"Why is the FAQ useful?","toolset":"cursor",`+without+`}`)
	var key []string
	for _, step := range loose[struct{ Steps []chat.Step }](t, r.body).Steps {
		if step.ToolName == "get_document_summary" {
			key = loose[struct {
				Sentences []string `json:"key_sentences"`
			}](t, string(step.ToolOutput)).Sentences
		}
	}
	if len(key) < 3 {
		t.Errorf("key sentences %q: %s, want at least 3", key, r.body)
	}
	for _, sentence := range key {
		if strings.Contains(sentence, ". . .") || sentence[0] >= '0' && sentence[0] <= '9' {
			t.Errorf("%q is a line of the table of contents, want no %q in it", sentence, ". . .")
		}
	}
}
