package main_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// The tests in the files asked_*_test.go go through what was asked for when Footnote was begun, row by row, at a
// running server: S0 is the controller of the agent, S1 its data model, S2 the agentic strategy, S3 the model's choice
// of tools, and S4 the API. Rows that another test of this package goes through are left to that one.

// theatre is a server whose model plays, for each question, the part that the test wrote for it: the seed of the
// question, which models are told, says which, or the question itself on routes that take no seed. Any other question
// gets the librarian.
type theatre struct {
	*server
	model *modelServer
	*playbill
}

// playbill are the parts of a theatre's model. Several parts of a test share it.
type playbill struct {
	mu       sync.Mutex
	seeded   []scripted.Script // by seed, from 1
	question map[string]scripted.Script
}

// theatreLibrary are the documents of a theatre: two of them have the same author, each has one subject.
var theatreLibrary = append(slices.Clone(dated),
	file{"handbook.md", holidays},
	file{"robots.md", "---\nsource_url: https://example.com/book/chapter3\n---\n# Humanoid robots\n\n" +
		"## Zero-moment point\n\nThe zero-moment point (ZMP) is the point where the forces on a robot balance.\n\n" +
		"## Balance control\n\nA robot keeps its balance by moving its ankles and its hips.\n"},
	file{"damp.md", "# Damp\n\nThe damp in the kitchen wall comes from a blocked gutter. Clearing it costs £80.\n"},
)

// openTheatre starts a server with its model.
func openTheatre(t *testing.T, env ...string) *theatre {
	t.Helper()
	th := &theatre{playbill: &playbill{question: map[string]scripted.Script{}}}
	th.model = newModel(t, scripted.Config{Record: 10_000, Script: th.play})
	th.server = serve(t, newDir(t), append(th.model.env(), env...)...)
	th.add(theatreLibrary...)
	return th
}

// in is the theatre for a part of its test.
func (th *theatre) in(t *testing.T) *theatre {
	part, server := *th, *th.server
	server.t, part.server = t, &server
	return &part
}

// play is the script of the theatre's model.
func (b *playbill) play(r scripted.Request) scripted.Reply {
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

// gives takes a part, and returns the seed for its questions.
func (b *playbill) gives(part scripted.Script) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seeded = append(b.seeded, part)
	return int64(len(b.seeded))
}

// answers takes the part for a question without a seed.
func (b *playbill) answers(question string, part scripted.Script) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.question[question] = part
}

// told are the requests that the model got for a seed, in order.
func (th *theatre) told(seed int64) []scripted.Request {
	return slices.DeleteFunc(th.model.inner.Requests(), func(r scripted.Request) bool {
		return r.Seed == nil || *r.Seed != seed
	})
}

// jsonFields are those of a request's body.
type jsonFields map[string]any

// and are the fields with others, which come first.
func (f jsonFields) and(others jsonFields) jsonFields {
	all := maps.Clone(f)
	maps.Copy(all, others)
	return all
}

// plain is the config of a question without a plan and a judgement by a model.
var plain = jsonFields{"enable_query_decomposition": false, "enable_self_evaluation": false}

// askedAnswer is an answer of the agent, as far as these tests look at it: the fields of all its routes.
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

// post sends fields and reads the answer, which must have a status.
func (th *theatre) post(path string, status int, body jsonFields) (askedAnswer, reply) {
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

// query asks by /agent/query, with a part for the model and what else the body and its config hold. Neither a plan nor
// a judgement is made unless the config says so.
func (th *theatre) query(part scripted.Script, question string, body, config jsonFields) (askedAnswer, int64) {
	th.t.Helper()
	seed := th.gives(part)
	config = plain.and(jsonFields{"seed": seed}).and(config)
	got, _ := th.post("/agent/query", http.StatusOK, jsonFields{"question": question, "config": config}.and(body))
	return got, seed
}

// trace is the trace of a run.
func (th *theatre) trace(runID string) (t struct {
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

// stepsNamed are the steps of a name.
func (a askedAnswer) stepsNamed(name string) (out []askedStep) {
	for _, s := range a.Steps {
		if s.Step.Step == name {
			out = append(out, s)
		}
	}
	return out
}

// names are the steps' names, in order.
func (a askedAnswer) names() (out []string) {
	for _, s := range a.Steps {
		out = append(out, s.Step.Step)
	}
	return out
}

// sidelong is a model that is asked for a plan and for judgements beside its turns: what it says to them, one after
// another, and its part in the turns. Without a plan it says that the question is one part.
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

// inTurn is a model that says one reply after another. After the last one, or when it may call no tools, it says the
// last.
func inTurn(replies ...scripted.Reply) scripted.Script {
	return func(r scripted.Request) scripted.Reply {
		if r.NoTools {
			return replies[len(replies)-1]
		}
		return replies[min(r.Turn(), len(replies)-1)]
	}
}

// searchingFor is a model that searches once, unless that was done for it, and says a sentence with its footnote.
func searchingFor(tool, query, says string) scripted.Script {
	return func(r scripted.Request) scripted.Reply {
		if n := found(r, says); n != "" || r.NoTools || r.Turn() > 0 {
			return saying(says + " " + n + ".")
		}
		return calling(tool, `{"query":"`+query+`"}`)
	}
}

// together is a turn with several calls.
func together(replies ...scripted.Reply) (all scripted.Reply) {
	for _, r := range replies {
		all.Calls = append(all.Calls, r.Calls...)
	}
	return all
}

// found is the number of the passage with some words in what tools showed, which a model cites it by.
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

// website is a page of the web and a SearXNG server that finds it. A search for "hang" is never answered.
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
