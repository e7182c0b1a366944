package main_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	agentrun "github.com/footnote/footnote/agent/run"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

const switchedAnswer = "Every employee is entitled to 28 days of paid holiday a year [1]."

// stepsOf asks a server what shows each feature at work, all with a setting in their config, and returns the features
// that the steps show.
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
		for _, name := range []string{"enable_query_decomposition", "enable_self_evaluation"} { // on if left out
			if !strings.Contains(q.config, name) {
				q.config = strings.TrimPrefix(q.config+`,"`+name+`":false`, ",")
			}
		}
		body := `{"question":"` + q.question + `","toolset":"cursor","config":{` + q.config + `}}`
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
			case slices.Contains(agentrun.FeatureNames(), step.Step):
				seen[step.Step] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func TestEachFeatureIsSwitchedOffAlone(t *testing.T) {
	t.Parallel()
	// nobody says then that a question is simple, or what it names
	needs := map[string][]string{"analyse": {"early_stop", "short_paths"}}
	check := func(name, config string, gone []string, without ...string) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := slices.DeleteFunc(slices.Sorted(slices.Values(agentrun.FeatureNames())),
				func(f string) bool { return slices.Contains(gone, f) })
			if got := stepsOf(t, config, without...); !slices.Equal(got, want) {
				t.Errorf("steps of %q, want %q", got, want)
			}
		})
	}
	check("none", "", nil)
	for _, feature := range agentrun.FeatureNames() {
		check(feature, "", append([]string{feature}, needs[feature]...), feature)
	}
	check("enable_query_decomposition", `"enable_query_decomposition":false`, []string{"plan"})
	check("enable_self_evaluation", `"enable_self_evaluation":false`, []string{"reflect"})
}

// Whose words are apart, and in one sentence far down.
const (
	wordsApart = "# Overview\n\nCost, cost and cost again. The gutter is old. Gutter! Snow clearing is done by " +
		"the town. Clearing is done weekly.\n"
	wordsTogether = "# Works\n\nThe house was visited on a dry day in spring and all its rooms were seen from the " +
		"inside. The neighbour was at home and told of a storm " +
		"two years ago that took a tree down. The garden was not part of the visit. Clearing the gutter has a cost " +
		"of 400 euros. The cellar was dry on that day and " +
		"smelled of apples. The stairs are steep and the handrail is loose. The windows were painted by the owner.\n"
)

// effectsOf asks a server the same questions with a config, and returns the settings of the request whose effect shows.
func effectsOf(t *testing.T, config string) (effects []string) {
	t.Helper()
	m := newModel(t, scripted.Config{Script: func(r scripted.Request) scripted.Reply {
		asked := ""
		for _, said := range r.Messages {
			asked += said.Text
		}
		switch lunches := strings.Contains(asked, "lunches"); {
		case lunches && r.Turn() == 0 && len(r.Tools) > 0 && !r.NoTools:
			return calling("retrieve", `{"query":"paid holiday","top_k":2}`)
		case lunches:
			return saying("The canteen serves 400 lunches on Fridays [1].")
		case r.Turn() == 0 && len(r.Tools) > 0 && !r.NoTools:
			return calling("retrieve", `{"query":"cost of clearing the gutter","top_k":2}`)
		}
		return saying("It costs 400 euros [1].")
	}})
	s := serve(t, newDir(t), append(m.env(), "FOOTNOTE_AGENT_WITHOUT=refine,plan,reflect")...)
	s.add(file{"handbook.md", holidays}, file{"Apart.md", wordsApart}, file{"Together.md", wordsTogether})
	type answer struct {
		ID, Status, Answer string
		Steps              []struct {
			ToolName   string `json:"tool_name"`
			ToolOutput struct {
				Results []struct {
					Filename string `json:"filename"`
				} `json:"results"`
			} `json:"tool_output"`
		} `json:"steps"`
	}
	ask := func(question string) answer {
		body := `{"question":"` + question + `","toolset":"react","config":{"selection":"model"` + config + `}}`
		return loose[answer](t, s.send("POST", "/agent/query", body).body)
	}
	lunches, gutter := ask("How many lunches are there?"), ask("What does clearing the gutter cost?")
	found := ""
	for _, step := range gutter.Steps {
		if step.ToolName == "retrieve" && len(step.ToolOutput.Results) > 0 && found == "" {
			found = step.ToolOutput.Results[0].Filename
		}
	}
	switch found {
	case "Together.md":
		effects = append(effects, "rerank_results")
	case "Apart.md":
	default:
		t.Errorf("nothing was found: %+v", gutter)
	}
	if lunches.Status != "success" {
		t.Errorf("the unfounded answer ended %q, want quotes in its place", lunches.Status)
	}
	if strings.Contains(lunches.Answer, "400 lunches") {
		effects = append(effects, "require_citations")
	}
	for line := range strings.Lines(s.log.String()) {
		if strings.Contains(line, "msg=step ") && strings.Contains(line, gutter.ID) &&
			strings.Contains(line, "retrieve") {
			return append(effects, "verbose_logging")
		}
	}
	return effects
}

func TestEachSettingOfARequestHasItsEffectAlone(t *testing.T) {
	t.Parallel()
	for config, want := range map[string][]string{
		"": nil,
		`,"rerank_results":false,"require_citations":true,"verbose_logging":false`: nil,
		`,"rerank_results":true`:     {"rerank_results"},
		`,"require_citations":false`: {"require_citations"},
		`,"verbose_logging":true`:    {"verbose_logging"},
	} {
		t.Run(strings.TrimPrefix(config, ","), func(t *testing.T) {
			t.Parallel()
			if got := effectsOf(t, config); !slices.Equal(got, want) {
				t.Errorf("effects %q, want %q", got, want)
			}
		})
	}
}
