package main_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// metric is the value of a line of /metrics, 0 if there is none.
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

// spending is a reply that takes some tokens.
func spending(r scripted.Reply, in, out int) scripted.Reply {
	r.Usage = &llm.Usage{In: in, Out: out}
	return r
}

// costs is what tokens cost in micro-units of the currency by the prices of the test.
func costs(model string, in, out int) float64 {
	if model == "cheap" {
		return float64(in*1 + out*2)
	}
	return float64(in*100 + out*200)
}

// near reports whether two costs are the same but for rounding; the second is in millionths.
func near(got *float64, want float64) bool {
	return got != nil && *got*1e6 > want-0.001 && *got*1e6 < want+0.001
}

// S2.9 · what is spent: a cheaper model chooses, its choices are used again, and time, tokens and cost are told for
// each tool and each run.
func TestWhatARunCostsIsTold(t *testing.T) {
	t.Parallel()
	th := openTheatre(t, "FOOTNOTE_MODELS_SELECT=cheap", "FOOTNOTE_PRICES=scripted=100/200;cheap=1/2")
	const good = "The roof of Highlands is in good condition"

	t.Run("a cheaper model plans, chooses and judges; the run's own answers", func(t *testing.T) {
		th := th.in(t)
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
		for _, r := range th.told(seed) {
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
			t.Errorf("its trace has %+v for %v", trace.Tokens, trace.Cost)
		}
		spent := map[string]string{}
		for _, step := range trace.Steps {
			if step.Tokens != nil {
				spent[step.Step] += fmt.Sprintf("%d/%d", step.Tokens.In, step.Tokens.Out)
				if !near(step.Cost, costs("cheap", step.Tokens.In, step.Tokens.Out)) {
					t.Errorf("the step %s of %+v costs %v", step.Step, step.Tokens, step.Cost)
				}
			}
		}
		if want := "map[parallel:300/30 plan:200/20 reflect:200/20]"; fmt.Sprint(spent) != want {
			t.Errorf("the steps took %v, want %s", spent, want)
		}
		// the tokens of the turn that chose both are shared between them
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
				t.Errorf("the line under the steps does not say %q", want)
			}
		}
	})

	t.Run("a choice is used again for a similar question, without a turn of the model", func(t *testing.T) {
		th := th.in(t)
		choosing := func(question string) (by string, asked int) {
			got, seed := th.query(searchingFor("hybrid_search", "roof Highlands", good), question,
				jsonFields{"toolset": "strategy"}, nil)
			if !strings.HasPrefix(got.Answer, good) {
				t.Errorf("%s: %q", question, got.Answer)
			}
			for _, s := range got.stepsNamed("choose") {
				by, _ = s.Details["by"].(string)
			}
			for _, r := range th.told(seed) {
				if !r.NoTools {
					asked++
				}
			}
			return by, asked
		}
		if by, asked := choosing("Why and how is the roof of Highlands good?"); by != "model" || asked == 0 {
			t.Errorf("the first time it is chosen by %q after %d turns with tools", by, asked)
		}
		for _, similar := range []string{
			"Why and how is the roof of Highlands good?", "How is the roof of Highlands good, and why?",
		} {
			if by, asked := choosing(similar); by != "cache" || asked != 0 {
				t.Errorf("%s: chosen by %q after %d turns with tools, want the cache and none", similar, by, asked)
			}
		}
		if by, _ := choosing("Why and how is the roof of Highlands not good?"); by == "cache" {
			t.Error("the opposite question takes the same choice")
		}
	})

	t.Run("what a search by the agent takes is counted", func(t *testing.T) {
		th := th.in(t)
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
		want := costs("cheap", 3300, 43) // a plan, two turns, a judgement, a check of one passage and its control question
		if got.Trace.Tokens != (chat.Tokens{In: 3300, Out: 43}) || !near(got.Trace.Cost, want) ||
			len(got.Trace.Results) != 1 || got.Trace.Results[0].ExecutionTime == nil {
			t.Errorf("its trace is %+v: %s", got.Trace, r.body)
		}
		if more := th.metric(inward) - before; more != 3300 {
			t.Errorf("the metrics count %v tokens, want 3300", more)
		}
		if more := th.metric(cost) - paid; !near(&more, want) {
			t.Errorf("the metrics count a cost of %v, want %v millionths", more, want)
		}
	})
}
