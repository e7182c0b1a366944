package main_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// callsThenAnswers calls its tool, if it may, and then says what its result holds.
func callsThenAnswers(r scripted.Request) scripted.Reply {
	if len(r.Tools) > 0 && !r.NoTools && r.Turn() == 0 {
		return scripted.Reply{Calls: []llm.Call{{Name: "search_documents", Arguments: []byte(`{"query":"holiday"}`)}}}
	}
	return scripted.Reply{Text: "Every employee is entitled to 28 days of paid holiday a year [1]."}
}

// A model of this machine is measured once, when it is used first, unless a setting says what it gets.
func TestALocalModelIsMeasuredWhenItIsUsedFirst(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, owner, profile string
		measured, small      bool
	}{
		{"little context", "llamacpp", "auto", true, true},
		{"the setting says small", "llamacpp", "small", false, true},
		{"the setting says full", "llamacpp", "full", false, false},
		{"another kind of server", "openai", "auto", false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := newModel(t, scripted.Config{Owner: tt.owner, Room: 4096, Record: 20, Script: callsThenAnswers})
			s := serve(t, newDir(t), append(m.env(), "FOOTNOTE_AGENT_PROFILE="+tt.profile,
				"FOOTNOTE_AGENT_CHECK_PASSAGES=off")...)
			s.add(file{"handbook.md", holidays})
			for n, measured := range []bool{tt.measured, false} {
				log := s.run("How many days of paid holiday are there?")
				if log.answer == nil || len(log.answer.Citations) != 1 {
					t.Fatalf("answer %+v after %+v, want one with a citation", log.answer, log.done)
				}
				if got := slices.ContainsFunc(log.steps, func(s chat.Step) bool {
					return s.Step == "measure" && strings.Contains(s.Message, "4096")
				}); got != measured {
					t.Errorf("run %d measured %v, want %v", n, got, measured)
				}
			}
			asked := m.inner.Requests()
			if last := asked[len(asked)-1]; (len(last.Tools) == 0) != tt.small {
				t.Errorf("the answer's request has %d tools; want none %v", len(last.Tools), tt.small)
			}
		})
	}
}
