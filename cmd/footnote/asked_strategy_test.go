package main_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// S2 · the agentic strategy: its tools, their selection, planning, reflection, and its results.
func TestStrategyRequirements(t *testing.T) {
	t.Parallel()
	th := newScriptedServer(t, "OPENAI_EMBEDDING_MODEL=hash")
	th.semantic()
	strategy := jsonFields{"toolset": "strategy"}
	const good = "The roof of Highlands is in good condition"

	t.Run("S2.1 four tools with names and defaults", func(t *testing.T) {
		th := th.forSubtest(t)
		survey := loose[struct {
			Results []struct {
				Metadata struct {
					DocumentID string `json:"document_id"`
				}
			}
		}](t, th.send("POST", "/search", `{"query":"roof of Highlands","top_k":1}`).body).Results[0].Metadata.DocumentID
		for _, row := range []struct{ tool, input, told, output string }{
			{"semantic_search", `{"query":"roof of Highlands good condition"}`,
				`{"min_score":0.7,"query":"roof of Highlands good condition","top_k":5}`, good},
			{"semantic_search", `{"query":"roof","top_k":1,"min_score":0}`, `{"min_score":0,"query":"roof","top_k":1}`,
				`"total_results":1`},
			{"read_document", `{"doc_id":"` + survey + `"}`, `{"doc_id":"` + survey + `","page":1}`, good},
			{"read_document", `{"document_id":"Building survey"}`, `{"doc_id":"Building survey","page":1}`, good},
			{"read_document", `{"doc_id":"survey.md","focus_query":"roof","page":1}`,
				`{"doc_id":"survey.md","focus_query":"roof","page":1}`, good},
			{"metadata_search", `{"filters":{"author":"John Doe","year":2024}}`,
				`{"filters":{"author":"John Doe","year":2024}}`, "value-2024.md"},
			{"hybrid_search", `{"query":"blocked gutter"}`, `{"query":"blocked gutter","top_k":5}`,
				"The damp in the kitchen"},
		} {
			got, _ := th.query(inTurn(calling(row.tool, row.input), saying("I found it.")), "Why is the roof good?",
				strategy, jsonFields{"selection": "model"})
			call := got.stepsNamed(row.tool)
			if len(call) == 0 || call[0].Status != chat.StatusComplete || string(call[0].ToolInput) != row.told ||
				!strings.Contains(string(call[0].ToolOutput), row.output) {
				t.Errorf("%s %s: %+v, want the input %s and %q in the output", row.tool, row.input, call, row.told,
					row.output)
			}
		}
	})

	t.Run("S2.2 rules select for simple questions, the model for others", func(t *testing.T) {
		th := th.forSubtest(t)
		for question, by := range map[string]string{
			"Is the roof of Highlands in good condition?":            "rules",
			"Why, and since when, is the roof of Highlands so good?": "model",
		} {
			got, _ := th.query(searchingFor("hybrid_search", "roof of Highlands", good), question, strategy, nil)
			chosen := got.stepsNamed("choose")
			if len(chosen) != 1 || got.Answer != good+" [1]." {
				t.Fatalf("%s: %q after %q", question, got.Answer, got.names())
			}
			sure, _ := chosen[0].Details["confidence"].(float64)
			why, _ := chosen[0].Details["why"].(string)
			if chosen[0].Details["by"] != by || why == "" || chosen[0].ActionType != chat.ActionPlanning ||
				(sure >= 0.7) != (by == "rules") || sure <= 0 || sure > 1 {
				t.Errorf("%s: the choice is %+v, want one by %s", question, chosen[0].Details, by)
			}
		}
	})

	t.Run("S2.3 at most five parallel calls in a turn", func(t *testing.T) {
		th := th.forSubtest(t)
		var calls []scripted.Reply
		for _, word := range []string{"roof", "damp", "value", "notice", "holiday", "robot"} {
			calls = append(calls, calling("hybrid_search", `{"query":"`+word+`"}`))
		}
		six := inTurn(together(calls...), saying("The notice period is three months [1][2][3][4][5][6][7][8]."))
		for most, config := range map[int]jsonFields{
			5: {"selection": "model"}, 2: {"selection": "model", "max_retrieval_calls": 2},
		} {
			got, _ := th.query(six, "Why is the notice so long?", strategy, config)
			ended := map[chat.Status]int{}
			parent := got.stepsNamed("parallel")
			for _, call := range got.stepsNamed("hybrid_search") {
				ended[call.Status]++
				if len(parent) != 1 || call.ParentID != parent[0].CallID {
					t.Errorf("%s is not a child of its turn", call.ToolInput)
				}
			}
			if ended[chat.StatusComplete] != most || ended[chat.StatusSkipped] != 6-most ||
				got.TotalRetrievalCalls != most {
				t.Errorf("the calls ended %v, %d were charged; want %d made", ended, got.TotalRetrievalCalls, most)
			}
		}
	})

	t.Run("S2.5 plan, judgement, and another search after a low one", func(t *testing.T) {
		th := th.forSubtest(t)
		seed := th.gives(sidelong(`[{"query":"roof of Highlands","reasoning":"the first part","depends_on":[]},`+
			`{"query":"value in 2024","reasoning":"the second part","depends_on":[]}]`,
			[]string{
				`{"evaluation":"The notice is missing.","confidence":0.2}`,
				`{"evaluation":"It answers all.","confidence":0.9}`,
			}, func(r scripted.Request) scripted.Reply {
				notice := found(r, "notice period")
				switch {
				case notice != "":
					return saying(good + " " + found(r, good) + ". The notice period is three months " + notice + ".")
				case strings.Contains(r.Question(), "The notice is missing.") && !r.NoTools:
					return calling("hybrid_search", `{"query":"notice period"}`)
				}
				return saying(good + " " + found(r, good) + ".")
			}))
		got, _ := th.post("/agent/query", http.StatusOK, jsonFields{
			"question": "Compare the roof, the value and the notice", "toolset": "strategy",
			"config": jsonFields{"seed": seed, "retrieval_top_k": 1},
		})
		var phases []string
		for _, s := range got.Steps {
			phases = append(phases, string(s.ActionType)+" "+s.Step.Step)
		}
		want := "planning analyse|planning plan|searching parallel|searching hybrid_search|searching hybrid_search|" +
			"analysing reflect|planning refine|searching hybrid_search|analysing reflect"
		if strings.Join(phases, "|") != want || !strings.Contains(got.Answer, "three months [") ||
			got.Confidence != 0.9 || !strings.HasPrefix(got.SelfEvaluation, "It answers all.") {
			t.Errorf("steps %q, want %q; confidence %v, %q, the answer is %q", phases, want, got.Confidence,
				got.SelfEvaluation, got.Answer)
		}
	})

	t.Run("S2.5 early stop after one complete passage", func(t *testing.T) {
		th := th.forSubtest(t)
		got, seed := th.query(searchingFor("hybrid_search", "roof of Highlands", good),
			"Is the roof of Highlands in good condition?", strategy, nil)
		if !slices.Contains(got.names(), "enough") || slices.Contains(got.names(), "read_document") ||
			got.Answer != good+" [1]." || len(th.requestsFor(seed)) != 1 {
			t.Errorf("got %q after %q and %d requests", got.Answer, got.names(), len(th.requestsFor(seed)))
		}
	})

	t.Run("S2.5 three iterations by default", func(t *testing.T) {
		th := th.forSubtest(t)
		endless := func(r scripted.Request) scripted.Reply {
			if r.NoTools {
				return saying(good + " " + found(r, good) + ".")
			}
			queries := []string{"roof", "Highlands", "condition", "survey", "building"}
			return calling("hybrid_search", `{"query":"`+queries[r.Turn()%len(queries)]+`"}`)
		}
		for most, config := range map[int]jsonFields{
			3: {"selection": "model"}, 2: {"selection": "model", "max_steps": 2},
		} {
			got, seed := th.query(endless, "Why is the roof good?", strategy, config)
			if trace := th.trace(got.ID); got.StopReason != "max_steps" || got.StepsUsed != most ||
				trace.Budget.Steps != most || got.TotalRetrievalCalls != most || len(th.requestsFor(seed)) != most+1 ||
				!strings.HasPrefix(got.Answer, good) {
				t.Errorf("it stopped by %q after %d of %d turns, %d calls and %d requests with %q; want %d turns",
					got.StopReason, got.StepsUsed, trace.Budget.Steps, got.TotalRetrievalCalls,
					len(th.requestsFor(seed)),
					got.Answer, most)
			}
		}
	})

	t.Run("S2.6 the first step has the kind of question", func(t *testing.T) {
		th := th.forSubtest(t)
		for _, row := range []struct{ question, kind, complexity, entities, keywords, tools string }{
			{"When was Highlands valued by John Doe?", "factual", "simple", "Highlands John Doe",
				"highlands valued john doe", "hybrid_search read_document"},
			{"Explain how a robot keeps its balance", "exploratory", "moderate", "", "robot keeps balance",
				"hybrid_search read_document"},
			{"What is in survey.md?", "specific_document", "simple", "survey.md", "survey.md", "read_document"},
			{"Find documents from 2024", "metadata", "simple", "2024", "find 2024", "metadata_search"},
			{"Compare the valuations of 2023 and 2024", "comparison", "complex", "2023 2024",
				"compare valuations 2023 2024", "hybrid_search read_document"},
		} {
			got, _ := th.query(scripted.Librarian, row.question, strategy, jsonFields{"model": "offline", "seed": nil})
			first := got.Steps[0]
			words := func(field string) string {
				raw, _ := json.Marshal(first.Details[field]) // was read from JSON
				return strings.Join(loose[[]string](t, string(raw)), " ")
			}
			if first.Step.Step != "analyse" || first.ActionType != chat.ActionPlanning ||
				first.Details["type"] != row.kind || first.Details["complexity"] != row.complexity ||
				words("entities") != row.entities || words("keywords") != row.keywords ||
				words("suggested_tools") != row.tools {
				t.Errorf("%s: %v, want %+v", row.question, first.Details, row)
			}
		}
	})

	t.Run("S2.7 results are merged, deduplicated and sorted", func(t *testing.T) {
		th := th.forSubtest(t)
		const query = "Why is the roof good, and why is it worth so much?"
		th.answers(query, sidelong("", nil, inTurn(together(calling("hybrid_search", `{"query":"roof of Highlands"}`),
			calling("semantic_search", `{"query":"roof of Highlands","min_score":0}`),
			calling("read_document", `{"doc_id":"survey.md"}`)), saying("DONE"))))
		type found struct {
			Chunks []struct {
				ChunkID  string `json:"chunk_id"`
				Score    float64
				Strategy string
				Trace    *struct{ Iterations int } `json:"agent_trace"`
			}
		}
		all := loose[found](t, th.send("POST", "/agent/retrieve", `{"query":"`+query+`","top_k":50}`).body).Chunks
		seen, last := map[string]bool{}, 1.0
		for _, c := range all {
			if seen[c.ChunkID] || c.Score > last || c.Score < 0.15 || c.Strategy != "agentic" || c.Trace == nil ||
				c.Trace.Iterations != 1 {
				t.Errorf("list has %+v after %v", c, seen)
			}
			seen[c.ChunkID], last = true, c.Score
		}
		two := loose[found](t, th.send("POST", "/agent/retrieve", `{"query":"`+query+`","top_k":2}`).body).Chunks
		if len(all) < 3 || len(two) != 2 || two[0].ChunkID != all[0].ChunkID {
			t.Errorf("got %d passages, with top_k 2 %d", len(all), len(two))
		}
	})

	t.Run("S2.14 fallback to semantic search with a threshold", func(t *testing.T) {
		th := th.forSubtest(t)
		const query = "Why and how does quantum entanglement work?"
		th.answers(query, sidelong("", nil, inTurn(saying("DONE"))))
		r := th.send("POST", "/agent/retrieve", `{"query":"`+query+`"}`)
		got := loose[struct {
			Chunks []struct{ Score float64 }
			Trace  struct {
				Calls []struct {
					Tool       string
					Parameters map[string]any
				} `json:"tool_calls"`
			} `json:"agent_trace"`
		}](t, r.body)
		if len(got.Chunks) > 0 || len(got.Trace.Calls) != 1 || got.Trace.Calls[0].Tool != "semantic_search" ||
			got.Trace.Calls[0].Parameters["min_score"] != 0.7 {
			t.Errorf("%s; want no chunks, and a semantic_search with the min_score 0.7", r.body)
		}
	})

	t.Run("S2.8 failing tools are skipped, failing models replaced by a search", func(t *testing.T) {
		th := th.forSubtest(t)
		got, _ := th.query(inTurn(together(calling("read_document", `{"doc_id":"nowhere.md"}`),
			calling("hybrid_search", `{"query":"roof of Highlands"}`)), saying(good+" [1].")),
			"Why is the roof good?", strategy, jsonFields{"selection": "model"})
		if bad := got.stepsNamed("read_document"); got.Answer != good+" [1]." || len(bad) != 1 ||
			bad[0].Status != chat.StatusError || bad[0].Observation.Error == nil {
			t.Errorf("got %q with the reads %+v", got.Answer, bad)
		}
		const query = "Why does the roof of Highlands look good?"
		th.answers(query, func(scripted.Request) scripted.Reply {
			return scripted.Reply{Fault: scripted.Fault{Status: 401}}
		})
		r := th.send("POST", "/agent/retrieve", `{"query":"`+query+`"}`)
		if fell := loose[struct {
			Chunks []struct{ Text string }
			Notes  []string
		}](t, r.body); r.status != http.StatusOK || len(fell.Chunks) == 0 || len(fell.Notes) == 0 ||
			!strings.Contains(fell.Chunks[0].Text, good) {
			t.Errorf("failing model: got %d %s", r.status, r.body)
		}
	})
}

// S2.10, S2.11 · a settings file with the names of the source document configures the tools and their selection.
func TestStrategySettingsFile(t *testing.T) {
	t.Parallel()
	settings := filepath.Join(t.TempDir(), "footnote.yaml")
	if err := os.WriteFile(settings, []byte(`
strategies:
  agentic:
    enabled: true
    max_iterations: 2
    enable_query_analysis: false
    enable_reflection: false
    fallback_to_semantic: false
    llm:
      provider: openai
      model: their-model
    tools:
      - hybrid_search
      - metadata_search
`), 0o600); err != nil {
		t.Fatal(err)
	}
	th := newScriptedServer(t, "FOOTNOTE_CONFIG="+settings, "OPENAI_MODEL=")
	endless := func(r scripted.Request) scripted.Reply {
		if r.NoTools {
			return saying("The roof of Highlands is in good condition [1].")
		}
		return calling("hybrid_search", `{"query":"`+[]string{"roof", "Highlands", "condition"}[r.Turn()%3]+`"}`)
	}
	seed := th.gives(endless)
	got, _ := th.post("/agent/query", http.StatusOK, jsonFields{
		"question": "Why is the roof good?", "toolset": "strategy",
		"config": jsonFields{"seed": seed, "selection": "model", "enable_query_decomposition": false},
	})
	told := th.requestsFor(seed)
	var tools []string
	for _, tool := range told[0].Tools {
		tools = append(tools, tool.Name)
	}
	if told[0].Model != "their-model" || strings.Join(tools, " ") != "hybrid_search metadata_search" ||
		got.StopReason != "max_steps" || got.StepsUsed != 2 {
		t.Errorf("request to %s has the tools %q; stopped by %q after %d turns", told[0].Model, tools, got.StopReason,
			got.StepsUsed)
	}
	if names := got.names(); slices.Contains(names, "analyse") || slices.Contains(names, "reflect") {
		t.Errorf("the steps are %q, want neither analysis nor reflection", names)
	}
	const query = "Why is the roof of Highlands good?"
	th.answers(query, func(scripted.Request) scripted.Reply {
		return scripted.Reply{Fault: scripted.Fault{Status: 401}}
	})
	if r := th.send("POST", "/agent/retrieve", `{"query":"`+query+`"}`); r.status < 500 || !plainSentence(
		loose[problem](t, r.body).Detail) {
		t.Errorf("failing model without a fallback: got %d %s", r.status, r.body)
	}
}
