package main_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"footnote/agent"
	"footnote/chat"
	"footnote/llm/scripted"
)

const switchedAnswer = "Every employee is entitled to 28 days of paid holiday a year [1]."

// stepsOf asks a server what shows each feature at work, all with a setting in their config, and returns the features that the steps show.
func stepsOf(t *testing.T, config string, without ...string) []string {
	t.Helper()
	m := newModel(t, scripted.Config{Script: func(r scripted.Request) scripted.Reply {
		asked := r.Messages[len(r.Messages)-1].Text
		switch {
		case r.NoTools || len(r.Tools) == 0 || r.Turn() > 0:
			return saying(switchedAnswer)
		case strings.Contains(asked, "How many"):
			return calling("search_documents", `{"query":"zzyzx qwertz"}`)
		}
		return calling("search_documents", `{"query":"entitled paid holiday"}`)
	}})
	env := m.env()
	if len(without) > 0 {
		env = append(env, "FOOTNOTE_AGENT_WITHOUT="+strings.Join(without, ","))
	}
	s := serve(t, newDir(t), env...)
	s.add(file{"handbook.md", holidays})
	seen := map[string]bool{}
	for _, q := range []struct{ question, config string }{
		{"Compare paid holiday and the notice period", `"enable_query_decomposition":true`},
		{"What does handbook.md say about paid holiday?", ""},
		{"How many days of paid holiday are there?", ""},
		{"Is every employee entitled to paid holiday?", `"selection":"rules"`},
		{"Why and how are employees entitled to paid holidays?", `"selection":"auto"`},
		{"How are employees entitled to a paid holiday, and why?", `"selection":"auto"`},
		{"Are employees entitled to paid holiday by this handbook?", `"enable_self_evaluation":true`},
	} {
		switch name, _, _ := strings.Cut(config, ":"); {
		case config == "":
		case q.config == "" || strings.HasPrefix(q.config, name):
			q.config = config
		default:
			q.config += "," + config
		}
		body := `{"question":"` + q.question + `","config":{` + q.config + `}}`
		r := s.send("POST", "/agent/query", body)
		got := loose[struct{ Steps []chat.Step }](t, r.body)
		if len(got.Steps) == 0 && !slices.Contains(without, "analyse") {
			t.Errorf("%s: %d %s", body, r.status, r.body)
		}
		for _, step := range got.Steps {
			switch {
			case step.Step == "choose" && step.Details["path"] != nil:
				seen["short_paths"] = true
			case step.Step == "choose" && step.Details["by"] == "cache":
				seen["cached_decisions"] = true
			case step.Step == "enough":
				seen["early_stop"] = true
			case slices.Contains(agent.Features(), step.Step):
				seen[step.Step] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func TestEachFeatureIsSwitchedOffAlone(t *testing.T) {
	t.Parallel()
	needs := map[string][]string{"analyse": {"early_stop", "short_paths"}} // nobody says then that a question is simple, or what it names
	check := func(name, config string, gone []string, without ...string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := slices.DeleteFunc(slices.Sorted(slices.Values(agent.Features())), func(f string) bool { return slices.Contains(gone, f) })
			if got := stepsOf(t, config, without...); !slices.Equal(got, want) {
				t.Errorf("steps of %q, want %q", got, want)
			}
		})
	}
	check("none", "", nil)
	for _, feature := range agent.Features() {
		check(feature, "", append([]string{feature}, needs[feature]...), feature)
	}
	check("enable_query_decomposition", `"enable_query_decomposition":false`, []string{"plan"})
	check("enable_self_evaluation", `"enable_self_evaluation":false`, []string{"reflect"})
}
