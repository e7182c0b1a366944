package main_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// The tests in asked_*_test.go check the original requirements of Footnote, row by row, against a running server:
// S0 is the controller of the agent, S1 its data model, S2 the agentic strategy, S3 the model's choice of tools,
// and S4 the API. Rows that another test of this package covers are not repeated.

// scriptedServer is a server whose model plays a scripted part for each question. The part is selected by the
// question's seed, which models receive, or by the question itself on routes without a seed. Any other question gets
// the librarian.
type scriptedServer struct {
	*server
	model *modelServer
	*scripts
}

// scripts holds the parts of a scriptedServer's model. The subtests of a test share it.
type scripts struct {
	mu       sync.Mutex
	seeded   []scripted.Script // by seed, from 1
	question map[string]scripted.Script
}

// scriptedLibrary are the documents of a scriptedServer: two have the same author, and each has one subject.
var scriptedLibrary = append(slices.Clone(dated),
	file{"handbook.md", holidays},
	file{"robots.md", "---\nsource_url: https://example.com/book/chapter3\n---\n# Humanoid robots\n\n" +
		"## Zero-moment point\n\nThe zero-moment point (ZMP) is the point where the forces on a robot balance.\n\n" +
		"## Balance control\n\nA robot keeps its balance by moving its ankles and its hips.\n"},
	file{"damp.md", "# Damp\n\nThe damp in the kitchen wall comes from a blocked gutter. Clearing it costs £80.\n"},
)

// newScriptedServer starts a server with its model.
func newScriptedServer(t *testing.T, env ...string) *scriptedServer {
	t.Helper()
	th := &scriptedServer{scripts: &scripts{question: map[string]scripted.Script{}}}
	th.model = newModel(t, scripted.Config{Record: 10_000, Script: th.reply})
	th.server = serve(t, newDir(t), append(th.model.env(), env...)...)
	th.add(scriptedLibrary...)
	return th
}

// forSubtest returns the server for a subtest.
func (th *scriptedServer) forSubtest(t *testing.T) *scriptedServer {
	part, server := *th, *th.server
	server.t, part.server = t, &server
	return &part
}

// reply implements scripted.Script for the server's model.
func (b *scripts) reply(r scripted.Request) scripted.Reply {
	b.mu.Lock()
	part, known := b.question[r.Question()]
	switch {
	case r.Seed != nil:
		part = b.seeded[*r.Seed-1]
	case !known:
		part = scripted.Librarian
	}
	b.mu.Unlock()
	return part(r)
}

// gives adds a part, and returns the seed for its questions.
func (b *scripts) gives(part scripted.Script) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seeded = append(b.seeded, part)
	return int64(len(b.seeded))
}

// answers adds the part for a question without a seed.
func (b *scripts) answers(question string, part scripted.Script) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.question[question] = part
}

// requestsFor returns the model's requests for a seed, in order.
func (th *scriptedServer) requestsFor(seed int64) []scripted.Request {
	return slices.DeleteFunc(th.model.inner.Requests(), func(r scripted.Request) bool {
		return r.Seed == nil || *r.Seed != seed
	})
}

// jsonFields are the fields of a request's body.
type jsonFields map[string]any

// and merges the fields with others, which take precedence.
func (f jsonFields) and(others jsonFields) jsonFields {
	all := maps.Clone(f)
	maps.Copy(all, others)
	return all
}

// plain is a config without a plan and without a judgement by a model.
var plain = jsonFields{"enable_query_decomposition": false, "enable_self_evaluation": false}

// askedAnswer holds the fields of an answer, of all routes, that these tests compare.
type askedAnswer struct {
	ID, Status, Question, Answer, Response string
	RunID                                  string `json:"run_id"`
	SessionID                              string `json:"session_id"`
	StopReason                             string `json:"stop_reason"`
	SelfEvaluation                         string `json:"self_evaluation"`
	RetrievalMode                          string `json:"retrieval_mode"`
	Confidence                             float64
	Citations                              []chat.Citation
	Notes                                  []string
	Steps                                  []askedStep
	StepsUsed                              int `json:"steps_used"`
	TotalRetrievalCalls                    int `json:"total_retrieval_calls"`
	LLMTokensUsed                          int `json:"llm_tokens_used"`
	Cost                                   *float64
}

// askedStep is a step with its action and observation.
type askedStep struct {
	chat.Step
	StepNumber int `json:"step_number"`
	Action     struct {
		Tool      string
		ToolInput json.RawMessage `json:"tool_input"`
		Thought   string
	}
	Observation struct {
		Result    json.RawMessage
		Success   bool
		Error     *string
		LatencyMS *int64 `json:"latency_ms"`
	}
}

// post sends a request and decodes the response, which must have the given status.
func (th *scriptedServer) post(path string, status int, body jsonFields) (askedAnswer, reply) {
	th.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		th.t.Fatal(err)
	}
	r := th.send("POST", path, string(raw))
	if r.status != status {
		th.t.Fatalf("POST %s %s: %d %.2000s, want %d", path, raw, r.status, r.body, status)
	}
	return loose[askedAnswer](th.t, r.body), r
}

// query sends a question to /agent/query with a part for the model and further fields of the body and its config.
// Plans and judgements are off unless the config enables them.
func (th *scriptedServer) query(part scripted.Script, question string, body, config jsonFields) (askedAnswer, int64) {
	th.t.Helper()
	seed := th.gives(part)
	config = plain.and(jsonFields{"seed": seed}).and(config)
	got, _ := th.post("/agent/query", http.StatusOK, jsonFields{"question": question, "config": config}.and(body))
	return got, seed
}

// trace returns the trace of a run.
func (th *scriptedServer) trace(runID string) (t struct {
	Steps  []chat.Step
	Budget chat.Budget
	Tokens chat.Tokens
	Cost   *float64
	Answer *chat.Answer
}) {
	th.t.Helper()
	r := th.send("GET", "/agent/runs/"+runID, nil)
	if err := json.Unmarshal([]byte(r.body), &t); err != nil || r.status != http.StatusOK {
		th.t.Fatalf("GET /agent/runs/%s: %d %.1000s, %v", runID, r.status, r.body, err)
	}
	return t
}

// stepsNamed returns the steps with a name.
func (a askedAnswer) stepsNamed(name string) (out []askedStep) {
	for _, s := range a.Steps {
		if s.Step.Step == name {
			out = append(out, s)
		}
	}
	return out
}

// names returns the names of the steps, in order.
func (a askedAnswer) names() (out []string) {
	for _, s := range a.Steps {
		out = append(out, s.Step.Step)
	}
	return out
}

// sidelong returns a script for a model that is also asked for a plan and judgements: its replies to them, in
// order, and its part in the turns. Without a plan it replies that the question has one part.
func sidelong(plan string, judgements []string, turns scripted.Script) scripted.Script {
	var judged atomic.Int32
	return func(r scripted.Request) scripted.Reply {
		switch last := r.Messages[len(r.Messages)-1].Text; {
		case len(r.Tools) > 0:
			return turns(r)
		case strings.Contains(last, "The passages that were found:") && len(judgements) == 0:
			return saying(`{"evaluation":"They hold it.","confidence":0.9}`)
		case strings.Contains(last, "Answer:"), strings.Contains(last, "The passages that were found:"):
			n := int(judged.Add(1)) - 1
			return saying(judgements[min(n, len(judgements)-1)])
		case plan != "":
			return saying(plan)
		default:
			return saying(`[{"query":"` + last + `","reasoning":"one part","depends_on":[]}]`)
		}
	}
}

// inTurn returns a script of successive replies. After the last one, or without tools, it repeats the last.
func inTurn(replies ...scripted.Reply) scripted.Script {
	return func(r scripted.Request) scripted.Reply {
		if r.NoTools {
			return replies[len(replies)-1]
		}
		return replies[min(r.Turn(), len(replies)-1)]
	}
}

// searchingFor returns a script that searches once, unless the results are in the context already, and answers with
// a sentence and its footnote.
func searchingFor(tool, query, says string) scripted.Script {
	return func(r scripted.Request) scripted.Reply {
		if n := found(r, says); n != "" || r.NoTools || r.Turn() > 0 {
			return saying(says + " " + n + ".")
		}
		return calling(tool, `{"query":"`+query+`"}`)
	}
}

// together returns a turn with several calls.
func together(replies ...scripted.Reply) (all scripted.Reply) {
	for _, r := range replies {
		all.Calls = append(all.Calls, r.Calls...)
	}
	return all
}

// found returns the number of the passage in tool results that contains certain words, for a citation.
func found(r scripted.Request, words string) string {
	number := ""
	var look func(v any)
	look = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, inner := range v {
				look(inner)
			}
		case map[string]any:
			for _, inner := range v {
				if said, _ := inner.(string); v["n"] != nil && strings.Contains(said, words) {
					number = fmt.Sprintf("[%v]", v["n"])
				}
				look(inner)
			}
		}
	}
	for _, m := range r.Messages {
		var shown any
		if at := strings.IndexByte(m.Text, '{'); m.Role == llm.RoleTool && at >= 0 &&
			json.NewDecoder(strings.NewReader(m.Text[at:])).Decode(&shown) == nil {
			look(shown)
		}
	}
	return number
}

// website starts a web page and a SearXNG server that finds it. A search for "hang" times out.
func website(t *testing.T, page string) (env []string) {
	t.Helper()
	var site *httptest.Server
	site = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/search" {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, "<title>A page</title><p>%s</p>", page)
			return
		}
		if r.URL.Query().Get("q") == "hang" {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"results": []map[string]string{
			{"url": site.URL + "/page.html", "title": "A page", "content": page},
		}})
	}))
	t.Cleanup(site.Close)
	return []string{
		"FOOTNOTE_WEB_PROVIDER=searxng", "FOOTNOTE_WEB_URL=" + site.URL,
		"FOOTNOTE_WEB_ALLOW=" + strings.TrimPrefix(site.URL, "http://"),
	}
}

// metric returns the value of a line of /metrics, or 0.
func (s *server) metric(line string) float64 {
	s.t.Helper()
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(line) + ` (\S+)$`).FindStringSubmatch(s.send("GET", "/metrics",
		nil).body)
	if m == nil {
		return 0
	}
	value, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return value
}

// spending returns a reply that uses some tokens.
func spending(r scripted.Reply, in, out int) scripted.Reply {
	r.Usage = &llm.Usage{In: in, Out: out}
	return r
}

// costs returns the cost of tokens in micro-units of the currency, by the test's prices.
func costs(model string, in, out int) float64 {
	if model == "cheap" {
		return float64(in*1 + out*2)
	}
	return float64(in*100 + out*200)
}

// near reports whether two costs are equal except for rounding; the second is in millionths.
func near(got *float64, want float64) bool {
	return got != nil && *got*1e6 > want-0.001 && *got*1e6 < want+0.001
}

// S2.9 · costs: a cheaper model selects tools, its selections are cached, and time, tokens and cost are reported
// for each tool and each run.
func TestRunCostIsReported(t *testing.T) {
	t.Parallel()
	th := newScriptedServer(t, "FOOTNOTE_MODELS_SELECT=cheap", "FOOTNOTE_PRICES=scripted=100/200;cheap=1/2")
	const good = "The roof of Highlands is in good condition"

	t.Run("cheaper model plans, selects and judges; run model answers", func(t *testing.T) {
		th := th.forSubtest(t)
		plan := `[{"query":"roof of Highlands","reasoning":"r","depends_on":[]},` +
			`{"query":"value in 2024","reasoning":"r","depends_on":[]}]`
		part := sidelong(plan, []string{`{"evaluation":"Good.","confidence":0.9}`},
			func(r scripted.Request) scripted.Reply {
				if found(r, "notice period") == "" && r.Turn() < 2 && !r.NoTools {
					return spending(together(calling("hybrid_search", `{"query":"notice period"}`),
						calling("metadata_search", `{"filters":{"author":"Ann Lee"}}`)), 300, 30)
				}
				return spending(saying(good+" "+found(r, good)+"."), 500, 50)
			})
		seed := th.gives(func(r scripted.Request) scripted.Reply {
			if len(r.Tools) == 0 {
				return spending(part(r), 200, 20)
			}
			return part(r)
		})
		tools := []string{"hybrid_search", "metadata_search"}
		before := map[string]float64{}
		for _, tool := range tools {
			for _, line := range []string{
				`footnote_tool_tokens_total{direction="in",tool="` + tool + `"}`,
				`footnote_tool_tokens_total{direction="out",tool="` + tool + `"}`,
				`footnote_tool_cost_total{tool="` + tool + `"}`,
			} {
				before[line] = th.metric(line)
			}
		}
		got, _ := th.post("/agent/query", http.StatusOK, jsonFields{
			"question": "Compare the roof of Highlands with its value", "toolset": "strategy",
			"config": jsonFields{"seed": seed, "retrieval_top_k": 1},
		})
		var models []string
		in, out, cost := 0, 0, 0.0
		for _, r := range th.requestsFor(seed) {
			reply := spending(part(r), 200, 20)
			if len(r.Tools) > 0 {
				reply = part(r)
			}
			models = append(models, fmt.Sprintf("%s %d", r.Model, reply.Usage.In))
			in, out = in+reply.Usage.In, out+reply.Usage.Out
			cost += costs(r.Model, reply.Usage.In, reply.Usage.Out)
		}
		if want := "cheap 200|cheap 300|cheap 500|scripted 500|cheap 200"; strings.Join(models, "|") != want {
			t.Errorf("the models were %q, want %q", models, want)
		}
		if got.LLMTokensUsed != in+out || !near(got.Cost, cost) {
			t.Errorf("the run took %d tokens for %v, want %d for %v", got.LLMTokensUsed, got.Cost, in+out, cost)
		}
		trace := th.trace(got.ID)
		if trace.Tokens != (chat.Tokens{In: in, Out: out}) || !near(trace.Cost, cost) {
			t.Errorf("trace has %+v for %v", trace.Tokens, trace.Cost)
		}
		spent := map[string]string{}
		for _, step := range trace.Steps {
			if step.Tokens != nil {
				spent[step.Step] += fmt.Sprintf("%d/%d", step.Tokens.In, step.Tokens.Out)
				if !near(step.Cost, costs("cheap", step.Tokens.In, step.Tokens.Out)) {
					t.Errorf("step %s of %+v costs %v", step.Step, step.Tokens, step.Cost)
				}
			}
		}
		if want := "map[parallel:300/30 plan:200/20 reflect:200/20]"; fmt.Sprint(spent) != want {
			t.Errorf("the steps took %v, want %s", spent, want)
		}
		// The tokens of the turn that made both calls are split between them.
		for i, tool := range tools {
			for name, want := range map[string]float64{
				`footnote_tool_tokens_total{direction="in",tool="` + tool + `"}`: 150, `footnote_tool_tokens_total{` +
					`direction="out",tool="` + tool + `"}`: 15,
				`footnote_tool_cost_total{tool="` + tool + `"}`: costs("cheap", 150, 15) / 1e6,
			} {
				if more := th.metric(name) - before[name]; more < want-1e-9 || more > want+1e-9 {
					t.Errorf("tool %d: %s grew by %v, want %v", i, name, more, want)
				}
			}
		}
		page := th.send("GET", "/c/"+got.SessionID, nil, header{"Accept", "text/html"}).body
		for _, want := range []string{"rounds · ", " of 300 s · 1.9k tokens · $", " · scripted"} {
			if !strings.Contains(page, want) {
				t.Errorf("summary of the steps lacks %q", want)
			}
		}
	})

	t.Run("a cached selection needs no turn of the model", func(t *testing.T) {
		th := th.forSubtest(t)
		choosing := func(question string) (by string, asked int) {
			got, seed := th.query(searchingFor("hybrid_search", "roof Highlands", good), question,
				jsonFields{"toolset": "strategy"}, nil)
			if !strings.HasPrefix(got.Answer, good) {
				t.Errorf("%s: %q", question, got.Answer)
			}
			for _, s := range got.stepsNamed("choose") {
				by, _ = s.Details["by"].(string)
			}
			for _, r := range th.requestsFor(seed) {
				if !r.NoTools {
					asked++
				}
			}
			return by, asked
		}
		if by, asked := choosing("Why and how is the roof of Highlands good?"); by != "model" || asked == 0 {
			t.Errorf("first selection by %q after %d turns with tools, want the model", by, asked)
		}
		for _, similar := range []string{
			"Why and how is the roof of Highlands good?", "How is the roof of Highlands good, and why?",
		} {
			if by, asked := choosing(similar); by != "cache" || asked != 0 {
				t.Errorf("%s: chosen by %q after %d turns with tools, want the cache and none", similar, by, asked)
			}
		}
		if by, _ := choosing("Why and how is the roof of Highlands not good?"); by == "cache" {
			t.Error("opposite question: got the cached selection, want another")
		}
	})

	t.Run("agent search is counted", func(t *testing.T) {
		th := th.forSubtest(t)
		const query = "Why and since when is the roof so good?"
		part := sidelong("", nil, inTurn(calling("hybrid_search", `{"query":"roof of Highlands"}`), saying("DONE")))
		th.answers(query, func(r scripted.Request) scripted.Reply { return spending(part(r), 1000, 10) })
		const inward, cost = `footnote_model_tokens_total{direction="in"}`, `footnote_model_cost_total`
		before, paid := th.metric(inward), th.metric(cost)
		r := th.send("POST", "/agent/retrieve", `{"query":"`+query+`"}`)
		got := loose[struct {
			Trace struct {
				Tokens  chat.Tokens
				Cost    *float64
				Results []struct {
					ExecutionTime *float64 `json:"execution_time"`
				} `json:"tool_results"`
			} `json:"agent_trace"`
		}](t, r.body)
		// A plan, two turns, a judgement, a check of one passage and its control question.
		want := costs("cheap", 3300, 43)
		if got.Trace.Tokens != (chat.Tokens{In: 3300, Out: 43}) || !near(got.Trace.Cost, want) ||
			len(got.Trace.Results) != 1 || got.Trace.Results[0].ExecutionTime == nil {
			t.Errorf("trace = %+v: %s", got.Trace, r.body)
		}
		if more := th.metric(inward) - before; more != 3300 {
			t.Errorf("the metrics count %v tokens, want 3300", more)
		}
		if more := th.metric(cost) - paid; !near(&more, want) {
			t.Errorf("the metrics count a cost of %v, want %v millionths", more, want)
		}
	})
}

// checkedSearch holds the check's fields of both search responses.
type checkedSearch struct {
	Results []checkedPassage `json:"results"`
	Chunks  []checkedPassage `json:"chunks"`
	Notes   []string         `json:"notes"`
	Check   *chat.Step       `json:"check"`
	Trace   struct {
		Tokens chat.Tokens `json:"tokens"`
		Steps  []chat.Step `json:"steps"`
	} `json:"agent_trace"`
}

type checkedPassage struct {
	Text        string   `json:"text"`
	Rank        int      `json:"rank"`
	Answers     *bool    `json:"answers"`
	Probability *float64 `json:"probability"`
	Trace       struct {
		ToolCalls []struct {
			Tool string `json:"tool"`
		} `json:"tool_calls"`
	} `json:"agent_trace"`
}

// is reports whether the passage has this verdict with a probability, and this rank.
func (p checkedPassage) is(answers bool, rank int) bool {
	return p.Answers != nil && *p.Answers == answers && p.Probability != nil && p.Rank == rank
}

// closedOffice contains more words of a question about paid holiday than the passage that answers it.
const closedOffice = "# Paid holiday\n\nOf the days of paid holiday a year the office says nothing. Paid holiday, " +
	"holiday and paid days are the words of this text."

func TestSearchRanksAnswersFirst(t *testing.T) {
	t.Parallel()
	m := newModel(t, scripted.Config{
		Script: sidelong("", nil, inTurn(
			calling("hybrid_search", `{"query":"days of paid holiday a year"}`), saying("DONE"),
		)),
		Judge: func(prompt string) float64 {
			if text, _, _ := strings.Cut(prompt, "\n\nQuestion: "); strings.Contains(text, "28 days") {
				return 4
			}
			return -4
		},
	})
	s := serve(t, newDir(t), append(m.env(), "FOOTNOTE_AGENT_CHECK_PASSAGES=quotes")...)
	s.add(file{"handbook.md", holidays}, file{"closed.md", closedOffice})
	const query = `"query":"How many days of paid holiday a year?","mode":"lexical"`
	plain := loose[checkedSearch](t, s.send("POST", "/search", `{`+query+`}`).body)
	if len(plain.Results) < 2 || strings.Contains(plain.Results[0].Text, "28 days") ||
		plain.Results[0].Answers != nil || plain.Check != nil {
		t.Fatalf("without a check: %+v; want the other passage first, and no verdicts", plain)
	}
	for _, tt := range []struct{ path, body string }{
		{"/search", `{` + query + `,"check":true}`},
		{"/agent/retrieve", `{` + query + `}`},
		{"/agent/retrieve", `{"query":"How many days of paid holiday a year?","check":true}`},
	} {
		r := s.send("POST", tt.path, tt.body)
		got := loose[checkedSearch](t, r.body)
		found, step := append(got.Results, got.Chunks...), got.Check
		if n := len(got.Trace.Steps); n > 0 {
			step = &got.Trace.Steps[n-1]
		}
		if r.status != http.StatusOK || len(found) < 2 || !found[0].is(true, 1) || !found[1].is(false, 2) ||
			!strings.Contains(found[0].Text, "28 days") || *found[0].Probability < 0.9 {
			t.Errorf("%s %s: %d %s; want the passage that answers first", tt.path, tt.body, r.status, r.body)
			continue
		}
		for _, chunk := range got.Chunks {
			for _, call := range chunk.Trace.ToolCalls {
				if call.Tool == "check_passages" {
					t.Errorf("%s %s: check is credited with %q", tt.path, tt.body, chunk.Text)
				}
			}
		}
		if step == nil || step.ToolName != "check_passages" || step.Status != chat.StatusComplete ||
			!strings.HasPrefix(step.Summary, "1 answers") {
			t.Errorf("%s %s: step %+v; want a check with 1 answer", tt.path, tt.body, step)
		}
	}
	first := loose[checkedSearch](t, s.send("POST", "/search", `{`+query+`,"check":true,"top_k":1}`).body)
	if len(first.Results) != 1 || !first.Results[0].is(true, 1) {
		t.Errorf("of one result: %+v; want the one that answers", first)
	}
	long := loose[checkedSearch](t, s.send("POST", "/search", `{"query":"`+
		strings.Repeat("How many days of paid holiday a year? ", 30)+`","check":true}`).body)
	if len(long.Results) == 0 || long.Results[0].Answers == nil {
		t.Errorf("of a long query: %+v; want verdicts", long)
	}
	off := loose[checkedSearch](t, s.send("POST", "/agent/retrieve", `{`+query+`,"check":false}`).body)
	if len(off.Chunks) < 2 || off.Chunks[0].Answers != nil {
		t.Errorf("with the check switched off: %+v; want no verdicts", off)
	}
}

func TestUncheckedSearchIsReported(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t), "FOOTNOTE_AGENT_CHECK_PASSAGES=quotes")
	s.add(file{"handbook.md", holidays})
	got := loose[checkedSearch](t, s.send("POST", "/search", `{"query":"paid holiday","check":true}`).body)
	if len(got.Results) == 0 || got.Results[0].Answers != nil || len(got.Notes) != 1 ||
		got.Notes[0] != "The passages were not checked: no language model is connected." {
		t.Errorf("%+v; want results without verdicts, and a note", got)
	}
	unasked := loose[checkedSearch](t, s.send("POST", "/agent/retrieve", `{"query":"paid holiday"}`).body)
	if len(unasked.Chunks) == 0 || len(unasked.Notes) != 0 {
		t.Errorf("got %+v; want results without a note on checks", unasked)
	}
}
