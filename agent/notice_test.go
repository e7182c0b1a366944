package agent

import (
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/footnote/footnote/agent/llm/anthropic"
	"github.com/footnote/footnote/chat"
	"github.com/footnote/footnote/e2e/scripted"
)

// An option that the model's provider does not support is one step of the run.
func TestUnsupportedModelOptionIsReported(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(scripted.NewServer(scripted.Config{Script: func(r scripted.Request) scripted.Reply {
		if r.Turn() == 0 {
			return calls(search("holiday"))
		}
		return says(goodAnswer)
	}}))
	t.Cleanup(server.Close)
	model, err := anthropic.New(anthropic.Config{
		BaseURL: server.URL, APIKey: "sk-ant", Model: "claude", Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(model.Close)
	h := newHarness(t, model)
	seed, warm, mild := int64(7), 1.5, 0.5
	for _, tt := range []struct {
		name   string
		config chat.RunConfig
		want   []string
	}{
		{"nothing asked for", chat.RunConfig{}, nil},
		{"a temperature that it takes", chat.RunConfig{Temperature: &mild}, nil},
		{"a seed and a high temperature", chat.RunConfig{Seed: &seed, Temperature: &warm},
			[]string{
				"claude does not support a seed: the seed was ignored",
				"claude supports a temperature of at most 1: 1 was used",
			}},
	} {
		req := asks("How many days of paid holiday does an employee get?")
		req.Config = tt.config
		got := h.answer(req)
		var said []string
		for _, s := range got.ended() {
			if s.Step == "notice" {
				said = append(said, s.Message)
			}
		}
		if diff := cmp.Diff(tt.want, said); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if a := got.answer(); a.Markdown != goodAnswer {
			t.Errorf("%s: answer %q, want %q", tt.name, a.Markdown, goodAnswer)
		}
	}
}
