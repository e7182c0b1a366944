package agent

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/footnote/footnote/agent/llm"
	"github.com/footnote/footnote/agent/tools"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

func logsTo(out *lines) func(*Config) {
	return func(c *Config) { c.Log = slog.New(slog.NewTextHandler(out, nil)) }
}

// logged returns the lines of a log that hold all of the parts.
func logged(log string, parts ...string) []string {
	return slices.DeleteFunc(strings.Split(log, "\n"), func(line string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) })
	})
}

func TestSelectionsAreLoggedWithTheirReasons(t *testing.T) {
	t.Parallel()
	out := &lines{}
	model := scripted.NewScript(func(r scripted.Request) scripted.Reply {
		if r.Turn() == 0 {
			return scripted.Reply{Text: "The handbook should say it.", Calls: []llm.Call{search("paid holiday")}}
		}
		return says(goodAnswer)
	})
	h := newHouse(t, model, logsTo(out))
	byModel := h.answer(asks("How many days of paid holiday are there?")).runID
	byRules := h.answer(chat.RunRequest{
		Message: "How many days of paid holiday are there?",
		Config:  chat.RunConfig{Selection: string(tools.SelectRules)},
	}).runID
	h.stop()
	for run, want := range map[string][]string{
		byModel: {`by=model`, `reason="The handbook should say it."`},
		byRules: {`by=rules`, `reason="A simple question of the kind “factual”: search, read the best, answer."`},
	} {
		parts := append([]string{`level=INFO msg="tools selected" run=` + run, "tools=[search_documents]"}, want...)
		if got := logged(out.String(), parts...); len(got) != 1 {
			t.Errorf("%d lines have %q, want 1:\n%s", len(got), parts, out)
		}
	}
}

func TestFailuresOfModelAndRetrievalAreLoggedAsErrors(t *testing.T) {
	t.Parallel()
	out := &lines{}
	h := newHouse(t, scripted.New(fails(llm.KindAuth)), withFallback, logsTo(out))
	h.answer(asks("How many days of paid holiday are there?"))
	h.hire(scripted.New(calls(search("paid holiday")), says("No.")), logsTo(out), func(c *Config) {
		c.Library = faulty{h.library, func(context.Context) error { return errors.New("disk on fire") }}
	})
	h.answer(asks("How many days of paid holiday are there?"))
	h.stop()
	for _, want := range []string{`msg="model failed, falling back"`, `msg="tool failed"`} {
		if got := logged(out.String(), "level=ERROR", want); len(got) != 1 {
			t.Errorf("%d lines at ERROR have %s, want 1:\n%s", len(got), want, out)
		}
	}
}
