package views

import (
	"testing"

	"github.com/footnote/footnote/chat"
)

func TestRunHeaderShowsWaitReason(t *testing.T) {
	over := &Step{Step: chat.Step{CallID: "c1", Status: chat.StatusComplete, Message: "Found 2 documents"}}
	search := &Step{Step: chat.Step{CallID: "c2", Status: chat.StatusRunning, Message: "Searching for: rent"}}
	for _, tt := range []struct {
		model string
		steps []*Step
		want  string
	}{
		{"qwen3:8b", nil, "Starting"},
		{"qwen3:8b", []*Step{over}, "Waiting for qwen3:8b"},
		{"", []*Step{over}, "Waiting for the model"},
		{"qwen3:8b", []*Step{over, search}, "Searching for: rent"},
	} {
		turn := &Turn{Status: chat.RunRunning, Model: tt.model, All: tt.steps}
		if got := turn.headline(t.Context()); got != tt.want {
			t.Errorf("with %d steps and the model %q: %q, want %q", len(tt.steps), tt.model, got, tt.want)
		}
	}
}
