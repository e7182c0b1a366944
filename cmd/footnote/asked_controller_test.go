package main_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// S0 · the controller of the agent: its loop, its tools, plans, judgements, memory and limits.
func TestControllerRequirements(t *testing.T) {
	t.Parallel()
	th := newScriptedServer(t, append(website(t, "The moon is made of rock."), "FOOTNOTE_MEMORY_TURNS=3",
		"FOOTNOTE_MEMORY_TOKENS=1000", "FOOTNOTE_MEMORY_PASSAGES=2")...)
	const good = "The roof of Highlands is in good condition"

	t.Run("S0.1 steps have thought, action, observation and time", func(t *testing.T) {
		th := th.forSubtest(t)
		got, _ := th.query(func(r scripted.Request) scripted.Reply {
			if r.Turn() == 0 {
				look := calling("retrieve", `{"query":"roof"}`)
				look.Text = "I look for the roof."
				return look
			}
			return saying(good + " " + found(r, good) + ".")
		}, "Why is the roof good?", nil, nil)
		for i, s := range got.Steps {
			if s.StepNumber != i+1 || s.Action.Tool != s.Step.Step || s.Observation.LatencyMS == nil ||
				*s.Observation.LatencyMS != s.DurationMS || !s.Observation.Success || s.Timestamp == 0 {
				t.Errorf("step %d = %+v", i+1, s)
			}
		}
		call := got.stepsNamed("retrieve")
		if len(call) != 1 || call[0].Thought != "I look for the roof." || call[0].Action.Thought != call[0].Thought ||
			call[0].ToolName != "retrieve" || string(call[0].Action.ToolInput) != `{"query":"roof","top_k":5}` ||
			string(call[0].Observation.Result) != string(call[0].ToolOutput) ||
			!strings.Contains(string(call[0].ToolOutput), good) {
			t.Errorf("call = %+v", call)
		}
		if got.Answer != good+" [1]." || got.TotalRetrievalCalls != 1 || got.Question != "Why is the roof good?" {
			t.Errorf("answer = %+v", got)
		}
	})

	t.Run("S0.2 tools of the toolset, and finish", func(t *testing.T) {
		th := th.forSubtest(t)
		got, seed := th.query(func(r scripted.Request) scripted.Reply {
			switch r.Turn() {
			case 0:
				return calling("retrieve", `{"query":"roof Highlands value","top_k":1}`)
			case 1:
				return together(calling("retrieve_more", `{}`),
					calling("calculate", `{"expression":"2300000-2150000"}`),
					calling("lookup", `{"document_id":"survey.md"}`), calling("web_search", `{"query":"moon"}`))
			case 2:
				return calling("summarize", `{"texts":["`+strings.Trim(found(r, good), "[]")+`"],"focus":"roof"}`)
			}
			return calling("finish", `{"answer":"`+good+` `+found(r, good)+`."}`)
		}, "Why is the roof good?", nil, nil)
		for tool, output := range map[string]string{
			"retrieve": `"total_results":1`, "retrieve_more": `"results":[{`, "calculate": "150000", "lookup": good,
			"web_search": "made of rock", "summarize": good, "finish": `"finished":true`,
		} {
			call := got.stepsNamed(tool)
			if len(call) != 1 || call[0].Status != chat.StatusComplete ||
				!strings.Contains(string(call[0].ToolOutput), output) {
				t.Errorf("%s: %+v, want one with %q", tool, call, output)
			}
		}
		if got.Answer != good+" [1]." || len(got.Citations) != 1 || len(th.requestsFor(seed)) != 5 { // with the summary
			t.Errorf("got %q after %d requests", got.Answer, len(th.requestsFor(seed)))
		}
	})

	t.Run("S0.3 S0.4 ordered and parallel plan parts, and the judgement",
		func(t *testing.T) {
			th := th.forSubtest(t)
			plan := `{"sub_queries":[{"query":"roof of Highlands","reasoning":"its state","depends_on":[]},` +
				`{"query":"notice period","reasoning":"its length","depends_on":[]},` +
				`{"query":"value in 2024","reasoning":"needs the roof","depends_on":[0]}]}`
			seed := th.gives(sidelong(plan, []string{`{"evaluation":"It answers the question.","confidence":0.83}`},
				func(r scripted.Request) scripted.Reply { return saying(good + " " + found(r, good) + ".") }))
			got, _ := th.post("/agent/query", http.StatusOK, jsonFields{
				"question": "How good is the roof?", "config": jsonFields{"seed": seed},
			})
			planned := got.stepsNamed("plan")
			if len(planned) != 1 {
				t.Fatalf("steps = %q", got.names())
			}
			type part struct {
				Query, Reasoning, Status string
				DependsOn                []int `json:"depends_on"`
			}
			parts := loose[struct {
				Parts []part `json:"sub_queries"`
			}](t, string(planned[0].ToolOutput)).Parts
			if want := (part{"value in 2024", "needs the roof", "complete", []int{0}}); len(parts) != 3 ||
				!reflect.DeepEqual(parts[2], want) || parts[0].Reasoning != "its state" {
				t.Errorf("the plan is %+v, want %+v at its end", parts, want)
			}
			calls := got.stepsNamed("retrieve")
			if len(calls) != 3 || calls[0].ParentID == "" || calls[0].ParentID != calls[1].ParentID ||
				calls[2].ParentID != "" || calls[2].Timestamp < calls[0].Timestamp ||
				!strings.Contains(string(calls[2].ToolInput), "value in 2024") {
				t.Errorf("searches = %+v", calls)
			}
			if got.Confidence != 0.83 || !strings.HasPrefix(got.SelfEvaluation, "It answers the question.") {
				t.Errorf("judgement = %v, %q", got.Confidence, got.SelfEvaluation)
			}
		})

	t.Run("S0.5 memory is bounded", func(t *testing.T) {
		th := th.forSubtest(t)
		long := strings.Repeat("and on and ", 180) // some 500 tokens
		turns := []struct{ question, query, says string }{
			{"First " + long, "roof", good}, {"Second " + long, "damp", "The damp in the kitchen wall comes from a"},
			{"Third " + long, "notice", "The notice period is three months"},
			{"Fourth " + long, "holiday", "Every employee is entitled to 28 days of paid holiday a year"},
			{"Fifth", "roof", good},
		}
		var last scripted.Request
		for _, turn := range turns {
			seed := th.gives(searchingFor("retrieve", turn.query, turn.says))
			th.post("/agent/query", http.StatusOK, jsonFields{
				"question": turn.question, "session_id": "memory",
				"config": plain.and(jsonFields{"seed": seed}),
			})
			last = th.requestsFor(seed)[0]
		}
		var runes, questions int
		for _, m := range last.Messages[1 : len(last.Messages)-1] {
			if runes += len([]rune(m.Text)); m.Role == llm.RoleUser {
				questions++
			}
		}
		if questions > 3 || questions == 0 || runes > 4*1000+500 {
			t.Errorf("history has %d questions and %d characters, want at most 3 and about 4,000", questions, runes)
		}
		if n := strings.Count(last.Messages[0].Text, "\n[50"); n != 2 ||
			!strings.Contains(last.Messages[0].Text, "28 days") {
			t.Errorf("prompt has %d passages, want the last 2", n)
		}
	})

	t.Run("S0.8 an exhausted budget forces an answer and is named", func(t *testing.T) {
		th := th.forSubtest(t)
		for _, row := range []struct {
			tool, input, why string // %d is the turn's number
			config           jsonFields
			turns, calls     int
		}{
			{"calculate", `{"expression":"%d+1"}`, "max_steps", nil, 10, 0},
			{"calculate", `{"expression":"%d+1"}`, "max_steps", jsonFields{"max_steps": 2}, 2, 0},
			{"retrieve", `{"query":"roof %d"}`, "max_retrieval_calls", nil, 0, 5},
			{"retrieve", `{"query":"roof %d"}`, "max_retrieval_calls", jsonFields{"max_retrieval_calls": 1}, 0, 1},
		} {
			got, _ := th.query(func(r scripted.Request) scripted.Reply {
				if r.NoTools {
					return saying("The roof is good.")
				}
				return calling(row.tool, fmt.Sprintf(row.input, r.Turn()))
			}, "Why is the roof good?", jsonFields{"toolset": "react"}, row.config)
			if got.StopReason != row.why || row.turns > 0 && got.StepsUsed != row.turns ||
				row.calls > 0 && got.TotalRetrievalCalls != row.calls || got.Answer == "" {
				t.Errorf("%s with %v: %s after %d turns and %d calls with %q; want %s", row.tool, row.config,
					got.StopReason, got.StepsUsed, got.TotalRetrievalCalls, got.Answer, row.why)
			}
		}
	})

	t.Run("S0.9 client history precedes the question", func(t *testing.T) {
		th := th.forSubtest(t)
		got, seed := th.query(searchingFor("retrieve", "roof of Highlands", good), "And how good is it?",
			jsonFields{"history": [][]string{{"Which house has a roof?", "Highlands has one."}}}, nil)
		var told []string
		for _, m := range th.requestsFor(seed)[0].Messages[1:] {
			told = append(told, string(m.Role)+": "+m.Text)
		}
		want := "user: Which house has a roof?|assistant: Highlands has one.|user: And how good is it?"
		if strings.Join(told, "|") != want || got.Answer != good+" [1]." {
			t.Errorf("history = %q, want %q; answer %q", told, want, got.Answer)
		}
		nowhere := th.send("POST", "/agent/query", `{"question":"Why?","namespace":"nowhere"}`)
		if p := loose[problem](t, nowhere.body); nowhere.status != http.StatusNotFound ||
			!strings.Contains(p.Detail, "nowhere") {
			t.Errorf("namespace without documents: got %d %s, want 404", nowhere.status, nowhere.body)
		}
	})

	t.Run("S0.11 offline answers are deterministic", func(t *testing.T) {
		th := th.forSubtest(t)
		ask := func() string {
			got, _ := th.post("/agent/query", http.StatusOK, jsonFields{
				"question": "How good is the roof of Highlands, and what is it worth?",
				"config":   jsonFields{"model": "offline"},
			})
			said, err := json.Marshal([]any{
				got.Answer, len(got.Citations), got.Confidence, got.StopReason, got.names(),
			})
			if err != nil {
				t.Fatal(err)
			}
			return string(said)
		}
		first := ask()
		for range 3 {
			if again := ask(); again != first {
				t.Errorf("first answer %s, second %s, want the same", first, again)
			}
		}
	})

	t.Run("S0.12 calculations", func(t *testing.T) {
		th := th.forSubtest(t)
		results := map[string]string{
			"0.1+0.2": "0.3", "(2+3)*4-6/3": "18", "2**10": "1024", "sqrt(16)": "4", "pow(2,8)": "256", "log(e)": "1",
			"log10(1000)": "3", "sin(0)": "0", "cos(0)": "1", "tan(0)": "0", "abs(-3.5)": "3.5",
			"round(2.567,2)": "2.57", "min(3,1,2)": "1", "max(3,1,2)": "3", "sum(1,2,3)": "6", "round(pi,5)": "3.14159",
		}
		refused := []string{
			`__import__('os').system('ls')`, "1/0", "sqrt(-1)", "2+", "open('/etc/passwd')", "9**9**9", "x+1",
		}
		turn := func(expressions []string) scripted.Reply {
			var calls []scripted.Reply
			for _, expression := range expressions {
				input, _ := json.Marshal(map[string]string{"expression": expression}) // encoding a string can't fail
				calls = append(calls, calling("calculate", string(input)))
			}
			return together(calls...)
		}
		got, _ := th.query(inTurn(turn(slices.Collect(maps.Keys(results))), turn(refused), saying("They are done.")),
			"What is all that?", nil, nil)
		made := got.stepsNamed("calculate")
		if len(made) < len(results)+len(refused) {
			t.Fatalf("got %d calls, want all results and refusals", len(made))
		}
		for _, s := range made[:len(results)+len(refused)] {
			expression := loose[struct{ Expression string }](t, string(s.ToolInput)).Expression
			if want, fine := results[expression]; fine {
				// Results of functions are approximate: ≈.
				said := strings.ReplaceAll(s.Message, "≈", "=")
				if s.Status != chat.StatusComplete || !strings.HasSuffix(said, "= "+want) {
					t.Errorf("%s: %s, %s; want %s", expression, s.Status, s.Message, want)
				}
			} else if s.Status != chat.StatusError || s.Error == nil || !plainSentence(s.Error.Message) {
				t.Errorf("%s: %s, %+v; want a clear refusal", expression, s.Status, s.Error)
			}
		}
	})
}

// S4 · the API: its modes, sessions, citations, refusals, errors and documents.
func TestAPIRequirements(t *testing.T) {
	t.Parallel()
	th := newScriptedServer(t)
	const good = "The roof of Highlands is in good condition"
	const point = "The zero-moment point (ZMP) is the point where the forces on a robot balance"

	t.Run("S4.1 S4.2 whole library or given text", func(t *testing.T) {
		th := th.forSubtest(t)
		for _, path := range []string{"/agent/chat", "/agent/chat/structured"} {
			seed := th.gives(searchingFor("search_documents", "zero-moment point", point))
			got, whole := th.post(path, http.StatusOK, jsonFields{
				"message": "Why is the zero-moment point used?", "session_id": "test_session_1", "context_text": nil,
				"config": jsonFields{"seed": seed},
			})
			said := got.Response + got.Answer
			if got.RetrievalMode != "full_book" || !strings.HasPrefix(said, point+" [Source 1].") ||
				!strings.Contains(whole.body, `"sources":[{"number":1,`) || got.Status != "success" {
				t.Errorf("%s from the library: got %s", path, whole.body)
			}
			seed = th.gives(func(r scripted.Request) scripted.Reply {
				if len(r.Tools) > 0 && !r.NoTools ||
					!strings.Contains(fmt.Sprint(r.Messages), "The ZMP is the point where") {
					t.Errorf("%s: request has %d tools and the messages %v", path, len(r.Tools), r.Messages)
				}
				return saying("The ZMP is the point where forces balance.")
			})
			got, whole = th.post(path, http.StatusOK, jsonFields{
				"message": "Explain this in simple terms", "session_id": "test_session_2",
				"context_text": "The ZMP is the point where forces balance.", "config": jsonFields{"seed": seed},
			})
			if got.RetrievalMode != "context_constrained" || got.Status != "success" || len(got.Citations) != 0 ||
				got.Response+got.Answer != "The ZMP is the point where forces balance." ||
				!strings.Contains(whole.body, `"sources":[]`) || got.Confidence != 0.8 {
				t.Errorf("%s from the given text: got %s", path, whole.body)
			}
			for _, step := range th.trace(got.RunID).Steps {
				if step.ToolName != "" {
					t.Errorf("%s from the given text: got a call of %s, want none", path, step.ToolName)
				}
			}
		}
	})

	t.Run("S4.3 session ids", func(t *testing.T) {
		th := th.forSubtest(t)
		for _, id := range []string{"user_7_conv_9", "a", strings.Repeat("x", 128), "A-b_9"} {
			got, _ := th.post("/agent/chat", http.StatusOK, jsonFields{
				"message": "Hello!", "session_id": id, "config": jsonFields{"model": "offline"},
			})
			kept := th.send("GET", "/agent/session/"+id, nil)
			if got.SessionID != id || kept.status != http.StatusOK ||
				!strings.Contains(kept.body, `"content":"Hello!"`) {
				t.Errorf("%.20s: %s, %d %s", id, got.SessionID, kept.status, kept.body)
			}
			if gone := th.send("DELETE", "/agent/session/"+id, nil).status; gone != http.StatusNoContent {
				t.Errorf("%.20s: delete = %d, want 204", id, gone)
			}
			for _, method := range []string{"GET", "DELETE"} {
				if again := th.send(method, "/agent/session/"+id, nil).status; again != http.StatusNotFound {
					t.Errorf("%.20s: %s after the deletion = %d, want 404", id, method, again)
				}
			}
		}
		long := strings.Repeat("x", 129)
		for written, id := range map[string]string{
			"a%20b": "a b", "a.b": "a.b", "..%2Fx": "../x", "%C3%A4": "ä", long: long, "a%27%3B--": "a';--",
			"%0A": "\n",
		} {
			for method, path := range map[string]string{
				"POST": "/agent/chat", "GET": "/agent/session/" + written, "DELETE": "/agent/session/" + written,
			} {
				var body any
				if method == "POST" {
					body = fmt.Sprintf(`{"message":"Hello!","session_id":%q}`, id)
				}
				r := th.send(method, path, body)
				if p := loose[problem](t, r.body); r.status != http.StatusBadRequest || !plainSentence(p.Detail) {
					t.Errorf("%s with the id %.20q: got %d %s, want 400", method, id, r.status, r.body)
				}
			}
		}
		empty, _ := th.post("/agent/chat", http.StatusOK, jsonFields{
			"message": "Hello!", "session_id": nil, "config": jsonFields{"model": "offline"},
		})
		if len(empty.SessionID) != 36 {
			t.Errorf("session without an id = %q, want a UUID", empty.SessionID)
		}
	})

	t.Run("S4.5 passages with text, score and URL", func(t *testing.T) {
		th := th.forSubtest(t)
		for query, want := range map[string]struct{ text, address string }{
			"zero-moment point": {point, "https://example.com/book/chapter3"}, "roof of Highlands": {good, ""},
		} {
			r := th.send("POST", "/search", `{"query":"`+query+`","top_k":1}`)
			got := loose[struct {
				Query        string
				TotalResults int `json:"total_results"`
				Results      []struct {
					Text     string
					Score    float64
					Metadata struct {
						URL       string
						SourceURL string `json:"source_url"`
					}
				}
			}](t, r.body)
			if r.status != http.StatusOK || got.Query != query || got.TotalResults != 1 || len(got.Results) != 1 ||
				!strings.Contains(got.Results[0].Text, want.text) || got.Results[0].Score <= 0 ||
				got.Results[0].Score > 1 || got.Results[0].Metadata.SourceURL != want.address ||
				th.send("GET", got.Results[0].Metadata.URL, nil).status != http.StatusOK {
				t.Errorf("%s: %d %s", query, r.status, r.body)
			}
		}
	})

	t.Run("S4.6 a refusal has no sources", func(t *testing.T) {
		th := th.forSubtest(t)
		const refusal = "I couldn't find relevant information about that in your documents."
		for _, model := range []string{"scripted", "offline"} {
			seed := th.gives(inTurn(calling("search_documents", `{"query":"quantum entanglement"}`), saying(refusal)))
			got, whole := th.post("/agent/chat", http.StatusOK, jsonFields{
				"message": "What is quantum entanglement?", "config": jsonFields{"seed": seed, "model": model},
			})
			if !strings.HasPrefix(got.Response, refusal) || strings.Contains(got.Response, "Source") ||
				got.StopReason != "refused" || got.Status != "success" || len(got.Citations) != 0 ||
				got.Confidence != 0 || strings.Contains(whole.body, `"cited":true`) {
				t.Errorf("by the model %s: got %s, want a refusal", model, whole.body)
			}
		}
	})

	t.Run("S4.11 ten concurrent questions", func(t *testing.T) {
		th := th.forSubtest(t)
		seed := th.gives(searchingFor("search_documents", "roof of Highlands", good))
		var asking sync.WaitGroup
		replies := make([]reply, 10)
		for i := range replies {
			asking.Go(func() {
				replies[i], _ = th.try("POST", "/agent/chat",
					fmt.Sprintf(`{"message":"Why is the roof good?","config":{"seed":%d}}`, seed))
			})
		}
		asking.Wait()
		for i, r := range replies {
			if r.status != http.StatusOK || !strings.Contains(r.body, good+" [Source 1].") {
				t.Errorf("question %d: %d %s", i, r.status, r.body)
			}
		}
	})

	t.Run("S4.10 routes are documented on a page", func(t *testing.T) {
		th := th.forSubtest(t)
		described := loose[struct {
			OpenAPI string
			Paths   map[string]map[string]any
		}](t, th.send("GET", "/openapi.json", nil).body)
		for _, route := range []string{
			"post /agent/chat", "post /agent/chat/structured", "post /agent/query", "post /agent/retrieve",
			"get /agent/session/{id}", "delete /agent/session/{id}", "get /agent/runs/{id}", "post /search",
			"get /health",
		} {
			method, path, _ := strings.Cut(route, " ")
			if described.Paths[path][method] == nil {
				t.Errorf("%s is not documented", route)
			}
		}
		page := th.send("GET", "/docs", nil, header{"Accept", "text/html"})
		if page.status != http.StatusOK || !strings.Contains(page.body, "/agent/chat/structured") ||
			!strings.Contains(page.body, `data-testid="operation"`) || !strings.HasPrefix(described.OpenAPI, "3.") {
			t.Errorf("/docs: got %d, version %q", page.status, described.OpenAPI)
		}
	})

	t.Run("S4.12 feedback", func(t *testing.T) {
		th := th.forSubtest(t)
		got, _ := th.post("/agent/chat", http.StatusOK, jsonFields{
			"message": "How good is the roof?", "config": jsonFields{"model": "offline"},
		})
		for _, rating := range []string{"up", "down"} {
			given := th.send("POST", "/agent/runs/"+got.RunID+"/feedback", `{"rating":"`+rating+`"}`)
			if list := th.send("GET", "/feedback?rating="+rating, nil); given.status >= 300 ||
				!strings.Contains(list.body, got.RunID) {
				t.Errorf("%s: got %d %s, list %s", rating, given.status, given.body, list.body)
			}
		}
		if list := th.send("GET", "/feedback?rating=up", nil); strings.Contains(list.body, got.RunID) {
			t.Errorf("list has the replaced rating: %s", list.body)
		}
	})

	t.Run("S4.13 retrieve_book_content returns text and links to the book", func(t *testing.T) {
		th := th.forSubtest(t)
		const book = "https://example.com/book/chapter3"
		part := func(r scripted.Request) scripted.Reply {
			if r.Turn() == 0 && !r.NoTools {
				return calling("retrieve_book_content", `{"query":"zero-moment point","top_k":1}`)
			}
			return saying(point + " [Source 1].")
		}
		for name, body := range map[string]jsonFields{
			"documentation": {"toolset": "documentation", "config": jsonFields{"selection": "model"}},
			"by its name":   {"config": jsonFields{"enabled_tools": []string{"retrieve_book_content"}}},
		} {
			config := body["config"].(jsonFields).and(jsonFields{"seed": th.gives(part)})
			got, _ := th.post("/agent/chat", http.StatusOK, jsonFields{"message": "Why is the ZMP used?"}.and(body).and(
				jsonFields{"config": config}))
			output := ""
			for _, step := range th.trace(got.RunID).Steps {
				if step.ToolName == "retrieve_book_content" && output == "" {
					output = loose[struct{ Text string }](t, string(step.ToolOutput)).Text
				}
			}
			for _, want := range []string{"\nURL: " + book, "\nRelevance: ", "\nContent: ", point} {
				if !strings.Contains(output, want) {
					t.Errorf("%s: %q lacks %q", name, output, want)
				}
			}
			if !strings.HasPrefix(got.Response, point+" [Source 1].\n\nSources:\n[Source 1] Humanoid robots, ") ||
				!strings.Contains(got.Response, ": "+book+" · "+th.url+"/d/") || len(got.Citations) != 1 ||
				got.Citations[0].SourceURL != book {
				t.Errorf("%s: %q with %+v", name, got.Response, got.Citations)
			}
		}
		for _, bad := range []string{`{"query":"roof","top_k":0}`, `{"query":""}`, `{}`} {
			got, _ := th.query(inTurn(calling("retrieve_book_content", bad), saying("No.")), "Why is that?",
				jsonFields{"toolset": "documentation"}, jsonFields{"selection": "model"})
			if calls := got.stepsNamed("retrieve_book_content"); !slices.ContainsFunc(calls, func(s askedStep) bool {
				return s.Status == "error" && s.Error != nil
			}) {
				t.Errorf("%s: %+v", bad, calls)
			}
		}
	})
}
