package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/ground"
	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// react asks with the toolset react, without the model's plan and judgement, which it has unless they are switched off.
func react(text string) chat.RunRequest {
	return unplanned(chat.RunRequest{Message: text, Toolset: "react"})
}

// unplanned switches off what costs further calls of the model.
func unplanned(req chat.RunRequest) chat.RunRequest {
	off := false
	req.Config.EnableQueryDecomposition, req.Config.EnableSelfEvaluation = &off, &off
	return req
}

func TestEveryToolOfReactAndStrategyShowsWhatItDid(t *testing.T) {
	t.Parallel()
	h := newHouse(t, scripted.New())
	all := []string{"retrieve", "retrieve_more", "lookup", "summarize", "semantic_search", "hybrid_search", "finish"}
	found := call("retrieve", `{"query":"roof"}`)
	for _, tt := range []struct {
		name             string
		first            *llm.Call
		call             llm.Call
		status           chat.Status
		message, summary string
		output           string // part of it
	}{
		{"retrieve", nil, call("retrieve", `{"query":"roof condition"}`), chat.StatusComplete, "Found 1 passage",
			"1 passage in 1 document", `"n":1`},
		{"retrieve nothing", nil, call("retrieve", `{"query":"zzyzx"}`), chat.StatusComplete, "Found 0 passages",
			"nothing found", `"results":[]`},
		{"retrieve more before anything", nil, call("retrieve_more", `{}`), chat.StatusError, "Searching on for: ", "",
			"use retrieve first"},
		{"retrieve more than there is", &found, call("retrieve_more", `{}`), chat.StatusComplete, "Found 0 passages",
			"", "no further passages"},
		{"look up", nil, call("lookup", `{"title":"Staff handbook","query":"sickness"}`), chat.StatusComplete,
			"Looked into Handbook.md", "passage", `"passages":[{"n":1`},
		{"look up what is not there", nil, call("lookup", `{"doc_id":"qqqq-wwww-zzzz"}`), chat.StatusError,
			"Looking into qqqq-wwww-zzzz", "", "There is no document"},
		{"summarise passages by number", &found, call("summarize", `{"texts":["[1]"],"focus":"guarantee"}`),
			chat.StatusComplete, "Summarised 1 passage", "", `"summary":"` + ground.RefusalSentence}, // by the model
		{"summarise what was not shown", nil, call("summarize", `{"texts":["[9]"]}`), chat.StatusError,
			"Summarising 1 passage", "", "number 9"},
		{"search by meaning without vectors", nil, call("semantic_search", `{"query":"roof"}`), chat.StatusComplete,
			"Found 1 passage", "", "Semantic search is off"},
		{"search both ways", nil, call("hybrid_search", `{"query":"roof","top_k":1}`), chat.StatusComplete,
			"Found 1 passage", "1 passage in 1 document", `"total_results":1`},
	} {
		var cs []llm.Call
		if tt.first != nil {
			cs = append(cs, *tt.first)
		}
		req := asks("What about the " + tt.name + "?")
		req.Config.EnabledTools = all
		steps := h.used(req, append(cs, tt.call)...)
		s := steps[len(steps)-1]
		if s.Status != tt.status || !strings.HasPrefix(s.Message, tt.message) ||
			!strings.Contains(s.Summary, tt.summary) || !strings.Contains(string(s.ToolOutput), tt.output) {
			t.Errorf("%s: %s, %q, %q, %s; want %s, %q at its beginning, %q in it",
				tt.name, s.Status, s.Message, s.Summary, s.ToolOutput, tt.status, tt.message, tt.summary)
		}
	}
}

func TestRetrieveMoreGoesOnWhereTheSearchEnded(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		calls(call("retrieve", `{"query":"the roof, holiday and sickness","top_k":1}`)),
		calls(call("retrieve_more", `{"top_k":1}`)), calls(call("retrieve_more", `{"top_k":1}`)),
		calls(call("retrieve_more", `{"top_k":1}`)),
		says("The roof was last renewed in 1987 by Harper & Sons [1][2][3]."),
	)
	h := newHouse(t, model)
	got := h.answer(react("What about the roof, holiday and sickness?"))
	seen := map[string]bool{}
	for i, s := range got.ended()[1:5] {
		var out tools.FoundPassages
		if err := json.Unmarshal(s.ToolOutput, &out); err != nil || len(out.Results) != 1 {
			if i == 3 && len(out.Results) == 0 && s.Status == chat.StatusComplete {
				continue // all three were shown
			}
			t.Fatalf("search %d: %s, %v", i, s.ToolOutput, err)
		}
		r := out.Results[0]
		if seen[r.ChunkID] || r.N != i+1 {
			t.Errorf("search %d showed %s as %d, want %d", i, r.ChunkID, r.N, i+1)
		}
		seen[r.ChunkID] = true
		if i > 0 && s.Status != chat.StatusComplete {
			t.Errorf("search %d is %s: the same call goes on", i, s.Status)
		}
	}
	if told := model.Requests()[1].Messages; strings.Contains(told[len(told)-1].Text, "chunk_id") {
		t.Error("the model is told ids that it does not need")
	}
}

func TestFinishEndsTheRunWithItsAnswer(t *testing.T) {
	t.Parallel()
	model := scripted.New(
		calls(call("retrieve", `{"query":"paid holiday"}`), call("finish", `{"answer":"Too early."}`)),
		scripted.Reply{
			Text: "I have what I need.", Calls: []llm.Call{
				call("finish", `{"answer":"There are 28 days of paid holiday a year [1]."}`),
			},
		},
	)
	h := newHouse(t, model)
	got := h.answer(react("How many days of holiday are there?"))
	a := got.answer()
	if want := "There are 28 days of paid holiday a year [1]."; a.Markdown != want || got.text() != want ||
		len(a.Citations) != 1 || a.StopReason != chat.StopAnswered {
		t.Errorf("answer = %+v, shown %q; want Markdown %v, %q, 1 citation, StopReason %v",
			a, got.text(), want, want, chat.StopAnswered)
	}
	var ends []chat.Step
	for _, s := range got.ended() {
		if s.ToolName == "finish" {
			ends = append(ends, s)
		}
	}
	if len(ends) != 2 || ends[0].Status != chat.StatusSkipped || ends[1].Status != chat.StatusComplete ||
		ends[1].Thought != "I have what I need." {
		t.Fatalf("finish steps = %+v; want 2 ends, %v, %v, %q",
			ends, chat.StatusSkipped, chat.StatusComplete, "I have what I need.")
	}
	if resets := all[chat.AnswerReset](got); len(resets) != 1 || resets[0].CallID != ends[1].CallID {
		t.Errorf("resets = %+v; want 1 reset and %v", resets, ends[1].CallID)
	}
}

func TestFinishIsHeldToTheSameRulesAsText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		last []scripted.Reply
		want string
	}{
		{"without footnotes it is asked for them", []scripted.Reply{
			calls(call("finish", `{"answer":"Everybody has four weeks off."}`)),
			calls(call("finish", `{"answer":"There are 28 days of paid holiday a year [1]."}`)),
		}, "There are 28 days of paid holiday a year [1]."},
		{"without an answer it is no end", []scripted.Reply{calls(call("finish", `{}`)), says(goodAnswer)}, goodAnswer},
	} {
		model := scripted.New(append([]scripted.Reply{calls(call("retrieve", `{"query":"paid holiday"}`))},
			tt.last...)...)
		h := newHouse(t, model)
		got := h.answer(react("How many days of holiday are there?"))
		if a := got.answer(); a.Markdown != tt.want || got.text() != tt.want {
			t.Errorf("%s: answer = %q, shown %q; want %q and %q", tt.name, a.Markdown, got.text(), tt.want, tt.want)
		}
	}
}

func TestAThresholdThatNothingReachesSaysHowNearTheBestCame(t *testing.T) {
	t.Parallel()
	h := newSemanticHouse(t, scripted.New())
	req := asks("What about slates?")
	req.Toolset = "strategy"
	steps := h.used(req, call("semantic_search", `{"query":"slates missing on the north slope","min_score":0.99}`),
		call("semantic_search", `{"query":"slates missing on the north slope","min_score":0.05,"top_k":1}`))
	if !strings.Contains(string(steps[0].ToolOutput), "No passage reaches a score of 0.99; the best has 0.") ||
		!strings.Contains(string(steps[0].ToolOutput), `"results":[]`) {
		t.Errorf("output = %s", steps[0].ToolOutput)
	}
	if !strings.Contains(string(steps[1].ToolOutput), "Several slates are missing") {
		t.Errorf("output = %s", steps[1].ToolOutput)
	}
}

func TestGenerateAnswerMakesTheNextTurnTheAnswer(t *testing.T) {
	t.Parallel()
	model := scripted.New(calls(call("generate_answer", `{}`)), calls(search("paid holiday")),
		calls(call("generate_answer", `{}`)), says(goodAnswer))
	h := newHouse(t, model)
	req := asks("How many days of holiday are there?")
	req.Config.EnabledTools = []string{"search_documents", "generate_answer"}
	got := h.answer(req)
	if a := got.answer(); a.Markdown != goodAnswer || a.StopReason != chat.StopAnswered {
		t.Errorf("answer = %+v; want Markdown %v and StopReason %v", a, goodAnswer, chat.StopAnswered)
	}
	var forced []bool
	for _, r := range model.Requests() {
		forced = append(forced, r.NoTools)
	}
	if diff := cmp.Diff([]bool{false, false, false, true}, forced); diff != "" {
		t.Errorf("text alone was wanted (-want +got):\n%s", diff)
	}
	if s := got.step("generate_answer"); s.Status != chat.StatusError ||
		!strings.Contains(string(s.ToolOutput), "Search first") {
		t.Errorf("with nothing found = %+v, want Status %v", s, chat.StatusError)
	}
}
