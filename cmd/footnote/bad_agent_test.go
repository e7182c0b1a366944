package main_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// What a caller gets wrong about the agent is a sentence and a 4xx, and nothing of it is stored.
func TestBadAgentRequestsAreRefusedAndLeaveNothing(t *testing.T) {
	t.Parallel()
	s := serve(t, newDir(t))
	s.add(books[0])
	for _, row := range []struct{ name, path, body, says string }{
		{"an unknown toolset", "/agent/query", `{"question":"a","toolset":"axe"}`, "There is no toolset"},
		{"an unknown tool", "/agent/query", `{"question":"a","config":{"enabled_tools":["axe"]}}`, "There is no tool"},
		{"a tool that is not set up", "/agent/query", `{"question":"a","config":{"enabled_tools":["web_search"]}}`,
			"web_search"},
		{"an empty tool", "/agent/query", `{"question":"a","config":{"enabled_tools":[""]}}`, "enabled_tools"},
		{"top_k 0", "/agent/query", `{"question":"a","config":{"retrieval_top_k":0}}`, "retrieval_top_k"},
		{"top_k 51", "/agent/query", `{"question":"a","config":{"retrieval_top_k":51}}`, "retrieval_top_k"},
		{"no steps", "/agent/query", `{"question":"a","config":{"max_steps":0}}`, "max_steps"},
		{"too many calls", "/agent/query", `{"question":"a","config":{"max_retrieval_calls":51}}`,
			"max_retrieval_calls"},
		{"temperature 3", "/agent/chat", `{"message":"a","config":{"temperature":3}}`, "temperature"},
		{"temperature -1", "/agent/chat", `{"message":"a","config":{"temperature":-1}}`, "temperature"},
		{"a temperature that is too high for its toolset", "/agent/query",
			`{"question":"a","toolset":"documentation","config":{"temperature":1.5}}`, "documentation"},
		{"an empty system prompt", "/agent/chat", `{"message":"a","system_prompt":""}`, "system_prompt"},
		{"a system prompt of the caller's", "/agent/chat",
			`{"message":"a","config":{"system_prompt":"You are a pirate"}}`, "system_prompt"},
		{"a model that is not allowed", "/agent/chat", `{"message":"a","config":{"model":"huge-9"}}`, "not allowed"},
		{"a selection that does not exist", "/agent/chat", `{"message":"a","config":{"selection":"dice"}}`,
			"selection"},
		{"a session id with a slash", "/agent/chat", `{"message":"a","session_id":"a/b"}`, "128"},
		{"a session id of 10,000 characters", "/agent/chat",
			`{"message":"a","session_id":"` + strings.Repeat("x", 10_000) + `"}`, "128"},
		{"a config that is a list", "/agent/chat", `{"message":"a","config":[]}`, "config"},
		{"a config that is a text", "/agent/query", `{"question":"a","config":"warm"}`, "config"},
		{"a step count that is a text", "/agent/query", `{"question":"a","config":{"max_steps":"ten"}}`, "max_steps"},
		{"a history of single texts", "/agent/query", `{"question":"a","history":[["only a question"]]}`, "history"},
		{"a history of three", "/agent/query", `{"question":"a","history":[["q","a","q"]]}`, "history"},
		{"a history with an empty answer", "/agent/query", `{"question":"a","history":[["q"," "]]}`, "history"},
		{"a history of messages", "/agent/query", `{"question":"a","history":[{"role":"user","content":"q"}]}`,
			"history"},
		{"a threshold of 1.1", "/agent/retrieve", `{"query":"a","min_score":1.1}`, "min_score"},
		{"top_k 0 of passages", "/agent/retrieve", `{"query":"a","top_k":0}`, "top_k"},
		{"an empty query", "/agent/retrieve", `{"query":" "}`, "empty"},
	} {
		r := s.send("POST", row.path, row.body)
		p := loose[problem](t, r.body)
		if r.status != http.StatusBadRequest || !plainSentence(p.Detail) || !strings.Contains(p.Detail, row.says) {
			t.Errorf("%s: %d %s, want %d", row.name, r.status, r.body, http.StatusBadRequest)
		}
	}
	if list := s.send("GET", "/sessions", nil); list.status != http.StatusOK || strings.Contains(list.body, `"id"`) {
		t.Errorf("sessions are left: %s, want no %q in it", list.body, `"id"`)
	}
}

// What the model gets wrong it is told, and the run goes on.
func TestBadAgentCallsAreToldToTheModel(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("(", 50_000) + "1" + strings.Repeat(")", 50_000)
	rows := []struct{ name, args, says string }{
		{"axe", `{}`, "There is no tool"},
		{"semantic_search", `{"query":"a","top_k":0}`, "do not fit"},
		{"retrieve_documentation", `{"query":"a","top_k":21}`, "do not fit"},
		{"retrieve_documentation", `{"query":"a","similarity_threshold":1.1}`, "do not fit"},
		{"semantic_search", `{"query":"a","min_score":"high"}`, "do not fit"},
		{"search_documents", `{"query":""}`, "do not fit"},
		{"search_documents", `{"words":"roof"}`, "do not fit"},
		{"read_document", `{"doc_id":"` + strings.Repeat("x", 501) + `"}`, "do not fit"},
		{"calculate", `{"expression":"9**9**9"}`, "too large"},
		{"calculate", `{"expression":"` + deep + `"}`, ""},
		{"calculate", `{"expression":"1/0"}`, ""},
		{"calculate", `{"expression":"__import__('os')"}`, ""},
	}
	const answer = "Every employee is entitled to 28 days of paid holiday a year [1]."
	m := newModel(t, scripted.Config{Script: func(r scripted.Request) scripted.Reply {
		var n int
		if _, err := fmt.Sscanf(r.Question(), "Row %d", &n); err == nil && r.Turn() == 0 {
			return calling(rows[n].name, rows[n].args)
		}
		if r.Turn() == 1 && !r.NoTools {
			return calling("search_documents", `{"query":"paid holiday"}`)
		}
		return saying(answer)
	}})
	s := serve(t, newDir(t),
		append(
			m.env(),
			"FOOTNOTE_AGENT_TOOLS=search_documents,read_document,calculate,semantic_search,retrieve_documentation",
		)...)
	s.add(file{"handbook.md", holidays})
	for i, row := range rows {
		log := s.run(fmt.Sprintf("Row %d: how many days of paid holiday are there?", i))
		if log.done.Status != chat.RunCompleted || log.answer.Markdown != answer {
			t.Errorf("%s %.60s: it ended %+v with %+v; want Status %v and Markdown %v",
				row.name, row.args, log.done, log.answer, chat.RunCompleted, answer)
		}
		told := false
		for _, step := range log.steps {
			if step.ToolName == row.name && step.Status == chat.StatusError {
				told = step.Error != nil && strings.Contains(string(step.ToolOutput), "error") &&
					strings.Contains(string(step.ToolOutput), row.says)
			}
		}
		if !told {
			t.Errorf("%s %.60s: no step says what was wrong: %.3000v", row.name, row.args, log.raw)
		}
	}
}

// A plan that goes in a circle, or names parts that are not there, is left for the question itself.
func TestBadAgentPlansFallBackToTheQuestion(t *testing.T) {
	t.Parallel()
	for name, plan := range map[string]string{
		"circle":    `[{"query":"paid holiday","depends_on":[1]},{"query":"notice","depends_on":[0]}]`,
		"itself":    `[{"query":"paid holiday","depends_on":[0]}]`,
		"not there": `[{"query":"paid holiday","depends_on":[7]}]`,
		"nothing":   `I would rather not.`,
	} {
		m := newModel(t, scripted.Config{Script: func(r scripted.Request) scripted.Reply {
			if len(r.Tools) == 0 {
				return saying(plan)
			}
			return saying("Every employee is entitled to 28 days of paid holiday a year [1][2].")
		}})
		s := serve(t, newDir(t), m.env()...)
		s.add(file{"handbook.md", holidays})
		r := s.send(
			"POST", "/agent/query",
			`{"question":"How many days of paid holiday are there, and how long is the notice period?",`+
				`"config":{"enable_query_decomposition":true}}`,
		)
		got := loose[struct {
			Status string      `json:"status"`
			Steps  []chat.Step `json:"steps"`
		}](t, r.body)
		note := ""
		for _, step := range got.Steps {
			if step.Step == "plan" {
				note, _ = step.Details["note"].(string)
			}
		}
		if got.Status != "success" || !plainSentence(note) {
			t.Errorf("%s: %s, the plan says %q, want %q", name, got.Status, note, "success")
		}
	}
}
