package main_test

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// queried holds the fields of a POST /agent/query response that these tests compare.
type queried struct {
	ID, Status, Answer, StopReason string
	SelfEvaluation                 string `json:"self_evaluation"`
	Confidence                     float64
	Citations                      []struct {
		Number         int
		ContentSnippet string `json:"content_snippet"`
	}
	Steps []struct {
		Step        string
		StepNumber  int    `json:"step_number"`
		ToolName    string `json:"tool_name"`
		Action      struct{ Tool, Thought string }
		Observation struct{ Success bool }
	}
	TotalRetrievalCalls int `json:"total_retrieval_calls"`
}

const annasHours = "Anna works 80 percent of full time since March.\n\nHer desk stands on the second floor."

// without disables both settings that cost a further call of the model.
const without = `"config":{"enable_query_decomposition":false,"enable_self_evaluation":false}`

// The context of a query is added to the search results: the run still searches, and sentences based on the context
// alone need no footnote.
func TestQueryContextAddsToDocuments(t *testing.T) {
	t.Parallel()
	said := map[string]string{
		"both": "Every employee is entitled to 28 days of paid holiday a year [1]. According to the given text, " +
			"Anna works 80 percent of full time.",
		"context":  "Anna works 80 percent of full time.",
		"invented": "The canteen serves 400 lunches on Fridays.",
	}
	m := newModel(t, scripted.Config{Record: 100, Script: func(r scripted.Request) scripted.Reply {
		kind, _, _ := strings.Cut(r.Question(), ":")
		if kind != "context" && r.Turn() == 0 && !r.NoTools {
			return calling("search_documents", `{"query":"paid holiday"}`)
		}
		return saying(said[kind])
	}})
	s := serve(t, newDir(t), m.env()...)
	s.add(file{"handbook.md", holidays})
	ask := func(kind string) (reply, queried) {
		body, err := json.Marshal(map[string]any{
			"question": kind + ": how many days of paid holiday does Anna have?", "context": annasHours,
			"toolset": "cursor",
			"config":  map[string]bool{"enable_query_decomposition": false, "enable_self_evaluation": false},
		})
		if err != nil {
			t.Fatal(err)
		}
		r := s.send("POST", "/agent/query", string(body))
		return r, loose[queried](t, r.body)
	}
	r, got := ask("both")
	if got.Status != "success" || got.Answer != said["both"] || len(got.Citations) != 1 ||
		got.TotalRetrievalCalls != 1 || got.Confidence < 0.9 {
		t.Errorf("answer from context and documents: got %d %s", r.status, r.body)
	}
	trace := loose[struct {
		Mode   string
		Answer struct{ Unsupported []string }
	}](t, s.send("GET", "/agent/runs/"+got.ID, nil).body)
	if trace.Mode != "full_book" || len(trace.Answer.Unsupported) != 0 {
		t.Errorf("its run: mode %s, unsupported %q; want full_book and none", trace.Mode, trace.Answer.Unsupported)
	}
	if r, got = ask("context"); got.Status != "success" || got.Answer != said["context"] || len(got.Citations) != 0 ||
		got.Confidence != 0.8 {
		t.Errorf("answer from the context alone: got %d %s", r.status, r.body)
	}
	if r, got = ask("invented"); strings.Contains(got.Answer, said["invented"]) {
		t.Errorf("unsupported answer is not withheld: %d %s", r.status, r.body)
	}
	for _, asked := range m.inner.Requests() {
		if len(asked.Tools) == 0 || !strings.Contains(asked.Messages[0].Text, "Her desk stands on the second floor.") ||
			!strings.Contains(asked.Messages[0].Text, "Search before you answer") {
			t.Errorf("a request without tools, the rules or the context: %d tools, %s; want some tools, %q in it, "+
				"%q in it",
				len(asked.Tools), asked.Messages[0].Text, "Her desk stands on the second floor.",
				"Search before you answer")
		}
	}
	if r := s.send("POST", "/agent/query", `{"question":"a","context":" "}`); r.status != 400 ||
		!strings.Contains(r.body, "context is empty") {
		t.Errorf("an empty context: %d %s; want 400 and %q in it", r.status, r.body, "context is empty")
	}
}

// A citation has the source URL of its document, like in POST /agent/chat.
func TestQueryCitationHasDocumentURL(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	const address = "https://example.com/book/chapter3"
	s.add(file{"robots.md", "---\nsource_url: " + address + "\n---\n# Robots\n\nThe zero-moment point is the point " +
		"where the forces on a robot balance.\n"}, file{"handbook.md", holidays})
	for question, want := range map[string]string{
		"What is the zero-moment point?": address, "How many days of paid holiday are there?": "",
	} {
		r := s.send("POST", "/agent/query", `{"question":"`+question+`"}`)
		got := loose[struct {
			Citations []struct {
				SourceURL *string `json:"source_url"`
			}
		}](t, r.body)
		if len(got.Citations) == 0 {
			t.Fatalf("%s: got no citation: %s", question, r.body)
		}
		if said := got.Citations[0].SourceURL; (said != nil) != (want != "") || said != nil && *said != want {
			t.Errorf("%s: %s; want the address %q", question, r.body, want)
		}
	}
}

func TestQueryContextIsQuotedOffline(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(file{"handbook.md", holidays})
	for question, want := range map[string]struct {
		answer    string
		citations int
	}{
		"How many percent does Anna work?": {
			"Found in the given text:\n\n> Anna works 80 percent of full time since March.", 0,
		},
		"How many days of paid holiday is an employee entitled to?": {
			"Found in your documents:\n\n> Every employee is entitled to 28 days of paid holiday a year. [1]", 1,
		},
	} {
		r := s.send("POST", "/agent/query", `{"question":"`+question+`","context":`+strconv.Quote(annasHours)+`}`)
		got := loose[queried](t, r.body)
		if got.Answer != want.answer || len(got.Citations) != want.citations || got.TotalRetrievalCalls == 0 {
			t.Errorf("%s: %d %s", question, r.status, r.body)
		}
	}
}

// The stream of a query has each step with its action and observation, and ends with the content of the JSON
// response.
func TestQueryStreamEndsWithWholeResponse(t *testing.T) {
	t.Parallel()
	m := newModel(t, scripted.Config{
		Script: searching("paid holiday", "Every employee is entitled to 28 days of paid holiday a year [1]."),
	})
	s := serve(t, newDir(t), m.env()...)
	s.add(file{"handbook.md", holidays})
	st, err := s.open(
		"POST", "/agent/query",
		`{"question":"How many days of paid holiday are there?","toolset":"cursor",`+without+`}`,
	)
	if err != nil {
		t.Fatal(err)
	}
	defer st.close()
	events, err := st.rest()
	if !errors.Is(err, io.EOF) || len(events) < 3 {
		t.Fatalf("%d events, then %v; want %v and at least 3 events", len(events), err, io.EOF)
	}
	last := events[len(events)-1]
	if before := events[len(events)-2]; before.name != "run_done" || last.name != "response" || last.id != 0 {
		t.Errorf("it ends with %s %d and %s %d, want run_done and response without a number of its own", before.name,
			before.id, last.name, last.id)
	}
	got := loose[queried](t, last.data)
	if got.Status != "success" || len(got.Citations) != 1 ||
		got.Answer != "Every employee is entitled to 28 days of paid holiday a year [1]." {
		t.Errorf("response = %s", last.data)
	}
	numbers := map[int]bool{}
	for _, ev := range events {
		if ev.name != "reasoning_step" {
			continue
		}
		if !strings.HasPrefix(ev.data, `{"type":"reasoning_step","run_id":"`+got.ID+`","seq":`) {
			t.Errorf("a step begins %.90s, want %q at its beginning",
				ev.data, `{"type":"reasoning_step","run_id":"`+got.ID+`","seq":`)
		}
		step := loose[struct {
			Step, Status string
			StepNumber   int `json:"step_number"`
			Action       *struct {
				Tool      string
				ToolInput map[string]any `json:"tool_input"`
			}
			Observation *struct {
				Success *bool
				Result  any
			}
		}](t, ev.data)
		if step.Action == nil || step.Observation == nil || step.StepNumber < 1 || step.Action.Tool != step.Step ||
			(step.Observation.Success == nil) != (step.Status == "running") ||
			step.Observation.Success != nil && *step.Observation.Success != (step.Status == "complete") {
			t.Fatalf("step lacks action or observation: %s", ev.data)
		}
		if step.Step == "search_documents" &&
			(step.Action.ToolInput["query"] != "paid holiday" ||
				(step.Status == "complete") != (step.Observation.Result != nil)) {
			t.Errorf("search = %s", ev.data)
		}
		numbers[step.StepNumber] = true
	}
	var want []int
	for _, step := range got.Steps {
		want = append(want, step.StepNumber)
	}
	if have := slices.Sorted(maps.Keys(numbers)); !slices.Equal(have, want) {
		t.Errorf("steps of the stream = %v, want %v", have, want)
	}
	whole := s.send("GET", "/agent/runs/"+got.ID+"/events", nil, header{"Accept", "text/event-stream"}).body
	if strings.Contains(whole, "event: response") {
		t.Error("log of the run has the response")
	}
}

// The defaults of a query's config are those of the source documents: a model plans and judges, unless the config
// disables it.
func TestQueryPlansAndJudgesByDefault(t *testing.T) {
	t.Parallel()
	m := newModel(t, scripted.Config{Record: 100, Script: func(r scripted.Request) scripted.Reply {
		switch {
		case len(r.Tools) == 0 && r.Turn() == 0 && strings.Contains(r.Messages[len(r.Messages)-1].Text, "Answer:"):
			return saying(`{"evaluation":"It answers the question.","confidence":0.9}`)
		case len(r.Tools) == 0:
			return saying(`{"sub_queries":[{"query":"paid holiday","reasoning":"it is asked for","depends_on":[]}]}`)
		}
		return searching("paid holiday", "Every employee is entitled to 28 days of paid holiday a year [1].")(r)
	}})
	dir := newDir(t)
	s := serve(t, dir, append(m.env(), "FOOTNOTE_AGENT_MODELS=scripted,offline")...)
	s.add(file{"handbook.md", holidays})
	for _, row := range []struct {
		name, path, field, rest string
		beside                  int // model calls without tools: the plan and the judgement
	}{
		{"a query", "/agent/query", "question", "", 2},
		{"a query with null", "/agent/query", "question",
			`,"config":{"enable_query_decomposition":null,"enable_self_evaluation":null}`, 2},
		{"a query without a plan", "/agent/query", "question", `,"config":{"enable_query_decomposition":false}`, 1},
		{"a query without a judgement", "/agent/query", "question", `,"config":{"enable_self_evaluation":false}`, 1},
		{"a query without either", "/agent/query", "question", "," + without, 0},
		{"a chat", "/agent/chat", "message", "", 0},
		{"a chat with react", "/agent/chat", "message", `,"toolset":"react"`, 2},
		{"a chat with react without either", "/agent/chat", "message", `,"toolset":"react",` + without, 0},
		{"a structured chat with react", "/agent/chat/structured", "message", `,"toolset":"react"`, 2},
		{"a query of the model made of rules", "/agent/query", "question", `,"config":{"model":"offline"}`, 0},
	} {
		before := len(m.inner.Requests())
		r := s.send("POST", row.path, `{"`+row.field+`":"How many days of paid holiday are there?"`+row.rest+`}`)
		if r.status != 200 {
			t.Errorf("%s: %d %s, want 200", row.name, r.status, r.body)
		}
		beside := 0
		for _, asked := range m.inner.Requests()[before:] {
			if len(asked.Tools) == 0 {
				beside++
			}
		}
		if beside != row.beside {
			t.Errorf("%s: %d calls of the model beside its turns, want %d", row.name, beside, row.beside)
		}
	}
	got := loose[queried](
		t, s.send("POST", "/agent/query", `{"question":"How many days of paid holiday are there?"}`).body,
	)
	var phases []string
	for _, step := range got.Steps {
		if step.Step == "plan" || step.Step == "reflect" {
			phases = append(phases, step.Step)
		}
	}
	if !slices.Equal(phases, []string{"plan", "reflect"}) ||
		!strings.HasPrefix(got.SelfEvaluation, "It answers the question.") {
		t.Errorf("the steps beside its turns are %q, the judgement %q, want %q at its beginning",
			phases, got.SelfEvaluation, "It answers the question.")
	}
}

// judgedAnswer holds the fields of every route about an answer's reliability.
type judgedAnswer struct {
	Status         string
	Confidence     *float64
	SelfEvaluation string `json:"self_evaluation"`
	Unsupported    []string
	Notes          []string
}

// judgedBy sends a question to every route that returns the complete answer.
func (s *server) judgedBy(question string) map[string]judgedAnswer {
	s.t.Helper()
	quoted, err := json.Marshal(question)
	if err != nil {
		s.t.Fatal(err)
	}
	q, out := string(quoted), map[string]judgedAnswer{}
	for path, body := range map[string]string{
		"/agent/chat": `{"message":` + q + `}`, "/agent/chat/structured": `{"message":` + q + `}`,
		"/agent/query": `{"question":` + q + `,` + without + `}`,
	} {
		r := s.send("POST", path, body)
		out[path] = loose[judgedAnswer](s.t, r.body)
	}
	v1 := loose[struct {
		Footnote judgedAnswer
	}](
		s.t, s.send("POST", "/v1/chat/completions",
			`{"model":"footnote","messages":[{"role":"user","content":`+q+`}]}`).body,
	)
	v1.Footnote.Status = "success"
	out["/v1"] = v1.Footnote
	// In a stream, the last message with a judgement counts.
	last := func(stream, before string) judgedAnswer {
		at := strings.LastIndex(stream, before)
		if at < 0 {
			s.t.Fatalf("%q is not in %s", before, stream)
		}
		var judged judgedAnswer
		if err := json.NewDecoder(strings.NewReader(stream[at+len(before):])).Decode(&judged); err != nil {
			s.t.Fatal(err)
		}
		judged.Status = "success"
		return judged
	}
	out["/ui/chat"] = last(s.send("POST", "/ui/chat", `{"id":"`+chat.NewID()+
		`","messages":[{"role":"user","parts":[{"type":"text","text":`+q+`}]}]}`).body, `"footnote":`)
	out["/ag-ui"] = last(s.send("POST", "/ag-ui", `{"threadId":"`+chat.NewID()+
		`","runId":"r","messages":[{"role":"user","content":`+q+`}]}`).body, `"judged":`)
	called := s.send(
		"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"question":`+
			q+`}}}`,
	)
	out["MCP"] = loose[struct {
		Result struct{ StructuredContent judgedAnswer }
	}](s.t, called.body).Result.StructuredContent
	return out
}

// The reasons against an answer's reliability are in the same fields on every route.
func TestEveryRouteReportsDoubts(t *testing.T) {
	t.Parallel()
	m := newModel(t, scripted.Config{Script: func(r scripted.Request) scripted.Reply {
		calculating := func(expression, says string) scripted.Reply {
			if r.Turn() == 0 && !r.NoTools {
				return calling("calculate", `{"expression":"`+expression+`"}`)
			}
			return saying(says)
		}
		first := slices.IndexFunc(r.Messages, func(m llm.Message) bool { return m.Role == llm.RoleUser })
		switch r.Messages[first].Text {
		case "What is 2*3?":
			return calculating("2*3", "There are 6 dragons in the cellar.")
		case "What is 2 * 3?":
			return saying("2*3 = 7")
		case "What is 23*17?":
			return calculating("23*17", "23*17 = 391")
		case "How many holidays are there?":
			return searching("paid holiday", "Every employee is entitled to 28 days of paid holiday a year [99].")(r)
		case "How many days are there?":
			return searching(
				"paid holiday",
				"Every employee is entitled to 28 days of paid holiday a year [1]. Pigs fly over the moon [99].",
			)(r)
		}
		return saying("no such question")
	}})
	s := serve(t, newDir(t), m.env()...)
	s.add(file{"handbook.md", holidays})
	for _, row := range []struct {
		question    string
		doubted     bool // confidence 0
		unsupported []string
		evaluation  string // a part of it
		note        string // a part of one of the notes; empty: none
	}{
		{"What is 2*3?", true, []string{"There are 6 dragons in the cellar."}, "supported by the conversation",
			"1 sentence of the answer"},
		{"What is 2 * 3?", true, []string{"2*3 = 7"}, "supported by the conversation", "“2*3 = 7” is wrong: it is 6."},
		{"What is 23*17?", false, []string{}, "1 of 1 sentence is supported by the calculation.", ""},
		{"How many holidays are there?", false, []string{}, "1 of 1 sentence with footnotes",
			"the footnote [99], but no passage has that number"},
		{"How many days are there?", false, []string{"Pigs fly over the moon."}, "without a source",
			"the footnote [99], but no passage has that number"},
	} {
		for route, got := range s.judgedBy(row.question) {
			if got.Status != "success" || got.Confidence == nil || (*got.Confidence == 0) != row.doubted ||
				!slices.Equal(got.Unsupported, row.unsupported) || got.Unsupported == nil {
				t.Errorf("%s on %s: %+v; want the unsupported sentences %q", row.question, route, got, row.unsupported)
			}
			if got.Notes == nil || (len(got.Notes) > 0) != (row.note != "") ||
				!strings.Contains(strings.Join(got.Notes, " "), row.note) {
				t.Errorf("%s on %s: the notes are %q, want %q", row.question, route, got.Notes, row.note)
			}
			// Where it is disabled.
			if route != "/agent/query" && !strings.Contains(got.SelfEvaluation, row.evaluation) {
				t.Errorf("%s on %s: got %q, want %q", row.question, route, got.SelfEvaluation, row.evaluation)
			}
		}
	}
}

// The judge model's context contains the text that was sent with the question.
func TestJudgePromptIncludesGivenText(t *testing.T) {
	t.Parallel()
	m := newModel(t, scripted.Config{Record: 100, Script: func(r scripted.Request) scripted.Reply {
		if strings.Contains(r.Messages[len(r.Messages)-1].Text, "Answer:") {
			return saying(`{"evaluation":"It answers the question.","confidence":0.9}`)
		}
		return saying("Anna works 80 percent of full time.")
	}})
	s := serve(t, newDir(t), m.env()...)
	s.add(file{"handbook.md", holidays})
	body, err := json.Marshal(annasHours)
	if err != nil {
		t.Fatal(err)
	}
	for path, field := range map[string]string{
		"/agent/query": `"question":"How much does Anna work?","context"`,
		"/agent/chat":  `"message":"How much does Anna work?","context_text"`,
	} {
		before := len(m.inner.Requests())
		r := s.send(
			"POST", path,
			`{`+field+`:`+string(body)+`,"config":{"enable_query_decomposition":false,"enable_self_evaluation":true}}`,
		)
		asked := m.inner.Requests()[before:]
		last := asked[len(asked)-1].Messages
		if r.status != 200 || !strings.Contains(last[len(last)-1].Text, "Answer:") ||
			!strings.Contains(last[len(last)-1].Text, "Her desk stands on the second floor.") {
			t.Errorf("%s: got %d %s\nprompt of the judge: %s", path, r.status, r.body, last[len(last)-1].Text)
		}
	}
}

// A politely phrased calculation is answered offline.
func TestPoliteCalculationIsAnsweredOffline(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(file{"handbook.md", holidays})
	for question, want := range map[string]string{
		"Please calculate 391*17 + 2 for me": "6649", "Could you calculate 2^10, please?": "1024",
	} {
		log := s.run(question)
		if log.answer == nil || !strings.Contains(log.answer.Markdown, want) || len(log.answer.Citations) > 0 {
			t.Errorf("%s: %+v; want %q in it and no citations", question, log.answer, want)
		}
		for _, step := range log.steps {
			if step.ToolName != "" && step.ToolName != "calculate" {
				t.Errorf("%s: got a call of %s, want calculate only", question, step.ToolName)
			}
		}
	}
}
