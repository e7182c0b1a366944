package main_test

import (
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// used is what the routes say that a run used.
type used struct {
	Status              string
	Tokens              chat.Tokens
	LLMTokensUsed       int `json:"llm_tokens_used"`
	StepsUsed           int `json:"steps_used"`
	TotalRetrievalCalls int `json:"total_retrieval_calls"`
	Budget              chat.Budget
}

// An invention after a call that shows no passages gives way to quotes on every route, and what it took is told.
func TestAnInventionAfterASumGivesWayToQuotesAndItsUseIsTold(t *testing.T) {
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
			t.Errorf("%s: what was used is %+v, want other than 0", route.path, u)
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
		t.Errorf("the trace says %+v, want %+v", trace.Tokens, log.answer.Tokens)
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
