package main_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// S0.10 · each setting of a request has an effect that can be seen. What is looked at is said in a word or a few, with
// and without the setting.
func TestEverySettingOfARequestIsHeeded(t *testing.T) {
	t.Parallel()
	th := openTheatre(t, "FOOTNOTE_AGENT_MODELS_ALLOWED=other")
	const good, question = "The roof of Highlands is in good condition", "Why is the roof of Highlands good?"
	told := func(see func(scripted.Request) any) func(askedAnswer, []scripted.Request) any {
		return func(_ askedAnswer, asked []scripted.Request) any { return see(asked[0]) }
	}
	answered := func(see func(askedAnswer) any) func(askedAnswer, []scripted.Request) any {
		return func(got askedAnswer, _ []scripted.Request) any { return see(got) }
	}
	has := func(name string) func(askedAnswer, []scripted.Request) any {
		return answered(func(got askedAnswer) any { return len(got.stepsNamed(name)) > 0 })
	}
	restless := func(r scripted.Request) scripted.Reply {
		if r.NoTools {
			return saying(good + " " + found(r, good) + ".")
		}
		return calling("retrieve", fmt.Sprintf(`{"query":"roof Highlands %d"}`, r.Turn()))
	}
	once := searchingFor("retrieve", "roof Highlands value", good)
	judging := sidelong("", []string{`{"evaluation":"Good.","confidence":0.9}`}, once)
	rows := map[string]struct {
		value any
		part  scripted.Script
		see   func(askedAnswer, []scripted.Request) any
		want  [2]any // without the setting, and with it
	}{
		"model": {
			"other", once, told(func(r scripted.Request) any { return r.Model }), [2]any{"scripted", "other"},
		},
		"temperature": {0.7, once, told(func(r scripted.Request) any { return *r.Temperature }), [2]any{0.1, 0.7}},
		"max_steps":   {2, restless, answered(func(a askedAnswer) any { return a.StepsUsed }), [2]any{6, 2}},
		"max_retrieval_calls": {
			2, restless, answered(func(a askedAnswer) any { return a.TotalRetrievalCalls }), [2]any{5, 2},
		},
		"retrieval_top_k": {1, once, answered(func(a askedAnswer) any {
			return strings.Count(string(a.stepsNamed("retrieve")[0].ToolOutput), `"n":`)
		}), [2]any{3, 1}},
		"enabled_tools": {[]string{"retrieve", "finish"}, once, told(func(r scripted.Request) any {
			return len(r.Tools)
		}), [2]any{7, 2}},
		"use_agent_mode":             {false, once, has("choose"), [2]any{false, true}},
		"selection":                  {"rules", once, has("choose"), [2]any{false, true}},
		"enable_self_evaluation":     {true, judging, has("reflect"), [2]any{false, true}},
		"enable_query_decomposition": {true, judging, has("plan"), [2]any{false, true}},
	}
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			th := th.in(t)
			for i, config := range []jsonFields{nil, {name: row.value}} {
				got, seed := th.query(row.part, question, nil, config)
				if saw := row.see(got, th.told(seed)); saw != row.want[i] {
					t.Errorf("with %v: %v, want %v; the steps are %q", config, saw, row.want[i], got.names())
				}
			}
		})
	}
	t.Run("seed", func(t *testing.T) {
		th := th.in(t)
		th.answers(question, once)
		before := len(th.model.inner.Requests())
		th.post("/agent/query", 200, jsonFields{"question": question, "config": plain})
		for _, r := range th.model.inner.Requests()[before:] {
			if r.Seed != nil {
				t.Errorf("without one the model is told the seed %d", *r.Seed)
			}
		}
		if _, seed := th.query(once, question, nil, nil); len(th.told(seed)) == 0 {
			t.Error("the model is not told the seed")
		}
	})
	elsewhere := map[string]bool{ // TestEachSettingOfARequestHasItsEffectAlone
		"require_citations": true, "rerank_results": true, "verbose_logging": true,
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[chat.RunConfig]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if _, here := rows[name]; !here && !elsewhere[name] && name != "seed" {
			t.Errorf("no test sees what config.%s does", name)
		}
	}
}
