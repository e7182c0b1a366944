package main_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// judgedAnswer is what every route tells of how far an answer can be relied on.
type judgedAnswer struct {
	Status         string
	Confidence     *float64
	SelfEvaluation string `json:"self_evaluation"`
	Unsupported    []string
	Notes          []string
}

// judgedBy asks a question on every route that answers with the whole answer.
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
	// of the streams the last message with a judgement counts
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

// Why an answer is not to be relied on is said in the same fields on every route.
func TestEveryRouteSaysWhyAnAnswerIsDoubted(t *testing.T) {
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
		note        string // a part of one of the notes; empty: there are none
	}{
		{"What is 2*3?", true, []string{"There are 6 dragons in the cellar."}, "held by the conversation",
			"1 sentence of the answer"},
		{"What is 2 * 3?", true, []string{"2*3 = 7"}, "held by the conversation", "“2*3 = 7” is wrong: it is 6."},
		{"What is 23*17?", false, []string{}, "1 of 1 sentence is held by the calculation.", ""},
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
			// where it is switched off
			if route != "/agent/query" && !strings.Contains(got.SelfEvaluation, row.evaluation) {
				t.Errorf("%s on %s: it says %q, want %q", row.question, route, got.SelfEvaluation, row.evaluation)
			}
		}
	}
}

// The model that judges an answer sees the text that came with the question.
func TestTheJudgeOfAnAnswerSeesTheGivenText(t *testing.T) {
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
			t.Errorf("%s: %d %s\nthe judge was asked %s", path, r.status, r.body, last[len(last)-1].Text)
		}
	}
}

// A sum that is asked for politely is calculated offline.
func TestAPoliteSumIsCalculatedOffline(t *testing.T) {
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
				t.Errorf("%s: %s was called", question, step.ToolName)
			}
		}
	}
}
